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
	known  atomic.Bool // another node has answered
	told   atomic.Bool // that it is off
}

// ClockOffset is how far this node's clock is ahead of the other nodes', negative where it
// is behind; 0 while none answers.
func (n *Node) ClockOffset() time.Duration { return time.Duration(n.clock.offset.Load()) }

// ClockKnown reports whether the clock was compared with another node's since the start.
func (n *Node) ClockKnown() bool { return n.clock.known.Load() }

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
	for {
		n.opts.Panics.Do("comparing clocks", n.compareClock)
		pause := compareEvery
		if !n.ClockKnown() { // it has just started, and gossip may not know the others yet
			pause = listenEvery
		}
		select {
		case <-n.ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (n *Node) compareClock() {
	began, since := n.opts.Now(), time.Now()
	var others []time.Duration
	var reports []*report
	n.eachReport(n.ctx, reportTimeout, func(r *report) {
		reports = append(reports, r)
		if r.ServerID != n.server && r.Clock != 0 { // an earlier version doesn't say
			others = append(others, r.Clock.Std().Sub(began.Add(time.Since(since)/2)))
		}
	})
	n.compare(reports)
	n.clock.offset.Store(int64(ahead(others)))
	if len(others) > 0 {
		n.clock.known.Store(true)
	}
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
