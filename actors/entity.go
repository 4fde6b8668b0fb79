package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ubl"
)

// Entity is one actor of a [Kind]: its events, the state that follows from them, and
// its idempotency keys. Families embed it. State and Keys are owned by the mailbox.
type Entity[S any, E Event] struct {
	Env
	Read  ubl.Reader
	State S
	Keys  *Keys

	kind      *Kind[S, E]
	hooks     Hooks[E]
	place     Place
	items     Place // zero for a family without
	last      int64 // the number of the newest event
	snapshots snapshots
	// alarms are those that are armed, or have failed, by key.
	alarms map[string]armed
	// waits is the time before which one of them began to wait too late by the clock.
	waits ubl.Time
	// cursor is the newest atom that the actor has followed, keptCursor what was last kept.
	cursor, keptCursor int64
}

// Hooks are what a family does with an event outside its state.
type Hooks[E Event] struct {
	// Outcome is what a caller is answered for an event, at once or at a retry. It runs
	// on the asker's goroutine behind the gate: it may read the store and ask other
	// actors, and must not touch the state.
	Outcome func(context.Context, E) (any, error)
	// Again answers a retry whose key led to an item. It runs in the mailbox, and what it
	// returns behind the gate, as an Outcome does.
	Again func(ctx context.Context, n int64) func() (any, error)
	// Applied follows each new event in the mailbox, and none at a load; nil for nothing.
	// The append that it goes with isn't committed yet.
	Applied func(E, *Append)
	// Errand is what an alarm leads to where more than a decision is to be made, as
	// asking other actors; nil is nothing, where its reason is gone. Errand is called in
	// the mailbox, and what it returns on another goroutine behind the gate, at least
	// once and for a minute at most: it must not touch the state, and asks with the request's
	// key. A decision on the way sets or clears the alarm; else it is cleared when the errand
	// returns nil, and set again where that is [Again].
	Errand func(key string, req ubl.Request) func(context.Context) error
	// Send makes an attempt of an [Outbound], in 15 s at most, on another goroutine behind the
	// gate: it must not touch the state. Unavailable, overloaded, rate_limited and internal have
	// it attempted again; any other error is the other side's answer, and ends it. Nil where
	// who asks makes all attempts.
	Send func(context.Context, Attempt) (json.RawMessage, error)
	// Deliver has the effect of a subject's entries outside, in order and at least once.
	// It runs on another goroutine and must not touch the state. Required where the family
	// follows the ledger without [Kind].Decide.
	Deliver func(ctx context.Context, subject string, list []Entry) error
}

// Load makes the Entity of what is stored: the newest snapshot, the events after it,
// and the keys.
func (k *Kind[S, E]) Load(ctx context.Context, read ubl.Reader, env Env, hooks Hooks[E]) (*Entity[S, E], error) {
	if k.Wake != nil && hooks.Errand != nil { // one would take over the alarms of the other
		return nil, fmt.Errorf("a %s has both Wake and Errand: its alarms lead to one of them", k.Name)
	}
	x := k.entity(env)
	x.Read, x.hooks = read, hooks
	ctx = ubl.WithReading(ctx, env.Name.Group())
	err := x.replay(ctx)
	if err == nil {
		x.Keys, err = LoadKeys(ctx, read, env.Name, ubl.TimeOf(env.Now()))
	}
	if err == nil {
		err = x.loadAlarms(ctx)
	}
	if err == nil {
		err = x.loadCursor(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't load a %s: %w", k.Name, err)
	}
	return x, nil
}

func (k *Kind[S, E]) entity(env Env) *Entity[S, E] {
	x := &Entity[S, E]{Env: env, kind: k, place: k.Place(env.Name), State: k.empty(env.Name)}
	if k.Items != nil {
		x.items = k.Items(env.Name)
	}
	for _, counter := range [][]byte{x.place.Counter, x.items.Counter} {
		if len(counter) > 0 && strings.IndexByte("ce"+k.Spaces, counter[0]) < 0 {
			panic(fmt.Sprintf("actors: a %s counts under %q: it begins with c, e or one of its Spaces", k.Name, counter))
		}
	}
	return x
}

func (k *Kind[S, E]) empty(of ubl.Name) (s S) {
	if k.Empty != nil {
		s = k.Empty(of)
	}
	return s
}

func (x *Entity[S, E]) replay(ctx context.Context) (err error) {
	if x.kind.Snapshot != nil {
		x.last, err = x.restore(ctx)
		if errors.Is(err, ErrSnapshot) {
			x.Log.Warn("a snapshot is damaged: all events are replayed", "of", x.kind.Name, "error", err)
			x.last, err = 0, nil
		}
	}
	if err == nil && x.last == 0 && x.kind.Earlier != nil {
		x.last, err = x.kind.Earlier(ctx, x.Read, x.Name, &x.State)
	}
	if err != nil {
		return err
	}
	err = x.Events().Each(ctx, x.last+1, math.MaxInt64, func(e E) error {
		x.apply(e)
		return nil
	})
	if err == nil {
		err = x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
			return CheckEvents(snap, x.place.Counter, x.last)
		})
	}
	if err == nil && x.last == 0 && x.kind.Unknown != nil {
		err = x.kind.Unknown()
	}
	if err == nil && x.kind.Beside != nil {
		err = x.kind.Beside(ctx, x.Read, x.Name, &x.State)
	}
	return err
}

func (x *Entity[S, E]) apply(e E) {
	x.kind.Apply(&x.State, e)
	if s := e.stamped(); s.N > 0 {
		x.last = max(x.last, s.N)
		x.snapshots.since.saw(s.N, s.At)
	}
}

// Events are those that are stored.
func (x *Entity[S, E]) Events() Events[E] {
	return Events[E]{Read: x.Read, Group: x.Name.Group(), Key: x.place.Key, Newest: x.kind.Version}
}

// Change decides a command of the family's table and answers the turn: a retry of its
// key with what that led to, a refusal, or a plan's answer. It reports false for any
// other command.
func (x *Entity[S, E]) Change(t *Turn, cmd ubl.Command) bool {
	return x.receiveAlarm(t, cmd) || x.receiveFollow(t, cmd) || x.ChangeThen(t, cmd, nil)
}

// ChangeThen is Change for a command that leads to more than its commit: then gets the
// answer, as of a retry too, and gives the one that its caller gets. It runs on the
// asker's goroutine behind the gate, as an Outcome does.
func (x *Entity[S, E]) ChangeThen(t *Turn, cmd ubl.Command, then func(context.Context, any) (any, error)) bool {
	w, ok := x.read(cmd)
	if ok {
		x.change(t, w)
	}
	if first := t.answer.later; first != nil && then != nil {
		ctx := t.Context()
		t.answer.later = func() (any, error) {
			answer, err := first()
			if err != nil {
				return nil, err
			}
			return then(ctx, answer)
		}
	}
	return ok
}

// Knows reports whether a command of the table is a retry: Change answers it with what
// its key led to, however the state is by now, and with an error where the key can't be
// looked up or had another content.
func (x *Entity[S, E]) Knows(t *Turn, cmd ubl.Command) bool {
	w, ok := x.read(cmd)
	if !ok {
		return false
	}
	ref, err := x.Keys.Find(t.Context(), x.key(w))
	return ref != nil || err != nil
}

// read finds the rule of a command.
func (x *Entity[S, E]) read(cmd ubl.Command) (w wish[S, E], ok bool) {
	for _, rule := range x.kind.Rules {
		if w, ok = rule.read(cmd); ok {
			w.frees = rule.frees
			w.matches = x.kind.matches(cmd)
			break
		}
	}
	return w, ok
}

// key is the one under which a command is known.
func (x *Entity[S, E]) key(w wish[S, E]) Key {
	req := w.req
	if home := req.Who.TenantID; x.kind.Guests && home != x.Name.Group().Tenant {
		req.Key += "\n" + string(home)
	}
	return NewKey(w.did, req, w.told...)
}

func (x *Entity[S, E]) change(t *Turn, w wish[S, E]) {
	key := x.key(w)
	ref, err := x.Keys.Find(t.Context(), key)
	var p *Plan[E]
	var allowed Allowed[E]
	if err == nil && ref == nil {
		p, err = w.decide(&x.State, x.Moment(t))
	}
	if err == nil && ref == nil && w.matches != nil {
		err = w.matches(&x.State)
	}
	if err == nil && p != nil {
		p.Frees = p.Frees || w.frees
		allowed, err = x.Decide(t, w.did, w.req, p)
	}
	switch {
	case err != nil:
		t.Fail(err)
	case ref != nil && x.kind.Items != nil && ref.Kind == x.items.Ref:
		t.Later(x.hooks.Again(t.Context(), ref.N))
	case w.now != nil:
		if p != nil {
			x.Pass(t, allowed, &key)
		}
		t.Later(w.now(&x.State))
	case ref != nil:
		ctx := t.Context()
		t.Later(func() (any, error) { return x.Past(ctx, ref.N) })
	default:
		t.Later(x.Enact(t, allowed, &key))
	}
}

// Moment is that of a turn.
func (x *Entity[S, E]) Moment(t *Turn) Moment {
	return Moment{Now: t.Now(), Random: x.Random, Acts: x.Acts}
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
// [Turn.Later]. Without a key the family knows a retry by other means.
func (x *Entity[S, E]) Enact(t *Turn, allowed Allowed[E], key *Key) func() (any, error) {
	a, p := t.append(), allowed.plan
	if key != nil {
		ref := Ref{Kind: x.place.Ref, N: x.last + 1}
		if p.Item != nil {
			ref = Ref{Kind: x.items.Ref, N: p.Item.Number()}
		}
		x.Keys.add(a, *key, t.Now(), ref)
	}
	answer := p.Answer
	made, act := x.enact(a, allowed.did, allowed.req, t.Now(), p, true)
	if answer != nil {
		return func() (any, error) { return answer(act.Receipt), nil }
	}
	ctx, e := t.Context(), made
	return func() (any, error) {
		s := e.stamped()
		s.Receipt = act.Receipt
		stamp(&e, s)
		return x.hooks.Outcome(ctx, e)
	}
}

// Pass carries out a plan whose event passes, in the turn's commit. Its key leads to what
// the plan says.
func (x *Entity[S, E]) Pass(t *Turn, allowed Allowed[E], key *Key) {
	a := t.append()
	x.passes(t, a, key, allowed.plan.Ref)
	x.enact(a, allowed.did, allowed.req, t.Now(), allowed.plan, false)
}

// PassUnreceipted has an event pass in the turn's commit that no act makes.
func (x *Entity[S, E]) PassUnreceipted(t *Turn, u Unreceipted[E], key *Key) {
	a, e := t.append(), u.Event
	x.passes(t, a, key, Ref{})
	stamp(&e, Stamp{Version: x.kind.Version, At: t.Now()})
	x.apply(e)
	x.derive(a, e, nil)
}

// passes remembers the key of what passes, if it has one.
func (x *Entity[S, E]) passes(t *Turn, a *Append, key *Key, ref Ref) {
	if key != nil {
		x.Keys.add(a, *key, t.Now(), cmp.Or(ref, Ref{Kind: x.place.Passed}))
	}
}

// Found is the append of an actor's first event, which another actor commits. It has
// no state to take the act's Agreement and Pointers from.
func (k *Kind[S, E]) Found(name ubl.Name, did ubl.Did, req ubl.Request, at ubl.Time, p *Plan[E]) *Append {
	a := &Append{}
	k.entity(Env{Name: name}).enact(a, did, req, at, p, true)
	return a
}

// act adds an act to an append.
func (x *Entity[S, E]) act(a *Append, did ubl.Did, req ubl.Request, at ubl.Time, act *Act) *Act {
	if did == "" {
		panic("actors: an act has no name")
	}
	act.Did, act.Request, act.At = did, req, at
	if act.Agreement == "" {
		act.Agreement = x.kind.Under(&x.State, req.Who)
	}
	x.authorize(act)
	if act.Pointers == nil {
		act.Pointers = x.kind.Pointers(&x.State)
	}
	a.Acts = append(a.Acts, act)
	return act
}

// authorize notes the hash of the record that an act names: as the actor keeps it, else as who
// keeps it has decided by it ([ubl.Request.Under]).
func (x *Entity[S, E]) authorize(act *Act) {
	if x.kind.Record != nil {
		act.AgreementHash = x.kind.Record(&x.State, act.Agreement)
	}
	for _, record := range act.Request.Under {
		if act.AgreementHash == "" && record.Agreement == act.Agreement {
			act.AgreementHash = record.Hash
		}
	}
}

// enact adds a plan to an append, and its item, or its event, which is kept or passes, with
// the item beside it.
func (x *Entity[S, E]) enact(a *Append, did ubl.Did, req ubl.Request, at ubl.Time, p *Plan[E], keep bool) (e E, act *Act) {
	if p.First != nil {
		x.act(a, did, req, at, p.First)
		did = p.Did
	}
	if p.Founding != nil {
		act = p.Founding.Acts[0]
		x.authorize(act) // by what the founder keeps: the founded has no state yet
		a.merge(p.Founding)
	} else {
		act = x.act(a, did, req, at, &p.Act)
	}
	x.announce(a, act)
	if p.Item == nil { // an event brings some records along
		a.Records = slices.Grow(a.Records, len(p.Records)+4)
	}
	a.Records = append(a.Records, x.kind.own(p.Records...)...)
	a.Records = append(a.Records, x.intends(a, at, p, act)...)
	for _, alarm := range p.Alarms {
		a.Records = append(a.Records, x.set(a, at, alarm)...)
	}
	if p.Item != nil {
		x.take(a, p.Item, act)
	} else {
		e = x.add(a, p.Event, act, keep)
	}
	if p.Beside != nil {
		x.take(a, p.Beside, act)
	}
	if p.Also != nil {
		x.enact(a, p.Also.Did, req, at, p.Also, true)
	}
	p.Records, p.Item, p.Beside, p.Answer, p.Founding, p.Intends = nil, nil, nil, nil, nil, nil // the append keeps the act, and so the plan
	return e, act
}

// add stamps an event, applies it, and adds it to an append where it is kept, with what
// follows from it.
func (x *Entity[S, E]) add(a *Append, e E, act *Act, keep bool) E {
	s := Stamp{Version: x.kind.Version, Did: act.Did, At: act.At, By: act.Request.Who.UserID, sealed: &act.Receipt}
	if keep {
		s.N = x.last + 1
	}
	stamp(&e, s)
	last := x.last
	x.apply(e)
	if keep && x.kind.Hash != nil {
		s.Hash = x.kind.Hash(&x.State, e)
		stamp(&e, s)
	}
	if keep {
		a.Move(x.place.Counter, last, s.N)
		a.Records = append(a.Records, x.kind.own(act.Sealed(x.place.Key(s.N), x.encode(e)))...)
	}
	x.derive(a, e, act)
	return e
}

// take adds an item to an append, and has the state take it.
func (x *Entity[S, E]) take(a *Append, item Item, act *Act) {
	n := item.Number()
	a.Move(x.items.Counter, n-1, n)
	a.Records = append(a.Records, x.kind.own(Record{Key: x.items.Key(n), Seal: func() []byte { return item.Seal(act.Receipt) }})...)
	x.kind.Take(&x.State, item)
	a.OnCommit(func() ubl.Event {
		event := item.Told()
		event.TenantID, event.TS, event.LedgerSeq = x.Name.Group().Tenant, act.At, act.last()
		return event
	})
}

// encode is an event as it is stored, but for its receipt.
func (x *Entity[S, E]) encode(e E) []byte {
	if x.kind.Encode != nil {
		return x.kind.Encode(e)
	}
	return encode(e)
}

// derive adds what follows from a new event to its append.
func (x *Entity[S, E]) derive(a *Append, e E, act *Act) {
	if x.kind.Index != nil {
		a.Records = append(a.Records, x.kind.own(x.kind.Index(&x.State, e, act)...)...)
	}
	if e.stamped().N > 0 {
		a.Records = append(a.Records, x.snapshot()...)
	}
	x.tell(a, e, act)
	if x.hooks.Applied != nil {
		before := len(a.Records)
		x.hooks.Applied(e, a)
		x.kind.own(a.Records[before:]...)
	}
}

// announce has those effects of an act published that are told as they are.
func (x *Entity[S, E]) announce(a *Append, act *Act) {
	for _, told := range x.kind.Told {
		if told.Itself() {
			continue
		}
		for _, effect := range act.Effects {
			if effect.Op() != told.Op {
				continue
			}
			a.OnCommit(func() ubl.Event {
				return ubl.Event{
					Kind: told.Op, TenantID: x.Name.Group().Tenant, RoomID: ubl.RoomID(effect.Text(told.In)), TS: act.At, LedgerSeq: act.last(),
					UserID: act.Request.Who.UserID, Payload: effect.JSON(),
				}
			})
		}
	}
}

// tell has what an event tells published once it is durable.
func (x *Entity[S, E]) tell(a *Append, e E, act *Act) {
	if x.kind.Tell == nil {
		return
	}
	at := e.stamped().At
	for _, event := range x.kind.Tell(&x.State, e) {
		a.OnCommit(func() ubl.Event {
			event.TenantID, event.TS, event.LedgerSeq = x.Name.Group().Tenant, at, a.Last
			if act != nil {
				event.LedgerSeq = act.last()
			}
			return event
		})
	}
}
