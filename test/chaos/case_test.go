//go:build linux

package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ubl/test/soak"
)

// trial is one named case: a cluster with a little load, and a tenant to look at.
type trial struct {
	*testing.T
	ctx   context.Context
	world *world
	load  *load
	one   *tenant // whose partition the case is about
}

// try begins a named case.
func try(t *testing.T, p plan) *trial {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	needsCluster(t)
	t.Parallel() // each has a network of its own
	c := &trial{T: t}
	c.enter(newWorld(t, seedOf(t), p))
	c.world.up()
	c.begin()
	return c
}

// caseTime bounds a named case. It is far more than one takes on a busy machine: what
// a case waits for has limits of its own.
const caseTime = 8 * time.Minute

// enter makes a world the case's. What the case waits for ends with its life.
func (c *trial) enter(w *world) {
	ctx, cancel := context.WithTimeoutCause(w.life, caseTime, fmt.Errorf("the case took over %s", caseTime))
	c.Cleanup(cancel)
	c.world, c.ctx = w, ctx
}

func (c *trial) begin() {
	c.Helper()
	c.load = c.world.begin(weight{tenants: 2, rooms: 2, senders: 2, users: 1, writers: 1, carriers: 1, wallets: 2, adders: 1,
		pace: soak.Of(120*time.Millisecond, 60*time.Millisecond), patience: always})
	c.one = c.load.tenants[0]
}

// end checks everything, after what the case did.
func (c *trial) end() {
	c.Helper()
	c.load.verify()
}

func (c *trial) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// leader is who leads the case's partition now.
func (c *trial) leader() *node {
	c.Helper()
	var leader *node
	c.must(poll(c.ctx, 20*time.Millisecond, func(ctx context.Context) error {
		all, _ := c.world.picture(ctx) // who sleeps says nothing
		if leader = all.leader(c.one.partition); leader == nil {
			return fmt.Errorf("partition %d has no leader", c.one.partition)
		}
		return nil
	}))
	return leader
}

// follower is a member that doesn't lead the case's partition.
func (c *trial) follower() *node {
	c.Helper()
	leader := c.leader()
	for _, n := range c.world.members() {
		if n != leader {
			return n
		}
	}
	c.Fatal("there is one node only")
	return nil
}

// sends says some things in the case's tenant, which must be acknowledged in time.
func (c *trial) sends(what string, within time.Duration) {
	c.Helper()
	for i := range 5 {
		began := time.Now()
		c.one.rooms[0].say(0, fmt.Sprintf("%s: %s %d", c.one.rooms[0].name, what, i), deadline)
		if took := time.Since(began); took > within {
			c.Errorf("%s: a send took %s, want at most %s", what, took, within)
		}
	}
}

// whole waits until the cluster is whole while the load goes on.
func (c *trial) whole() {
	c.Helper()
	c.must(c.world.wholeWithin(c.ctx, underLoad))
}
