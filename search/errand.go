package search

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/blevesearch/bleve/v2"

	"ubl"
)

// usualPatience is how long a search waits for an index that is behind.
const usualPatience = 5 * time.Second

// errand is one catching up of a book. It has a goroutine of its own, and all who
// search the container meanwhile wait for it, each as long as they like.
type errand struct {
	done chan struct{}
	err  error
	met  bleve.Index // the index that it met, for [book.discard]
}

// follow starts an errand of a book that somebody uses, or joins the one under way:
// that one may have begun before the caller's mark, and then it is not mine.
func (x *Index) follow(b *book, upTo ubl.Mark, changes ubl.DocumentChanges) (e *errand, mine bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, false, errStopping()
	}
	if b.errand != nil {
		return b.errand, false, nil
	}
	e = &errand{done: make(chan struct{})}
	b.errand = e
	b.users++
	x.panics.Go(&x.errands, "indexing documents", func() {
		defer x.give(b)
		e.err = guarded(func() error { return b.catchUp(x.ctx, upTo, changes) })
		e.met = b.current()
		x.mu.Lock()
		b.errand = nil
		x.mu.Unlock()
		close(e.done)
	})
	return e, true, nil
}

// bring waits until a book has seen a mark. It is behind where a search can't wait for
// that any longer; the errand is carried on.
func (x *Index) bring(ctx context.Context, b *book, upTo ubl.Mark, changes ubl.DocumentChanges) (behind bool, met bleve.Index, err error) {
	patience := time.NewTimer(x.patience)
	defer patience.Stop()
	for !b.is(upTo) {
		e, mine, err := x.follow(b, upTo, changes)
		if err != nil {
			return false, nil, err
		}
		select {
		case <-e.done:
			if mine || e.err != nil {
				return false, e.met, e.err
			}
		case <-patience.C:
			return true, nil, nil
		case <-ctx.Done():
			return false, nil, ctx.Err()
		}
	}
	return false, nil, nil
}

// CatchUp implements [ubl.Searcher].
func (x *Index) CatchUp(ctx context.Context, of ubl.Name, changes ubl.DocumentChanges) error {
	b, err := x.take(of)
	if err != nil {
		return err
	}
	defer x.give(b)
	e, _, err := x.follow(b, ubl.Mark{}, changes)
	if err != nil {
		return err
	}
	select {
	case <-e.done:
		return final(ctx, e.err)
	case <-ctx.Done():
		return ubl.AsError(ctx.Err())
	}
}

// guarded turns a panic into an error: bleve panics on files that are damaged in some
// ways, and one that was cut short faults where it is mapped into memory.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the index is damaged: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

func errStopping() error { return ubl.Errorf(ubl.CodeUnavailable, "the server is stopping") }
