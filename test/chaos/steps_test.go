//go:build linux

package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"ubl/test/soak"
)

// steps are the places at which a process can be told to kill itself
// (UBL_CHAOS_CRASH), and what leads it there.
var steps = []struct {
	name   string
	reach  func(c *trial, step string)
	always bool // in `make test`, too
}{
	{"found: cleared", dieFounding, false},
	{"found: marked", dieFounding, false},
	{"found: snapshot", dieFounding, true},
	{"found: member", dieFounding, false},
	{"install: written", dieInstalling, false},
	{"install: staged", dieInstalling, true},
	{"install: renamed", dieInstalling, false},
	{"backup: fetched", dieBackingUp, false},
	{"commit: applied", dieUntold, true},
}

// TestKilledAtEachStep: a process dies at a step of something long, is started
// again, and everything is as if it had not.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	needsCluster(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if !knows(t, path, "UBL_CHAOS_CRASH") {
		t.Skip("the program can't be told to kill itself: build it with -tags chaos")
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			if !s.always {
				soak.Only(t, "another step of the same thing is tried always, or the step by its package")
			}
			t.Parallel()
			s.reach(&trial{T: t}, s.name)
		})
	}
}

// startToDie starts a node that kills itself at a step.
func (c *trial) startToDie(n *node, step string) *process {
	c.Helper()
	c.must(n.start("UBL_CHAOS_CRASH=" + step))
	return n.expectEnd()
}

// died waits until the process has killed itself.
func (c *trial) died(p *process, step string) {
	c.Helper()
	if p == nil { // already
		return
	}
	select {
	case <-p.ended:
	case <-c.ctx.Done():
		c.Fatal(context.Cause(c.ctx))
	case <-time.After(healTime):
		c.Fatalf("the process didn't come to the step %q", step)
	}
}

// dieFounding dies while a node's data becomes that of a cluster.
func dieFounding(c *trial, step string) {
	c.enter(newWorld(c.T, seedOf(c.T), plan{count: 1, alone: true}))
	c.world.up()
	c.begin()
	c.sends("before the cluster", quickly)
	one := c.world.node(1)
	c.must(one.stop(stopTime))
	c.world.alone, one.founder = false, true
	c.died(c.startToDie(one, step), step)
	one.founder = true
	c.must(one.start())
	c.must(poll(c.ctx, 50*time.Millisecond, one.ready))
	for range 2 {
		c.must(c.world.start(c.world.add(c.T)))
	}
	c.whole()
	c.end()
}

// dieInstalling dies while a node that was away long takes in a snapshot.
func dieInstalling(c *trial, step string) {
	c.enter(newWorld(c.T, seedOf(c.T), plan{count: 3, flags: []string{"--cluster-log-bytes", "65536"}}))
	c.world.up()
	c.begin()
	away := c.follower()
	away.kill()
	c.flood()
	c.died(c.startToDie(away, step), step)
	c.must(away.start())
	c.whole()
	c.end()
}

// dieUntold dies as a leader, between a commit and its publication: nobody was
// told of what is durable, and streams deliver it all the same.
func dieUntold(c *trial, step string) {
	c.enter(newWorld(c.T, seedOf(c.T), plan{count: 3}))
	c.world.up()
	c.begin()
	n := c.world.node(2)
	c.must(n.stop(stopTime))
	c.died(c.startToDie(n, step), step) // with the first entry of a partition that it was given
	c.must(n.start())
	c.whole()
	c.sends("with everybody back", quickly)
	c.end()
}

// dieBackingUp dies while a backup is made, which then is no backup; the next is.
func dieBackingUp(c *trial, step string) {
	c.enter(newWorld(c.T, seedOf(c.T), plan{count: 3}))
	c.world.up()
	c.begin()
	n := c.world.node(2)
	c.must(n.stop(stopTime))
	p := c.startToDie(n, step)
	c.whole()
	if err := c.world.backup(c.ctx, n); err == nil {
		c.Error("a backup succeeded though its process died")
	}
	c.died(p, step)
	c.must(n.start())
	c.whole()
	c.must(c.world.backup(c.ctx, n))
	c.end()
}

// backup has a node make a backup, and wants it whole.
func (w *world) backup(ctx context.Context, n *node) error {
	resp, err := w.operator().open(ctx, n, "POST", "/api/platform/backup", nil, func(http.Header) {})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	size, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || size == 0) {
		err = fmt.Errorf("the answer was %s", resp.Status)
	}
	return err
}
