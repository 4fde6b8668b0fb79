package office

import (
	"context"
	"sync"
	"time"

	"ubl"
)

// Bounds of what is kept for repetitions.
const (
	replayLife  = 10 * time.Minute
	replayBytes = 16 << 20
	// replayOverhead is about what an answer takes beside its text.
	replayOverhead = 1 << 10
)

// replays knows the completions under way on this node and those that ended
// lately, by caller and key. Texts are stored nowhere else, so this is what a
// repetition can still get. Safe for concurrent use.
type replays struct {
	now func() time.Time

	mu    sync.Mutex
	byKey map[replayKey]*replay
	ended []*replay // those that are kept, the oldest first
	bytes int
}

type replayKey struct {
	tenant ubl.TenantID
	user   ubl.UserID
	key    string
}

// replay is one completion. What is below done is set before it is closed.
type replay struct {
	key   replayKey
	input string
	// ctx is what it runs under: the first caller's, but it ends when nobody waits
	// for the answer any more.
	ctx     context.Context
	cancel  context.CancelFunc
	waiting int // guarded by replays.mu
	done    chan struct{}

	completion *ubl.Completion
	err        error
	until      time.Time
}

func newReplays(now func() time.Time) *replays {
	return &replays{now: now, byKey: map[replayKey]*replay{}}
}

// join finds the completion of the request's key, or begins one: then the caller
// is the first, and must settle it. They wait for it until ctx ends. Another input
// under the key is refused.
func (rs *replays) join(ctx context.Context, req ubl.Request, input string) (r *replay, first bool, err error) {
	key := replayKey{req.Who.TenantID, req.Who.UserID, req.Key}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.forget()
	if r = rs.byKey[key]; r == nil {
		r, first = &replay{key: key, input: input, done: make(chan struct{})}, true
		r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
		rs.byKey[key] = r
	}
	if r.input != input {
		return nil, false, ubl.Errorf(ubl.CodeIdempotencyConflict, "the idempotency key was used with another content")
	}
	r.waiting++
	context.AfterFunc(ctx, func() { rs.leave(r) })
	return r, first, nil
}

// leave is a caller who doesn't wait any more. The last one ends the run.
func (rs *replays) leave(r *replay) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.cancel()
	}
}

// settle tells how a completion ended. One that failed is not kept: the record
// tells the next attempt whether it may be made.
func (rs *replays) settle(r *replay, c *ubl.Completion, err error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.completion, r.err, r.until = c, err, rs.now().Add(replayLife)
	close(r.done)
	r.cancel()
	if err != nil {
		delete(rs.byKey, r.key)
		return
	}
	rs.ended = append(rs.ended, r)
	rs.bytes += r.size()
	rs.forget()
}

// forget lets go of the oldest that are past their time or too much.
func (rs *replays) forget() {
	for len(rs.ended) > 0 && (rs.bytes > replayBytes || !rs.now().Before(rs.ended[0].until)) {
		r := rs.ended[0]
		rs.ended = rs.ended[1:]
		rs.bytes -= r.size()
		delete(rs.byKey, r.key)
	}
}

func (r *replay) size() int {
	return replayOverhead + len(r.completion.Completion) + 256*len(r.completion.Steps)
}

// wait answers what the first attempt leads to. Who listens hears it in one piece.
func (r *replay) wait(ctx context.Context, onDelta func(string)) (*ubl.Completion, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.err == nil && onDelta != nil && r.completion.Completion != "" {
		onDelta(r.completion.Completion)
	}
	return r.completion, r.err
}
