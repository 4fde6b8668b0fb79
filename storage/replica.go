package storage

import (
	"context"
	"errors"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// Entry is one committed entry of a partition's log.
type Entry struct {
	Index, Term uint64
	Data        []byte
}

// Proposal is an entry on its way through the log. It is called once, waits,
// and returns what [Engine.Apply] on this node answered for the entry, or why
// that is not known.
type Proposal func() ([]error, error)

// OpenReplicas opens a data directory whose partitions are replicated: they are
// written by Apply alone, what is submitted goes to [Options.Propose], and
// nothing is synced, for the log is. A partition that may have lost writes to a
// power cut comes up empty, with nothing applied.
func OpenReplicas(dir string, opts *Options) (*Engine, error) {
	if opts == nil || opts.Propose == nil {
		return nil, errors.New("couldn't open replicas: nobody takes proposals")
	}
	return open(dir, opts)
}

func (p *partition) replicated() bool { return p.opts.Propose != nil }

// Lead makes this node the writer of a partition: from now on leases are
// granted, under the epoch. Everything committed before must have been applied.
// Epoch 0 ends that: what is submitted then, and every View, gets unavailable.
func (e *Engine) Lead(partition int, epoch int64) { e.partitions[partition].epoch.Store(epoch) }

// Epoch is the epoch under which this node leads the partition, 0 if it doesn't.
func (e *Engine) Epoch(partition int) int64 { return e.partitions[partition].epoch.Load() }

func errNotLeading() error {
	return ubl.Errorf(ubl.CodeUnavailable, "this node doesn't lead the partition")
}

// Applied is the index of the newest entry that is applied.
func (e *Engine) Applied(partition int) uint64 { return e.partitions[partition].applied.Load() }

// Apply applies committed entries, in the log's order and from one goroutine a
// partition, leaving out those that are applied already. It answers what became
// of each operation of each entry: nil or a refusal.
//
// What was applied stays in an open transaction for a moment, so that many
// entries share one; whoever reads has it committed first. The log is what is
// durable: after a crash the entries are applied again. After an error nothing
// is applied until [Engine.Resume]: an entry is never skipped.
func (e *Engine) Apply(partition int, entries []Entry) ([][]error, error) {
	p := e.partitions[partition]
	p.applying.Lock()
	defer p.applying.Unlock()
	if err := p.failure(); err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	results, err := p.applyAll(entries)
	if err == nil && p.state.is().open() && p.openBytes >= p.openLimit() {
		err = p.commitOpen()
	}
	if err != nil {
		return nil, p.halt(err)
	}
	return results, nil
}

func (p *partition) applyAll(entries []Entry) (results [][]error, err error) {
	defer guard(&err)
	w := &p.writer
	results = make([][]error, len(entries))
	for i, entry := range entries {
		if entry.Index <= p.applied.Load() {
			continue
		}
		if !p.state.is().open() {
			if err := p.beginOpen(applying); err != nil {
				return nil, err
			}
		}
		if results[i], err = p.applyEntry(w, entry); err != nil {
			return nil, err
		}
		p.openBytes += len(p.entry)
		for _, refusal := range results[i] {
			if refusal == nil {
				p.openBatches++
			} else {
				p.openRefused++
			}
		}
		p.applied.Store(entry.Index)
	}
	return results, nil
}

// applyEntry does what the entry says as far as it fits what is stored. It may
// depend on nothing else: every replica must come to the same.
func (p *partition) applyEntry(w *writer, entry Entry) ([]error, error) {
	var ops []operation
	var err error
	if ops, p.entry, err = decodeEntry(entry.Data, p.entry); err != nil {
		return nil, err
	}
	refusals := make([]error, len(ops))
	epoch := int64(entry.Term)
	for i, op := range ops {
		if op.note != nil {
			refusals[i], err = w.addNote(op.note, epoch)
		} else {
			refusals[i], err = w.add(op.batch, ubl.Lease{Generation: op.batch.Lease.Generation, Epoch: epoch})
		}
		if err != nil {
			return nil, err
		}
		if errors.Is(refusals[i], ErrDamaged) {
			return nil, refusals[i] // the other replicas may have read it whole
		}
		if op.batch != nil && refusals[i] == nil && p.opts.Referred != nil {
			p.refer(op.batch)
		}
	}
	return refusals, nil
}

// halt ends writing to a replica. After a clean "no space", or before an entry of
// a newer version, its file is what it was; after anything else it can't be
// believed any more. p.applying is held.
func (p *partition) halt(err error) error {
	p.endTx()
	to := halted
	if !outOfSpace(err) && !errors.Is(err, errEntry) || p.lostTx {
		to = distrusted
		// If even that can't be written, the mark of this boot stays: the process
		// must then not trust the file, which Resume sees to.
		err = errors.Join(err, writeMark(p.path, lostBoot))
	}
	err = unavailable("this replica can't write", err)
	p.advance(0, err)
	p.state.move(to)
	p.opts.Halted(p.index, err)
	return err
}

// Distrust halts a replica whose file is damaged, as if it could not be written:
// [Engine.Resume] then makes it anew.
func (e *Engine) Distrust(partition int, err error) {
	p := e.partitions[partition]
	p.applying.Lock()
	defer p.applying.Unlock()
	if s := p.state.is(); p.replicated() && (s == idle || s == applying) {
		_ = p.halt(err) // which tells
	}
}

// Resume lets a replica that was halted apply again, from what its file has. A
// file that can't be believed is thrown away first: then nothing is applied, and
// the caller must install a snapshot or apply the log from its beginning.
func (e *Engine) Resume(partition int) error {
	p := e.partitions[partition]
	p.applying.Lock()
	defer p.applying.Unlock()
	if p.failure() == nil {
		return nil
	}
	lost, reopen := p.state.is() == distrusted, func() error { return nil }
	if lost {
		reopen = p.emptyFile
	}
	if err := p.replace(reopen); err != nil { // which reads what is applied anew
		if err := p.remake(err); err != nil {
			return err
		}
	}
	if lost {
		if err := writeMark(p.path, p.opts.Boot); err != nil {
			return err
		}
	}
	p.well()
	return nil
}

// Empty reports whether the store holds no group at all.
func (e *Engine) Empty(ctx context.Context) (bool, error) {
	for n := range e.partitions {
		if groups, err := e.GroupsOf(ctx, n); err != nil || len(groups) > 0 {
			return false, err
		}
	}
	return true, nil
}

// MarkApplied notes, durably, that the partitions have everything up to the
// index: the beginning of a log that takes over what a node alone has written.
func (e *Engine) MarkApplied(index uint64) error {
	for _, p := range e.partitions {
		if err := p.markApplied(index); err != nil {
			return err
		}
	}
	return nil
}

func (p *partition) markApplied(index uint64) error {
	p.applying.Lock()
	defer p.applying.Unlock()
	if err := p.flushOpen(); err != nil {
		return err
	}
	var id uint64
	err := p.database().Update(func(tx *bolt.Tx) error {
		id = uint64(tx.ID())
		return putIndex(tx, appliedKey, index)
	})
	if err != nil {
		return err
	}
	p.applied.Store(index)
	p.advance(id, nil)
	return nil
}
