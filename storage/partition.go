package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// partition is one bbolt file with its two goroutines.
type partition struct {
	index int
	opts  *Options
	path  string
	label label
	// opened is replaced when a replica installs a snapshot.
	opened atomic.Pointer[opened]

	queue    *queue
	settling chan chunk    // committer to settler
	settled  chan struct{} // closed when the settler is through
	// proposals has a slot for each entry that may be on its way through the log.
	proposals chan struct{}
	late      lateSettler

	scrub scrubbed

	// durable is the id of the newest transaction whose last sync is over.
	durable atomic.Uint64
	mu      sync.Mutex
	failed  error         // why no more is written, nil while all is well; set before the state says so
	changed chan struct{} // closed when durable or failed moves; nil if nobody waits

	// Owned by the committer.
	granted     int64               // generations so far, of all groups
	generations map[ubl.Group]int64 // the newest of each group that holds a lease
	leases      atomic.Int64        // how many those are, for anyone
	proposed    int64               // the epoch of the newest proposal
	ops         []byte              // scratch: of the newest proposal or record of the journal
	sealed      []byte              // scratch: the same, compressed

	// Of a replica:
	epoch   atomic.Int64  // under which this node leads, 0 if it doesn't
	applied atomic.Uint64 // the newest entry of the log that the file has

	applying    sync.Mutex // guards the open transaction: state, writer and what follows
	state       machine
	writer      writer
	lostTx      bool   // a transaction could not be ended: bbolt's Close would hang
	entry       []byte // scratch: the newest entry's operations
	openBytes   int
	openBatches int
	openRefused int
	flusher     *time.Timer
	flushed     atomic.Int64 // how many open transactions were committed

	// Of a node alone:
	journal   *journal  // nil until the first write that may use it
	journaled uint64    // the newest of its records, which are all applied
	retry     time.Time // when a starved partition is tried again

	noRoom    atomic.Int64 // when the newest write found no room, in ns; 0 after one that did
	damaged   atomic.Int64 // reads that met damage
	damagedAt atomic.Int64 // when the newest of them did, in ns; 0 for none
	spoiled   atomic.Int64 // which of them was the newest of this file; 0 for none
}

// maxProposals is how many entries of a partition are on their way through the
// log at a time. More would make each smaller, and an entry has its price on
// every replica; fewer would leave the disk idle while answers go out.
const maxProposals = 1

// opened is a bbolt file with bbolt's own handle, for reading meta pages.
type opened struct {
	db   *bolt.DB
	file *os.File
}

func (p *partition) database() *bolt.DB { return p.opened.Load().db }

// openPartition opens a file that must exist and starts its goroutines.
func openPartition(dir string, m *manifest, index int, o *Options) (*partition, error) {
	p := &partition{
		index: index, opts: o, path: filepath.Join(dir, partitionName(index)), label: m.label(index),
		queue:       newQueue(),
		settling:    make(chan chunk, maxProposals),
		proposals:   make(chan struct{}, maxProposals),
		settled:     make(chan struct{}),
		generations: make(map[ubl.Group]int64),
		state:       machine{moved: o.moved},
	}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.openFile(); err != nil {
		if err := p.remake(err); err != nil {
			return nil, err
		}
	}
	p.flusher = time.AfterFunc(p.flushAfter(), p.tick)
	go p.settle()
	go p.commitAll()
	return p, nil
}

// tick commits what is open, and has the committer try again where a disk was full.
func (p *partition) tick() {
	_ = p.flush() // who reads next is told
	p.applying.Lock()
	defer p.applying.Unlock()
	if p.state.is() == starved && p.queue.put(item{}, p.opts.QueueBytes) { // else the committer has gone
		p.flusher.Reset(p.flushAfter())
	}
}

// prepare sees to a file that a replica has left, before it is opened.
func (p *partition) prepare() error {
	ok, err := trusted(p.path, p.opts.Boot)
	if err != nil {
		return err
	}
	if !p.replicated() {
		if !ok {
			return damaged("a replica that may have lost writes; only its node can make it whole")
		}
		return nil
	}
	if err := removeIfThere(p.path + installSuffix); err != nil {
		return err
	}
	if !ok {
		if err := p.emptyFile(); err != nil {
			return err
		}
	}
	return writeMark(p.path, p.opts.Boot)
}

// openFile opens what is at the partition's path. Damaged leaves are told; a node
// alone has no other copy, and serves what they don't hide.
func (p *partition) openFile() error {
	found := inspectFile(p.path, p.opts.VerifyBytes)
	spoilt, ok := errors.AsType[*spoiledLeaves](found)
	if found != nil && (!ok || p.replicated()) {
		return found
	}
	db, file, err := openBolt(p.path, p.opts)
	if err != nil {
		return err
	}
	if err := p.start(db); err != nil {
		return errors.Join(err, db.Close())
	}
	p.opened.Store(&opened{db, file})
	p.spoiled.Store(0)
	p.scrub.forget()
	if spoilt != nil {
		for _, err := range spoilt.places {
			_ = p.tell(err)
		}
	}
	return nil
}

// start makes what is in the file durable and sees that it is the right file.
func (p *partition) start(db *bolt.DB) (err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	// A process that was killed may have left a transaction that readers see and
	// the disk does not have.
	if err := db.Sync(); err != nil {
		return err
	}
	if !p.replicated() { // all that follows is synced, too
		if err := clearMark(p.path); err != nil {
			return err
		}
	}
	if err := db.View(func(tx *bolt.Tx) error { return checkLabel(tx, p.label) }); err != nil {
		return err
	}
	if err := p.replay(db); err != nil {
		return err
	}
	db.NoSync = p.replicated()
	return db.View(func(tx *bolt.Tx) error {
		applied, err := readIndex(tx, appliedKey)
		p.durable.Store(uint64(tx.ID()))
		p.applied.Store(applied)
		return err
	})
}

// waitDurable returns once the transaction is durable. What a replica has is
// durable in the log; and its file may have been replaced by one whose
// transactions have smaller numbers.
func (p *partition) waitDurable(ctx context.Context, tx uint64) error {
	if p.replicated() {
		return nil
	}
	for p.durable.Load() < tx {
		p.mu.Lock()
		if p.durable.Load() >= tx {
			p.mu.Unlock()
			return nil
		}
		if failed := p.failed; failed != nil {
			p.mu.Unlock()
			return failed
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
		p.failed = cmp.Or(p.failed, failed) // the first is the cause
	} else {
		p.durable.Store(max(tx, p.durable.Load()))
		p.noRoom.Store(0)
	}
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// well ends a failure: the file has again what it should have. p.applying is held.
func (p *partition) well() {
	p.mu.Lock()
	p.failed = nil
	p.mu.Unlock()
	p.state.move(idle)
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
	p.flusher.Stop()
	p.applying.Lock()
	defer p.applying.Unlock()
	if p.replicated() {
		return p.closeReplica()
	}
	return p.closeAlone()
}

func (p *partition) closeFile() error {
	if p.lostTx {
		return fmt.Errorf("its file stays open, a transaction could not be ended: %w", p.failure())
	}
	return p.database().Close()
}

// closeReplica makes the file whole without its log, unless it can't be trusted.
func (p *partition) closeReplica() error {
	_ = p.flushOpen() // what isn't in the file is in the log
	lost := p.state.is() == distrusted
	p.advance(0, errClosed()) // whoever still applies is not to halt the replica
	p.state.move(closed)
	err := errors.Join(p.database().Sync(), p.closeFile())
	if err != nil || lost {
		return err
	}
	return clearMark(p.path)
}
