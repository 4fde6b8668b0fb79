package search_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ubl"
	"ubl/search"
)

// TestASearchBehindItsIndex: a search that the index is not ready for finds what has
// been taken in, and says how far that is; the rest is taken in behind it.
func TestASearchBehindItsIndex(t *testing.T) {
	x, err := search.Open(t.TempDir(), &search.Options{Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	h := &history{}
	const batch = 2000
	for n := range batch + 1 {
		h.put(fmt.Sprint("d:", n), "Title", "word")
	}
	held, reached := make(chan struct{}), make(chan struct{})
	slow := func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		return h.tell(ctx, after, func(c ubl.DocumentChange) error {
			if c.N == batch+1 {
				close(reached)
				<-held
			}
			return fn(c)
		})
	}
	look := func() ubl.DocumentsFound {
		t.Helper()
		found, err := x.Search(t.Context(), shelf, ubl.Mark{N: batch + 1, CID: fmt.Sprint("c:-", batch+1)}, slow, "word", 3000)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := look(); !found.Behind { // the first batch may be on its way
		t.Error("the search doesn't say that it is behind")
	}
	<-reached
	found := look()
	if !found.Behind || found.Reached.N != batch || found.Reached.CID != fmt.Sprint("c:-", batch) || len(found.Matches) != batch {
		t.Errorf("found %d documents, behind %v, complete up to %+v", len(found.Matches), found.Behind, found.Reached)
	}
	close(held)
	if err := x.CatchUp(t.Context(), shelf, h.tell); err != nil {
		t.Fatal(err)
	}
	if found = look(); found.Behind || len(found.Matches) != batch+1 {
		t.Errorf("later it finds %d, behind %v", len(found.Matches), found.Behind)
	}
	if h.told != batch+1 {
		t.Errorf("%d changes were told", h.told)
	}
}

// TestACallerThatGoes doesn't wait for the index, and the index doesn't wait for them.
func TestACallerThatGoes(t *testing.T) {
	x, h := open(t, t.TempDir()), &history{}
	h.put("d:a", "Apples", "red")
	held := make(chan struct{})
	slow := func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		<-held
		return h.tell(ctx, after, fn)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := x.Search(ctx, shelf, h.head(), slow, "red", 10); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("it ended with %v", err)
	}
	close(held)
	expect(t, h, x, "red", "a")
	if h.told != 1 {
		t.Errorf("%d changes were told", h.told)
	}
}
