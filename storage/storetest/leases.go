package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"ubl"
)

func beginIsBarrier(t *testing.T, h Harness) {
	store, g := h.Store(), group("barrier")
	for round := range 20 {
		w := begin(t, store, g)
		var settled atomic.Int64
		for range 25 {
			store.Submit(w.Batch("atom"), func(error) { settled.Add(1) })
		}
		next := begin(t, store, g)
		if n := settled.Load(); n != 25 {
			t.Fatalf("round %d: Begin returned when %d of 25 batches were settled", round, n)
		}
		if next.Head != w.Head {
			t.Fatalf("round %d: Begin gave head %v, want %v", round, next.Head, w.Head)
		}
	}
}

func beginVoids(t *testing.T, h Harness) {
	store, g := h.Store(), group("void")
	first := begin(t, store, g)
	other := begin(t, store, group("other"))
	second := begin(t, store, g)
	if second.Lease.Generation <= first.Lease.Generation {
		t.Errorf("generations do not rise: %v, then %v", first.Lease, second.Lease)
	}
	if err := submit(t, store, first.Batch("late")); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a batch under a voided lease settled with %v", err)
	}
	mustSubmit(t, store, second.Batch("now"))
	mustSubmit(t, store, other.Batch("a lease of another group is not touched"))
}

func endGivesBack(t *testing.T, h Harness) {
	store, g := h.Store(), group("end")
	w := begin(t, store, g)
	mustSubmit(t, store, w.Batch("before"))
	store.End(g, w.Lease)
	if err := submit(t, store, w.Batch("after")); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a batch under a lease given back settled with %v", err)
	}
	next := begin(t, store, g)
	if next.Lease == w.Lease {
		t.Errorf("the lease given back was granted again: %v", next.Lease)
	}
	store.End(g, w.Lease) // late, and no business of the newer one
	mustSubmit(t, store, next.Batch("under the newer lease"))
}

func reopened(t *testing.T, h Harness) {
	var want []state
	for i := range 5 {
		w := begin(t, h.Store(), group(fmt.Sprint("reopen", i)))
		for n := range int64(4) {
			b := w.Batch("action", "effect")
			b.Counters = []ubl.Counter{counter("c1", n, n+1)}
			b.Records = []ubl.Record{record(fmt.Sprint("r", n), "value")}
			mustSubmit(t, h.Store(), b)
		}
		want = append(want, stateOf(t, h.Store(), w.Group, "c1"))
	}
	for range 2 {
		if err := h.Reopen(); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if have := stateOf(t, h.Store(), group(fmt.Sprint("reopen", i)), "c1"); !equal(have, want[i]) {
				t.Errorf("have %v\nwant %v", have, want[i])
			}
		}
	}
	w := begin(t, h.Store(), group("reopen0"))
	if w.Head != want[0].Head {
		t.Errorf("Begin gave head %v, want %v", w.Head, want[0].Head)
	}
	mustSubmit(t, h.Store(), w.Batch("goes on"))
}

func leaseOverReopen(t *testing.T, h Harness) {
	w := begin(t, h.Store(), group("lease"))
	mustSubmit(t, h.Store(), w.Batch("atom"))
	if err := h.Reopen(); err != nil {
		t.Fatal(err)
	}
	if err := submit(t, h.Store(), w.Batch("late")); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a lease of the closed store: settled with %v, want a conflict", err)
	}
}

func viewError(t *testing.T, h Harness) {
	mine := errors.New("mine")
	err := h.Store().View(context.Background(), group("error"), func(ubl.Snapshot) error { return mine })
	if !errors.Is(err, mine) {
		t.Errorf("View returned %v", err)
	}
}

func endedContext(t *testing.T, h Harness) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g := group("ended")
	err := h.Store().View(ctx, g, func(ubl.Snapshot) error { return nil })
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("View returned %v, want unavailable", err)
	}
	// Begin may win the race against its context; if it does not, it says so.
	if _, _, err := h.Store().Begin(ctx, g); err != nil && ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("Begin returned %v, want unavailable", err)
	}
	mustSubmit(t, h.Store(), begin(t, h.Store(), g).Batch("the group works"))
}
