package actors

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// crowd is writers in a closed loop before a server that ends so many writes a second,
// first come first served. It goes by the millisecond.
type crowd struct {
	window *window
	rate   int
	rude   bool // who is refused comes back at once
	random *rand.Rand

	begin, now time.Time
	inside     []time.Time // when each write was let in
	coming     map[int64]int
	owed       float64 // of a write that is being worked on

	took                  []time.Duration
	served, refused, idle int
}

func newCrowd(rate, writers int, rude bool, seed uint64) *crowd {
	at := time.Unix(1_000_000, 0)
	return &crowd{
		window: newWindow(4096, leastOfGroup, 1<<30), rate: rate, rude: rude, random: rand.New(rand.NewPCG(seed, 1)),
		begin: at, now: at, coming: map[int64]int{at.UnixMilli(): writers},
	}
}

// run goes on for a time, and counts from its beginning.
func (c *crowd) run(length time.Duration) {
	c.took, c.served, c.refused, c.idle = nil, 0, 0, 0
	for range length.Milliseconds() {
		for range c.coming[c.now.UnixMilli()] {
			c.arrive()
		}
		delete(c.coming, c.now.UnixMilli())
		c.now = c.now.Add(time.Millisecond)
		c.serve()
	}
}

func (c *crowd) arrive() {
	if c.window.take(c.now, 1, true) {
		c.inside = append(c.inside, c.now)
		return
	}
	c.refused++
	wait := c.window.later(c.now)
	if c.rude {
		wait = 200 * time.Millisecond
	}
	c.coming[c.now.Add(wait+time.Duration(c.random.Int64N(int64(wait/2)))).UnixMilli()+1]++
}

func (c *crowd) serve() {
	c.owed += float64(c.rate) / 1000
	for ; c.owed >= 1; c.owed-- {
		if len(c.inside) == 0 {
			c.idle++
			continue
		}
		c.served++
		c.took = append(c.took, c.now.Sub(c.inside[0]))
		c.window.give(c.now, c.inside[0], 1)
		c.inside = c.inside[1:]
		c.coming[c.now.UnixMilli()]++ // it has another
	}
}

// Whatever the server is able to do and however many want it, rude or not: what is let
// in ends in time, the server has enough to do, and who waits as told gets a turn.
func TestWindowKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(400, 3000).Draw(t, "writes a second")
		writers := rapid.IntRange(rate/2, 4*rate).Draw(t, "writers")
		c := newCrowd(rate, writers, rapid.Bool().Draw(t, "rude"), rapid.Uint64().Draw(t, "seed"))
		c.run(5 * time.Second)
		c.run(5 * time.Second)
		slices.Sort(c.took)
		if p99 := c.took[len(c.took)*99/100]; p99 > 2*lateAfter+lookEvery {
			t.Errorf("p99 of what was let in is %s", p99)
		}
		if c.idle > c.served/10 {
			t.Errorf("%d were served, and %d more could have been", c.served, c.idle)
		}
		if !c.rude && c.refused > 3*c.served {
			t.Errorf("%d were refused for %d that were served: they were told to come too soon", c.refused, c.served)
		}
	})
}

// While writes end in time, as many as there may be are let in.
func TestWindowIsOpen(t *testing.T) {
	c := newCrowd(18_000, 1000, false, 1)
	c.run(2 * time.Second)
	if c.coming[c.now.UnixMilli()] += 1500; c.refused > 0 { // more writers come
		t.Errorf("%d of 1,000 writers were refused", c.refused)
	}
	c.run(5 * time.Second)
	if c.refused > 0 || c.idle > 0 {
		t.Errorf("%d of 2,500 writers were refused, where each write takes 139 ms", c.refused)
	}
}

// A disk that stands still closes the window but for the least, and it opens again with
// the disk.
func TestWindowOfADiskThatStandsStill(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	w := newWindow(4096, leastOfGroup, 1<<30)
	letIn := func() (n int) {
		for n < 5000 && w.take(now, 1, true) {
			n++
		}
		return n
	}
	since := now
	for range 10 {
		if !w.take(now, 1, true) {
			t.Fatal("the first writes were refused")
		}
	}
	now = now.Add(lateAfter)
	if n := letIn(); n != leastOfGroup-10 {
		t.Errorf("%d more were let in while nothing ends, want %d", n, leastOfGroup-10)
	}
	if wait := w.later(now); wait < firstWait || wait > lastWait {
		t.Errorf("a refused writer is told to wait %s", wait)
	}
	for range leastOfGroup {
		w.give(now, since, 1)
	}
	now = now.Add(10 * time.Second)
	if n := letIn(); n < 4096/4 || n > 4096/3 {
		t.Errorf("%d are let in after quiet seconds, want about 1024", n)
	}
}

// A tenant with few writes under way is let in where the flood of another has closed
// their partition.
func TestFewWaitForNobodysFlood(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	partition := newWindow(16384, leastOfPartition, 1<<30)
	n := 0
	for partition.take(now, 1, true) {
		n++
	}
	now = now.Add(lateAfter)
	for range n - leastOfPartition {
		partition.give(now, now.Add(-time.Second), 1)
	}
	if partition.take(now, 1, true) {
		t.Error("one of many was let in at a closed window")
	}
	if !partition.take(now, 1, false) {
		t.Error("one of few was refused for somebody else's flood")
	}
}
