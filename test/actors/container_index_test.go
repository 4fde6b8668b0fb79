package actors_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// watched counts what a Searcher is told apart from searches.
type watched struct {
	ubl.Searcher
	mu    sync.Mutex
	ahead int
}

func (w *watched) CatchUp(ctx context.Context, of ubl.Name, changes ubl.DocumentChanges) error {
	return w.Searcher.CatchUp(ctx, of, func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		return changes(ctx, after, func(c ubl.DocumentChange) error {
			w.mu.Lock()
			w.ahead++
			w.mu.Unlock()
			return fn(c)
		})
	})
}

func (w *watched) told() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ahead
}

// TestDocumentsAreIndexedAheadOfASearch: a search finds the documents that were written
// before in the index, and so does one after a restart and one on a new disk.
func TestDocumentsAreIndexedAheadOfASearch(t *testing.T) {
	var w *watched
	h := harness.Open(t, harness.Options{Search: func(s ubl.Searcher) ubl.Searcher {
		w = &watched{Searcher: s}
		return w
	}})
	y := openYard(t, h)
	shelf := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	other := y.found("workspace", "Other", "")
	const many = 100
	for i := range many {
		y.write(shelf, "Title", fmt.Sprintf("word%d", i))
	}
	y.write(other, "Title", strings.Repeat("long ", 100_000))
	poll.Until(t, "all are indexed", func() bool { return w.told() == many+1 })
	hits := harness.Must[*ubl.DocumentHits](h, shelf, ubl.SearchDocuments{Request: h.Request(y.ana), DocumentQuery: ubl.DocumentQuery{Query: "word99"}})
	if len(hits.Documents) != 1 {
		t.Errorf("the newest document isn't found: %v", hits.Documents)
	}
	h.Restart() // on a new disk: the house's search is in another directory
	poll.Until(t, "all are indexed again", func() bool { return w.told() == many+1 })
}

// behind is a Searcher that has seen changes up to the first one only.
type behind struct{ ubl.Searcher }

func (b behind) Search(ctx context.Context, of ubl.Name, upTo ubl.Mark, changes ubl.DocumentChanges, q ubl.DocumentQuery, limit int) (ubl.DocumentsFound, error) {
	found, err := b.Searcher.Search(ctx, of, upTo, changes, q, limit)
	found.Behind, found.Reached = true, ubl.Mark{}
	_, _ = changes(ctx, ubl.Mark{}, func(c ubl.DocumentChange) error {
		found.Reached = c.Mark
		return errFirst
	})
	if q.Query == "another" {
		found.Reached.CID = "c:of-another-history"
	}
	return found, err
}

var errFirst = errors.New("one is enough")

// TestASearchSaysThatItIsBehind, and up to when its answer is complete.
func TestASearchSaysThatItIsBehind(t *testing.T) {
	h := harness.Open(t, harness.Options{Search: func(s ubl.Searcher) ubl.Searcher { return behind{s} }})
	y := openYard(t, h)
	shelf := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	look := func(query string) *ubl.DocumentHits {
		return harness.Must[*ubl.DocumentHits](h, shelf, ubl.SearchDocuments{Request: h.Request(y.ana), DocumentQuery: ubl.DocumentQuery{Query: query}})
	}
	if hits := look("word"); hits.Indexing == nil || hits.Indexing.CompleteUpTo != nil {
		t.Errorf("before any document it says %+v", hits.Indexing)
	}
	id := y.write(shelf, "Title", "word")
	first := harness.Must[*ubl.DocumentResult](h, shelf, ubl.GetDocument{Request: h.Request(y.ana), DocumentID: id}).Document
	y.write(shelf, "Title", "word")
	hits := look("word")
	if hits.Indexing == nil || hits.Indexing.CompleteUpTo == nil || *hits.Indexing.CompleteUpTo != first.UpdatedAt || len(hits.Documents) != 2 {
		t.Errorf("it says %+v of %d documents", hits.Indexing, len(hits.Documents))
	}
	if hits := look("another"); hits.Indexing == nil || hits.Indexing.CompleteUpTo != nil {
		t.Errorf("of another history it says %+v", hits.Indexing)
	}
}
