package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// beaten runs a rhythm for so long, under a node that is heard each time the channel says so, and
// tells when it beat, after its start, and by how much too late.
func beaten(t *testing.T, r rhythm, whole time.Duration, heard ...time.Duration) (at, late []time.Duration) {
	ctx, stop := context.WithTimeout(t.Context(), whole)
	defer stop()
	began := time.Now()
	for _, after := range heard {
		time.AfterFunc(after, r.heard.raise)
	}
	r.run(ctx, func(by time.Duration) {
		at, late = append(at, time.Since(began)), append(late, by)
	})
	return at, late
}

// each is when something happens that does so every so often.
func each(first, every, until time.Duration) (at []time.Duration) {
	for ; first < until; first += every {
		at = append(at, first)
	}
	return at
}

// TestNodesBeatTogether: a node meets the one that it follows within a few beats, wherever both began, and
// beats with it from then on, and never later than a follower of its own reckons with.
func TestNodesBeatTogether(t *testing.T) {
	for offset := time.Duration(0); offset < testBeat; offset += testBeat / 20 {
		synctest.Test(t, func(t *testing.T) {
			r := rhythm{testBeat, newSignal()}
			const whole = 20 * testBeat
			theirs := each(offset+testBeat/40, testBeat, whole)
			mine, _ := beaten(t, r, whole, theirs...)
			for i, at := range mine[1:] {
				if gap := at - mine[i]; gap < testBeat/2 || gap > r.patient() {
					t.Errorf("%s apart: a beat comes %s after the one before", offset, gap)
				}
			}
			last := theirs[len(theirs)-10:]
			for i, at := range mine[len(mine)-10:] {
				if at != last[i] {
					t.Errorf("%s apart: it beats at %s, the other at %s", offset, at, last[i])
				}
			}
		})
	}
}

// TestANodeBeatsByItself: before it hears another, and from a moment after it hears it no more.
func TestANodeBeatsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rhythm{testBeat, newSignal()}
		mine, late := beaten(t, r, 8*testBeat, 3*testBeat/2, 5*testBeat/2)
		want := []time.Duration{testBeat, 3 * testBeat / 2, 5 * testBeat / 2, 5*testBeat/2 + r.patient()}
		want = append(want, each(want[3]+testBeat, testBeat, 8*testBeat)...)
		if len(mine) != len(want) {
			t.Fatalf("it beats at %s, want %s", mine, want)
		}
		for i := range want {
			if mine[i] != want[i] || late[i] > 0 {
				t.Errorf("beat %d is at %s, %s late; want it at %s", i, mine[i], late[i], want[i])
			}
		}
	})
}

// TestALongBeat isn't taken for a machine that stood still: the next comes at once, and isn't late.
func TestALongBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rhythm{testBeat, newSignal()}
		ctx, stop := context.WithTimeout(t.Context(), 11*testBeat/2)
		defer stop()
		beats := 0
		r.run(ctx, func(late time.Duration) {
			if beats++; beats == 2 {
				time.Sleep(3 * testBeat)
			}
			if late != 0 {
				t.Errorf("beat %d is %s late", beats, late)
			}
		})
		if beats != 3 {
			t.Errorf("it beat %d times", beats)
		}
	})
}

// TestWhoStoodStill: a follower that is looked after too late gives the leader time again, one of a node whose
// beat was in time doesn't.
func TestWhoStoodStill(t *testing.T) {
	w := newWorld(t, 2, steady)
	for _, n := range w.nodes {
		g := n.group(0)
		for _, c := range []struct {
			late time.Duration
			want bool
		}{{n.opts.Timeout / 10, false}, {n.opts.Timeout / 5, true}} {
			g.awake.Store(0)
			n.lookAfterLeaders(c.late)
			if got := g.awake.Load() != 0; got != c.want {
				t.Errorf("a beat that is %s late: the machine stood still: %t", c.late, got)
			}
		}
	}
}
