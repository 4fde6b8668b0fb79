package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"

	"ubl"
)

// maxOpen is how many containers' indexes are open at once.
const maxOpen = 64

// Index finds documents of all containers. It implements [ubl.Searcher].
type Index struct {
	dir string
	log *slog.Logger

	mu     sync.Mutex
	closed bool
	books  map[ubl.Name]*book
	recent []*book // least recently used first
}

// Open keeps indexes in a directory, which it makes where it is missing. Nobody
// else may use it. A nil log is none.
func Open(dir string, log *slog.Logger) (*Index, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("couldn't make the directory of search: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Index{dir: dir, log: log, books: make(map[ubl.Name]*book)}, nil
}

// Search implements [ubl.Searcher].
func (x *Index) Search(ctx context.Context, of ubl.Name, upTo ubl.Mark, changes ubl.DocumentChanges, q string, limit int) ([]ubl.DocumentMatch, error) {
	terms := parse(q)
	b, err := x.take(of)
	if err != nil {
		return nil, err
	}
	defer x.give(b)
	matches, err := b.search(ctx, upTo, changes, terms, limit)
	if ctx.Err() != nil {
		return nil, ubl.AsError(ctx.Err())
	}
	if source := (*sourceError)(nil); err == nil || errors.As(err, &source) {
		return matches, err
	}
	x.log.Warn("a search index is made anew", "actor", of, "error", err)
	b.discard()
	if matches, err = b.search(ctx, upTo, changes, terms, limit); err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the documents can't be searched now").Because(err)
	}
	return matches, nil
}

// take finds a container's book, and makes room for it.
func (x *Index) take(of ubl.Name) (*book, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the server is stopping")
	}
	b := x.books[of]
	if b == nil {
		b = &book{of: of, path: filepath.Join(x.dir, folder(of))}
		x.books[of] = b
	}
	b.users++
	x.touch(b)
	return b, nil
}

// touch makes a book the most recent one and closes the oldest that nobody uses
// where there are too many. Call with mu held.
func (x *Index) touch(b *book) {
	for i, other := range x.recent {
		if other == b {
			x.recent = append(x.recent[:i], x.recent[i+1:]...)
			break
		}
	}
	x.recent = append(x.recent, b)
	for i := 0; len(x.recent) > maxOpen && i < len(x.recent); i++ {
		if old := x.recent[i]; old.users == 0 {
			old.close()
			delete(x.books, old.of)
			x.recent = append(x.recent[:i], x.recent[i+1:]...)
			i--
		}
	}
}

func (x *Index) give(b *book) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b.users--
	if x.closed && b.users == 0 {
		b.close()
	}
}

// Close closes all indexes; those that are being searched, when that is done.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, b := range x.books {
		if b.users == 0 {
			b.close()
		}
	}
}

// find looks terms up in an index.
func find(ctx context.Context, index bleve.Index, terms []term, limit int) ([]ubl.DocumentMatch, error) {
	if len(terms) == 0 || limit < 1 {
		return []ubl.DocumentMatch{}, nil
	}
	req := bleve.NewSearchRequestOptions(build(terms), limit, 0, false)
	req.SortBy([]string{"-_score", "_id"})
	req.Fields = []string{fieldText}
	res, err := index.SearchInContext(ctx, req)
	if err != nil {
		return nil, err
	}
	out := make([]ubl.DocumentMatch, len(res.Hits))
	for i, hit := range res.Hits {
		out[i] = match(hit, terms)
	}
	return out, nil
}

func match(hit *search.DocumentMatch, terms []term) ubl.DocumentMatch {
	text, _ := hit.Fields[fieldText].(string)
	return ubl.DocumentMatch{
		DocumentID: ubl.DocumentID(hit.ID), Score: int64(math.Round(1000 * hit.Score)), Snippet: snippet(text, terms),
	}
}
