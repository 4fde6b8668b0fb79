package actors_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// watched counts what a Searcher is told apart from searches.
type watched struct {
	ubl.Searcher
	mu    sync.Mutex
	ahead int // documents told for searches of nothing
}

func (w *watched) Search(ctx context.Context, of ubl.Name, upTo ubl.Mark, changes ubl.DocumentChanges, query string, limit int) ([]ubl.DocumentMatch, error) {
	counted := func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		return changes(ctx, after, func(c ubl.DocumentChange) error {
			if limit == 0 {
				w.mu.Lock()
				w.ahead++
				w.mu.Unlock()
			}
			return fn(c)
		})
	}
	return w.Searcher.Search(ctx, of, upTo, counted, query, limit)
}

func (w *watched) told() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ahead
}

// TestDocumentsAreIndexedAheadOfASearch: whoever writes many documents before
// anyone looks for one doesn't leave all the work to the first who does.
func TestDocumentsAreIndexedAheadOfASearch(t *testing.T) {
	var w *watched
	h := harness.Open(t, harness.Options{Search: func(s ubl.Searcher) ubl.Searcher {
		w = &watched{Searcher: s}
		return w
	}})
	y := openYard(t, h)
	shelf := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	const many = 600
	for i := range many {
		y.write(shelf, "Title", fmt.Sprintf("word%d", i))
	}
	eventually(t, "a third of the documents is indexed", func() bool { return w.told() >= many/3 })
	hits := harness.Must[*ubl.DocumentHits](h, shelf, ubl.SearchDocuments{Request: h.Request(y.ana), Query: "word599"})
	if len(hits.Documents) != 1 {
		t.Errorf("the newest document isn't found: %v", hits.Documents)
	}
}
