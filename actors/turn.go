package actors

import (
	"context"

	"ubl"
)

// Turn is one command being decided. It belongs to the mailbox and must not be
// kept.
type Turn struct {
	cell     *cell
	env      *envelope
	answer   answer
	answered bool
	now      ubl.Time // once asked for
	draft    *Append  // of everything that the turn decides; nil where that is nothing
}

// Context is the asker's.
func (t *Turn) Context() context.Context { return t.env.ctx }

// Now is the moment of the decision, one for the whole turn.
func (t *Turn) Now() ubl.Time {
	if t.now == 0 {
		t.now = ubl.TimeOf(t.cell.rt.opts.Now())
	}
	return t.now
}

// Reserve lets in a write of a command that was admitted as a read, before it decides
// to write after all.
func (t *Turn) Reserve(bytes int) error {
	now := t.cell.rt.opts.Now()
	if err := t.cell.group.take(now, bytes); err != nil {
		return err
	}
	t.env.cost, t.env.since = bytes, now
	return nil
}

// commit hands the turn's append to the group's LedgerShard. The actor has applied its
// state change already and continues; the turn's answer waits for the outcome.
func (t *Turn) commit(a *Append) {
	c := t.cell
	a.init(c, t.env.cost, t.env.since)
	t.env.cost = 0
	c.last = a
	c.pending.Add(1)
	c.group.append(a)
}

// append is the one append of everything that the turn decides. It is committed when
// Receive has returned, and forgotten if that panics. Families reach it by a [Plan], an
// [Act] or an [Unreceipted] alone.
func (t *Turn) append() *Append {
	if t.draft == nil {
		t.draft = &Append{Records: make([]Record, 0, 2)} // an event or item, and its key
	}
	return t.draft
}

// Reply answers with v.
func (t *Turn) Reply(v any) { t.set(answer{value: v}) }

// Fail answers with an error.
func (t *Turn) Fail(err error) { t.set(answer{err: err}) }

// Answer replies with a value, unless there is a refusal.
func (t *Turn) Answer(refusal error, value func() any) {
	if refusal != nil {
		t.Fail(refusal)
		return
	}
	t.Reply(value())
}

// Later answers with what fn returns. The asker's goroutine runs it after the
// gate: it may read the store and ask other actors, and must not touch the
// actor's state.
func (t *Turn) Later(fn func() (any, error)) { t.set(answer{later: fn}) }

// Read is Later, unless there is a refusal.
func (t *Turn) Read(refusal error, fn func(context.Context) (any, error)) {
	if refusal != nil {
		t.Fail(refusal)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) { return fn(ctx) })
}

func (t *Turn) set(a answer) {
	if t.answered {
		panic("actors: a turn is answered once")
	}
	t.answered, t.answer = true, a
}

// Tell has the listeners of an event's place hear of it at once. It is no part of a commit,
// and nobody can read it again: it is for what lasts a moment.
func (t *Turn) Tell(e ubl.Event) {
	defer t.cell.rt.opts.Panics.Recover(nil, "telling of a moment")
	t.cell.rt.feed.publish(e.Place(), ubl.Publication{Events: []ubl.Event{e}})
}

// Settled waits until all that the actor has decided before is durable, so that the turn
// finds it in the store. Other commands wait meanwhile: it is for decisions that are rare.
func (t *Turn) Settled() error {
	if t.cell.last == nil {
		return nil
	}
	settled := make(chan error, 1)
	t.cell.last.then(func(err error) { settled <- err })
	select {
	case err := <-settled:
		return err
	case <-t.Context().Done():
		return ubl.Errorf(ubl.CodeUnavailable, "a write before this one took too long").Because(t.Context().Err())
	}
}

// Drop lets the actor leave memory as soon as nothing waits for it: it turned
// out to be of no use.
func (t *Turn) Drop() {
	if t.cell.pending.Load() == 0 {
		t.cell.actor = nil
	}
}

// finish sends the answer through the gate: behind the newest commit that the
// decision could have seen.
func (t *Turn) finish() {
	if t.draft != nil {
		t.commit(t.draft)
	}
	if t.env.cost > 0 {
		t.cell.group.give(t.env.since, t.env.cost)
		t.env.cost = 0
	}
	if a, ok := t.env.cmd.(*Append); ok { // answered by being settled
		if t.answered {
			a.Settle(t.answer.err)
		}
		return
	}
	if !t.answered {
		t.Fail(ubl.Errorf(ubl.CodeInternal, "the actor gave no answer"))
	}
	if t.cell.last == nil {
		t.env.reply <- t.answer
		return
	}
	t.cell.gated.Add(1)
	t.cell.last.then(t.pass)
}

// pass sends the answer once the commit before it is settled.
func (t *Turn) pass(err error) {
	t.cell.gated.Add(-1)
	if err != nil && t.draft != nil {
		err = t.draft.own
	}
	if err != nil {
		t.answer = answer{err: err}
	}
	t.answer.committed = t.draft != nil && err == nil
	t.env.reply <- t.answer
}
