package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2"
	zapx "github.com/blevesearch/zapx/v16"

	"ubl"
	"ubl/panics"
	"ubl/turns"
)

// maxOpen is how many containers' indexes are open at once.
const maxOpen = 64

// Index finds documents of all containers. It implements [ubl.Searcher].
type Index struct {
	dir      string
	log      *slog.Logger
	panics   *panics.Catcher
	patience time.Duration
	restless bool
	written  func() int64
	finds    *turns.Turns // of searches that look things up
	batches  lock         // of books that are written

	// ctx ends with Close, and the errands with it.
	ctx     context.Context
	cancel  context.CancelFunc
	errands sync.WaitGroup

	mu     sync.Mutex
	closed bool
	books  map[ubl.Name]*book
	recent []*book // least recently used first

	thrown atomic.Int64 // indexes of messages that were thrown away
}

// Options may be left nil, which means the zero Options.
type Options struct {
	Log    *slog.Logger    // nothing is logged
	Panics *panics.Catcher // catches what panics while documents are indexed
	// Patience is how long a search waits for an index that is behind (5 s).
	Patience time.Duration
	// Written is how much this node has written since its start; nil for nothing.
	Written func() int64
	// Restless has messages indexed without a rest, as where nobody sends meanwhile.
	Restless bool
}

// Open keeps indexes in a directory, which it makes where it is missing. Nobody
// else may use it.
func Open(dir string, o *Options) (*Index, error) {
	if o == nil {
		o = &Options{}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("couldn't make the directory of search: %w", err)
	}
	smallBuffers()
	x := &Index{
		dir: dir, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), panics: o.Panics, patience: cmp.Or(o.Patience, usualPatience), restless: o.Restless, written: o.Written,
		finds: turns.New(maxFinds, tenantFinds), batches: newLock(), books: make(map[ubl.Name]*book),
	}
	if x.written == nil {
		x.written = func() int64 { return 0 }
	}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x, nil
}

// smallBuffers keeps bleve from setting aside room for a hundred documents more than
// a batch has: of large ones that is hundreds of megabytes.
var smallBuffers = sync.OnceFunc(func() { zapx.NewSegmentBufferNumResultsBump = 1 })

// Search implements [ubl.Searcher].
func (x *Index) Search(ctx context.Context, of ubl.Name, upTo ubl.Mark, changes ubl.DocumentChanges, q ubl.DocumentQuery, limit int) (ubl.DocumentsFound, error) {
	asked := questionOf(q)
	b, err := x.take(of)
	if err != nil {
		return ubl.DocumentsFound{}, err
	}
	defer x.give(b)
	found, met, err := x.look(ctx, b, upTo, changes, &asked, limit)
	if err = final(ctx, err); err == nil || isFinal(err) {
		return found, err
	}
	x.log.Warn("a search index is made anew", "actor", of, "error", err)
	if err = b.discard(ctx, met); err == nil {
		found, _, err = x.look(ctx, b, upTo, changes, &asked, limit)
	}
	if err = final(ctx, err); err != nil && !isFinal(err) {
		err = ubl.Errorf(ubl.CodeUnavailable, "the documents can't be searched now").Because(err)
	}
	return found, err
}

// look brings a book up to date, as far as a search waits for that, and looks a question up.
// met is the index that it met.
func (x *Index) look(ctx context.Context, b *book, upTo ubl.Mark, changes ubl.DocumentChanges, q *question, limit int) (ubl.DocumentsFound, bleve.Index, error) {
	behind, met, err := x.bring(ctx, b, upTo, changes)
	if err != nil {
		return ubl.DocumentsFound{}, met, err
	}
	return b.find(ctx, behind, q, limit)
}

// final turns an error that no new index would mend into one for the caller.
func final(ctx context.Context, err error) error {
	source := (*sourceError)(nil)
	switch {
	case err == nil || isFinal(err):
		return err
	case ctx.Err() != nil:
		return ubl.AsError(ctx.Err())
	case errors.As(err, &source):
		return ubl.AsError(source.error)
	}
	return err
}

func isFinal(err error) bool {
	_, ok := err.(*ubl.Error)
	return ok
}

// take finds a container's book, and makes room for it.
func (x *Index) take(of ubl.Name) (*book, error) {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil, errStopping()
	}
	b := x.books[of]
	if b == nil {
		b = x.newBook(of)
		x.books[of] = b
	}
	b.users++
	idle := x.touch(b)
	x.mu.Unlock()
	for _, old := range idle {
		old.close()
		x.give(old)
	}
	return b, nil
}

// touch makes a book the most recent one, and takes those that nobody used for
// longest where there are too many: the caller closes them and gives them back.
// Call with mu held.
func (x *Index) touch(b *book) (idle []*book) {
	x.recent = slices.DeleteFunc(x.recent, func(other *book) bool { return other == b })
	x.recent = append(x.recent, b)
	for over := len(x.recent) - maxOpen; over > 0; over-- {
		i := slices.IndexFunc(x.recent, func(old *book) bool { return old.users == 0 })
		if i < 0 {
			break
		}
		x.recent[i].users++
		idle = append(idle, x.recent[i])
		x.recent = slices.Delete(x.recent, i, i+1)
	}
	return idle
}

// give gives a book back. One that was closed to make room is forgotten, unless
// someone has taken it meanwhile.
func (x *Index) give(b *book) {
	x.mu.Lock()
	b.users--
	last := b.users == 0
	if last && !slices.Contains(x.recent, b) {
		delete(x.books, b.of)
	}
	closed := x.closed
	x.mu.Unlock()
	if closed && last {
		b.close()
	}
}

// Close closes all indexes; those that are being searched, when that is done. It waits
// for what is being indexed, which stops at the next change.
func (x *Index) Close() {
	x.cancel()
	defer x.errands.Wait()
	x.mu.Lock()
	x.closed = true
	var idle, all []*book
	for _, b := range x.books {
		all = append(all, b)
		if b.users == 0 {
			idle = append(idle, b)
		}
	}
	x.mu.Unlock()
	for _, b := range idle {
		b.close()
	}
	for _, b := range all {
		x.abandon(b)
	}
}

// abandon forgets a batch that nobody will write: its entries are told again.
func (x *Index) abandon(b *book) {
	b.writer <- struct{}{}
	had := b.batched != nil
	b.batched = nil
	b.writer.give()
	if had {
		x.give(b)
	}
}

// maxBeginnings is how many words the beginnings of a query may stand for together, in
// titles, names and contents: each takes memory while it is looked up.
const maxBeginnings = 10_000

// bounded refuses beginnings that stand for too many words to look them all up.
func bounded(ctx context.Context, index bleve.Index, terms []term) error {
	left := maxBeginnings
	for _, t := range terms {
		for _, field := range []string{fieldTitle, fieldContent, fieldNames} {
			if err := t.expand(ctx, index, field, &left); err != nil {
				return err
			}
		}
	}
	return nil
}

// expand counts the words of a field that a beginning stands for.
func (t term) expand(ctx context.Context, index bleve.Index, field string, left *int) error {
	if !t.prefix {
		return nil
	}
	dict, err := index.FieldDictPrefix(field, []byte(t.words[len(t.words)-1]))
	if err != nil {
		return err
	}
	defer dict.Close()
	for ; *left >= 0; *left-- {
		if entry, err := dict.Next(); entry == nil || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ubl.Errorf(ubl.CodeValidation, "the beginnings of words stand for more than %d words together: give more of each", maxBeginnings)
}
