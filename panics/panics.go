// Package panics keeps a panic in one piece of work from ending the process, and
// with it everybody else's work.
//
// A goroutine that works for others is started by [Catcher.Go], or runs its work
// through [Catcher.Try]. A panic there is counted, logged with its stack, and
// becomes an error of no code, which callers see as internal. Internal errors are
// not asked again of another node: the same question would panic there too.
//
// A loop that must go on guards each round, not itself. Storage's writers are not
// guarded here: one that panicked no longer knows what it has written, so its
// process ends and recovers from its log.
package panics

import (
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// ErrPanic is what became of work that panicked.
var ErrPanic = errors.New("the work panicked")

// Catcher counts and logs the panics of one process. A nil one catches too, and
// logs to slog's default. Safe for concurrent use.
type Catcher struct {
	log    *slog.Logger
	caught atomic.Int64
}

// New makes a Catcher; nil logs nothing.
func New(log *slog.Logger) *Catcher {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Catcher{log: log}
}

// Caught is how many panics were caught so far.
func (c *Catcher) Caught() int64 { return c.caught.Load() }

// Note counts and logs a panic that its caller has recovered. The attributes are
// for the log.
func (c *Catcher) Note(p any, work string, attrs ...any) error {
	log := slog.Default()
	if c != nil {
		c.caught.Add(1)
		log = c.log
	}
	log.Error("work panicked", append([]any{"work", work, "panic", p, "stack", string(debug.Stack())}, attrs...)...)
	return ErrPanic
}

// Recover ends a panic, if there is one, and puts [ErrPanic] into err, which may
// be nil. It must be deferred itself, not called by what is deferred.
func (c *Catcher) Recover(err *error, work string) {
	p := recover()
	if p == nil {
		return
	}
	failed := c.Note(p, work)
	if err != nil {
		*err = failed
	}
}

// Try runs fn and returns its error, or ErrPanic.
func (c *Catcher) Try(work string, fn func() error) (err error) {
	defer c.Recover(&err, work)
	return fn()
}

// Do runs fn, which has nothing to return.
func (c *Catcher) Do(work string, fn func()) {
	defer c.Recover(nil, work)
	fn()
}

// Go runs fn in a goroutine of the group; nil is for one that nobody waits for.
func (c *Catcher) Go(group *sync.WaitGroup, work string, fn func()) {
	if group == nil {
		go c.Do(work, fn)
		return
	}
	group.Go(func() { c.Do(work, fn) })
}
