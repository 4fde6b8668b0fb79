// Package storetest is what every [ubl.Store] must pass: the contract of the
// root package's store.go as tests. The engine of one node and the replicated
// store run the same suite.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Harness { … })
//	}
package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"ubl"
)

// Harness is a store under test over data of its own.
type Harness interface {
	// Store is the open store.
	Store() ubl.Store
	// Reopen closes the store cleanly and opens it over the same data; Store is
	// the new one afterwards.
	Reopen() error
}

// Run runs the suite. open makes an empty store for one test and cleans up
// after it (t.Cleanup).
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"an empty group", emptyGroup},
		{"a batch is written whole", wholeBatch},
		{"a refused batch changes nothing", refusals},
		{"a refusal concerns one batch alone", refusedAlone},
		{"a batch sees the ones submitted before it", chained},
		{"settled in the order of submission", settledInOrder},
		{"groups do not see each other", isolation},
		{"Begin is a barrier", beginIsBarrier},
		{"Begin voids earlier leases", beginVoids},
		{"End gives a lease back", endGivesBack},
		{"what is settled survives reopening", reopened},
		{"leases end with the store", leaseOverReopen},
		{"bounds of Ascend and Descend", bounds},
		{"Ascend and Descend stop when told", stops},
		{"a view never sees half a batch", viewsAreWhole},
		{"a view's error comes back", viewError},
		{"an ended context", endedContext},
		{"many writers", manyWriters},
		{"random histories", randomHistories},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// patience bounds every wait: a store that hangs fails its test.
const patience = 30 * time.Second

// tb is what both testing.T and rapid.T offer.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func group(name string) ubl.Group {
	return ubl.Group{Tenant: ubl.TenantID("t:" + name), Shard: ubl.DefaultShard}
}

// Writer submits to one group as its ledger would: it knows the lease and the
// head that the next batch builds on. It is for one goroutine.
type Writer struct {
	Group ubl.Group
	Lease ubl.Lease
	Head  ubl.LedgerHead
	store ubl.Store
}

// NewWriter begins a group.
func NewWriter(ctx context.Context, store ubl.Store, g ubl.Group) (*Writer, error) {
	lease, head, err := store.Begin(ctx, g)
	return &Writer{Group: g, Lease: lease, Head: head, store: store}, err
}

// Batch is the next batch, with as many atoms as given; the writer's head moves
// behind it at once.
func (w *Writer) Batch(atoms ...string) *ubl.Batch {
	b := &ubl.Batch{Group: w.Group, Lease: w.Lease, Head: w.Head, Next: w.Head}
	for _, a := range atoms {
		b.Atoms = append(b.Atoms, []byte(a))
		b.Next = ubl.LedgerHead{Seq: b.Next.Seq + 1, HeadHash: ubl.NextHead(b.Next.HeadHash, ubl.CID([]byte(a)))}
	}
	w.Head = b.Next
	return b
}

func begin(t tb, store ubl.Store, g ubl.Group) *Writer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w, err := NewWriter(ctx, store, g)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	return w
}

// submit submits and waits.
func submit(t tb, store ubl.Store, b *ubl.Batch) error {
	t.Helper()
	done := make(chan error, 1)
	store.Submit(b, func(err error) { done <- err })
	return receive(t, done)
}

func mustSubmit(t tb, store ubl.Store, b *ubl.Batch) {
	t.Helper()
	if err := submit(t, store, b); err != nil {
		t.Fatalf("a good batch settled with: %v", err)
	}
}

func receive[T any](t tb, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("nothing came in %v", patience)
		panic("unreachable")
	}
}

func view(t tb, store ubl.Store, g ubl.Group, fn func(s ubl.Snapshot) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := store.View(ctx, g, fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}

// state is all that a group holds, in the spaces that this suite uses: counters
// under "c", records under "r".
type state struct {
	Head     ubl.LedgerHead
	Atoms    []string
	Counters map[string]int64
	Records  []string // "key=value" in order
}

func (s state) String() string {
	type plain state // without this method, which would call itself
	return fmt.Sprintf("%+v", plain(s))
}

// stateOf reads a group; counters are those named.
func stateOf(t tb, store ubl.Store, g ubl.Group, counters ...string) state {
	t.Helper()
	s := state{Counters: map[string]int64{}}
	view(t, store, g, func(snap ubl.Snapshot) (err error) {
		if s.Head, err = snap.Head(); err != nil {
			return err
		}
		for seq := int64(1); ; seq++ {
			atom, err := snap.Atom(seq)
			if err != nil {
				return err
			}
			if atom == nil {
				break
			}
			s.Atoms = append(s.Atoms, string(atom))
		}
		for _, key := range counters {
			if s.Counters[key], err = snap.Counter([]byte(key)); err != nil {
				return err
			}
		}
		return snap.Ascend([]byte("r"), []byte("s"), func(k, v []byte) bool {
			s.Records = append(s.Records, string(k)+"="+string(v))
			return true
		})
	})
	return s
}

func equal(a, b state) bool {
	if a.Head != b.Head || !slices.Equal(a.Atoms, b.Atoms) || !slices.Equal(a.Records, b.Records) {
		return false
	}
	for key := range a.Counters {
		if a.Counters[key] != b.Counters[key] {
			return false
		}
	}
	return true
}

func record(key, value string) ubl.Record {
	return ubl.Record{Key: []byte(key), Value: []byte(value)}
}

func counter(key string, from, to int64) ubl.Counter {
	return ubl.Counter{Key: []byte(key), From: from, To: to}
}
