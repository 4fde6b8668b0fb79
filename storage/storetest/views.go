package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"ubl"
)

func isolation(t *testing.T, h Harness) {
	// Names that begin alike, or would if a separator were missing.
	groups := []ubl.Group{
		{Tenant: "t:a", Shard: "0"}, {Tenant: "t:a", Shard: "00"}, {Tenant: "t:a", Shard: "1"},
		{Tenant: "t:a0", Shard: "0"}, {Tenant: "t:a.", Shard: "0"}, {Tenant: "t:", Shard: "a"},
	}
	for i, g := range groups {
		b := begin(t, h.Store(), g).Batch(fmt.Sprint("atom of ", i))
		b.Records = []ubl.Record{record("b", "first"), record("r", fmt.Sprint(i)), record("\xff\xff", "last")}
		b.Counters = []ubl.Counter{counter("c1", 0, int64(i+1))}
		mustSubmit(t, h.Store(), b)
	}
	for i, g := range groups {
		s := stateOf(t, h.Store(), g, "c1")
		if s.Head.Seq != 1 || s.Atoms[0] != fmt.Sprint("atom of ", i) || s.Counters["c1"] != int64(i+1) || s.Records[0] != fmt.Sprint("r=", i) {
			t.Errorf("%v holds %v", g, s)
		}
		view(t, h.Store(), g, func(s ubl.Snapshot) error {
			up := keys(t, s.Ascend, "\x00", "\xff\xff\xff")
			down := keys(t, s.Descend, "\x00", "\xff\xff\xff")
			slices.Reverse(down)
			if len(up) < 3 || !slices.Equal(up, down) || !slices.Contains(up, "b") || up[len(up)-1] != "\xff\xff" {
				t.Errorf("%v: up %q, down reversed %q", g, up, down)
			}
			return nil
		})
	}
}

type scan func(from, to []byte, fn func(key, value []byte) bool) error

// keys lists a range, checking that the values belong to the keys.
func keys(t tb, scan scan, from, to string) []string {
	t.Helper()
	var list []string
	if err := scan([]byte(from), []byte(to), func(k, _ []byte) bool {
		list = append(list, string(k))
		return true
	}); err != nil {
		t.Fatalf("%v", err)
	}
	return list
}

func bounds(t *testing.T, h Harness) {
	g := group("bounds")
	b := begin(t, h.Store(), g).Batch("atom")
	for _, k := range []string{"r1", "r2", "r22", "r3", "r\xff", "s"} {
		b.Records = append(b.Records, record(k, "value of "+k))
	}
	mustSubmit(t, h.Store(), b)
	tests := []struct{ from, to, want string }{
		{"r", "s", "r1 r2 r22 r3 r\xff"},
		{"r1", "r3", "r1 r2 r22"},
		{"r10", "r3", "r2 r22"},
		{"r2", "r22", "r2"},
		{"r22", "r23", "r22"},
		{"r3", "r\xff", "r3"},
		{"r3", "r\xff\x00", "r3 r\xff"},
		{"s", "t", "s"},
		{"r2", "r2", ""},
		{"r3", "r1", ""},
		{"x", "z", ""},
		{"p", "q", ""},
	}
	view(t, h.Store(), g, func(s ubl.Snapshot) error {
		for _, test := range tests {
			want := strings.Fields(test.want)
			if have := keys(t, s.Ascend, test.from, test.to); !slices.Equal(have, want) {
				t.Errorf("Ascend(%q, %q) = %q, want %q", test.from, test.to, have, want)
			}
			slices.Reverse(want)
			if have := keys(t, s.Descend, test.from, test.to); !slices.Equal(have, want) {
				t.Errorf("Descend(%q, %q) = %q, want %q", test.from, test.to, have, want)
			}
		}
		return s.Descend([]byte("r"), []byte("s"), func(k, v []byte) bool {
			if string(v) != "value of "+string(k) {
				t.Errorf("%q has %q", k, v)
			}
			return true
		})
	})
}

func stops(t *testing.T, h Harness) {
	g := group("stops")
	b := begin(t, h.Store(), g).Batch("atom")
	b.Records = []ubl.Record{record("r1", ""), record("r2", ""), record("r3", "")}
	mustSubmit(t, h.Store(), b)
	view(t, h.Store(), g, func(s ubl.Snapshot) error {
		for _, scan := range []scan{s.Ascend, s.Descend} {
			n := 0
			if err := scan([]byte("r"), []byte("s"), func(_, _ []byte) bool { n++; return n < 2 }); err != nil {
				return err
			}
			if n != 2 {
				t.Errorf("visited %d keys after being told to stop at 2", n)
			}
		}
		return nil
	})
}

// viewsAreWhole reads while batches are written: counter, record and head must
// always be of the same batch, and never go back.
func viewsAreWhole(t *testing.T, h Harness) {
	store, g := h.Store(), group("views")
	w := begin(t, store, g)
	const last = 60
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for seen := int64(0); seen < last && !t.Failed(); {
				view(t, store, g, func(s ubl.Snapshot) error {
					head, err := s.Head()
					if err != nil {
						return err
					}
					n, err := s.Counter([]byte("c1"))
					if err != nil {
						return err
					}
					v, err := s.Get([]byte("r1"))
					if err != nil {
						return err
					}
					if head.Seq != 2*n || head.Seq > 0 && string(v) != fmt.Sprint(n) || n < seen {
						t.Errorf("head %d, counter %d, record %q, after %d", head.Seq, n, v, seen)
					}
					seen = n
					return nil
				})
			}
		})
	}
	for n := range int64(last) {
		b := w.Batch("action", "effect")
		b.Counters = []ubl.Counter{counter("c1", n, n+1)}
		b.Records = []ubl.Record{record("r1", fmt.Sprint(n+1))}
		mustSubmit(t, store, b)
	}
	readers.Wait()
}

func manyWriters(t *testing.T, h Harness) {
	store := h.Store()
	var writers sync.WaitGroup
	heads := make([]ubl.LedgerHead, 32)
	for i := range heads {
		writers.Go(func() {
			w := begin(t, store, group(fmt.Sprint("writer", i)))
			for n := range int64(20) {
				b := w.Batch("action", "effect")
				b.Counters = []ubl.Counter{counter("c1", n, n+1)}
				b.Records = []ubl.Record{record(fmt.Sprintf("r%03d", n), fmt.Sprint(i))}
				mustSubmit(t, store, b)
			}
			heads[i] = w.Head
		})
	}
	writers.Wait()
	for i, head := range heads {
		s := stateOf(t, store, group(fmt.Sprint("writer", i)), "c1")
		if s.Head != head || len(s.Atoms) != 40 || len(s.Records) != 20 || s.Counters["c1"] != 20 {
			t.Errorf("writer %d: %v", i, s)
		}
	}
}
