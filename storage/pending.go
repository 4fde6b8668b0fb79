package storage

import (
	"encoding/binary"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// What was applied stays in an open transaction for a moment, so that many
// commits share one of bbolt's, which writes whole pages and syncs twice. The
// log has it meanwhile: a replica's that of its group, a node's own its journal.
// Whoever reads has the transaction committed first.
const (
	// replicaFlush is how long what was applied may stay in an open transaction of
	// a replica, replicaOpen how many bytes of it.
	replicaFlush = 200 * time.Millisecond
	replicaOpen  = 8 * mib
	// Of a node alone, where the transaction is synced and writers wait for it.
	aloneFlush = time.Second
	aloneOpen  = 2 * mib
)

func (p *partition) flushAfter() time.Duration {
	if p.replicated() {
		return replicaFlush
	}
	return aloneFlush
}

func (p *partition) openLimit() int {
	if p.replicated() {
		return replicaOpen
	}
	return aloneOpen
}

// beginOpen opens a transaction, and moves to what that is for.
func (p *partition) beginOpen(to state) error {
	w := &p.writer
	w.reset()
	p.openBytes, p.openBatches, p.openRefused = 0, 0, 0
	if err := w.begin(p.database()); err != nil {
		return err
	}
	p.state.move(to)
	p.flusher.Reset(p.flushAfter())
	return nil
}

// flush commits what is applied and still in an open transaction. Its error says
// why the partition can't be read.
func (p *partition) flush() error {
	return p.flushBehind(p.flushed.Load(), func() bool { return true })
}

// flushFor is flush for who reads one group only: what is open of others may stay.
func (p *partition) flushFor(g ubl.Group) error {
	return p.flushBehind(p.flushed.Load(), func() bool {
		_, touched := p.writer.heads[g]
		return touched
	})
}

// flushBehind is flush for a reader that came after so many commits of the open transaction,
// and commits only where something must be. Waiting readers share one commit: any that has
// ended since they came holds all that was applied by then.
func (p *partition) flushBehind(came int64, must func() bool) error {
	if s := p.state.is(); !s.open() {
		return p.hidden(s)
	}
	p.applying.Lock()
	defer p.applying.Unlock()
	if p.state.is().open() && (p.flushed.Load() != came || !must()) {
		return nil
	}
	return p.flushOpen()
}

func (p *partition) flushOpen() error {
	if s := p.state.is(); !s.open() {
		return p.hidden(s)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := p.commitOpen(); err != nil {
		return p.failedOpen(err)
	}
	return nil
}

// hidden says why the file can't be read where no transaction is open.
func (p *partition) hidden(s state) error {
	if s == idle || s == broken {
		return nil
	}
	return p.failure()
}

// endTx ends a transaction that is not to be committed. The caller moves on from it.
func (p *partition) endTx() {
	if tx := p.writer.tx; tx != nil && !rollback(tx) {
		p.lostTx = true
	}
	p.writer.tx = nil
}

// failedOpen gives up what is in the open transaction.
func (p *partition) failedOpen(err error) error {
	if p.replicated() {
		return p.halt(err)
	}
	return p.failedCommit(err)
}

func (p *partition) commitOpen() error {
	w, start, behind := &p.writer, p.opts.Now(), p.state.is().journals()
	err := p.finishOpen()
	if err == nil {
		tx := uint64(w.tx.ID())
		if err = commitTx(w.tx); err == nil {
			w.tx = nil
			p.flushed.Add(1)
			p.advance(tx, nil)
			p.state.move(idle)
		}
	}
	if p.replicated() { // a node alone tells when its batches are durable
		p.opts.Observe(Commit{
			Partition: p.index, Batches: p.openBatches, Refused: p.openRefused, Bytes: p.openBytes,
			Took: p.opts.Now().Sub(start), Err: err,
		})
	} else if behind {
		p.opts.ObserveFile(p.index, p.opts.Now().Sub(start), err)
	}
	return err
}

func (p *partition) finishOpen() (err error) {
	defer guard(&err)
	if err := p.writer.finish(); err != nil {
		return err
	}
	if p.replicated() {
		return putIndex(p.writer.tx, appliedKey, p.applied.Load())
	}
	if p.journal == nil {
		return nil
	}
	return putIndex(p.writer.tx, journaledKey, p.journaled)
}

// The meta bucket says how far a file is: up to which entry of its group's log,
// or of its own journal.
var (
	appliedKey   = []byte("applied")
	journaledKey = []byte("journaled")
)

func putIndex(tx *bolt.Tx, key []byte, index uint64) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return damaged("a bucket is missing")
	}
	return meta.Put(key, appendStored(nil, key, binary.BigEndian.AppendUint64(nil, index)))
}

// readIndex is 0 where there is none.
func readIndex(tx *bolt.Tx, key []byte) (uint64, error) {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return 0, damaged("a bucket is missing")
	}
	value, err := getStored(meta, key)
	if err != nil || value == nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, damaged("an index does not have 8 bytes")
	}
	return binary.BigEndian.Uint64(value), nil
}
