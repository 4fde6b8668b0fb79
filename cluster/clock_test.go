package cluster

import (
	"sync/atomic"
	"testing"
	"time"

	"ubl/test/poll"
)

func TestAhead(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		others []time.Duration
		want   time.Duration
	}{
		{nil, 0},
		{[]time.Duration{-day}, day},            // of two the one that is ahead
		{[]time.Duration{day}, 0},               // not the one behind
		{[]time.Duration{-day, -day}, day},      // n3 of three
		{[]time.Duration{0, day}, 0},            // n1 of the same three
		{[]time.Duration{day, day}, -day},       // behind both
		{[]time.Duration{-day, 0, 0, day}, 0},   // five
		{[]time.Duration{-day, -day, day}, day}, // even: the lower median
	} {
		if got := ahead(c.others); got != c.want {
			t.Errorf("ahead(%v) = %v, want %v", c.others, got, c.want)
		}
	}
}

// TestClockOff: a node whose clock runs ahead learns by how much from the others, isn't
// ready, and is again once it is set right; the others stay ready, and say whose clock it is.
func TestClockOff(t *testing.T) {
	var shift atomic.Int64
	made := 0
	w := newWorld(t, 3, func(o *Options) {
		if made++; made == 3 {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
		}
	})
	for _, n := range w.nodes {
		poll.Until(t, "a node is ready", func() bool { return n.Ready() == nil })
	}
	odd := w.nodes[2]
	shift.Store(int64(400 * 24 * time.Hour))
	for _, n := range w.nodes {
		n.compareClock()
	}
	if off := odd.ClockOffset() - 400*24*time.Hour; off.Abs() > 5*time.Second || odd.Ready() == nil {
		t.Errorf("off by %v, ready: %v", odd.ClockOffset(), odd.Ready())
	}
	for _, n := range w.nodes[:2] {
		if n.ClockOffset().Abs() > 5*time.Second || n.onTime() != nil {
			t.Errorf("%s is off by %v", n.server, n.ClockOffset())
		}
	}
	s, err := w.nodes[0].Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range s.Nodes {
		if want := node.ServerID == odd.server; (node.ClockOffset > 399*24*3600*1000) != want {
			t.Errorf("%s: an offset of %d ms", node.NodeID, node.ClockOffset)
		}
	}
	shift.Store(0)
	odd.compareClock()
	poll.Until(t, "ready again", func() bool { return odd.Ready() == nil })
}
