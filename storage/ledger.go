package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// Ledger reads one group's ledger in a data directory of no running server. It opens
// that group's partition alone and changes nothing, so it works where the store can't
// be opened: in another partition's damage, and in its own as far as values are sound.
type Ledger struct {
	group  ubl.Group
	prefix []byte // of the group's keys
	db     *bolt.DB
	unlock func() error
	head   ubl.LedgerHead
	stored int64            // the newest seq that the file has
	newer  map[int64][]byte // the journal's atoms, which aren't in the file yet
	lost   error

	partition int
	applied   uint64 // the newest entry of a replica's log that the file has
}

// OpenLedger opens it.
func OpenLedger(dir string, g ubl.Group, opts *Options) (_ *Ledger, err error) {
	if !validGroup(g) {
		return nil, ubl.Errorf(ubl.CodeInternal, "a group's name is not well formed")
	}
	o := opts.withDefaults()
	unlock, err := lockDir(dir, o.LockTimeout)
	if err != nil {
		return nil, err
	}
	l := &Ledger{group: g, prefix: appendPrefix(nil, g), unlock: unlock, newer: make(map[int64][]byte)}
	if err := l.open(filepath.Join(dir, storeDir), o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Ledger) open(store string, o *Options) error {
	m, _, err := readManifest(store)
	if err != nil {
		return err
	}
	index := partitionOf(l.group, m.Partitions)
	l.partition = index
	if err := l.openFile(filepath.Join(store, partitionName(index)), m.label(index), o); err != nil {
		return fmt.Errorf("%s: %w", partitionName(index), err)
	}
	return nil
}

func (l *Ledger) openFile(path string, label label, o *Options) (err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if l.lost = inspectFile(path, -1); l.lost != nil && !errors.Is(l.lost, ErrDamaged) {
		return l.lost
	}
	ok, err := trusted(path, o.Boot)
	if err != nil {
		return err
	}
	if !ok {
		l.miss(damaged("a replica's file that may have lost its newest writes"))
	}
	if l.db, err = bolt.Open(path, fileMode, &bolt.Options{ReadOnly: true, Timeout: time.Second}); err != nil {
		return err
	}
	if err := treeIn(l.db, l.readHead); err != nil {
		return err
	}
	err = l.db.View(func(tx *bolt.Tx) (err error) {
		if l.applied, err = readIndex(tx, appliedKey); errors.Is(err, ErrDamaged) {
			l.miss(err)
		}
		return checkLabel(tx, label)
	})
	if err != nil {
		return err
	}
	return l.readJournal(path, label)
}

// readHead has the newest atom tell where the ledger ends, if the head can't be read.
func (l *Ledger) readHead(t *tree) (err error) {
	if l.head, err = ledgerHead(t, l.prefix); err != nil {
		l.miss(fmt.Errorf("the ledger's head can't be read: %w", err))
		l.head, err = newestHead(context.Background(), t, l.prefix)
	}
	l.stored = l.head.Seq
	return err
}

// readJournal adds what only the journal has.
func (l *Ledger) readJournal(path string, label label) error {
	journaled, err := journaledIn(l.db)
	if err != nil || journaled == 0 {
		return err
	}
	records, err := new(journal).load(path+journalSuffix, label, journaled)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.miss(noJournal(path, label, journaled))
	case errors.Is(err, ErrDamaged):
		l.miss(err)
	case err != nil:
		return err
	}
	for _, r := range records {
		if err := l.Replay(r.entry); err != nil {
			return err
		}
	}
	return nil
}

// Applied is the ledger's partition, and which entry of its replica's log is the newest
// that the file has: a node that was killed has newer ones in its log alone.
func (l *Ledger) Applied() (partition int, index uint64) { return l.partition, l.applied }

// Replay adds what an entry of the log behind that has of the ledger.
func (l *Ledger) Replay(entry []byte) error {
	ops, _, err := decodeEntry(entry, nil)
	if err != nil {
		return err
	}
	for _, op := range ops {
		l.add(op.batch)
	}
	return nil
}

// add takes a batch of the ledger that follows what is there; others were refused.
func (l *Ledger) add(b *ubl.Batch) {
	if b == nil || b.Group != l.group || b.Head != l.head {
		return
	}
	for i, atom := range b.Atoms {
		l.newer[l.head.Seq+1+int64(i)] = atom
	}
	l.head = b.Next
}

// miss notes that the newest of the ledger may be missing.
func (l *Ledger) miss(err error) { l.lost = errors.Join(l.lost, err) }

// Head is where the ledger ends, with seq 0 where there is none.
func (l *Ledger) Head() ubl.LedgerHead { return l.head }

// Lost says why the newest of the ledger may be missing; nil where it is whole.
func (l *Ledger) Lost() error { return l.lost }

// Atoms gives the atoms in order, as far as they can be read, and tells between them
// which are missing and why. What it gives is valid until found returns.
func (l *Ledger) Atoms(ctx context.Context, found func(seq int64, atom []byte) error, missing func(from, to int64, why error) error) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := treeIn(l.db, func(t *tree) (err error) {
		defer guard(&err)
		x := newSalvage(ctx, t, l.prefix, l.stored)
		x.found, x.missing = found, missing
		return x.run()
	})
	for seq := l.stored + 1; err == nil && seq <= l.head.Seq; seq++ {
		err = found(seq, l.newer[seq])
	}
	return err
}

// Close frees the directory.
func (l *Ledger) Close() (err error) {
	if l.db != nil {
		err = l.db.Close()
	}
	return errors.Join(err, l.unlock())
}
