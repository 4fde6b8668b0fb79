package actors

import (
	"context"
	"math"
	"slices"
	"sort"

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
	look := x.replays.look(ctx, x.Name.Group().Tenant)
	defer look.end()
	list, err := x.kind.Snapshot.readKept(ctx, x.Read, x.Name)
	if err != nil {
		return nil, nil, err
	}
	last, err := x.lastBy(ctx, look, list, at)
	if err == nil && last == nil {
		err = ubl.Errorf(ubl.CodeNotFound, "it didn't exist by then")
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := x.build(ctx, look, list, (*last).stamped().N, farBack)
	if err != nil {
		return nil, nil, err
	}
	return s, last, nil
}

// AsOf is the state that the events up to number n lead to, made of them alone.
func (x *Entity[S, E]) AsOf(ctx context.Context, n int64) (*S, error) {
	look := x.replays.look(ctx, x.Name.Group().Tenant)
	defer look.end()
	list, err := x.kind.Snapshot.readKept(ctx, x.Read, x.Name)
	if err != nil {
		return nil, err
	}
	return x.build(ctx, look, list, n, math.MaxInt64)
}

// farBack is how many events a look into the past reads at most behind the nearest snapshot:
// more take longer than who asks would wait.
const farBack = 250_000

// build makes the state that the events up to number n lead to, of the nearest snapshot before
// that and at most so many events after it.
func (x *Entity[S, E]) build(ctx context.Context, look *look, list []kept, n, most int64) (*S, error) {
	s, from, err := x.nearest(ctx, list, n)
	if err != nil {
		return nil, err
	}
	if n-from > most {
		return nil, ubl.Errorf(ubl.CodeValidation, "as_of: %d acts would have to be read again, which takes too long, and no nearer state is kept; export the ledger to see what was then", n-from)
	}
	if err := look.read(n - from); err != nil {
		return nil, err
	}
	err = x.Events().Each(ctx, from+1, n, func(e E) error {
		x.kind.Apply(&s, e)
		return nil
	})
	return &s, err
}

// nearest is the state of the newest snapshot up to event n, and that snapshot's last event; the
// empty state and 0 where there is none.
func (x *Entity[S, E]) nearest(ctx context.Context, list []kept, n int64) (s S, from int64, err error) {
	list = list[:sort.Search(len(list), func(i int) bool { return list[i].Events > n })]
	for _, head := range slices.Backward(list) {
		s, ok, err := x.kind.Snapshot.keptState(ctx, x.Read, x.Name, head)
		if ok || err != nil {
			return s, head.Events, err
		}
	}
	return x.kind.empty(x.Name), 0, nil
}

// lastBy is the newest event of a moment, nil for none.
func (x *Entity[S, E]) lastBy(ctx context.Context, look *look, list []kept, at ubl.AsOf) (*E, error) {
	var newest int64
	err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) (err error) {
		newest, err = snap.Counter(x.place.Counter)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case at.Seq > 0:
		return x.lastBySeq(ctx, newest, at)
	}
	return x.lastByTime(ctx, look, list, newest, at)
}

// lastBySeq halves what is left: the seqs of events only grow.
func (x *Entity[S, E]) lastBySeq(ctx context.Context, newest int64, at ubl.AsOf) (last *E, err error) {
	sort.Search(int(newest), func(i int) bool {
		if err != nil {
			return true
		}
		var page []E
		if page, err = x.Events().Page(ctx, int64(i)+1, 1); err != nil || len(page) == 0 {
			return true
		}
		later := !at.Has(page[0].stamped().Receipt)
		if !later { // the next that is looked at is a later one
			last = &page[0]
		}
		return later
	})
	return last, err
}

// lastByTime goes back from the newest event. All after the one that it finds have to be looked
// at, or known by what is kept to be later: the clock may have been ahead for a while, and what
// came after that is of an earlier time again.
func (x *Entity[S, E]) lastByTime(ctx context.Context, look *look, list []kept, newest int64, at ubl.AsOf) (*E, error) {
	for to := newest; to > 0; {
		i := sort.Search(len(list), func(i int) bool { return list[i].Events >= to })
		from := int64(0) // of the events that are of one kept snapshot, or of none yet
		if i > 0 {
			from = list[i-1].Events
		}
		if i < len(list) && list[i].Earliest > int64(at.Time) {
			to = from
			continue
		}
		from = max(from, to-EventPage)
		if err := look.read(to - from); err != nil {
			return nil, err
		}
		page, err := x.Events().Page(ctx, from+1, to-from)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(page) {
			if at.Has(e.stamped().Receipt) {
				return &e, nil
			}
		}
		to = from
	}
	return nil, nil
}

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
