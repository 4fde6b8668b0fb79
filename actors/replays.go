package actors

import (
	"context"

	"ubl"
	"ubl/turns"
)

// replays are the places for making states of the past. Each takes as much memory as its
// actor, and a processor while it reads events. Those that read few have places of their own,
// so that none of them waits for one that reads many.
type replays struct{ few, many *turns.Turns }

const (
	// fewEvents is the most that is few: a tenth of a second, about.
	fewEvents = 5000
	// Places on a node, and of one tenant.
	fewAtOnce, tenantFew   = 4, 1
	manyAtOnce, tenantMany = 4, 1
)

func newReplays() replays {
	return replays{few: turns.New(fewAtOnce, tenantFew), many: turns.New(manyAtOnce, tenantMany)}
}

// look is one look into the past. Its place is taken with the first events that it reads, and
// changed once they are many.
type look struct {
	ctx    context.Context
	of     replays
	tenant ubl.TenantID
	events int64
	taken  bool
	held   *turns.Turns
}

func (r replays) look(ctx context.Context, tenant ubl.TenantID) *look {
	return &look{ctx: ctx, of: r, tenant: tenant}
}

// read waits until so many more events may be read.
func (l *look) read(events int64) error {
	l.events += events
	want := l.of.few
	if l.events > fewEvents {
		want = l.of.many
	}
	if l.taken && l.held == want {
		return nil
	}
	l.end()
	if err := want.Take(l.ctx, l.tenant); err != nil {
		return err
	}
	l.taken, l.held = true, want
	return nil
}

// end gives the place back.
func (l *look) end() {
	if l.taken {
		l.held.Give(l.tenant)
	}
	l.taken = false
}
