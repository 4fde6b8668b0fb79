package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"ubl/durable"
)

// makeJournal makes the journal, then says in the file that it is there: a
// program that doesn't know of journals refuses the file from then on, and this
// one refuses it without its journal. Until then what is in a journal doesn't
// count.
func (p *partition) makeJournal() error {
	if err := createJournal(p.journalPath(), p.label); err != nil {
		return fmt.Errorf("couldn't make a journal: %w", err)
	}
	p.opts.Step("journal: made")
	var err error
	if p.journal, _, err = openJournal(p.journalPath(), p.label, p.opts.SyncData, firstJournaled); err != nil {
		return err
	}
	var id uint64
	err = p.database().Update(func(tx *bolt.Tx) error {
		id = uint64(tx.ID())
		l := p.label
		l.Format = journalFormat
		return errors.Join(putLabel(tx.Bucket(metaBucket), l), putIndex(tx, journaledKey, firstJournaled))
	})
	if err != nil {
		err = errors.Join(err, p.journal.close())
		p.journal = nil
		return err
	}
	p.journaled = firstJournaled
	p.advance(id, nil)
	return nil
}

// firstJournaled stands for a journal that has no record yet.
const firstJournaled = 1

func (p *partition) journalPath() string { return p.path + journalSuffix }

// replay brings what only the journal has into the file.
func (p *partition) replay(db *bolt.DB) error {
	err := db.View(func(tx *bolt.Tx) (err error) {
		p.journaled, err = readIndex(tx, journaledKey)
		return err
	})
	if err != nil || p.journaled == 0 {
		return err
	}
	var records []record
	p.journal, records, err = openJournal(p.journalPath(), p.label, p.opts.SyncData, p.journaled)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.replicated():
		return p.forgetJournal(db) // which was interrupted
	case errors.Is(err, fs.ErrNotExist):
		return damaged("the journal is missing")
	case err != nil:
		return err
	}
	if err := p.replayRecords(db, records); err != nil {
		return errors.Join(fmt.Errorf("couldn't apply the journal: %w", err), p.journal.close())
	}
	if p.replicated() {
		return p.forgetJournal(db)
	}
	return nil
}

// replayRecords commits even where there are none. A sync of bbolt's meta page may
// have failed in an earlier life: then the disk may lack what the page cache has,
// and no sync would write it again, while the journal begins anew.
func (p *partition) replayRecords(db *bolt.DB, records []record) (err error) {
	defer guard(&err)
	w := &p.writer
	w.reset()
	if err := w.begin(db); err != nil {
		return err
	}
	defer p.closeOpen()
	for _, r := range records {
		refusals, err := p.applyEntry(w, Entry{Index: r.index, Data: r.entry})
		if err := errors.Join(append(refusals, err)...); err != nil {
			return err
		}
		p.journaled = r.index
	}
	if err := w.finish(); err != nil {
		return err
	}
	if err := putIndex(w.tx, journaledKey, p.journaled); err != nil {
		return err
	}
	return commitTx(w.tx)
}

// forgetJournal ends what a node alone has left to a replica. All of it is in
// the file.
func (p *partition) forgetJournal(db *bolt.DB) error {
	if p.journal != nil {
		if err := p.journal.close(); err != nil {
			return err
		}
	}
	if err := errors.Join(removeIfThere(p.journalPath()), durable.Sync(filepath.Dir(p.path))); err != nil {
		return err
	}
	p.journal, p.journaled = nil, 0
	return db.Update(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		return errors.Join(putLabel(meta, p.label), meta.Delete(journaledKey))
	})
}
