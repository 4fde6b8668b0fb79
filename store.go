package ubl

import (
	"context"
	"sync/atomic"
)

// Batch is everything one decision writes, applied whole or not at all. It is
// plain data: a replicated store ships it to its peers as it is.
//
// Keys are relative to the group; no batch can reach another group's keys. The
// first byte of a key is its space: 'a' and 'h' belong to the store (atoms,
// head), each family documents the ones it uses.
type Batch struct {
	Group Group
	// Lease is what [Store.Begin] granted; a batch under an older one is refused.
	Lease Lease
	// Head is the ledger's head that the batch was built on.
	Head LedgerHead
	// Atoms are appended at Head.Seq+1 and on; Next is the head after them.
	Atoms [][]byte
	Next  LedgerHead
	// Counters move from the value they are expected to have.
	Counters []Counter
	// Records are put, or deleted where Value is nil.
	Records []Record
}

// Size is about how many bytes the batch adds.
func (b *Batch) Size() int {
	n := 128
	for _, a := range b.Atoms {
		n += len(a) + 32
	}
	for _, r := range b.Records {
		n += len(r.Key) + len(r.Value) + 32
	}
	return n + 32*len(b.Counters)
}

// Record is a key and its value; a nil Value deletes.
type Record struct {
	Key, Value []byte
}

// Counter is a number that moves by compare-and-set. A counter never written
// is 0.
type Counter struct {
	Key      []byte
	From, To int64
}

// Numbers describes keys that end in a number, which rises by one from key to key:
// the space, a name where there are several runs, a zero byte, and the number as 8
// bytes big-endian. A store can then tell that one is missing.
type Numbers struct {
	Space byte
	// Counter is how the key of the run's counter begins; the name follows, if any.
	Counter string
	Named   bool
	// FromOne: the oldest are never removed.
	FromOne bool
	// Fixed: a record is never changed, though it may be removed, or rewritten into a form that
	// begins with as many bytes Rewritten as it was rewritten times, 0 for none.
	Fixed     bool
	Rewritten byte
}

// Lease is the right to write to a group: its generation tells one loading of
// the group from every other, its epoch is the leadership under which it was (0
// on a single node). Only the newest lease can commit.
type Lease struct {
	Generation, Epoch int64
}

// Store keeps groups durably. Implementations: storage.Engine on one node, the
// replicated store in a cluster; storage/storetest is the suite that both pass.
type Store interface {
	Reader

	// Begin waits until everything submitted for the group under earlier leases
	// is settled, voids those leases, and grants a new one with the durable head.
	Begin(ctx context.Context, g Group) (Lease, LedgerHead, error)

	// End gives a lease back once nothing is in flight under it, so that a store
	// need not remember every group that was ever opened. It doesn't wait.
	End(g Group, lease Lease)

	// Submit queues a batch and returns at once. settled is called exactly once,
	// from one goroutine a partition and in the order of submission: with nil
	// once the batch is durable; with a conflict [Error] when lease, head or a
	// counter is not what the batch expects (nothing was written); with
	// unavailable when the write failed (on a full disk nothing was written;
	// after any other failure the partition of a node alone stays closed until a
	// restart; a replica comes back by itself). It
	// must not block. Batches of one group are applied in the order of Submit.
	Submit(b *Batch, settled func(error))
}

// Reader reads what is durable.
type Reader interface {
	// View runs fn over a consistent snapshot of the group. View returns only
	// after everything fn could see is durable. Slices handed to fn are valid
	// inside it only. fn must be quick: a long view makes the file grow. It sees what was
	// written before it was asked for, or before its [Reading] began.
	View(ctx context.Context, g Group, fn func(Snapshot) error) error
}

// Snapshot is a consistent view of one group's keys.
type Snapshot interface {
	// Get is the value of a key, nil if absent, an error if it is damaged.
	Get(key []byte) ([]byte, error)
	// Counter is the value of a counter, 0 if never written.
	Counter(key []byte) (int64, error)
	// Atom is the atom at seq, nil if there is none.
	Atom(seq int64) ([]byte, error)
	// Head is the ledger's head.
	Head() (LedgerHead, error)
	// Ascend and Descend call fn for each key with from ≤ key < to, in order or
	// backwards, until fn returns false.
	Ascend(from, to []byte, fn func(key, value []byte) bool) error
	Descend(from, to []byte, fn func(key, value []byte) bool) error
}

// Reading is a run of views of one group that belong together. Each sees what was written
// before the first began, and perhaps more. So only the first has a store put into place
// what is being written meanwhile, for which those who write wait. It is for reading what
// nobody changes, as the actor that is being loaded, or what has happened long ago.
type Reading struct {
	group Group
	begun atomic.Bool
}

type readingKey struct{}

// WithReading begins a reading: the views of a group that have the context.
func WithReading(ctx context.Context, g Group) context.Context {
	return context.WithValue(ctx, readingKey{}, &Reading{group: g})
}

// ReadingOf is the reading that a view of a group belongs to, nil for none.
func ReadingOf(ctx context.Context, g Group) *Reading {
	if r, ok := ctx.Value(readingKey{}).(*Reading); ok && r.group == g {
		return r
	}
	return nil
}

// Begun reports whether the reading has had a view.
func (r *Reading) Begun() bool { return r != nil && r.begun.Load() }

// Begin notes that it has had one.
func (r *Reading) Begin() {
	if r != nil {
		r.begun.Store(true)
	}
}
