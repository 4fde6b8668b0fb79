package cluster

import (
	"slices"
	"sync/atomic"
	"time"

	"ubl"
)

// Nodes tell each other their clocks with their reports. Each compares its own with the
// median of all that answer, of an even number the lower one: of two nodes the one that is
// ahead counts as wrong, since a clock that is ahead makes things old too early.

const (
	// compareEvery is how often a node compares its clock.
	compareEvery = 5 * time.Second
	// clockSlack is how far a clock may be off before anybody is told.
	clockSlack = 10 * time.Second
)

// clock is how far this node's clock is ahead of the others', in nanoseconds.
type clock struct {
	offset atomic.Int64
	told   atomic.Bool // that it is off
}

// ClockOffset is how far this node's clock is ahead of the other nodes', negative where it
// is behind; 0 while none answers.
func (n *Node) ClockOffset() time.Duration { return time.Duration(n.clock.offset.Load()) }

// onTime says that the clock is off.
func (n *Node) onTime() error {
	off := n.ClockOffset().Round(time.Second)
	switch {
	case off > clockSlack:
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: this node's clock is %s ahead of the other nodes': set it right, see the runbook (UBLClockOff)", off)
	case off < -clockSlack:
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: this node's clock is %s behind the other nodes': set it right, see the runbook (UBLClockOff)", -off)
	}
	return nil
}

func (n *Node) compareClocks() {
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	for {
		n.opts.Panics.Do("comparing clocks", n.compareClock)
		select {
		case <-n.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *Node) compareClock() {
	began, since := n.opts.Now(), time.Now()
	var others []time.Duration
	n.eachReport(n.ctx, reportTimeout, func(r *report) {
		if r.ServerID != n.server && r.Clock != 0 { // an earlier version doesn't say
			others = append(others, r.Clock.Std().Sub(began.Add(time.Since(since)/2)))
		}
	})
	n.clock.offset.Store(int64(ahead(others)))
	off := n.onTime()
	switch told := n.clock.told.Swap(off != nil); {
	case off != nil && !told:
		n.log.Warn("the clock is off", "error", off)
	case off == nil && told:
		n.log.Info("the clock is right again")
	}
}

// ahead is how far a clock is ahead of the median of all, of which the others differ from
// it by so much.
func ahead(others []time.Duration) time.Duration {
	all := append(slices.Clone(others), 0)
	slices.Sort(all)
	return -all[(len(all)-1)/2]
}
