// Package memstore is a [ubl.Store] in memory, for tests that break a node between any two
// commits, and want the same history to lead to the same bytes.
//
// A [Disk] is what is durable. Nodes open it one after another, or a new one while the one
// before has died and doesn't know yet. Each has a [Store] with a writer of its own, which
// asks the test for the [Fate] of each batch.
package memstore

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"ubl"
)

// Disk holds groups. Safe for concurrent use.
type Disk struct {
	mu     sync.Mutex
	groups map[ubl.Group]*group // guarded by mu, and so are they

	// frozen is what readings see: what there was at their first view. A store may show
	// more later, and nobody may need that.
	frozen map[weak.Pointer[ubl.Reading]]*group
}

// NewDisk is an empty one.
func NewDisk() *Disk {
	return &Disk{groups: make(map[ubl.Group]*group), frozen: make(map[weak.Pointer[ubl.Reading]]*group)}
}

// Dump is everything that a group has stored, by key: records and counters, and the atoms by
// their place.
func (d *Disk) Dump(g ubl.Group) map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.group(g).dump()
}

func (d *Disk) group(g ubl.Group) *group {
	x := d.groups[g]
	if x == nil {
		x = &group{head: ubl.LedgerHead{HeadHash: ubl.Genesis}}
		d.groups[g] = x
	}
	return x
}

// When is the time at which a batch becomes durable.
type When int

// Whens of a [Fate].
const (
	Now     When = iota
	Never        // it is lost
	Barrier      // after its outcome was told, when somebody begins the group anew
)

// Fate is what becomes of a batch. The zero value is that it is written, and told so.
type Fate struct {
	When When
	// Err is told instead of the outcome.
	Err error
	// Dies says that the node is gone from then on: whatever is asked of its store fails, and
	// changes nothing.
	Dies bool
}

// Options configure a [Store].
type Options struct {
	// Delay is how long each batch takes.
	Delay time.Duration
	// Fate decides about each batch that fits, in order; nil writes all.
	Fate func(*ubl.Batch) Fate
	// Written is told of each batch that is durable, before its caller is; nil for nobody.
	Written func(*ubl.Batch)
}

// Store is a node's way to a [Disk]. It is also an actors.Shelf.
type Store struct {
	disk *Disk
	opts Options
	done chan struct{} // closed when the writer has ended

	mu    sync.Mutex
	more  chan struct{} // of the writer; holds one
	queue []func()
	dead  bool // the node is gone
	ended bool // closed: the writer ends with what is in the queue
}

// Open starts a node's store, behind a [Store.Barrier]. Close it.
func (d *Disk) Open(opts Options) *Store {
	s := &Store{disk: d, opts: opts, more: make(chan struct{}, 1), done: make(chan struct{})}
	go s.write()
	s.Barrier()
	return s
}

// Barrier returns once all is durable that was submitted, and ever will be, as it is for a node
// that begins to lead.
func (s *Store) Barrier() {
	passed := make(chan struct{})
	s.put(func() {
		defer close(passed)
		s.disk.mu.Lock()
		var late []*ubl.Batch
		for _, x := range s.disk.groups {
			late = append(late, x.settle()...)
		}
		s.disk.mu.Unlock()
		for _, b := range late {
			s.written(b)
		}
	})
	<-passed
}

// ErrGone is what a node that has died is told.
var ErrGone = ubl.Errorf(ubl.CodeUnavailable, "the node is gone")

// Kill has the node be gone.
func (s *Store) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

// Gone reports whether the node is.
func (s *Store) Gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// Close ends the writer behind what is in its queue.
func (s *Store) Close() {
	s.put(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
	})
	<-s.done
}

// put queues work for the writer. Nothing is queued behind a close.
func (s *Store) put(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, work)
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *Store) write() {
	defer close(s.done)
	for range s.more {
		for {
			s.mu.Lock()
			queue := s.queue
			s.queue = nil
			s.mu.Unlock()
			if len(queue) == 0 {
				break
			}
			for _, work := range queue {
				work()
			}
		}
		if s.ended {
			return
		}
	}
}

// Begin implements [ubl.Store].
func (s *Store) Begin(ctx context.Context, g ubl.Group) (ubl.Lease, ubl.LedgerHead, error) {
	type grant struct {
		lease ubl.Lease
		head  ubl.LedgerHead
		err   error
	}
	granted := make(chan grant, 1) // whoever asked may have gone
	s.put(func() {
		if s.Gone() {
			granted <- grant{err: ErrGone}
			return
		}
		var to grant
		late := s.disk.begin(g, &to.lease, &to.head)
		for _, b := range late {
			s.written(b)
		}
		granted <- to
	})
	select {
	case to := <-granted:
		return to.lease, to.head, to.err
	case <-ctx.Done():
		return ubl.Lease{}, ubl.LedgerHead{}, ubl.AsError(ctx.Err())
	}
}

// begin grants a lease, behind all that was still to become durable.
func (d *Disk) begin(g ubl.Group, lease *ubl.Lease, head *ubl.LedgerHead) (late []*ubl.Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.group(g)
	late = x.settle()
	x.granted++
	x.lease = ubl.Lease{Generation: x.granted}
	*lease, *head = x.lease, x.head
	return late
}

// End implements [ubl.Store].
func (s *Store) End(g ubl.Group, lease ubl.Lease) {
	s.put(func() {
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		if x := s.disk.group(g); x.lease == lease {
			x.lease = ubl.Lease{}
		}
	})
}

// Submit implements [ubl.Store].
func (s *Store) Submit(b *ubl.Batch, settled func(error)) {
	s.put(func() {
		time.Sleep(s.opts.Delay)
		settled(s.commit(b))
	})
}

// commit writes a batch as its fate has it.
func (s *Store) commit(b *ubl.Batch) error {
	if s.Gone() {
		return ErrGone
	}
	written, fate, err := s.disk.commit(b, s.opts.Fate)
	if written {
		s.written(b)
	}
	if fate.Dies { // who goes on without it has been told of all that is durable
		s.Kill()
	}
	return err
}

func (d *Disk) commit(b *ubl.Batch, fates func(*ubl.Batch) Fate) (written bool, fate Fate, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.group(b.Group)
	if err := x.fits(b); err != nil {
		return false, fate, err
	}
	if fates != nil {
		fate = fates(b)
	}
	switch fate.When {
	case Now:
		x.apply(b)
	case Barrier:
		x.late = append(x.late, b)
	}
	return fate.When == Now, fate, fate.Err
}

func (s *Store) written(b *ubl.Batch) {
	if s.opts.Written != nil {
		s.opts.Written(b)
	}
}

// View implements [ubl.Reader].
func (s *Store) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	switch {
	case ctx.Err() != nil:
		return ubl.AsError(ctx.Err())
	case s.Gone():
		return ErrGone
	}
	return s.disk.View(ctx, g, fn)
}

// View implements [ubl.Reader] for who looks at the disk past the nodes.
func (d *Disk) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if reading := ubl.ReadingOf(ctx, g); reading != nil {
		return fn(d.frozenFor(reading, g))
	}
	return fn(d.group(g))
}

func (d *Disk) frozenFor(reading *ubl.Reading, g ubl.Group) *group {
	key := weak.Make(reading)
	x := d.frozen[key]
	if x == nil {
		x = d.group(g).freeze()
		d.frozen[key] = x
		runtime.AddCleanup(reading, d.forget, key)
	}
	return x
}

func (d *Disk) forget(reading weak.Pointer[ubl.Reading]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.frozen, reading)
}

// GroupsOf implements actors.Shelf: all groups are in one partition.
func (s *Store) GroupsOf(context.Context, int) ([]ubl.Group, error) {
	if s.Gone() {
		return nil, ErrGone
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.disk.groups), func(a, b ubl.Group) int {
		return slices.Compare([]string{string(a.Tenant), string(a.Shard)}, []string{string(b.Tenant), string(b.Shard)})
	}), nil
}

// Leads implements actors.Shelf.
func (s *Store) Leads(int) bool { return !s.Gone() }

// ErrLost is a fault that says nothing of what it has left, ErrFull one that knows.
var (
	ErrLost       = errors.New("the disk is gone")
	ErrFull error = ubl.Errorf(ubl.CodeUnavailable, "the disk is full; nothing was written")
)
