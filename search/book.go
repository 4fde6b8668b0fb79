package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bolt "go.etcd.io/bbolt/errors"

	"ubl"
)

// Bounds of one batch of changes.
const (
	batchDocuments = 500
	batchBytes     = 4 << 20
)

// errOtherHistory says that an index has seen events that never were.
var errOtherHistory = errors.New("the index has seen another history")

// sourceError is what kept a container from telling its changes; the index has
// no part in it.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

// book is the index of one container.
type book struct {
	of    ubl.Name
	path  string
	users int // guarded by Index.mu

	// mu is held to read index and mark, and alone to change them or to catch up.
	mu    sync.RWMutex
	index bleve.Index // nil while it is closed
	mark  ubl.Mark    // of the last event inside
}

// folder is a container's, named by hash: actor names are no file names.
func folder(of ubl.Name) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16])
}

// search catches up and finds. bleve panics on files that are damaged in some
// ways, and one that was cut short faults where it is mapped into memory: errors
// like any other.
func (b *book) search(ctx context.Context, upTo ubl.Mark, changes ubl.DocumentChanges, terms []term, limit int) (out []ubl.DocumentMatch, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the index is damaged: %v\n%s", p, debug.Stack())
		}
	}()
	if err := b.catchUp(ctx, upTo, changes); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.index == nil {
		return nil, errors.New("the index was closed")
	}
	return find(ctx, b.index, terms, limit)
}

// catchUp takes in what has changed since the mark.
func (b *book) catchUp(ctx context.Context, upTo ubl.Mark, changes ubl.DocumentChanges) error {
	b.mu.RLock()
	current := b.index != nil && b.mark == upTo
	b.mu.RUnlock()
	if current {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.open(); err != nil || b.mark == upTo {
		return err
	}
	began, p := b.mark, b.page()
	at, err := changes(ctx, began.N, p.add)
	if err != nil {
		return &sourceError{errors.Join(err, p.write())}
	}
	if began.N > 0 && at != began {
		return errOtherHistory
	}
	if upTo.N > p.mark.N {
		p.mark = upTo // the events in between changed no document
	}
	return p.write()
}

// open brings the index into memory, from disk or as a new one. Call with mu held.
func (b *book) open() error {
	if b.index != nil {
		return nil
	}
	if breakSeal(b.path) != nil {
		return b.create()
	}
	index, err := bleve.OpenUsing(b.path, map[string]any{"bolt_timeout": lockTimeout})
	if err == nil {
		if b.mark, err = readMark(index); err == nil {
			b.index = index
			return nil
		}
		err = errors.Join(err, index.Close())
	}
	if errors.Is(err, bolt.ErrTimeout) {
		return fmt.Errorf("another process uses the index: %w", err)
	}
	return b.create()
}

// lockTimeout is how long to wait for another process that has the index open.
const lockTimeout = "2s"

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
	b.index, err = bleve.NewUsing(b.path, m, scorch.Name, scorch.Name, map[string]any{"bolt_timeout": lockTimeout})
	b.mark = ubl.Mark{}
	return err
}

// discard deletes the index; the next search makes it anew.
func (b *book) discard() {
	b.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	// What is left behind is found damaged again, and reported then.
	_ = os.RemoveAll(b.path)
}

func (b *book) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index != nil {
		// What fails here is found at the next open: nothing can't be derived.
		if b.index.Close() == nil {
			_ = seal(b.path)
		}
		b.index, b.mark = nil, ubl.Mark{}
	}
}

// page gathers changes until they are worth writing.
type page struct {
	book  *book
	batch *bleve.Batch
	mark  ubl.Mark
	bytes int
}

func (b *book) page() *page { return &page{book: b, batch: b.index.NewBatch(), mark: b.mark} }

// add takes a change in, and writes what there is where it is enough.
func (p *page) add(c ubl.DocumentChange) error {
	p.mark = c.Mark
	if c.Deleted {
		p.batch.Delete(string(c.DocumentID))
	} else if err := p.batch.Index(string(c.DocumentID), map[string]any{
		fieldTitle: fold(c.Title), fieldContent: fold(c.Content), fieldText: c.Content,
	}); err != nil {
		return fmt.Errorf("couldn't index a document: %w", err)
	}
	p.bytes += len(c.Title) + len(c.Content)
	if p.batch.Size() < batchDocuments && p.bytes < batchBytes {
		return nil
	}
	return p.write()
}

// write puts changes and mark into the index, together.
func (p *page) write() error {
	if p.mark == p.book.mark {
		return nil
	}
	value, err := json.Marshal(storedMark{Form: formVersion, N: p.mark.N, CID: p.mark.CID})
	if err != nil {
		return err
	}
	p.batch.SetInternal(markKey, value)
	if err := p.book.index.Batch(p.batch); err != nil {
		return fmt.Errorf("couldn't write to the index: %w", err)
	}
	p.book.mark, p.bytes = p.mark, 0
	p.batch.Reset()
	return nil
}

// markKey is where an index keeps its mark.
var markKey = []byte("mark")

// storedMark is the mark as it is kept (JSON).
type storedMark struct {
	Form string `json:"form"`
	N    int64  `json:"n"`
	CID  string `json:"cid"`
}

func readMark(index bleve.Index) (ubl.Mark, error) {
	data, err := index.GetInternal(markKey)
	if err != nil || data == nil {
		return ubl.Mark{}, errors.Join(err, errNoMark)
	}
	var m storedMark
	if err := json.Unmarshal(data, &m); err != nil {
		return ubl.Mark{}, fmt.Errorf("couldn't read the mark: %w", err)
	}
	if m.Form != formVersion {
		return ubl.Mark{}, errors.New("the index has another form")
	}
	return ubl.Mark{N: m.N, CID: m.CID}, nil
}

// errNoMark says that an index holds nothing yet, or was lost before anything
// was written.
var errNoMark = errors.New("the index has no mark")
