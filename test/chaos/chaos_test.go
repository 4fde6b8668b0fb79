//go:build linux

package chaos

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"ubl/test/soak"
)

// TestEveryFault: three nodes under each kind of fault, one after the other.
// Nothing that was acknowledged is lost or doubled, and all that doc.go lists holds.
func TestEveryFault(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of faults")
	}
	needsCluster(t)
	t.Log("\n" + rage(t, plan{count: 3}, (*driver).tour).String())
}

// TestChaosShort is the same under random faults for a minute.
func TestChaosShort(t *testing.T) {
	soak.Only(t, "a minute of random faults")
	needsCluster(t)
	t.Log("\n" + rage(t, plan{count: 3}, atRandom(min(cmp.Or(durationOf(t), time.Minute), time.Minute))).String())
}

// userSilence is the silence that a user's node allows a leader.
const userSilence = 500 * time.Millisecond

// TestChaosLong is the same for as long as CHAOS_DURATION says, the last third
// of it with five nodes, elections as soon as a user has them, and writes its figures.
func TestChaosLong(t *testing.T) {
	duration := durationOf(t)
	if duration == 0 {
		t.Skip("it runs for as long as CHAOS_DURATION says")
	}
	needsCluster(t)
	var runs []*results
	for _, part := range []struct {
		nodes int
		share time.Duration
	}{{3, duration * 2 / 3}, {5, duration / 3}} {
		t.Run(fmt.Sprintf("%d nodes", part.nodes), func(t *testing.T) {
			r := rage(t, plan{count: part.nodes, silence: userSilence}, atRandom(part.share))
			t.Log("\n" + r.String())
			runs = append(runs, r)
		})
	}
	if err := write("results", runs); err != nil {
		t.Error(err)
	}
}

// TestOneNode: a node alone goes through what can befall it.
func TestOneNode(t *testing.T) {
	if testing.Short() {
		t.Skip("ten seconds of faults")
	}
	t.Log("\n" + rage(t, plan{count: 1, alone: true, smallDisks: []int{1}}, atRandom(10*time.Second)).String())
}

// atRandom draws faults for so long.
func atRandom(duration time.Duration) func(*driver) error {
	return func(d *driver) error { return d.run(duration) }
}

// rage runs clients and faults, and checks everything.
func rage(t *testing.T, p plan, strike func(*driver) error) *results {
	t.Helper()
	seed := seedOf(t)
	draw := draws(seed, "plan")
	p.expect = draw.IntN(2) == 0
	if !p.alone { // short logs, so that nodes catch up by snapshot too
		p.flags = append(p.flags, "--cluster-log-bytes", fmt.Sprint(64<<10<<draw.IntN(8)))
	}
	if len(p.smallDisks) == 0 {
		for _, i := range draw.Perm(p.count)[:(p.count-1)/2] {
			p.smallDisks = append(p.smallDisks, i+1)
		}
	}
	w := newWorld(t, seed, p)
	w.up()
	l := w.begin(light())
	before, began := w.terms(), time.Now()
	d := newDriver(w)
	if err := strike(d); err != nil {
		w.complain("the faults stopped early: %v", err)
	}
	took, after := time.Since(began), w.terms()
	v := l.verify()
	return report(w, l, d, v, took, max(after, before)-before) // after is 0 where the terms could not be read
}

// terms is the sum of all terms; 0 where there are none.
func (w *world) terms() uint64 {
	ctx, cancel := context.WithTimeout(w.life, deadline)
	defer cancel()
	var all picture
	err := poll(ctx, 50*time.Millisecond, func(ctx context.Context) (err error) {
		all, err = w.picture(ctx)
		return err
	})
	if err != nil {
		w.t.Logf("couldn't read the terms: %v", err)
	}
	return all.terms()
}
