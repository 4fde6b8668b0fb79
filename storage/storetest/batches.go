package storetest

import (
	"fmt"
	"slices"
	"testing"

	"ubl"
)

func emptyGroup(t *testing.T, h Harness) {
	g := group("empty")
	w := begin(t, h.Store(), g)
	if w.Head != (ubl.LedgerHead{Seq: 0, HeadHash: ubl.Genesis}) {
		t.Errorf("Begin gave head %v, want seq 0 and genesis", w.Head)
	}
	view(t, h.Store(), g, func(s ubl.Snapshot) error {
		head, err := s.Head()
		if err != nil || head != w.Head {
			t.Errorf("Head = %v, %v", head, err)
		}
		if v, err := s.Get([]byte("r1")); v != nil || err != nil {
			t.Errorf("Get = %q, %v; want nil", v, err)
		}
		if n, err := s.Counter([]byte("c1")); n != 0 || err != nil {
			t.Errorf("Counter = %d, %v; want 0", n, err)
		}
		for _, seq := range []int64{-1, 0, 1} {
			if a, err := s.Atom(seq); a != nil || err != nil {
				t.Errorf("Atom(%d) = %q, %v; want nil", seq, a, err)
			}
		}
		return s.Ascend([]byte("b"), []byte("z"), func(k, _ []byte) bool {
			t.Errorf("Ascend found %q", k)
			return true
		})
	})
}

func wholeBatch(t *testing.T, h Harness) {
	g := group("whole")
	w := begin(t, h.Store(), g)
	b := w.Batch("action 1", "effect 1")
	b.Counters = []ubl.Counter{counter("c1", 0, 7), counter("c2", 0, -1)}
	b.Records = []ubl.Record{record("r1", "one"), record("r2", ""), record("r3", "three")}
	mustSubmit(t, h.Store(), b)

	b = w.Batch("action 3")
	b.Counters = []ubl.Counter{counter("c1", 7, 8)}
	b.Records = []ubl.Record{record("r1", "uno"), {Key: []byte("r3")}, {Key: []byte("r9")}}
	mustSubmit(t, h.Store(), b)

	want := state{
		Head: w.Head, Atoms: []string{"action 1", "effect 1", "action 3"},
		Counters: map[string]int64{"c1": 8, "c2": -1}, Records: []string{"r1=uno", "r2="},
	}
	if have := stateOf(t, h.Store(), g, "c1", "c2"); !equal(have, want) {
		t.Errorf("have %v\nwant %v", have, want)
	}
	view(t, h.Store(), g, func(s ubl.Snapshot) error {
		if v, err := s.Get([]byte("r2")); v == nil || len(v) != 0 || err != nil {
			t.Errorf("an empty value is %q, %v; want empty and not nil", v, err)
		}
		if v, err := s.Get([]byte("r3")); v != nil || err != nil {
			t.Errorf("a deleted value is %q, %v", v, err)
		}
		return nil
	})
}

func refusals(t *testing.T, h Harness) {
	store, g := h.Store(), group("refusals")
	stale := begin(t, store, g).Lease
	w := begin(t, store, g)
	b := w.Batch("first")
	b.Counters = []ubl.Counter{counter("c1", 0, 5)}
	b.Records = []ubl.Record{record("r1", "kept")}
	mustSubmit(t, store, b)
	before := stateOf(t, store, g, "c1", "c2")

	tests := []struct {
		name  string
		spoil func(b *ubl.Batch)
	}{
		{"no lease", func(b *ubl.Batch) { b.Lease = ubl.Lease{} }},
		{"an earlier lease", func(b *ubl.Batch) { b.Lease = stale }},
		{"a lease not yet granted", func(b *ubl.Batch) { b.Lease.Generation++ }},
		{"a lease of another epoch", func(b *ubl.Batch) { b.Lease.Epoch++ }},
		{"an earlier head", func(b *ubl.Batch) { b.Head.Seq--; b.Next.Seq-- }},
		{"a later head", func(b *ubl.Batch) { b.Head.Seq++; b.Next.Seq++ }},
		{"another head at the same seq", func(b *ubl.Batch) { b.Head.HeadHash = ubl.NextHead(ubl.Genesis, "c:other") }},
		{"a counter's old value", func(b *ubl.Batch) { b.Counters[0].From = 4 }},
		{"a counter never written", func(b *ubl.Batch) { b.Counters = append(b.Counters, counter("c2", 1, 2)) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			head := w.Head
			b := w.Batch("second")
			w.Head = head
			b.Counters = []ubl.Counter{counter("c1", 5, 6)}
			b.Records = []ubl.Record{{Key: []byte("r1")}, record("r2", "new")}
			test.spoil(b)
			if err := submit(t, store, b); ubl.CodeOf(err) != ubl.CodeConflict {
				t.Errorf("settled with %v, want a conflict", err)
			}
			if after := stateOf(t, store, g, "c1", "c2"); !equal(before, after) {
				t.Errorf("the refused batch changed the group:\nbefore %v\nafter  %v", before, after)
			}
		})
	}
	b = w.Batch("second")
	b.Counters = []ubl.Counter{counter("c1", 5, 6)}
	mustSubmit(t, store, b)
}

func refusedAlone(t *testing.T, h Harness) {
	store, g := h.Store(), group("alone")
	w := begin(t, store, g)
	var results []chan error
	for i := range 30 {
		head := w.Head
		b := w.Batch(fmt.Sprint("atom ", i))
		b.Records = []ubl.Record{record(fmt.Sprintf("r%02d", i), "x")}
		if i%3 == 1 {
			b.Counters = []ubl.Counter{counter("c1", 99, 100)}
			w.Head = head
		}
		done := make(chan error, 1)
		results = append(results, done)
		store.Submit(b, func(err error) { done <- err })
	}
	for i, done := range results {
		err := receive(t, done)
		if refused := i%3 == 1; refused != (ubl.CodeOf(err) == ubl.CodeConflict) || !refused && err != nil {
			t.Errorf("batch %d settled with %v", i, err)
		}
	}
	if s := stateOf(t, store, g); len(s.Atoms) != 20 || len(s.Records) != 20 || s.Head != w.Head {
		t.Errorf("have %v", s)
	}
}

func chained(t *testing.T, h Harness) {
	store, g := h.Store(), group("chained")
	w := begin(t, store, g)
	done := make(chan error, 100)
	for i := range int64(100) {
		b := w.Batch(fmt.Sprint("atom ", i))
		b.Counters = []ubl.Counter{counter("c1", i, i+1)}
		b.Records = []ubl.Record{record("r1", fmt.Sprint(i))}
		store.Submit(b, func(err error) { done <- err })
	}
	for range 100 {
		if err := receive(t, done); err != nil {
			t.Fatal(err)
		}
	}
	s := stateOf(t, store, g, "c1")
	if s.Head.Seq != 100 || s.Counters["c1"] != 100 || !slices.Equal(s.Records, []string{"r1=99"}) {
		t.Errorf("have %v", s)
	}
}

func settledInOrder(t *testing.T, h Harness) {
	store, g := h.Store(), group("order")
	w := begin(t, store, g)
	order := make(chan int, 300)
	for i := range 300 {
		b := w.Batch("atom")
		if i%7 == 3 {
			b.Lease = ubl.Lease{} // refused, and still in its place
			w.Head = b.Head
		}
		store.Submit(b, func(error) { order <- i })
	}
	for want := range 300 {
		if have := receive(t, order); have != want {
			t.Fatalf("batch %d settled where %d should have", have, want)
		}
	}
}
