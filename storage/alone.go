package storage

import (
	"errors"
	"fmt"
	"time"
)

// write makes the items of a node alone durable: in the journal, while they stay
// in the open transaction, or by committing that where the journal can't take
// them. Its error is for all batches; a batch's own is in its item.
func (p *partition) write(items []item) error {
	entry, err := p.apply(items)
	if err != nil || entry == nil {
		return err
	}
	if err := p.journal.append(p.journaled, entry); err != nil {
		return p.withoutJournal(fmt.Errorf("couldn't write the journal: %w", err))
	}
	return nil
}

// withoutJournal makes durable what the journal couldn't take. On a disk that
// copies what is written over, there may be no room for that; after another error
// the disk can't be believed.
func (p *partition) withoutJournal(err error) error {
	p.applying.Lock()
	defer p.applying.Unlock()
	if failed := p.failure(); failed != nil {
		return failed
	}
	if outOfSpace(err) {
		if !p.state.is().open() {
			return nil // somebody has read since, and so had it committed
		}
		if err = p.commitOpen(); err == nil {
			return nil
		}
	}
	return p.failedCommit(err)
}

// apply puts the batches into the open transaction, and gives the entry that the
// journal is to have: nil where there is nothing to write, or it is committed.
func (p *partition) apply(items []item) (entry []byte, err error) {
	p.applying.Lock()
	defer p.applying.Unlock()
	if err := p.failure(); err != nil && !p.recovered() {
		return nil, err
	}
	if err := p.add(items); err != nil {
		return nil, p.failedCommit(err)
	}
	s := p.state.is()
	switch {
	case !s.open():
		return nil, nil
	case !p.writer.written:
		p.endTx()
		p.state.move(idle)
		return nil, nil
	case s.journals() && len(p.ops) == 0: // all were refused
		return nil, nil
	}
	if s.journals() {
		p.sealed = sealEntry(p.ops, p.sealed)
		if p.journal.fits(p.sealed) {
			p.journaled++
			p.state.move(acknowledged) // soon: the transaction may be committed before the journal is
			return p.sealed, nil
		}
	}
	if err := p.commitOpen(); err != nil {
		return nil, p.failedCommit(err)
	}
	return nil, nil
}

// add checks and puts; an error means that the transaction is of no use.
func (p *partition) add(items []item) (err error) {
	defer guard(&err)
	p.ops = p.ops[:0]
	w := &p.writer
	for i := range items {
		it := &items[i]
		if p.leased(it) || it.batch == nil {
			continue
		}
		if !p.state.is().open() {
			if err := p.beginAlone(); err != nil {
				return err
			}
		}
		if it.err, err = w.add(it.batch, p.leaseOf(it.batch.Group)); err != nil {
			return err
		}
		if it.err == nil && p.state.is().journals() {
			p.ops = appendOperation(p.ops, operation{batch: it.batch})
			p.openBytes += it.size
		}
	}
	return nil
}

func (p *partition) beginAlone() error {
	if cap(p.ops) > maxScratch {
		p.ops, p.sealed = nil, nil
	}
	wait, err := p.mayWait()
	if err != nil {
		return err
	}
	if !wait {
		return p.beginOpen(direct)
	}
	p.journal.restart() // all that it has is in the file
	return p.beginOpen(deferred)
}

// spareBytes is how much room there must be for a transaction to stay open: far more
// than its pages can take. Once it is acknowledged it can't be refused any more
// for lack of space.
const spareBytes = 512 * mib

// mayWait reports whether a transaction may stay open, and sees that there is a
// journal for it.
func (p *partition) mayWait() (bool, error) {
	if freeSpace(p.path) < p.opts.spare {
		return false, nil
	}
	if size := int64(p.opts.MaxBytes); size > 0 {
		info, err := p.opened.Load().file.Stat()
		if err != nil || info.Size()+p.opts.spare > size {
			return false, err
		}
	}
	if p.journaled == 0 || !p.journal.current(p.label) {
		return true, p.makeJournal(p.database())
	}
	return true, nil
}

// failedCommit decides whether the partition may go on. It may if there was no
// room for data pages: nothing refers to them until a meta page does, and the
// newest meta page is still that of the last durable transaction. Where that lacks
// what was acknowledged it may as soon as there is room (see recovered).
// p.applying is held.
func (p *partition) failedCommit(err error) error {
	p.endTx()
	lacks := p.state.is() == acknowledged
	clean := outOfSpace(err) && !p.lostTx && p.metaUntouched()
	if clean {
		p.noRoom.Store(p.opts.Now().UnixNano())
	}
	to := broken
	switch {
	case clean && !lacks:
		p.state.move(idle)
		return unavailable("there is no space left for data", full(err))
	case clean:
		to = starved
	case lacks:
		to = hiding
	}
	if to == starved {
		err = unavailable("there is no space left for data", full(err))
		p.flusher.Reset(p.flushAfter())
	} else {
		err = unavailable("writing failed; this part of the data takes no writes until the server is started again", err)
	}
	p.advance(0, err)
	p.state.move(to)
	return err
}

func (p *partition) metaUntouched() bool {
	newest, err := readMetas(p.opened.Load().file)
	return err == nil && newest.txid == p.durable.Load()
}

// closeAlone leaves nothing to the journal, if it can. Where the disk has no room
// for that, the error wraps [ErrFull]: the next start finds the journal.
func (p *partition) closeAlone() error {
	var err error
	switch s := p.state.is(); {
	case s.open():
		err = p.flushOpen()
	case s == starved: // other failures were told
		p.retry = time.Time{}
		if !p.recovered() {
			err = p.failure()
		}
	}
	p.state.move(closed)
	if p.journal != nil {
		err = errors.Join(err, p.journal.close())
	}
	return errors.Join(err, p.closeFile())
}
