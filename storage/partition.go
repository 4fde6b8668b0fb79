package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// partition is one bbolt file with its two goroutines.
type partition struct {
	index int
	opts  *Options
	db    *bolt.DB
	file  *os.File // bbolt's own handle, for reading meta pages

	queue    *queue
	settling chan chunk    // committer to settler
	settled  chan struct{} // closed when the settler is through
	late     lateSettler

	// durable is the id of the newest transaction whose last sync is over.
	durable atomic.Uint64
	mu      sync.Mutex
	failed  error         // why no more is written, nil while all is well
	changed chan struct{} // closed when durable or failed moves; nil if nobody waits

	// Owned by the committer.
	granted     int64               // generations so far, of all groups
	generations map[ubl.Group]int64 // the newest of each group that holds a lease
	leases      atomic.Int64        // how many those are, for anyone
	writer      writer
	lostTx      bool // a transaction could not be ended: bbolt's Close would hang
}

// openPartition opens a file that must exist and starts its goroutines.
func openPartition(dir string, m *manifest, index int, o *Options) (*partition, error) {
	path := filepath.Join(dir, partitionName(index))
	if err := inspectFile(path, o.VerifyBytes); err != nil {
		return nil, err
	}
	p := &partition{
		index: index, opts: o,
		queue:       newQueue(),
		settling:    make(chan chunk, 1),
		settled:     make(chan struct{}),
		generations: make(map[ubl.Group]int64),
	}
	var err error
	if p.db, p.file, err = openBolt(path, o); err != nil {
		return nil, err
	}
	if err := p.start(m); err != nil {
		return nil, errors.Join(err, p.db.Close())
	}
	go p.settle()
	go p.commitAll()
	return p, nil
}

// start makes what is in the file durable and sees that it is the right file.
func (p *partition) start(m *manifest) (err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	// A process that was killed may have left a transaction that readers see and
	// the disk does not have.
	if err := p.db.Sync(); err != nil {
		return err
	}
	return p.db.View(func(tx *bolt.Tx) error {
		p.durable.Store(uint64(tx.ID()))
		return checkLabel(tx, m.label(p.index))
	})
}

// waitDurable returns once the transaction is durable.
func (p *partition) waitDurable(ctx context.Context, tx uint64) error {
	for p.durable.Load() < tx {
		p.mu.Lock()
		if p.durable.Load() >= tx {
			p.mu.Unlock()
			return nil
		}
		if p.failed != nil {
			p.mu.Unlock()
			return p.failed
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return unavailable("the request ended before the data was durable", ctx.Err())
		}
	}
	return nil
}

// advance tells waiting readers that a transaction is durable, or that none
// will be any more.
func (p *partition) advance(tx uint64, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if failed != nil {
		p.failed = failed
	} else {
		p.durable.Store(tx)
	}
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

func (p *partition) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// close writes and settles what was submitted, then closes the file.
func (p *partition) close() error {
	p.queue.close()
	<-p.settled
	if p.lostTx {
		return fmt.Errorf("partition %d: its file stays open, a transaction could not be ended: %w", p.index, p.failure())
	}
	return p.db.Close()
}
