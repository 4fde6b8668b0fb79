package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"ubl"
)

// Outbound is something to be done outside, as a call of a tool. A [Plan] whose act is
// intended puts it on record ([Plan].Intends). Once that is durable it is attempted: by who
// asked, while a Lease is theirs, and then by the outbox ([Hooks].Send). A plan that
// [Plan].Ends it puts its effect on record.
type Outbound struct {
	// Key is the actor's own name for it, unique until its effect.
	Key string `json:"-"`
	// Content is what is to be done, in 64 KiB at most, as the family reads it.
	Content json.RawMessage `json:"content,omitempty"`
	// Lease is until when who asked makes the attempt alone, and ends it; 0 for nobody.
	Lease ubl.Time `json:"lease,omitempty"`
	// Deadline is when no more attempt begins, and it ends with an error; 0 for never. One
	// without a deadline becomes a dead letter, as an alarm does, after as many attempts.
	Deadline ubl.Time `json:"deadline,omitempty"`
	// Once says that it ends with an error where nobody knows the outcome of an attempt. Else
	// it is attempted again, and the other side knows it by [Attempt].IdempotencyKey.
	Once bool `json:"once,omitempty"`
}

// Attempt is one of an [Outbound], as [Hooks].Send makes it.
type Attempt struct {
	Outbound
	// IdempotencyKey is for the other side: the content id of the intent, at every attempt.
	IdempotencyKey string
	// Failed is how many attempts have failed before.
	Failed int
}

// Sent is what came of an [Outbound], for [Kind].Ended.
type Sent struct {
	Outbound
	// Answer is what Send answered, and Err what it failed with. It is unavailable where
	// nobody knows what came of it.
	Answer json.RawMessage
	Err    *ubl.Error
}

const (
	// outboundPrefix begins the keys of alarms that attempt an outbound. The alarm holds it.
	outboundPrefix = "out:"
	maxOutbound    = 64 << 10
	// sendLease is how long nobody else attempts what an attempt may still be about: as long
	// as one takes, and telling its actor. Where clocks differ two may meet, under one key.
	sendLease = alarmTimeout + 5*time.Second
	// sendReport is how soon the actor is told again of an outcome that it couldn't be told.
	sendReport = 100 * time.Millisecond
)

// sent ends an attempt that was begun under a lease until due. Answers nil.
type sent struct {
	key     string
	due     ubl.Time
	setting uint64 // of the lease
	answer  json.RawMessage
	failed  *ubl.Error
}

// Cost is one act, and the answer.
func (c sent) Cost() int { return ubl.ActCost + len(c.answer) }

// intends is the records of what a plan puts on record, or ends.
func (x *Entity[S, E]) intends(a *Append, at ubl.Time, p *Plan[E], act *Act) (records []Record) {
	if p.Ends != "" {
		as, ok := x.alarms[outboundPrefix+p.Ends]
		if !ok {
			panic("actors: a plan ends what nobody intended")
		}
		act.Closes = as.intent
		x.sends.forget(x.Name, p.Ends)
		records = x.setAs(a, outboundPrefix+p.Ends, nil)
	}
	o := p.Intends
	if o == nil {
		return records
	}
	key := outboundPrefix + o.Key
	_, has := x.alarms[key]
	if has || o.Key == "" || len(key) > maxAlarmKey || len(o.Content) > maxOutbound || act.Status != ubl.StatusIntended {
		panic("actors: an outbound has no key of its own, is too large, or isn't intended")
	}
	due := cmp.Or(o.Lease, at)
	return append(records, x.setAs(a, key, &armed{Due: due, For: due, Wait: max(due-at, atOnce), Out: o, intent: &act.Receipt})...)
}

// attempt has an outbound attempted that is due, under a lease that is durable before.
func (x *Entity[S, E]) attempt(t *Turn, key string, as armed, req ubl.Request) {
	o := as.Out
	switch {
	case o.Deadline > 0 && t.Now() >= o.Deadline, o.Once && as.Begun, x.hooks.Send == nil:
		if err := x.end(t, as, req, Sent{Outbound: *o, Err: as.given()}); err != nil {
			t.Fail(err)
			return
		}
		t.Reply(true)
		return
	case !x.sends.take(x.kind.Name, x.Name):
		t.Fail(ubl.Errorf(ubl.CodeOverloaded, "too much is being done outside"))
		return
	}
	as.Begun, as.Due = true, t.Now().Add(sendLease)
	x.setUnreceipted(t, key, &as)
	t.append().then(func(err error) {
		if err != nil {
			x.sends.give(x.kind.Name, x.Name)
			return
		}
		x.sends.run(x.kind.Name, x.Name, func(ctx context.Context) { x.send(ctx, key, as) })
	})
	t.Reply(true)
}

// given is the error of an outbound that is given up.
func (as armed) given() *ubl.Error {
	if as.Begun || as.Out.Lease > 0 {
		return ubl.Errorf(ubl.CodeUnavailable, "nobody knows whether it was done")
	}
	return ubl.Errorf(cmp.Or(as.Code, ubl.CodeUnavailable), "it wasn't done before its deadline")
}

// send makes one attempt, and tells the actor what came of it.
func (x *Entity[S, E]) send(ctx context.Context, key string, as armed) {
	c := sent{key: key, due: as.Due, setting: as.setting}
	attempt := Attempt{Outbound: *as.Out, IdempotencyKey: as.intent.CID, Failed: as.Attempts}
	err := x.Panics.Try("doing something outside", func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, alarmTimeout)
		defer cancel()
		c.answer, err = x.hooks.Send(ctx, attempt)
		return err
	})
	if err != nil {
		c.failed = ubl.AsError(err)
		level := slog.LevelWarn
		if as.Attempts > 0 { // it was told, and the figures count on
			level = slog.LevelDebug
		}
		x.Log.Log(ctx, level, "something couldn't be done outside", "key", as.Out.Key, "attempts", as.Attempts+1, "error", err)
	}
	x.sends.count(err)
	// What comes too late for the lease is of no use.
	ctx, cancel := context.WithTimeout(ctx, sendLease-alarmTimeout)
	defer cancel()
	for wait := sendReport; ; wait *= 2 {
		_, err := x.Ask.Ask(ctx, x.Name, c)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			x.Log.Warn("couldn't put on record what was done outside: it is attempted again", "key", as.Out.Key, "error", err)
			return
		case <-time.After(wait):
		}
	}
}

// sent puts the outcome of an attempt on record, or has another one made later.
func (x *Entity[S, E]) sent(t *Turn, c sent) {
	as, ok := x.alarms[c.key]
	if !ok || as.Failed || as.Due != c.due && as.setting != c.setting { // its lease has ended, or somebody has ended it
		t.Reply(nil)
		return
	}
	as.Begun = false
	req, err := x.alarmRequest(c.key, as)
	if err == nil && (c.failed == nil || as.Out.Once || !mayPass(c.failed.Code)) {
		err = x.end(t, as, req, Sent{Outbound: *as.Out, Answer: c.answer, Err: c.failed})
		if err == nil {
			t.Reply(nil)
			return
		}
		// What was done can't be put on record. That is a failed attempt, too: else it would be
		// done again for ever. What is done once isn't done again for it.
		as.Begun, c.failed = as.Out.Once, ubl.AsError(err)
	}
	switch {
	case err != nil && passes(err):
		t.Fail(err)
		return
	case x.putOff(t, c.key, as, c.failed.Code):
		x.sends.forget(x.Name, as.Out.Key)
		x.Log.Error("something couldn't be done outside, and isn't tried any more", "key", as.Out.Key, "error", c.failed)
	default:
		x.sends.wait(x.Name, as.Out.Key, as.For)
	}
	t.Reply(nil)
}

// mayPass tells an error of the other side after which the same attempt may succeed.
func mayPass(code ubl.Code) bool {
	return slices.Contains([]ubl.Code{ubl.CodeUnavailable, ubl.CodeOverloaded, ubl.CodeRateLimited, ubl.CodeInternal}, code)
}

// end decides what the outcome of an outbound leads to.
func (x *Entity[S, E]) end(t *Turn, as armed, req ubl.Request, s Sent) error {
	did, p, err := x.kind.Ended(&x.State, s, x.Moment(t))
	if err != nil {
		return err
	}
	p.Ends = as.Out.Key
	x.enact(t.append(), did, req, t.Now(), p, !x.kind.WakePasses)
	return nil
}

// orphaned has the outbox look after what a run of this node before it held a lease of.
func (x *Entity[S, E]) orphaned(t *Turn, c orphaned) {
	for key, as := range maps.Clone(x.alarms) {
		if as.Out != nil && as.Out.Lease > 0 && as.Due == as.Out.Lease && !as.Failed && as.Due > t.Now() && as.began() < c.before {
			as.Due = t.Now()
			x.setUnreceipted(t, key, &as)
		}
	}
	t.Reply(false)
}

// EachOutbound tells those of an actor that are open, by the local part of its name, with
// the receipts of their intents.
func EachOutbound(snap ubl.Snapshot, local string, each func(Outbound, *ubl.Receipt) error) error {
	return eachAlarm(snap, local, outboundPrefix, func(_ string, as armed) error { return each(*as.Out, as.intent) })
}
