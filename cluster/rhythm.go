package cluster

import (
	"context"
	"time"
)

// rhythm is when a node beats. Then it sends heartbeats, and looks after the leaders that should
// have sent theirs. A process that wakes costs more than what it does for either, and it also
// wakes for what other nodes send. So all nodes beat together: each with the first, by server
// id, whose heartbeats reach it, and by itself where none come.
type rhythm struct {
	every time.Duration
	heard signal // a node that comes before this one has just beaten
}

// patient is how long a node waits that beats with another: a little longer, so that it
// doesn't beat by itself a moment before.
func (r rhythm) patient() time.Duration { return r.every * 7 / 6 }

// run beats until ctx ends. late is by how much a beat came later than it was due: how long
// this machine stood still.
func (r rhythm) run(ctx context.Context, beat func(late time.Duration)) {
	timer := time.NewTimer(r.every)
	defer timer.Stop()
	last := time.Now()
	due := last.Add(r.every)
	for {
		pause := r.every
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.heard:
			pause = r.patient()
		}
		now := time.Now()
		if now.Sub(last) >= r.every/2 {
			last = now
			beat(now.Sub(due))
		} // else it has just beaten by itself: it waits a little longer each time, until they meet
		if due, now = last.Add(pause), time.Now(); due.Before(now) {
			due = now // the beat took that long, not the wait
		}
		timer.Reset(due.Sub(now))
	}
}
