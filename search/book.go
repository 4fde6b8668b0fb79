package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bolt "go.etcd.io/bbolt/errors"

	"ubl"
	"ubl/turns"
)

// errOtherHistory says that an index has seen events that never were.
var errOtherHistory = errors.New("the index has seen another history")

// sourceError is what kept a container from telling its changes; the index has
// no part in it.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

// book is the index of one container.
type book struct {
	of   ubl.Name
	path string
	// Guarded by Index.mu: who uses it, and who is bringing it up to date, nil for nobody.
	users  int
	errand *errand
	rested time.Time // when the rest after the errand before is over

	// writer is taken by whoever catches up, opens or closes; finds and batches are
	// shared by all books.
	writer, batches lock
	finds           *turns.Turns

	// mu is held to use index, and alone to put another in its place.
	mu    sync.RWMutex
	index bleve.Index // nil while it is closed
	mark  ubl.Mark    // of the last event inside
	// length is that of the documents which were indexed.
	length length

	// Of a book of messages: what is to be written, nil for nothing, which its writer owns;
	// whether each room is in it, guarded by mu; and whether that is being brought about,
	// guarded by Index.mu.
	batched *batched
	whole   bool
	filling bool
	labour
}

func (x *Index) newBook(of ubl.Name) *book {
	return &book{of: of, path: filepath.Join(x.dir, folder(of)), writer: newLock(), finds: x.finds, batches: x.batches}
}

// folder is a container's, named by hash: actor names are no file names.
func folder(of ubl.Name) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16])
}

// find looks a question up; used is the index that it met, for [book.discard]. Of a book that
// is behind there may be no index yet.
func (b *book) find(ctx context.Context, behind bool, q *question, limit int) (out ubl.DocumentsFound, used bleve.Index, err error) {
	tenant := b.of.Group().Tenant
	if err := b.finds.Take(ctx, tenant); err != nil {
		return out, nil, err
	}
	defer b.finds.Give(tenant)
	b.mu.RLock()
	defer b.mu.RUnlock()
	out = ubl.DocumentsFound{Matches: []ubl.DocumentMatch{}, Behind: behind, Excerpt: q.excerpts()}
	if used = b.index; used == nil {
		if !behind {
			err = errors.New("the index was closed")
		}
		return out, nil, err
	}
	out.Reached = b.mark
	err = guarded(func() (err error) {
		out.Matches, err = find(ctx, used, q, b.length.average(), limit)
		return err
	})
	return out, used, err
}

func (b *book) current() bleve.Index {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.index
}

// catchUp takes in what has changed since the mark. It rests after each batch but the last.
func (b *book) catchUp(ctx context.Context, upTo ubl.Mark, changes ubl.DocumentChanges, rest func(context.Context)) error {
	if b.is(upTo) {
		return nil
	}
	if err := b.writer.take(ctx); err != nil {
		return err
	}
	defer b.writer.give()
	if err := b.open(); err != nil || b.is(upTo) {
		return err
	}
	p := b.page()
	known, err := changes(ctx, b.mark, func(c ubl.DocumentChange) error {
		if p.add(c); !p.full() {
			return nil
		}
		if err := p.write(ctx); err != nil {
			return err
		}
		rest(ctx)
		return ctx.Err()
	})
	if err != nil { // what has been read is kept
		return &sourceError{errors.Join(err, p.write(context.WithoutCancel(ctx)))}
	}
	if !known {
		return errOtherHistory
	}
	if upTo.N > p.mark.N {
		p.mark = upTo // the events in between changed no document
	}
	return p.write(ctx)
}

// is reports whether the index is open and has seen just what there is. The zero
// mark doesn't say how much that is.
func (b *book) is(mark ubl.Mark) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.index != nil && b.mark == mark && mark != ubl.Mark{}
}

// open brings the index into memory, from disk or as a new one. The writer calls
// it.
func (b *book) open() error {
	if b.index != nil {
		return nil
	}
	if breakSeal(b.path) != nil {
		return b.create()
	}
	index, err := bleve.OpenUsing(b.path, settings())
	if err == nil {
		mark, length, bad := readMark(index, b.form())
		if bad == nil {
			b.put(index, mark, length)
			return nil
		}
		err = errors.Join(bad, index.Close())
	}
	if errors.Is(err, bolt.ErrTimeout) {
		return fmt.Errorf("another process uses the index: %w", err)
	}
	return b.create()
}

// lockTimeout is how long to wait for another process that has the index open.
const lockTimeout = "2s"

// smallSegment is the size in bytes of a file of the index that is worth merging
// with others of its kind only. bleve goes by the number of documents, 2000 of them:
// it would write all that there is again and again while the first 2000 come in.
const smallSegment = 8 << 20

// settings are what bleve is told when it opens an index.
func settings() map[string]any {
	return map[string]any{"bolt_timeout": lockTimeout, "scorchMergePlanOptions": map[string]any{"FloorSegmentFileSize": smallSegment}}
}

func (b *book) create() error {
	if err := os.RemoveAll(b.path); err != nil {
		return err
	}
	m, err := newMapping()
	if err != nil {
		return err
	}
	// Batches wait until they are on disk, though what a crash takes away would be
	// caught up again: bleve 2.5.7 races with itself where an index is closed before.
	index, err := bleve.NewUsing(b.path, m, scorch.Name, scorch.Name, settings())
	if err == nil {
		b.put(index, ubl.Mark{}, length{})
	}
	return err
}

// put has an index with its mark and the length of its documents in place of what was there.
func (b *book) put(index bleve.Index, mark ubl.Mark, l length) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.index, b.mark, b.length = index, mark, l
}

// discard deletes an index that someone met damaged, unless another is in its
// place by now; the next search makes it anew.
func (b *book) discard(ctx context.Context, met bleve.Index) error {
	if err := b.writer.take(ctx); err != nil {
		return err
	}
	defer b.writer.give()
	if b.index != met {
		return nil
	}
	b.shut()
	return os.RemoveAll(b.path)
}

// close closes and seals the index. It waits for whoever uses it.
func (b *book) close() {
	b.writer <- struct{}{}
	defer b.writer.give()
	// What fails here is found at the next open: nothing can't be derived.
	if b.shut() {
		_ = seal(b.path)
	}
}

// shut reports whether there was an index, and it closed well.
func (b *book) shut() bool {
	index := b.index
	b.put(nil, ubl.Mark{}, length{})
	return index != nil && index.Close() == nil
}
