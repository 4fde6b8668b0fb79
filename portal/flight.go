package portal

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"ubl"
)

const (
	// askTime is how long a call waits for its caller's replies, all together.
	askTime = 5 * time.Minute
	// taskTime is the longest that a task may take.
	taskTime = 30 * time.Minute
	// parkedFor is how long the answer of a call is kept whose caller was asked something, or
	// was told to come back, from its end on.
	parkedFor = 10 * time.Minute
	// firstLook and lastLook are how soon a node asks again whether there is mail for a call; each
	// wait is longer than the one before.
	firstLook, lastLook = 50 * time.Millisecond, time.Second
)

// Long is a call that may outlive the request that begins it.
type Long struct {
	Request  ubl.Request
	Tool     string
	Args     json.RawMessage
	Parent   string
	Progress func(done, total float64, message string) // nil for nobody who wants to see it
	// Keep makes it a task, whose answer is kept for so long from the beginning; 0 for none.
	Keep time.Duration
	// Form says that the caller's client can show a person a form.
	Form bool
	// Own runs a tool of our own; nil for a tool of another server. It is told whether a person has
	// confirmed the call. Destroys says that it replaces or takes away what was there.
	Own      func(ctx context.Context, confirmed bool) (*ubl.ToolResult, error)
	Destroys bool
}

// Flight is a call under way on this node. Safe for concurrent use.
type Flight struct {
	p      *Portal
	c      *call
	n      int64
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  *stopwatch

	mail sync.Mutex // held while the Portal is asked for mail

	mu        sync.Mutex
	changed   chan struct{} // closed with the next change
	asking    bool          // a question is on its way to the Portal, or there
	question  *ubl.Question // is there, so that its caller can answer
	keep      time.Duration // from the end on
	listening bool
	ended     bool
	result    *ubl.ToolResult
	err       error
}

// News is what a call has come to.
type News struct {
	// Question is what it asks of its caller; nil for nothing.
	Question *ubl.Question
	// Ended says that it has a Result, or an Err.
	Ended  bool
	Result *ubl.ToolResult
	Err    error
}

// errGone is why a call is given up whose caller doesn't wait for it.
var errGone = errors.New("the caller has given the call up")

// Begin begins a call, as [Portal.Call] does. It goes on when ctx has ended, until
// [Flight.Cancel] or its time is over. A task is on record as one when Begin returns.
func (p *Portal) Begin(ctx context.Context, l Long) (*Flight, error) {
	f := &Flight{p: p, c: &call{req: l.Request, tool: l.Tool, began: p.now(), progress: l.Progress, own: l.Own}, changed: make(chan struct{})}
	c := f.c
	c.req.Parent = l.Parent
	if err := c.prepare(l.Args); err != nil {
		return nil, err
	}
	if c.own == nil && !p.mayExist(ctx, c) {
		err := ubl.NoTool()
		p.turnedAway(ctx, c, err.Code)
		return nil, err
	}
	limit := p.callTimeout
	if l.Keep > 0 {
		limit = max(limit, min(l.Keep, taskTime))
	}
	c.confirm = l.Form && p.Confirms(ctx, c.req.Who, c.tool, c.own != nil, l.Destroys)
	c.flight, c.asks = f, c.own == nil && l.Form && p.MayAsk(ctx, c.req.Who, c.tool)
	c.keep, c.limit = l.Keep, limit+askTime
	ticket, err := p.begin(ctx, c)
	if err != nil {
		return nil, err
	}
	f.n = ticket.N
	// The guard takes a request without a deadline for one that nobody waits for.
	bounded, release := context.WithTimeout(context.WithoutCancel(ctx), c.limit)
	f.ctx, f.cancel = context.WithCancelCause(bounded)
	f.clock = startWatch(limit, func() { f.cancel(context.DeadlineExceeded) })
	stop := context.AfterFunc(p.ctx, func() { f.cancel(errClosed) })
	if !p.spawn(func() {
		defer stop()
		defer release()
		defer f.cancel(nil)
		defer f.clock.pause()
		f.fly(ticket)
	}) {
		release()
		f.cancel(errClosed)
		return nil, p.end(ctx, c, ticket, nil, errClosed)
	}
	if l.Keep > 0 {
		f.listen()
	}
	return f, nil
}

// fly makes the call and puts its effect on record.
func (f *Flight) fly(ticket *ubl.CallTicket) {
	var result *ubl.ToolResult
	err := f.p.panics.Try("a call that may take long", func() (err error) {
		if err = f.confirmed(); err != nil {
			return err
		}
		if f.c.own != nil {
			result, err = f.c.own(f.ctx, f.c.confirm)
		} else {
			result, err = f.p.make(f.ctx, f.c)
		}
		return err
	})
	if err == nil {
		f.c.sign(ticket, result)
	} else {
		result, err = nil, f.why(err)
	}
	if ended := f.p.end(f.ctx, f.c, ticket, result, err); ended != nil {
		result, err = nil, ended
		if context.Cause(f.ctx) == errGone { // its effect is on record: it was cancelled
			err = f.c.cancelled()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.result, f.err = true, result, err
	f.tell()
}

// why is the error of a call that was ended from here.
func (f *Flight) why(err error) error {
	switch cause := context.Cause(f.ctx); {
	case cause == nil || ubl.CodeOf(err) != ubl.CodeUnavailable:
		return err
	case cause == errGone:
		return f.c.cancelled()
	case errors.Is(cause, context.DeadlineExceeded):
		return mayHaveRun(failure(cause).Because(err))
	}
	return err
}

// tell wakes who waits for news. The lock is held.
func (f *Flight) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// N is the number of the call.
func (f *Flight) N() int64 { return f.n }

// Cancel gives the call up, on record as cancelled.
func (f *Flight) Cancel() { f.cancel(errGone) }

// Next waits for the end of the call, or for a question behind the nth.
func (f *Flight) Next(ctx context.Context, n int) (*News, error) {
	for {
		f.mu.Lock()
		news, changed := &News{Ended: f.ended, Result: f.result, Err: f.err}, f.changed
		if q := f.question; q != nil && q.N > n {
			news.Question = q
		}
		f.mu.Unlock()
		if news.Ended || news.Question != nil {
			return news, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Keep has the answer be kept when the call ends, so that its caller finds it on any node. It is
// false where the call has ended already: [Flight.Next] has its answer.
func (f *Flight) Keep() bool {
	f.mu.Lock()
	ended := f.ended
	if !ended {
		f.keep = parkedFor
	}
	f.mu.Unlock()
	if !ended {
		f.listen()
	}
	return !ended
}

// kept is for how long the answer is kept from the end on.
func (f *Flight) kept() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keep
}

// listen hears whether the call is cancelled, on whatever node.
func (f *Flight) listen() {
	f.mu.Lock()
	already := f.listening
	f.listening = true
	f.mu.Unlock()
	if already {
		return
	}
	f.p.spawn(func() {
		look := time.NewTicker(lastLook)
		defer look.Stop()
		for {
			select {
			case <-look.C:
			case <-f.ctx.Done():
				return
			}
			f.mu.Lock()
			asks := f.asking // which hears it as well
			f.mu.Unlock()
			if !asks {
				_, _ = f.collect(nil)
			}
		}
	})
}

// collect shows the caller a question, nil for none, and gets the reply if there is one.
func (f *Flight) collect(q *ubl.Question) ([]byte, error) {
	f.mail.Lock()
	defer f.mail.Unlock()
	f.mu.Lock()
	stale := q == nil && f.asking
	f.mu.Unlock()
	if stale {
		return nil, nil
	}
	mail, err := ubl.Ask[*ubl.Mail](f.ctx, f.p.asker, ubl.PortalName(f.c.req.Who.TenantID), ubl.AskCaller{Who: f.c.req.Who, N: f.n, Question: q})
	if err != nil {
		return nil, err
	}
	if mail.Over {
		f.Cancel()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.question != q {
		f.question = q
		f.tell()
	}
	return mail.Reply, nil
}

// ask asks the caller something, and waits for the reply: until ctx ends, or the time is over that
// all questions of the call have. The server's own time stands still meanwhile.
func (f *Flight) ask(ctx context.Context, kind string, params json.RawMessage) ([]byte, error) {
	f.clock.pause()
	defer f.clock.resume()
	ctx, cancel := context.WithTimeout(ctx, f.c.askLeft())
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	began := time.Now()
	defer func() { f.c.waited(time.Since(began)) }()

	q := &ubl.Question{N: f.c.nextQuestion(), Kind: kind, Params: params}
	f.mu.Lock()
	f.asking = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.asking, f.question = false, nil
		f.mu.Unlock()
		_, _ = f.collect(nil)
	}()
	for wait := firstLook; ; wait = min(wait*5/4, lastLook) {
		reply, err := f.collect(q)
		if len(reply) > 0 {
			return reply, nil
		}
		if code := ubl.CodeOf(err); err != nil && code != ubl.CodeUnavailable && code != ubl.CodeOverloaded {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// stopwatch calls a function when its time is over. It can be stopped meanwhile.
type stopwatch struct {
	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration
	began   time.Time
	running bool
}

func startWatch(limit time.Duration, over func()) *stopwatch {
	return &stopwatch{timer: time.AfterFunc(limit, over), left: limit, began: time.Now(), running: true}
}

func (w *stopwatch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running {
		w.running = false
		w.timer.Stop()
		w.left -= time.Since(w.began)
	}
}

func (w *stopwatch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		w.running, w.began = true, time.Now()
		w.timer.Reset(max(w.left, time.Millisecond))
	}
}
