package actors

import (
	"context"
	"fmt"
	"math"

	"ubl"
)

// Entity is one actor of a [Kind]: its events, the state that follows from them, and
// its idempotency keys. Families embed it. State and Keys are owned by the mailbox.
type Entity[S any, E Event] struct {
	Env
	Read  ubl.Reader
	State S
	Keys  *Keys

	kind  *Kind[S, E]
	hooks Hooks[E]
	place Place
	last  int64 // the number of the newest event
}

// Hooks are what a family does with an event outside its state.
type Hooks[E Event] struct {
	// Outcome is what a caller is answered for an event, at once or at a retry. It runs
	// on the asker's goroutine behind the gate: it may read the store and ask other
	// actors, and must not touch the state.
	Outcome func(context.Context, E) (any, error)
	// Applied follows each new event in the mailbox, and none at a load; nil for nothing.
	// The append that it goes with isn't committed yet.
	Applied func(E, *Append)
}

// Load makes the Entity of what is stored: the newest checkpoint, the events after it,
// and the keys.
func (k *Kind[S, E]) Load(ctx context.Context, read ubl.Reader, env Env, hooks Hooks[E]) (*Entity[S, E], error) {
	x := &Entity[S, E]{Env: env, Read: read, kind: k, hooks: hooks, place: k.Place(env.Name)}
	err := x.replay(ctx)
	if err == nil && x.last == 0 && k.Unknown != nil {
		err = k.Unknown()
	}
	if err == nil {
		x.Keys, err = LoadKeys(ctx, read, env.Name, ubl.TimeOf(env.Now()))
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't load a %s: %w", k.Name, err)
	}
	return x, nil
}

func (x *Entity[S, E]) replay(ctx context.Context) (err error) {
	if x.kind.Restore != nil {
		if x.last, err = x.kind.Restore(ctx, x.Read, x.Name, &x.State); err != nil {
			return err
		}
	}
	return x.Events().Each(ctx, x.last+1, math.MaxInt64, func(e E) error {
		x.apply(e)
		return nil
	})
}

func (x *Entity[S, E]) apply(e E) {
	x.kind.Apply(&x.State, e)
	x.last = e.stamped().N
}

// Events are those that are stored.
func (x *Entity[S, E]) Events() Events[E] {
	return Events[E]{Read: x.Read, Group: x.Name.Group(), Key: x.place.Key, Newest: x.kind.Version}
}

// Change decides a command of the family's table and answers the turn: a retry of its
// key with what that led to, a refusal, or a plan's answer. It reports false for any
// other command.
func (x *Entity[S, E]) Change(t *Turn, cmd ubl.Command) bool {
	for _, rule := range x.kind.Rules {
		if w, ok := rule.read(cmd); ok {
			x.change(t, w)
			return true
		}
	}
	return false
}

func (x *Entity[S, E]) change(t *Turn, w wish[S, E]) {
	if x.Keys.Seen(t, w.key, x.Past) {
		return
	}
	p, err := w.decide(&x.State, x.Moment(t))
	if err == nil && !p.Frees {
		err = x.Usage.May(w.req.Who, w.did)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	t.Later(x.Enact(t, w.did, w.req, p, &w.key))
}

// Moment is that of a turn.
func (x *Entity[S, E]) Moment(t *Turn) Moment {
	return Moment{Now: t.Now(), Random: x.Random}
}

// Past answers with the outcome of a stored event.
func (x *Entity[S, E]) Past(ctx context.Context, n int64) (any, error) {
	page, err := x.Events().Page(ctx, n, 1)
	if err == nil && len(page) == 0 {
		err = ubl.Errorf(ubl.CodeInternal, "an event is missing")
	}
	if err != nil {
		return nil, err
	}
	return x.hooks.Outcome(ctx, page[0])
}

// Enact carries out a plan in the turn's commit, and is the answer to it, for
// [Turn.Later]. Each plan comes by here, between being decided and changing anything:
// whatever else may forbid an act has its place at the top. Without a key the family
// knows a retry by other means.
func (x *Entity[S, E]) Enact(t *Turn, did ubl.Did, req ubl.Request, p *Plan[E], key *Key) func() (any, error) {
	a := t.Draft()
	if key != nil {
		x.Keys.Add(a, *key, t.Now(), Ref{Kind: x.place.Ref, N: x.last + 1})
	}
	e, act := x.enact(a, did, req, t.Now(), p)
	if answer := p.Answer; answer != nil {
		return func() (any, error) { return answer(act.Receipt), nil }
	}
	ctx := t.Context()
	return func() (any, error) {
		s := e.stamped()
		s.Receipt = act.Receipt
		stamp(&e, s)
		return x.hooks.Outcome(ctx, e)
	}
}

// Note puts an act on record that changes nothing, as reading is one. Its receipt is
// there behind the gate.
func (x *Entity[S, E]) Note(t *Turn, did ubl.Did, req ubl.Request, act Act) *Act {
	return x.act(t.Draft(), did, req, t.Now(), act)
}

// Found is the append of an actor's first event, which another actor commits. It has
// no state to take the act's Agreement and Pointers from.
func (k *Kind[S, E]) Found(name ubl.Name, did ubl.Did, req ubl.Request, at ubl.Time, p *Plan[E]) *Append {
	a := &Append{}
	x := &Entity[S, E]{Env: Env{Name: name}, kind: k, place: k.Place(name)}
	x.enact(a, did, req, at, p)
	return a
}

// act adds an act to an append.
func (x *Entity[S, E]) act(a *Append, did ubl.Did, req ubl.Request, at ubl.Time, act Act) *Act {
	if did == "" {
		panic("actors: an act has no name")
	}
	act.Did, act.Request, act.At = did, req, at
	if act.Agreement == "" {
		act.Agreement = x.kind.Under(&x.State, req.Who)
	}
	if act.Pointers == nil {
		act.Pointers = x.kind.Pointers(&x.State)
	}
	a.Acts = append(a.Acts, &act)
	return &act
}

// enact adds a plan to an append and applies its event.
func (x *Entity[S, E]) enact(a *Append, did ubl.Did, req ubl.Request, at ubl.Time, p *Plan[E]) (E, *Act) {
	act := x.act(a, did, req, at, p.Act)
	e := p.Event
	stamp(&e, Stamp{Version: x.kind.Version, N: x.last + 1, Did: did, At: at, By: req.Who.UserID})
	a.Move(x.place.Counter, x.last, x.last+1)
	a.Records = append(a.Records, p.Records...)
	a.Records = append(a.Records, act.Sealed(x.place.Key(x.last+1), e))
	x.apply(e)
	if x.kind.Index != nil {
		a.Records = append(a.Records, x.kind.Index(&x.State, e, act)...)
	}
	if x.kind.Every > 0 && x.last%x.kind.Every == 0 {
		a.Records = append(a.Records, x.kind.Checkpoint(&x.State))
	}
	x.tell(a, e, act)
	if x.hooks.Applied != nil {
		x.hooks.Applied(e, a)
	}
	return e, act
}

// tell has what an event tells published once it is durable.
func (x *Entity[S, E]) tell(a *Append, e E, act *Act) {
	if x.kind.Tell == nil {
		return
	}
	for _, event := range x.kind.Tell(&x.State, e) {
		a.OnCommit(func() ubl.Event {
			event.TenantID, event.TS, event.LedgerSeq = x.Name.Group().Tenant, act.At, act.last()
			return event
		})
	}
}
