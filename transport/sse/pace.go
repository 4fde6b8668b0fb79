package sse

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Listeners that are woken and don't run yet, for each processor: enough to keep it
// busy, few enough that a request waits for a millisecond behind them and not for all
// the streams of a room.
const wokenEach = 4

// pace bounds how many listeners of a hub are woken and don't run yet. A listener that
// runs, or waits for its client to read, has no place.
type pace struct {
	places *semaphore.Weighted
	// turn is how many places a follow takes at once. With half of them at a time,
	// whatever else is runnable gets its turn between two.
	turn int
}

func newPace(places int) *pace {
	return &pace{places: semaphore.NewWeighted(int64(places)), turn: max(1, places/2)}
}

func defaultPace() *pace { return newPace(wokenEach * runtime.GOMAXPROCS(0)) }

// wake pokes every listener, some at a time. It returns early when ctx ends.
func (p *pace) wake(ctx context.Context, listeners []*listener) {
	places := 0
	for i, l := range listeners {
		if places == 0 {
			places = min(p.turn, len(listeners)-i)
			if p.places.Acquire(ctx, int64(places)) != nil {
				return
			}
		}
		if l.rest.wake() {
			places--
		}
		l.poke()
	}
	p.places.Release(int64(places))
}

// rest is whether a listener waits, and whether it has a place of the pace.
type rest struct{ state atomic.Int32 }

const (
	awake  = iota // it runs, and looks again before it waits
	asleep        // it waits
	waking        // it is woken, with a place, and doesn't run yet
)

// sleep is said before waiting.
func (r *rest) sleep() { r.state.Store(asleep) }

// wake gives a listener that waits a place. It reports false where it doesn't wait.
func (r *rest) wake() bool { return r.state.CompareAndSwap(asleep, waking) }

// awake is said once the listener runs. It reports whether it had a place.
func (r *rest) awake() bool { return r.state.Swap(awake) == waking }
