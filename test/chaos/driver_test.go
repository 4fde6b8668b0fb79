//go:build linux

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// driver strikes a world at random.
type driver struct {
	world  *world
	draw   *rand.Rand
	counts map[string]int    // by fault
	skips  map[string]string // why a fault can't be had, for the last node that was looked at
}

func newDriver(w *world) *driver {
	return &driver{world: w, draw: draws(w.seed, "driver"), counts: make(map[string]int), skips: make(map[string]string)}
}

// strike is one fault under way.
type strike struct {
	fault fault
	node  *node
	undo  func() error
}

func (s strike) String() string { return s.fault.name + " of " + s.node.id }

// everybody is the fault that spares nobody.
const everybody = "kill of everybody"

// run strikes round after round for a while, or until something is wrong. Each round
// begins with a whole cluster and ends with one.
func (d *driver) run(duration time.Duration) error {
	ctx, cancel := context.WithTimeout(d.world.life, duration+10*time.Minute)
	defer cancel()
	for end, round := time.Now().Add(duration), 1; time.Now().Before(end); round++ {
		err := d.round(ctx, round)
		d.world.setTrouble("")
		if err = d.cause(err); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		pause(ctx, between(d.draw, 0, time.Second))
	}
	return nil
}

// cause is what ended the world's life where anything did, and so brought about all
// else that is wrong; otherwise err.
func (d *driver) cause(err error) error {
	if failed := d.world.failure(); failed != nil {
		return failed
	}
	return err
}

func (d *driver) round(ctx context.Context, round int) error {
	if d.draw.IntN(15) == 0 {
		return d.blackout(ctx, round)
	}
	return d.befall(ctx, round, d.plan())
}

// tour strikes with each kind of fault once, one after the other, and at the end
// takes everybody's power.
func (d *driver) tour() error {
	ctx, cancel := context.WithTimeout(d.world.life, 15*time.Minute)
	defer cancel()
	all := faults()
	for i, f := range all {
		nodes := d.world.members()
		d.draw.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		at := slices.IndexFunc(nodes, func(n *node) bool { return f.why(n) == "" })
		if at < 0 {
			d.skips[f.name] = f.why(nodes[0])
			continue
		}
		err := d.befall(ctx, i+1, []strike{{fault: f, node: nodes[at]}})
		d.world.setTrouble("")
		if err = d.cause(err); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return d.cause(d.blackout(ctx, len(all)+1))
}

// befall strikes, holds, undoes and waits until the cluster is whole.
func (d *driver) befall(ctx context.Context, round int, strikes []strike) error {
	d.say(round, strikes)
	var errs []error
	for i, s := range strikes {
		undo, err := s.fault.strike(ctx, s.node, d.draw)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s, err))
		}
		strikes[i].undo = undo
		d.counts[s.fault.name]++
	}
	pause(ctx, d.hold(strikes))
	for _, s := range slices.Backward(strikes) {
		if s.undo != nil {
			errs = append(errs, s.undo())
		}
	}
	d.world.setTrouble(names(strikes) + ", healing")
	return errors.Join(append(errs, d.world.wholeWithin(ctx, underLoad))...)
}

// plan draws a minority of nodes and one or two kinds of trouble for each. The
// process comes last, so that its undoing comes first.
func (d *driver) plan() []strike {
	nodes := d.world.members()
	most := max(1, (len(nodes)-1)/2)
	d.draw.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	var out []strike
	for _, n := range nodes[:1+d.draw.IntN(most)] {
		for range 1 + d.draw.IntN(4)/3 {
			s := strike{fault: d.pick(n), node: n}
			if s.fault.alone {
				return []strike{s}
			}
			if !slices.ContainsFunc(out, func(o strike) bool { return o.node == n && o.fault.kind == s.fault.kind }) {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b strike) int { return cmp.Compare(a.fault.kind, b.fault.kind) })
	return out
}

// pick draws a fault that can be had for the node.
func (d *driver) pick(n *node) fault {
	var bag []fault
	for _, f := range faults() {
		if why := f.why(n); why != "" {
			d.skips[f.name] = why
			continue
		}
		delete(d.skips, f.name)
		for range f.rank {
			bag = append(bag, f)
		}
	}
	return bag[d.draw.IntN(len(bag))]
}

// hold is how long a round's faults last.
func (d *driver) hold(strikes []strike) time.Duration {
	var longest time.Duration
	for _, s := range strikes {
		longest = max(longest, s.fault.holds)
	}
	return between(d.draw, longest/5, longest*2)
}

// blackout takes everybody's power at once. Half of the time some of what was
// not synced is lost.
func (d *driver) blackout(ctx context.Context, round int) error {
	d.counts[everybody]++
	d.world.t.Logf("round %d: %s", round, everybody)
	d.world.setTrouble(everybody)
	var undo []func() error
	for _, n := range d.world.members() {
		how := kill
		if !d.world.alone && d.draw.IntN(2) == 0 {
			how = powerLoss
		}
		back, err := how(ctx, n, d.draw)
		if err != nil {
			return err
		}
		undo = append(undo, back)
	}
	pause(ctx, between(d.draw, 0, time.Second))
	for _, back := range undo {
		if err := back(); err != nil {
			return err
		}
	}
	return d.world.wholeWithin(ctx, underLoad)
}

func (d *driver) say(round int, strikes []strike) {
	d.world.setTrouble(names(strikes))
	d.world.t.Logf("round %d: %s", round, names(strikes))
}

func names(strikes []strike) string {
	var out []string
	for _, s := range strikes {
		out = append(out, s.String())
	}
	return strings.Join(out, " and ")
}
