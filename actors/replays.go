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

// place is one look's place. It is taken with the first events that are read, and changed
// once they are many.
type place struct {
	ctx    context.Context
	of     replays
	tenant ubl.TenantID
	events int64
	taken  bool
	held   *turns.Turns
}

func (r replays) place(ctx context.Context, tenant ubl.TenantID) *place {
	return &place{ctx: ctx, of: r, tenant: tenant}
}

// read waits until so many more events may be read.
func (p *place) read(events int64) error {
	p.events += events
	want := p.of.few
	if p.events > fewEvents {
		want = p.of.many
	}
	if p.taken && p.held == want {
		return nil
	}
	p.end()
	if err := want.Take(p.ctx, p.tenant); err != nil {
		return err
	}
	p.taken, p.held = true, want
	return nil
}

// end gives the place back.
func (p *place) end() {
	if p.taken {
		p.held.Give(p.tenant)
	}
	p.taken = false
}
