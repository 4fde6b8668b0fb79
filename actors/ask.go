package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ubl"
)

// Ask implements [ubl.Asker].
func (rt *Runtime) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	answer, _, err := rt.AskHere(ctx, to, cmd)
	return answer, err
}

// Visit implements [ubl.Visitor].
func (rt *Runtime) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	if err := rt.Full(to, cmd); err != nil {
		return nil, nil, err
	}
	entered, err := ubl.Ask[*ubl.Entered](ctx, rt, ubl.TenantName(in.Who.TenantID), in)
	if err != nil {
		return nil, nil, err
	}
	answer, err := rt.Ask(ctx, to, ubl.Based(cmd, entered.Under))
	return entered, answer, err
}

// AskHere is Ask that also tells whether a commit of the command's own stands
// behind the answer. One without it, an error included, is final only as long as
// this node is the one to decide, which in a cluster is still to be confirmed. One
// with it needs nothing more: what [Turn.Later] reads after the commit is a state
// that has it, and so one of the time of the call.
func (rt *Runtime) AskHere(ctx context.Context, to ubl.Name, cmd ubl.Command) (value any, committed bool, err error) {
	if rt.closing.Load() {
		return nil, false, ubl.Errorf(ubl.CodeUnavailable, "the server is stopping")
	}
	if _, ok := cmd.(*Append); ok { // only a turn hands one to its LedgerShard
		return nil, false, ubl.Errorf(ubl.CodeInternal, "an append was asked of an actor")
	}
	if err := rt.bounded(to, cmd); err != nil {
		return nil, false, err
	}
	to, err = rt.lettersOf(to, cmd)
	if err != nil {
		return nil, false, err
	}
	for pause := firstPause; ; pause += firstPause {
		a := rt.ask(ctx, to, cmd)
		// A read that met a failing group is asked of the one that comes after:
		// reads go on where writes can't.
		if !errors.Is(a.err, errGroupOver) || cmd.Cost() > 0 || pause > lastPause {
			return a.value, a.committed, tooLong(cmd, a.err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, false, ubl.AsError(ctx.Err())
		}
	}
}

// tooLong says of a read that ran out of time that it did: there is no outcome to be unsure of.
func tooLong(cmd ubl.Command, err error) error {
	if cmd.Cost() > 0 || !errors.Is(err, context.DeadlineExceeded) || ubl.CodeOf(err) != ubl.CodeUnavailable {
		return err
	}
	return ubl.Errorf(ubl.CodeOverloaded, "the read took too long and was given up; it changes nothing").Because(err)
}

// A read that meets failing groups waits between its attempts, each time one
// firstPause longer: a hundred attempts in a second.
const (
	firstPause = 200 * time.Microsecond
	lastPause  = 100 * firstPause
)

func (rt *Runtime) ask(ctx context.Context, to ubl.Name, cmd ubl.Command) answer {
	reply, ok := rt.replies.Get().(chan answer)
	if !ok {
		reply = make(chan answer, 1)
	}
	e := &envelope{ctx: ctx, cmd: cmd, reply: reply}
	if err := rt.deliver(to, e); err != nil {
		return answer{err: err}
	}
	select {
	case a := <-reply:
		rt.replies.Put(reply) // there is one answer, so nobody else has it now
		if a.later != nil {
			rt.runLater(to, cmd, &a)
		}
		return a
	case <-ctx.Done():
		return answer{err: rt.giveUp(ctx, e)}
	}
}

// giveUp is what a caller is told whose time is over. Where nobody has begun to decide,
// nobody will, and the caller is told that.
func (rt *Runtime) giveUp(ctx context.Context, e *envelope) error {
	if !e.state.CompareAndSwap(waiting, givenUp) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ubl.AsError(ctx.Err())
	}
	rt.refused[RefusedWaiting].Add(1)
	return ubl.Errorf(ubl.CodeOverloaded, "the command waited for too long; nothing was done").Because(ctx.Err())
}

// Full refuses a write that its actor has no room for now, before anything else is asked
// for it. An actor that isn't in memory has.
func (rt *Runtime) Full(to ubl.Name, cmd ubl.Command) error {
	if cmd.Cost() == 0 {
		return nil
	}
	c, ok := rt.cells.Load(to)
	if !ok {
		return nil
	}
	return c.(*cell).group.full(rt.opts.Now())
}

// runLater runs the rest of an answer for its caller. A panic there is the
// caller's alone.
func (rt *Runtime) runLater(to ubl.Name, cmd ubl.Command, a *answer) {
	defer func() {
		if p := recover(); p != nil {
			a.value, a.err = nil, rt.panicked(p, "a deferred answer", to, cmd)
		}
	}()
	a.value, a.err = a.later()
}

// panicked notes a panic over a command, and is what its caller is told.
func (rt *Runtime) panicked(p any, work string, at ubl.Name, cmd ubl.Command) error {
	return ubl.AsError(rt.opts.Panics.Note(p, work, "actor", at, "command", fmt.Sprintf("%T", cmd)))
}

// deliver puts the envelope into the mailbox of the name's cell, which it
// makes if need be.
func (rt *Runtime) deliver(to ubl.Name, e *envelope) error {
	for {
		c, err := rt.cell(to)
		if err != nil {
			return err
		}
		entered, err := c.enter(e)
		if err != nil {
			return err
		}
		if entered {
			return nil
		}
		if e.ctx.Err() != nil { // the cell was closing, and so was the caller
			return ubl.AsError(e.ctx.Err())
		}
	}
}
