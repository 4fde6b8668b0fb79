package memstore_test

import (
	"context"
	"errors"
	"testing"

	"ubl"
	"ubl/storage/storetest"
	"ubl/test/memstore"
)

// node is a store of a disk, which is closed with the test.
type node struct {
	disk  *memstore.Disk
	store *memstore.Store
}

func (n *node) Store() ubl.Store { return n.store }

func (n *node) Reopen() error {
	n.store.Close()
	n.store = n.disk.Open(memstore.Options{})
	// A lease is of the store that was closed.
	for _, g := range must(n.store.GroupsOf(context.Background(), 0)) {
		if _, _, err := n.store.Begin(context.Background(), g); err != nil {
			return err
		}
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestStore: what tests break is a store like others.
func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		disk := memstore.NewDisk()
		n := &node{disk, disk.Open(memstore.Options{})}
		t.Cleanup(func() { n.store.Close() })
		return n
	})
}

// TestFates: a batch is durable at once, never, or at the next barrier, whatever was told; a
// node that has died writes and reads nothing, and another one goes on from what is durable.
func TestFates(t *testing.T) {
	g := ubl.Group{Tenant: "t:a", Shard: "0"}
	for what, test := range map[string]struct {
		fate           memstore.Fate
		before, behind string // what is read before and behind the next barrier
	}{
		"written":  {memstore.Fate{}, "new", "new"},
		"unknown":  {memstore.Fate{Err: memstore.ErrLost}, "new", "new"},
		"lost":     {memstore.Fate{When: memstore.Never, Err: memstore.ErrLost}, "old", "old"},
		"late":     {memstore.Fate{When: memstore.Barrier, Err: memstore.ErrLost}, "old", "new"},
		"died":     {memstore.Fate{When: memstore.Never, Err: memstore.ErrGone, Dies: true}, "old", "old"},
		"too late": {memstore.Fate{When: memstore.Barrier, Err: memstore.ErrGone, Dies: true}, "old", "new"},
	} {
		t.Run(what, func(t *testing.T) {
			disk := memstore.NewDisk()
			var fate memstore.Fate
			s := disk.Open(memstore.Options{Fate: func(*ubl.Batch) memstore.Fate { return fate }})
			defer s.Close()
			w, err := storetest.NewWriter(t.Context(), s, g)
			put := func(value string) error {
				b := w.Batch("atom")
				b.Records = []ubl.Record{{Key: []byte("r"), Value: []byte(value)}}
				settled := make(chan error, 1)
				s.Submit(b, func(err error) { settled <- err })
				return <-settled
			}
			err = errors.Join(err, put("old"))
			fate = test.fate
			if told := put("new"); err != nil || !errors.Is(told, test.fate.Err) {
				t.Fatalf("told is %v; %v", told, err)
			}
			read := func() (v string) {
				_ = disk.View(t.Context(), g, func(snap ubl.Snapshot) error {
					b, _ := snap.Get([]byte("r"))
					v = string(b)
					return nil
				})
				return v
			}
			if got := read(); got != test.before {
				t.Errorf("before the barrier there is %q, want %q", got, test.before)
			}
			if fate.Dies {
				_, _, err := s.Begin(t.Context(), g)
				if !errors.Is(err, memstore.ErrGone) || !errors.Is(put("dead"), memstore.ErrGone) || s.View(t.Context(), g, nil) == nil || s.Leads(0) {
					t.Errorf("a dead node goes on; %v", err)
				}
			}
			next := disk.Open(memstore.Options{})
			defer next.Close()
			if _, _, err := next.Begin(t.Context(), g); err != nil || read() != test.behind {
				t.Errorf("behind the barrier there is %q, want %q; %v", read(), test.behind, err)
			}
		})
	}
}

// TestReadingsStandStill: a reading sees what there was at its first view, for as long as it is used.
func TestReadingsStandStill(t *testing.T) {
	g := ubl.Group{Tenant: "t:a", Shard: "0"}
	disk := memstore.NewDisk()
	s := disk.Open(memstore.Options{})
	defer s.Close()
	w := must(storetest.NewWriter(t.Context(), s, g))
	head := func(ctx context.Context) (seq int64) {
		err := s.View(ctx, g, func(snap ubl.Snapshot) error {
			h, err := snap.Head()
			seq = h.Seq
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	reading := ubl.WithReading(t.Context(), g)
	for n := range int64(3) {
		if n > 0 {
			settled := make(chan error, 1)
			s.Submit(w.Batch("atom"), func(err error) { settled <- err })
			if err := <-settled; err != nil {
				t.Fatal(err)
			}
		}
		if head(reading) != 0 || head(t.Context()) != n || head(ubl.WithReading(t.Context(), g)) != n {
			t.Errorf("with %d atoms the reading sees %d, and others %d", n, head(reading), head(t.Context()))
		}
	}
}
