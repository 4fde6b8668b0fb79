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

// An errand that no search waits for rests after each batch, restFor times as long as that
// took to read and to write, and after its last the next errand of the book does: what is
// being written meanwhile needs the processor and the disk more.
const (
	restFor = 9
	maxRest = 2 * time.Second
	// tellEvery is how often an errand that takes long says in the log how far it is.
	tellEvery = 10 * time.Second
)

// errand is one catching up of a book. It has a goroutine of its own, and all who
// search the container meanwhile wait for it, each as long as they like.
type errand struct {
	done    chan struct{}
	hurried chan struct{} // closed once a search waits, with Index.mu held
	begun   time.Time     // when its batch was, owned by its goroutine
	err     error
	met     bleve.Index // the index that it met, for [book.discard]
}

// hurry ends the rests of an errand. Call it with Index.mu held.
func (e *errand) hurry() {
	select {
	case <-e.hurried:
	default:
		close(e.hurried)
	}
}

// due is the rest for what was done since the batch was begun.
func (e *errand) due() time.Duration { return min(restFor*time.Since(e.begun), maxRest) }

// rest is what an errand does after a batch.
func (e *errand) rest(ctx context.Context) { e.pause(ctx, e.due()) }

func (e *errand) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer func() {
		timer.Stop()
		e.begun = time.Now()
	}()
	select {
	case <-timer.C:
	case <-e.hurried:
	case <-ctx.Done():
	}
}

// follow starts an errand of a book that somebody uses, or joins the one under way:
// that one may have begun before the caller's mark, and then it is not mine.
func (x *Index) follow(b *book, upTo ubl.Mark, changes ubl.DocumentChanges, hurry bool) (e *errand, mine bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, false, errStopping()
	}
	if b.errand != nil {
		if hurry {
			b.errand.hurry()
		}
		return b.errand, false, nil
	}
	e = &errand{done: make(chan struct{}), hurried: make(chan struct{})}
	if hurry {
		e.hurry()
	}
	b.errand = e
	b.users++
	rest := time.Until(b.rested)
	x.panics.Go(&x.errands, "indexing documents", func() {
		defer x.give(b)
		e.pause(x.ctx, rest)
		e.err = guarded(func() error { return b.catchUp(x.ctx, upTo, x.telling(b.of, changes), e.rest) })
		e.met = b.current()
		x.mu.Lock()
		b.errand, b.rested = nil, time.Now().Add(e.due())
		x.mu.Unlock()
		close(e.done)
	})
	return e, true, nil
}

// bring waits until a book has seen a mark, for half of the caller's time at most: the rest is for what is found. It
// is behind where a search can't wait for that any longer; the errand is carried on.
func (x *Index) bring(ctx context.Context, b *book, upTo ubl.Mark, changes ubl.DocumentChanges) (behind bool, met bleve.Index, err error) {
	wait := x.patience
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/2)
	}
	patience := time.NewTimer(wait)
	defer patience.Stop()
	for !b.is(upTo) {
		e, mine, err := x.follow(b, upTo, changes, true)
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
	met, err := x.catchUp(ctx, b, changes)
	if err = final(ctx, err); err == nil || isFinal(err) {
		return err
	}
	x.log.Warn("a search index is made anew", "actor", of, "error", err)
	if err = b.discard(ctx, met); err == nil {
		_, err = x.catchUp(ctx, b, changes)
	}
	return final(ctx, err)
}

// catchUp waits for an errand that began after it was called.
func (x *Index) catchUp(ctx context.Context, b *book, changes ubl.DocumentChanges) (met bleve.Index, err error) {
	for mine := false; !mine; {
		var e *errand
		if e, mine, err = x.follow(b, ubl.Mark{}, changes, false); err != nil {
			return nil, err
		}
		select {
		case <-e.done:
			if e.err != nil {
				return e.met, e.err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// telling says in the log how far changes have come, where they are many.
func (x *Index) telling(of ubl.Name, changes ubl.DocumentChanges) ubl.DocumentChanges {
	return func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		documents, told := 0, time.Now()
		return changes(ctx, after, func(c ubl.DocumentChange) error {
			documents++
			if now := time.Now(); now.Sub(told) >= tellEvery {
				told = now
				x.log.Info("documents are being indexed", "actor", of, "so far", documents)
			}
			return fn(c)
		})
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
