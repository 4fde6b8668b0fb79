package sse

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// Reason is why a stream ended.
type Reason string

// Reasons, as [Stats] counts them.
const (
	EndedClient      Reason = "client"      // it went away
	EndedSlow        Reason = "slow"        // it did not read in time
	EndedMembership  Reason = "membership"  // not a member any more
	EndedExpired     Reason = "expired"     // the credential's time is over
	EndedRevoked     Reason = "revoked"     // the credential was revoked
	EndedShutdown    Reason = "shutdown"    // the node stops
	EndedUnavailable Reason = "unavailable" // history could not be read for too long
	EndedInternal    Reason = "internal"    // a fault of ours
)

const (
	pageRetry    = time.Second
	pageAttempts = 10
)

// presence is what keeps a stream open while nothing happens.
type presence interface {
	// check asks whether the caller, whose role in the tenant that is, may still
	// listen.
	check(ctx context.Context, role ubl.Role) error
	// idle is what to send in silence, given the cursor.
	idle(pos int64) []byte
}

// source is what one caller's stream of a room and of a tenant differ in.
// learn and sees may be called at any time, the rest by the listener only.
type source interface {
	presence
	topic() topic
	// start checks the caller and says where the stream begins, and with what.
	start(ctx context.Context, from *int64) (begin, error)
	// replay reads the next page of history after pos.
	replay(ctx context.Context, pos int64) (replay, error)
	// learn takes an event about the caller; false ends the stream.
	learn(ev *ubl.Event) bool
	// sees reports whether the caller is shown what happens in the room.
	sees(ubl.RoomID) bool
	// passing reports whether the caller hears only of what passes.
	passing() bool
	// aside takes the events for this caller alone, which come before whatever is new.
	aside() replay
}

// begin is the start of a stream. One that begins behind the head tells what was
// there before, which takes the tool for that.
type begin struct {
	pos    int64
	first  []byte
	behind bool
}

// replay is a page of history as frames, in pieces of about [maxPiece], and
// the cursor after it.
type replay struct {
	pieces [][]byte
	events int
	pos    int64
}

// add appends an event's frame.
func (p *replay) add(prefix string, id int64, ev *ubl.Event) {
	if n := len(p.pieces); n == 0 || len(p.pieces[n-1]) >= maxPiece {
		p.pieces = append(p.pieces, nil)
	}
	piece := &p.pieces[len(p.pieces)-1]
	*piece = appendFrame(*piece, prefix, id, ev)
	p.events++
}

// listener is one stream. Its goroutine owns everything but wake, rest and ended.
type listener struct {
	hub    *Hub
	caller *envelope.Caller
	tool   string // that the stream stands for
	presence
	source source  // nil for what has no history
	follow *follow // nil likewise
	gate   *gate
	out    *output

	cursor   cursor
	moment   int64    // number of the newest moment that was told
	runs     [][]byte // reused
	timer    *time.Timer
	due      time.Time // what the timer is set to
	checked  time.Time // when membership was last asked for
	retryAt  time.Time // when a failed page may be tried again
	failures int

	wake   chan struct{} // one slot
	rest   rest
	unsure atomic.Bool // whether the caller may still listen is to be asked at once
	ended  atomic.Pointer[Reason]
}

// end makes the stream end before its next event. Anyone may call it; the
// first reason counts.
func (l *listener) end(why Reason) {
	l.ended.CompareAndSwap(nil, &why)
	l.poke()
}

// doubt has the listener ask whether it may go on, before its next event. Anyone may call it.
func (l *listener) doubt() {
	l.unsure.Store(true)
	l.poke()
}

func (l *listener) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// stepper sends what is new, and reports whether there was anything.
type stepper func(ctx context.Context, now time.Time) (moved bool, err error)

// run streams step by step until something ends it.
func (l *listener) run(ctx context.Context, step stepper) Reason {
	now := l.hub.now()
	l.checked = now
	l.due = l.nextDue(now)
	l.timer = time.NewTimer(l.due.Sub(now))
	defer l.timer.Stop()
	for {
		now := l.hub.now()
		if why := l.over(ctx, now); why != "" {
			return why
		}
		if l.unsure.Swap(false) {
			l.checked, l.due = time.Time{}, now
		}
		if !now.Before(l.due) {
			if err := l.tick(ctx, now); err != nil {
				return l.reason(ctx, err)
			}
			continue
		}
		moved, err := step(ctx, now)
		if err != nil {
			return l.reason(ctx, err)
		}
		if !moved {
			l.wait(ctx)
		}
	}
}

func (l *listener) wait(ctx context.Context) {
	l.rest.sleep()
	defer l.awake()
	select {
	case <-l.wake:
	case <-l.timer.C:
	case <-ctx.Done():
	case <-l.caller.Revoked:
	}
}

// awake gives back the place with which the listener was woken.
func (l *listener) awake() {
	if l.rest.awake() {
		l.hub.pace.places.Release(1)
	}
}

// over says whether the stream has to end now.
func (l *listener) over(ctx context.Context, now time.Time) Reason {
	if why := l.ended.Load(); why != nil {
		return *why
	}
	select {
	case <-l.caller.Revoked:
		return EndedRevoked
	default:
	}
	switch exp := l.caller.ExpiresAt; {
	case exp != 0 && ubl.TimeOf(now) >= exp:
		return EndedExpired
	case ctx.Err() != nil:
		return EndedClient
	}
	return ""
}

// tick does what is due by the clock.
func (l *listener) tick(ctx context.Context, now time.Time) error {
	if now.Sub(l.checked) >= l.hub.limits.Recheck {
		if err := l.recheck(ctx); err != nil {
			return err
		}
		l.checked = now
	}
	if now.Sub(l.out.last) >= l.hub.limits.Keepalive {
		if err := l.out.write(l.idle(l.cursor.pos)); err != nil {
			return err
		}
	}
	now = l.hub.now()
	l.due = l.nextDue(now)
	l.timer.Reset(l.due.Sub(now))
	return nil
}

func (l *listener) nextDue(now time.Time) time.Time {
	due := earlier(l.out.last.Add(l.hub.limits.Keepalive), l.checked.Add(l.hub.limits.Recheck))
	if l.retryAt.After(now) {
		due = earlier(due, l.retryAt)
	}
	if exp := l.caller.ExpiresAt; exp != 0 {
		due = earlier(due, exp.Std())
	}
	return due
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// recheck passes over an actor that can't answer now.
func (l *listener) recheck(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.hub.limits.AskTimeout)
	defer cancel()
	if err := l.may(ctx); err != nil && !retryable(err) {
		return err
	}
	return nil
}

// may asks whether the caller may still listen: first whether with the tool.
func (l *listener) may(ctx context.Context) error {
	role, err := l.caller.Still(l.tool).Enter(ctx)
	if err != nil {
		return err
	}
	return l.check(ctx, role)
}

// advance sends what is new, for the caller alone, from the ring or from history, and
// reports whether there was anything.
func (l *listener) advance(ctx context.Context, now time.Time) (moved bool, err error) {
	if own := l.source.aside(); own.events > 0 {
		l.hub.frames.Add(int64(own.events))
		return true, l.write(ctx, own.pieces...)
	}
	if moved, err := l.tellMoments(ctx, now); moved || err != nil {
		return moved, err
	}
	if l.source.passing() {
		return false, nil
	}
	runs, events, behind := l.follow.read(&l.cursor, l.source.sees, l.runs[:0])
	if behind {
		return l.catchUp(ctx, now)
	}
	l.runs = runs
	if len(runs) == 0 {
		return false, nil
	}
	if l.over(ctx, now) != "" { // what ended the stream was told before what was read
		return true, nil
	}
	l.hub.frames.Add(int64(events))
	err = l.write(ctx, runs...)
	clear(l.runs) // lets go of the segments
	return true, err
}

// tellMoments sends what people do just now. Who was removed meanwhile hears no more of it.
func (l *listener) tellMoments(ctx context.Context, now time.Time) (moved bool, err error) {
	frames, newest := l.follow.moments.after(l.moment, now)
	l.moment = newest
	if len(frames) == 0 {
		return false, nil
	}
	if l.over(ctx, now) != "" {
		return true, nil
	}
	l.hub.frames.Add(int64(len(frames)))
	return true, l.write(ctx, frames...)
}

// write sends events, and then waits where the streams of the caller's tenant have sent
// more than their limit lets them.
func (l *listener) write(ctx context.Context, pieces ...[]byte) error {
	if err := l.out.write(pieces...); err != nil {
		return err
	}
	bytes := 0
	for _, p := range pieces {
		bytes += len(p)
	}
	if wait := l.caller.Streamed(bytes); wait > 0 {
		l.hub.slowed.Add(1)
		l.pause(ctx, wait)
	}
	return nil
}

// pause waits, though not for what ends the stream. A wake that it takes says that there
// is more to read, which is read afterwards.
func (l *listener) pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for l.over(ctx, l.hub.now()) == "" {
		select {
		case <-timer.C:
			return
		case <-l.wake:
		case <-ctx.Done():
		case <-l.caller.Revoked:
		}
	}
}

// catchUp sends one page of history.
func (l *listener) catchUp(ctx context.Context, now time.Time) (moved bool, err error) {
	if now.Before(l.retryAt) {
		return false, nil
	}
	page, err := l.page(ctx)
	if err == nil && page.pos <= l.cursor.pos {
		// The ring is ahead of history: its actor is being loaded elsewhere.
		err = ubl.Errorf(ubl.CodeUnavailable, "history is behind the stream")
	}
	if err != nil {
		return false, l.retry(err)
	}
	l.failures = 0
	for _, piece := range page.pieces {
		if why := l.over(ctx, l.hub.now()); why != "" {
			return true, nil // run sees it next
		}
		if err := l.write(ctx, piece); err != nil {
			return true, err
		}
	}
	l.hub.frames.Add(int64(page.events))
	l.cursor.pos = page.pos
	return true, nil
}

func (l *listener) page(ctx context.Context) (replay, error) {
	select {
	case l.follow.asks <- struct{}{}:
	case <-ctx.Done():
		return replay{}, ctx.Err()
	}
	defer func() { <-l.follow.asks }()
	ctx, cancel := context.WithTimeout(ctx, l.hub.limits.AskTimeout)
	defer cancel()
	return l.source.replay(ctx, l.cursor.pos)
}

// retry notes a failed page for later, or gives the error back where another
// attempt won't help.
func (l *listener) retry(err error) error {
	l.failures++
	if !retryable(err) || l.failures >= pageAttempts {
		return err
	}
	now := l.hub.now()
	l.retryAt = now.Add(pageRetry)
	l.due = l.nextDue(now)
	l.timer.Reset(l.due.Sub(now))
	return nil
}

func retryable(err error) bool {
	code := ubl.CodeOf(err)
	return code == ubl.CodeUnavailable || code == ubl.CodeOverloaded
}

// reason says why an error ends the stream, and logs what is our own fault.
func (l *listener) reason(ctx context.Context, err error) Reason {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return EndedSlow
	}
	if ctx.Err() != nil {
		return EndedClient
	}
	coded, ok := errors.AsType[*ubl.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return EndedUnavailable
	case !ok:
		return EndedClient // its connection broke
	}
	switch coded.Code {
	case ubl.CodeUnavailable, ubl.CodeOverloaded:
		return EndedUnavailable
	case ubl.CodeNotAMember, ubl.CodeForbidden, ubl.CodeNotFound, ubl.CodeUnauthorized:
		return EndedMembership
	}
	l.hub.log.ErrorContext(ctx, "couldn't go on with a stream", "error", err,
		"request_id", envelope.RequestOf(ctx).ID)
	return EndedInternal
}
