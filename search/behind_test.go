package search_test

import (
	"context"
	"fmt"
	"strings"
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
		found, err := x.Search(t.Context(), shelf, ubl.Mark{N: batch + 1, CID: fmt.Sprint("c:-", batch+1)}, slow, ubl.DocumentQuery{Query: "word"}, 3000)
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

// TestACallerInAHurry is told what there is before its time is over, however patient searches are.
func TestACallerInAHurry(t *testing.T) {
	x, h := open(t, t.TempDir()), &history{}
	h.put("d:a", "Apples", "red")
	expect(t, h, x, "red", "a")
	h.put("d:b", "Plums", "red")
	held := make(chan struct{})
	slow := func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		<-held
		return h.tell(ctx, after, fn)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	found, err := x.Search(ctx, shelf, h.head(), slow, ubl.DocumentQuery{Query: "red"}, 10)
	if err != nil || !found.Behind || len(found.Matches) != 1 {
		t.Errorf("found %d documents, behind %v: %v", len(found.Matches), found.Behind, err)
	}
	close(held)
	expect(t, h, x, "red", "a b")
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
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
	if _, err := x.Search(ctx, shelf, h.head(), slow, ubl.DocumentQuery{Query: "red"}, 10); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("it ended with %v", err)
	}
	close(held)
	expect(t, h, x, "red", "a")
	if h.told != 1 {
		t.Errorf("%d changes were told", h.told)
	}
}

// TestAnEventOfManyDocuments: the documents that one event changed are indexed batch by batch. Only
// with the last of them does the index count the event as seen; if it is stopped before, it starts
// the event again.
func TestAnEventOfManyDocuments(t *testing.T) {
	dir := t.TempDir()
	x, err := search.Open(dir, &search.Options{Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	text := "word " + strings.Repeat("long ", 100_000)
	event := ubl.Mark{N: 1, CID: "c:1"}
	held, reached := make(chan struct{}), make(chan struct{})
	tell := func(stop bool) ubl.DocumentChanges {
		return func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
			for i, mark := range []ubl.Mark{after, after, event} {
				if stop && mark == event {
					close(reached)
					<-held
					return true, context.Canceled
				}
				if err := fn(ubl.DocumentChange{Mark: mark, DocumentID: ubl.DocumentID(fmt.Sprint("d:", i)), Title: "Title", Content: text}); err != nil {
					return true, err
				}
			}
			return true, nil
		}
	}
	look := func(x *search.Index, changes ubl.DocumentChanges) ubl.DocumentsFound {
		t.Helper()
		found, err := x.Search(t.Context(), shelf, event, changes, ubl.DocumentQuery{Query: "word"}, 10)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	look(x, tell(true))
	<-reached
	if found := look(x, tell(true)); !found.Behind || found.Reached != (ubl.Mark{}) || len(found.Matches) != 2 {
		t.Errorf("in the middle %d are found, behind %v, complete up to %+v", len(found.Matches), found.Behind, found.Reached)
	}
	close(held)
	x.Close()
	y := open(t, dir)
	defer y.Close()
	if found := look(y, tell(false)); found.Behind || found.Reached != event || len(found.Matches) != 3 {
		t.Errorf("in the end %d are found, behind %v, complete up to %+v", len(found.Matches), found.Behind, found.Reached)
	}
}
