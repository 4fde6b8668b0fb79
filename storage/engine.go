package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"ubl"
)

// Engine is the store of one node. Safe for concurrent use.
type Engine struct {
	dir        string
	opts       *Options
	manifest   *manifest
	lost       error // what was wrong with ubl.json
	partitions []*partition
	unlock     func() error
	closing    sync.Once
	closed     error
}

var _ ubl.Store = (*Engine)(nil)

// Open opens a data directory, making it where it is missing. Errors wrap
// [ErrInUse], [ErrNewerFormat] or [ErrDamaged] where one of them is the reason.
func Open(dir string, opts *Options) (*Engine, error) {
	if opts != nil && opts.Propose != nil {
		return nil, errors.New("couldn't open the store: its partitions would be replicated")
	}
	return open(dir, opts)
}

func open(dir string, opts *Options) (*Engine, error) {
	e := &Engine{dir: dir, opts: opts.withDefaults()}
	if err := e.open(); err != nil {
		return nil, fmt.Errorf("couldn't open the data directory %s: %w", dir, err)
	}
	return e, nil
}

func (e *Engine) open() (err error) {
	if err := makeDir(e.dir); err != nil {
		return err
	}
	if e.unlock, err = lockDir(e.dir, e.opts.LockTimeout); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.unlock())
		}
	}()
	if err := e.tidy(); err != nil {
		return err
	}
	store := filepath.Join(e.dir, storeDir)
	if !exists(store) {
		if err := create(e.dir, e.opts); err != nil {
			return err
		}
	}
	if e.manifest, e.lost, err = readManifest(store); err != nil {
		return err
	}
	if e.lost != nil {
		if err := writeManifest(store, e.manifest); err != nil {
			return err
		}
	}
	if err := e.openPartitions(store); err != nil {
		return err
	}
	return e.raise(store)
}

// raise says that this program has the directory now, before it writes what an earlier one
// can't read.
func (e *Engine) raise(store string) error {
	if e.manifest.Format == storeFormat {
		return nil
	}
	e.manifest.Format = storeFormat
	return writeManifest(store, e.manifest)
}

// tidy throws away what an earlier process did not finish. A restore that was
// interrupted is not thrown away but refused: an empty store in the place of
// the restored one would be a surprise.
func (e *Engine) tidy() error {
	if exists(filepath.Join(e.dir, restoringDir)) {
		return errors.New("a restore into it was interrupted; restore again")
	}
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), backupDir) && entry.IsDir() {
			if err := os.RemoveAll(filepath.Join(e.dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// create makes an empty store.
func create(dir string, o *Options) error {
	if o.Partitions < 1 || o.Partitions > maxPartitions {
		return fmt.Errorf("the number of partitions must be 1 to %d", maxPartitions)
	}
	m, err := newManifest(o.Partitions, o)
	if err != nil {
		return err
	}
	return stage(dir, creatingDir, func(staging string) error {
		err := sideBySide(m.Partitions, func(i int) error {
			return writeLabel(filepath.Join(staging, partitionName(i)), m.label(i), o)
		})
		if err != nil {
			return err
		}
		return writeManifest(staging, m)
	})
}

// sideBySide does the same for every partition at once: each waits for the disk.
func sideBySide(partitions int, do func(i int) error) error {
	errs := make([]error, partitions)
	var all sync.WaitGroup
	for i := range partitions {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (e *Engine) openPartitions(store string) error {
	e.partitions = make([]*partition, e.manifest.Partitions)
	err := sideBySide(len(e.partitions), func(i int) (err error) {
		if e.partitions[i], err = openPartition(store, e.manifest, i, e.opts); err != nil {
			err = fmt.Errorf("%s: %w", partitionName(i), err)
		}
		return err
	})
	if err != nil {
		return errors.Join(err, e.closePartitions())
	}
	return nil
}

// Drain settles all that was submitted, and takes no more. The files stay open.
func (e *Engine) Drain() {
	for _, p := range e.partitions {
		p.queue.close()
	}
	for _, p := range e.partitions {
		<-p.settled
	}
}

// Close writes and settles all that was submitted, then closes the files. What
// is submitted afterwards settles with unavailable.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		e.closed = errors.Join(e.closePartitions(), e.unlock())
	})
	return e.closed
}

func (e *Engine) closePartitions() error {
	return sideBySide(len(e.partitions), func(i int) error {
		if e.partitions[i] == nil {
			return nil
		}
		if err := e.partitions[i].close(); err != nil {
			return fmt.Errorf("partition %d: %w", i, err)
		}
		return nil
	})
}

func errClosed() error { return ubl.Errorf(ubl.CodeUnavailable, "the store is closed") }

// Incarnation tells this copy of the data from every other: it is drawn when a
// directory is made or restored.
func (e *Engine) Incarnation() string { return e.manifest.Incarnation }

// Remade says what was wrong with a ubl.json that was made again when the store was
// opened; nil where nothing was.
func (e *Engine) Remade() error { return e.lost }

// Partitions is how many there are.
func (e *Engine) Partitions() int { return len(e.partitions) }

// Partition is where a group lives.
func (e *Engine) Partition(g ubl.Group) int { return partitionOf(g, len(e.partitions)) }

func (e *Engine) partition(g ubl.Group) *partition { return e.partitions[e.Partition(g)] }

// Begin implements [ubl.Store].
func (e *Engine) Begin(ctx context.Context, g ubl.Group) (ubl.Lease, ubl.LedgerHead, error) {
	if !validGroup(g) {
		return ubl.Lease{}, ubl.LedgerHead{}, ubl.Errorf(ubl.CodeInternal, "a group's name is not well formed")
	}
	b := &begin{group: g, answer: make(chan granted, 1)}
	if !e.partition(g).queue.put(item{begin: b}, e.opts.QueueBytes) {
		return ubl.Lease{}, ubl.LedgerHead{}, errClosed()
	}
	select {
	case a := <-b.answer:
		return a.lease, a.head, a.err
	case <-ctx.Done():
		return ubl.Lease{}, ubl.LedgerHead{}, unavailable("the request ended before the group was ready", ctx.Err())
	}
}

// End implements [ubl.Store].
func (e *Engine) End(g ubl.Group, lease ubl.Lease) {
	// A closed queue holds no leases any more.
	_ = e.partition(g).queue.put(item{end: &end{g, lease}}, e.opts.QueueBytes)
}

// Submit implements [ubl.Store]. The batch is the store's until settled is
// called.
func (e *Engine) Submit(b *ubl.Batch, settled func(error)) {
	p := e.partition(b.Group)
	if !p.queue.put(item{batch: b, size: b.Size(), settled: settled}, e.opts.QueueBytes) {
		p.late.settle(p.settled, settled)
	}
}
