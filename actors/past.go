package actors

import (
	"context"
	"errors"
	"math"

	"ubl"
)

// Past refuses a time that isn't over for the actor: an act of this turn or of a later one
// may still bear it, and what was answered for it wouldn't hold. Acts of earlier turns are
// durable once the turn's answer is behind the gate.
func (t *Turn) Past(at ubl.AsOf) error {
	if at.Time >= t.Now() {
		return ubl.Errorf(ubl.CodeValidation, "as_of is not over yet; name a time that is, or the seq of an atom")
	}
	return nil
}

// Then is the state as it was at a moment of the past, made of the events alone, and the
// newest of them. It is for the asker's goroutine, behind the gate, and for a moment that
// [Turn.Past] takes.
func (x *Entity[S, E]) Then(ctx context.Context, at ubl.AsOf) (*S, *E, error) {
	if err := x.reached(ctx, at); err != nil {
		return nil, nil, err
	}
	tenant := x.Name.Group().Tenant
	if err := x.replays.Take(ctx, tenant); err != nil {
		return nil, nil, err
	}
	defer x.replays.Give(tenant)
	last, err := x.lastBy(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if last == 0 {
		return nil, nil, ubl.Errorf(ubl.CodeNotFound, "it didn't exist by then")
	}
	var s S
	var newest *E
	err = x.Events().Each(ctx, 1, last, func(e E) error {
		newest = &e
		x.kind.Apply(&s, e)
		return ctx.Err()
	})
	if err != nil {
		return nil, nil, err
	}
	return &s, newest, nil
}

// lastBy is the number of the newest event of a moment, 0 for none. At a time, all have to
// be looked at: the clock may have been ahead for a while, and what came after that is of
// an earlier time again.
func (x *Entity[S, E]) lastBy(ctx context.Context, at ubl.AsOf) (last int64, err error) {
	n := int64(0)
	err = x.Events().Each(ctx, 1, math.MaxInt64, func(e E) error {
		n++
		switch {
		case at.Has(e.stamped().Receipt):
			last = n
		case at.Seq > 0:
			return errLater
		}
		return ctx.Err()
	})
	if errors.Is(err, errLater) {
		err = nil
	}
	return last, err
}

// errLater ends the reading of events.
var errLater = errors.New("the event is of a later seq")

// reached refuses an atom that is still to come: what was answered for it wouldn't hold.
func (x *Entity[S, E]) reached(ctx context.Context, at ubl.AsOf) error {
	return x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		head, err := snap.Head()
		if err == nil && at.Seq > head.Seq {
			err = ubl.Errorf(ubl.CodeValidation, "as_of: the ledger has only %d atoms", head.Seq)
		}
		return err
	})
}
