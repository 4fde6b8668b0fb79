package actors

import (
	"context"
	"errors"
	"math"

	"ubl"
)

// Then is the state as it was at a moment of the past, made of the events alone, and the
// newest of them. It is for the asker's goroutine, behind the gate.
func (x *Entity[S, E]) Then(ctx context.Context, at ubl.AsOf) (*S, *E, error) {
	if err := x.reached(ctx, at); err != nil {
		return nil, nil, err
	}
	if x.replays != nil {
		select {
		case x.replays <- struct{}{}:
			defer func() { <-x.replays }()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	var s S
	var newest *E
	err := x.Events().Each(ctx, 1, math.MaxInt64, func(e E) error {
		if !at.Has(e.stamped().Receipt) {
			return errLater
		}
		newest = &e
		x.kind.Apply(&s, e)
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, errLater) {
		return nil, nil, err
	}
	if newest == nil {
		return nil, nil, ubl.Errorf(ubl.CodeNotFound, "it didn't exist by then")
	}
	return &s, newest, nil
}

// errLater ends the reading of events.
var errLater = errors.New("the event is of a later time")

// reached refuses a moment that is still to come: what was answered for it wouldn't hold.
func (x *Entity[S, E]) reached(ctx context.Context, at ubl.AsOf) error {
	if at.Time > ubl.TimeOf(x.Now()) {
		return ubl.Errorf(ubl.CodeValidation, "as_of is in the future")
	}
	return x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		head, err := snap.Head()
		if err == nil && at.Seq > head.Seq {
			err = ubl.Errorf(ubl.CodeValidation, "as_of: the ledger has only %d atoms", head.Seq)
		}
		return err
	})
}
