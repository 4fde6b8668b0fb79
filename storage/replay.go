package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl/durable"
)

// makeJournal makes the journal, then says in the file that it is there: a
// program that doesn't know of such journals refuses the file from then on, and
// this one refuses it without its journal. Until then what is in a new journal
// doesn't count. All that an older one has must be in the file.
func (p *partition) makeJournal(db *bolt.DB) error {
	if p.journal != nil {
		if err := p.journal.close(); err != nil {
			return err
		}
		p.journal = nil
	}
	index := max(p.journaled, firstJournaled)
	if err := createJournal(p.journalPath(), p.label, index); err != nil {
		return fmt.Errorf("couldn't make a journal: %w", err)
	}
	p.opts.Step("journal: made")
	j, _, err := openJournal(p.journalPath(), p.label, p.opts.SyncData, index)
	if err != nil {
		return err
	}
	var id uint64
	err = db.Update(func(tx *bolt.Tx) error {
		id = uint64(tx.ID())
		l := p.label
		l.Format = journalFormat
		return errors.Join(putLabel(tx.Bucket(metaBucket), l), putIndex(tx, journaledKey, index))
	})
	if err != nil {
		return errors.Join(err, j.close())
	}
	p.journal, p.journaled = j, index
	p.advance(id, nil)
	return nil
}

// firstJournaled stands for a journal that has no record yet.
const firstJournaled = 1

func (p *partition) journalPath() string { return p.path + journalSuffix }

// replay brings what only the journal has into the file.
func (p *partition) replay(db *bolt.DB) error {
	var err error
	if p.journaled, err = journaledIn(db); err != nil || p.journaled == 0 {
		return err
	}
	var records []record
	p.journal, records, err = openJournal(p.journalPath(), p.label, p.opts.SyncData, p.journaled)
	if errors.Is(err, fs.ErrNotExist) {
		if p.replicated() {
			return p.forgetJournal(db) // which was interrupted
		}
		err = noJournal(p.path, p.label, p.journaled)
	}
	if errors.Is(err, ErrDamaged) && p.opts.AcceptJournalLoss {
		return p.giveUp(db, records, err)
	}
	if err != nil {
		return err
	}
	_ = p.tell(p.journal.cutShort())
	if _, err := p.replayRecords(db, records); err != nil {
		if outOfSpace(err) {
			err = full(err)
		}
		return errors.Join(fmt.Errorf("couldn't apply the journal: %w", err), p.journal.close())
	}
	if p.replicated() {
		return p.forgetJournal(db)
	}
	return nil
}

// noJournal says what a journal that is missing has taken along, as far as its mark
// tells.
func noJournal(path string, l label, journaled uint64) error {
	acked, err := readAcked(path+journalSuffix, saltOf(journalMagic, l))
	if err == nil && acked > journaled {
		return &lostRecords{from: journaled + 1, to: acked}
	}
	return unsure("the journal is missing")
}

// journaledIn is the newest record of the journal that a file has, 0 where it never
// had a journal.
func journaledIn(db *bolt.DB) (index uint64, err error) {
	err = db.View(func(tx *bolt.Tx) (err error) {
		index, err = readIndex(tx, journaledKey)
		return err
	})
	return index, err
}

// replayRecords applies and commits, and gives the transaction's id. It commits even
// where there are no records. A sync of bbolt's meta page may
// have failed in an earlier life: then the disk may lack what the page cache has,
// and no sync would write it again, while the journal begins anew.
func (p *partition) replayRecords(db *bolt.DB, records []record) (id uint64, err error) {
	defer guard(&err)
	w := &p.writer
	w.reset()
	if err := w.begin(db); err != nil {
		return 0, err
	}
	defer p.endTx()
	for _, r := range records {
		refusals, err := p.applyEntry(w, Entry{Index: r.index, Data: r.entry})
		if err := errors.Join(append(refusals, err)...); err != nil {
			return 0, err
		}
		p.journaled = r.index
	}
	if err := w.finish(); err != nil {
		return 0, err
	}
	if err := putIndex(w.tx, journaledKey, p.journaled); err != nil {
		return 0, err
	}
	if p.journal != nil && p.journal.current(p.label) { // making it may have been interrupted
		l := p.label
		l.Format = journalFormat
		if err := putLabel(w.tx.Bucket(metaBucket), l); err != nil {
			return 0, err
		}
	}
	return uint64(w.tx.ID()), commitTx(w.tx)
}

// recovered brings what was acknowledged into the file after a disk was full. The
// committer asks for it, since only it knows that no record is being written, once a
// second at most: an attempt reads the whole journal. p.applying is held.
func (p *partition) recovered() bool {
	now := p.opts.Now()
	if p.state.is() != starved || now.Before(p.retry) {
		return false
	}
	p.retry = now.Add(time.Second)
	id, err := p.replayAgain()
	if err != nil {
		return false // there still is no room
	}
	p.advance(id, nil)
	p.well()
	return true
}

func (p *partition) replayAgain() (id uint64, err error) {
	journaled, err := journaledIn(p.database())
	if err != nil {
		return 0, err
	}
	records, err := p.journal.load(p.journalPath(), p.label, journaled)
	if err != nil {
		return 0, err
	}
	return p.replayRecords(p.database(), records)
}

// forgetJournal ends what a node alone has left to a replica. All of it is in
// the file.
func (p *partition) forgetJournal(db *bolt.DB) error {
	if p.journal != nil {
		if err := p.journal.close(); err != nil {
			return err
		}
	}
	if err := errors.Join(removeIfThere(p.journalPath()), removeIfThere(p.journalPath()+ackedSuffix), durable.Sync(filepath.Dir(p.path))); err != nil {
		return err
	}
	p.journal, p.journaled = nil, 0
	return db.Update(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		return errors.Join(putLabel(meta, p.label), meta.Delete(journaledKey))
	})
}
