package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Checked is what [Check] found of a partition.
type Checked struct {
	Partition int   `json:"partition"`
	Bytes     int64 `json:"bytes"` // of its file
	// Applied is the newest entry of a Raft log that the file has, 0 where it is no replica.
	Applied uint64   `json:"-"`
	Places  []Place  `json:"places"`
	Digests []Digest `json:"digests"`
}

// Check reads all that a data directory of no running server holds: every page,
// value and number, and the journals. It changes nothing. Its error says that it
// couldn't look; damage is in what it returns.
func Check(ctx context.Context, dir string, opts *Options, progress Progress) ([]Checked, error) {
	o := opts.withDefaults()
	unlock, err := lockDir(dir, o.LockTimeout)
	if err != nil {
		return nil, err
	}
	c := &check{ctx: ctx, opts: o, progress: progress}
	list, err := c.all(filepath.Join(dir, storeDir))
	return list, errors.Join(err, unlock())
}

// Glance looks at what a data directory of no running server begins with: its manifest, and the
// meta pages and the length of each partition's file. That takes no time, and finds what a start
// would refuse at once; [Check] reads all. It changes nothing.
func Glance(dir string) error {
	store := filepath.Join(dir, storeDir)
	m, _, err := readManifest(store)
	if err != nil {
		return err
	}
	var errs []error
	for i := range m.Partitions {
		if err := inspectFile(filepath.Join(store, partitionName(i)), -1); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", partitionName(i), err))
		}
	}
	return errors.Join(errs...)
}

type check struct {
	ctx         context.Context
	opts        *Options
	progress    Progress
	done, total int64
}

func (c *check) all(store string) ([]Checked, error) {
	m, lost, err := readManifest(store)
	if err != nil {
		return nil, err
	}
	list := make([]Checked, m.Partitions)
	for i := range list {
		list[i].Partition = i
		if info, err := os.Stat(filepath.Join(store, partitionName(i))); err == nil {
			list[i].Bytes = info.Size()
			c.total += 2 * info.Size() // pages, then values
		}
	}
	for i := range list {
		if err := c.partition(filepath.Join(store, partitionName(i)), m.label(i), &list[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", partitionName(i), err)
		}
	}
	if lost != nil {
		list[0].Places = append(list[0].Places, Place{What: lost.Error() + "; the next start makes it again from the partitions"})
	}
	return list, nil
}

func (c *check) partition(path string, l label, into *Checked) error {
	begin := c.done
	structure := inspect(path, 1<<62, func(f io.ReaderAt) io.ReaderAt { return &counting{f, c} })
	s := newSweep(into.Partition, c.opts.Numbers)
	err := c.values(path, l, s, into, begin+into.Bytes)
	c.tell(begin + 2*into.Bytes - c.done)
	if err == nil && structure != nil && s.found == 0 {
		err = structure
	}
	into.Places, into.Digests = append([]Place{}, s.places...), s.digests.list()
	if errors.Is(err, ErrDamaged) {
		into.Places = append(into.Places, Place{Partition: into.Partition, What: Damage(err), Journal: errors.Is(err, ErrJournalLoss)})
		return c.ctx.Err()
	}
	return errors.Join(err, c.ctx.Err())
}

// values reads the file as a server does, and what the journal adds.
func (c *check) values(path string, l label, s *sweep, into *Checked, begin int64) (err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	db, err := openToRead(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.whole(c.ctx, db, func() { c.tell(begin + s.bytes - c.done) }); err != nil {
		return err
	}
	err = db.View(func(tx *bolt.Tx) (err error) {
		if err = checkLabel(tx, l); err == nil {
			into.Applied, err = readIndex(tx, appliedKey)
		}
		return err
	})
	if err != nil {
		return err
	}
	journaled, err := journaledIn(db)
	if err != nil || journaled == 0 {
		return err
	}
	j := new(journal)
	_, err = j.load(path+journalSuffix, l, journaled)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return noJournal(path, l, journaled)
	case err != nil:
		return err
	}
	return j.cutShort()
}

func openToRead(path string) (*bolt.DB, error) {
	if err := inspectFile(path, -1); err != nil {
		return nil, err
	}
	return bolt.Open(path, fileMode, &bolt.Options{ReadOnly: true, Timeout: time.Second})
}

// whole reads all that a file has, and tells after each slice. Where ctx ends it stops.
func (s *sweep) whole(ctx context.Context, db *bolt.DB, tell func()) error {
	for !s.done && ctx.Err() == nil {
		if err := db.View(func(tx *bolt.Tx) error { return s.slice(tx, scrubSlice) }); err != nil {
			return err
		}
		tell()
	}
	return nil
}

// checkCopy checks every page, value and number of a copy that nobody has open.
func (p *partition) checkCopy(ctx context.Context, path string) (err error) {
	if err := inspectFile(path, 1<<62); err != nil {
		return err
	}
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	db, err := openToRead(path)
	if err != nil {
		return err
	}
	s := newSweep(p.index, p.opts.Numbers)
	s.digests = nil
	err = errors.Join(s.whole(ctx, db, func() {}), db.Close(), ctx.Err())
	if err == nil && s.found > 0 {
		err = damaged("%s (%d such places)", s.places[0].What, s.found)
	}
	return err
}

func (c *check) tell(n int64) {
	c.done += n
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
}

// counting tells what is read.
type counting struct {
	io.ReaderAt
	check *check
}

func (r *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(b, at)
	r.check.tell(int64(n))
	return n, errors.Join(err, r.check.ctx.Err())
}
