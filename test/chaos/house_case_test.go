//go:build linux

package chaos

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ubl/test/soak"
)

// TestSearchEverywhere: each node comes to lead the case's partition, and finds
// every document with an index of its own.
func TestSearchEverywhere(t *testing.T) {
	soak.Only(t, "the check of every world has each node find each document")
	c := try(t, plan{count: 3})
	pause(c.ctx, 5*time.Second) // in which documents are written
	led := make(map[*node]bool)
	for len(led) < 3 {
		n := c.leader()
		if !led[n] {
			led[n] = true
			c.finds(n)
		}
		c.must(n.stop(stopTime)) // which hands over
		c.must(n.start())
		c.whole()
	}
	c.end()
}

// finds wants every document of the case's tenant to be found at the node that
// leads, while others write rooms.
func (c *trial) finds(leader *node) {
	c.Helper()
	c.load.finish()
	v := &verdicts{found: make(map[string][]string)}
	c.one.workspace.verify(c.ctx, v)
	v.report(c.T)
	if indexes, _ := filepath.Glob(filepath.Join(leader.data(), "search", "*")); len(indexes) == 0 {
		c.Errorf("%s led, and has no index", leader)
	}
}

// TestLeaderDiesCarrying: the leader is killed again and again while credits are
// on their way, some of them sent by clients who never ask again. Who leads then
// carries them on.
func TestLeaderDiesCarrying(t *testing.T) {
	soak.Only(t, "TestEveryFault kills leaders while credits are on their way, too")
	c := try(t, plan{count: 3})
	w := c.one.wallets
	for round := range soak.Of(2, 4) {
		leader := c.leader()
		var callers sync.WaitGroup
		for i := range 12 {
			p := w.draft(w.ids[i%2], w.ids[(i+1)%2], 1)
			patience := deadline
			if i%3 > 0 {
				patience = time.Duration(2+5*i) * time.Millisecond
			}
			callers.Go(func() { w.pay(p, patience) })
		}
		pause(c.ctx, time.Duration(2+6*round)*time.Millisecond)
		leader.kill()
		callers.Wait()
		c.must(leader.start())
		c.whole()
	}
	c.end()
}

// TestCallsOutside: a server of tools outside is used through every node while
// one of them is killed, and in `make soak` each. No call is made twice, and each
// one that was begun ends in the ledger, once.
func TestCallsOutside(t *testing.T) {
	c := try(t, plan{count: 3})
	o := newOutside(c.ctx, t, c.world)
	calling, stop := context.WithCancel(c.ctx)
	defer stop()
	var callers sync.WaitGroup
	for who := 1; who <= 4; who++ {
		callers.Go(func() {
			o.caller(calling, who, draws(c.world.seed, "call", who), soak.Of(120*time.Millisecond, 60*time.Millisecond))
		})
	}
	for _, n := range c.world.all()[:soak.Of(1, 3)] {
		pause(c.ctx, time.Second)
		n.kill()
		c.must(n.start())
		c.whole()
	}
	stop()
	callers.Wait()
	if !soak.On() { // where calls that were left open come to their deadline as time does
		for _, n := range c.world.all() {
			c.must(n.setClock(endTime))
		}
	}
	v := &verdicts{found: make(map[string][]string)}
	o.verify(c.ctx, v)
	v.report(t)
	t.Logf("%d calls, of which %d came here", len(o.calls), len(o.ran))
	c.end()
}
