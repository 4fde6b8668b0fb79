//go:build linux

package chaos

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ubl/test/soak"
)

// quickly is how soon a send is acknowledged while a minority is away: after an
// election, and a client's time to turn to another node.
const quickly = 30 * time.Second

// TestLostDiskWhileAnotherDies: a voter comes back without its disk while
// another is dead. It is a new server and has no vote: with the one that is left
// it must not pass for a quorum. When the dead one is back all is well.
func TestLostDiskWhileAnotherDies(t *testing.T) {
	c := try(t, plan{count: 3})
	lost, dead := c.world.node(3), c.world.node(2)
	lost.kill()
	dead.kill()
	c.must(lost.wipe())
	c.must(lost.start())
	acked := c.load.tally.acked.Load()
	pause(c.ctx, 4*time.Second) // the time in which nothing may happen
	if now := c.load.tally.acked.Load(); now > acked+int64(len(c.load.tenants)*4) {
		t.Errorf("%d sends were acknowledged without a quorum", now-acked)
	}
	c.must(dead.start())
	c.whole()
	c.sends("with everybody back", quickly)
	c.end()
}

// TestTransferFails: the node to which leadership is handed over is paused just
// then, while all nodes are restarted one after another under load.
func TestTransferFails(t *testing.T) {
	soak.Only(t, "TestEveryFault pauses and restarts, too")
	c := try(t, plan{count: 3})
	for i, n := range c.world.all() {
		target := c.world.all()[(i+1)%3]
		p := n.expectEnd()
		undo, err := stopContinue(c.ctx, target, nil)
		c.must(err)
		stopped := make(chan error, 1)
		go func() { stopped <- n.stop(stopTime) }()
		pause(c.ctx, 1500*time.Millisecond)
		c.must(undo())
		c.must(<-stopped)
		<-p.ended
		c.must(n.start())
		c.whole()
	}
	c.sends("after the restarts", quickly)
	c.end()
}

// TestRollingRestart: every node is restarted in order, under load, twice; what
// callers notice is retries.
func TestRollingRestart(t *testing.T) {
	soak.Only(t, "TestEveryFault restarts a node, too")
	c := try(t, plan{count: 3})
	for range 2 {
		for _, n := range c.world.all() {
			c.must(n.stop(stopTime))
			c.must(n.start())
			c.whole()
		}
	}
	c.end()
	if longest, _ := c.load.tally.longest(); longest > quickly {
		t.Errorf("a send took %s", longest)
	}
}

// TestAwayLong: a node that was away while the others cut their logs catches up
// by snapshot.
func TestAwayLong(t *testing.T) {
	soak.Only(t, "the step “install: staged” catches up by snapshot, too")
	c := try(t, plan{count: 3, flags: []string{"--cluster-log-bytes", "65536"}})
	away := c.follower()
	away.kill()
	before := away.snapshots(c.one.partition)
	c.flood() // more entries than a log keeps when it is cut
	c.must(away.start())
	c.whole()
	if after := away.snapshots(c.one.partition); slices.Equal(before, after) {
		t.Errorf("%s caught up without a snapshot: it has %v, as before", away, after)
	}
	c.end()
}

// TestNewAddress: a node comes back under its name at another address.
func TestNewAddress(t *testing.T) {
	soak.Only(t, "nodes come back at other addresses in ./cluster/mesh, too")
	c := try(t, plan{count: 3})
	n := c.follower()
	before := n.addresses()
	c.must(n.stop(stopTime))
	c.must(n.move())
	if n.addresses() == before {
		t.Fatal("the node didn't move")
	}
	c.must(n.start())
	c.whole()
	c.sends("after the move", quickly)
	c.end()
}

// TestPausedLeader: a leader that slept through an election wakes up. What it
// was asked before it fell asleep, and others answered meanwhile, it answers the
// same way or not at all.
func TestPausedLeader(t *testing.T) {
	soak.Only(t, "TestEveryFault pauses leaders, too")
	c := try(t, plan{count: 3})
	old := c.leader()
	r := c.one.rooms[0]
	const said = "asked of a sleeping leader"
	c.must(old.signal(stop))
	late := make(chan message, 1)
	go func() { late <- r.askLate(c.ctx, old, said) }()
	pause(c.ctx, 300*time.Millisecond) // so that the request is in its hands
	r.say(0, said, deadline)
	c.sends("while the leader sleeps", quickly)
	if now := c.leader(); now == old {
		t.Errorf("%s leads in its sleep", old)
	}
	c.must(old.signal(wake))
	r.mu.Lock()
	acked := r.acked[said]
	r.mu.Unlock()
	if m := <-late; m != (message{}) && m != acked {
		t.Errorf("the old leader answered %+v, acknowledged was %+v", m, acked)
	}
	c.whole()
	c.end()
}

// TestStandstill: the whole machine stands still for half of the time that a
// leader may be silent, again and again. Nobody missed anybody, so nobody resigns.
func TestStandstill(t *testing.T) {
	soak.Only(t, "the machine stands still for half a minute")
	c := try(t, plan{count: 3, silence: 8 * time.Second})
	c.must(poll(c.ctx, 50*time.Millisecond, func(ctx context.Context) error {
		all, err := c.world.picture(ctx)
		return cmp.Or(err, all.spread())
	}))
	before := c.world.terms()
	for range 3 {
		for _, s := range []syscall.Signal{stop, wake} {
			for _, n := range c.world.members() {
				c.must(n.signal(s))
			}
			pause(c.ctx, 4*time.Second)
		}
	}
	c.whole()
	if after := c.world.terms(); after != before {
		t.Errorf("there were elections: the terms add up to %d, before to %d", after, before)
	}
	c.end()
}

// askLate sends a message to one node, however long it takes to answer; nothing
// when it fails.
func (r *room) askLate(ctx context.Context, n *node, said string) message {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	var out struct {
		Message message `json:"message"`
	}
	if err := r.owner.send(ctx, n, "POST", r.messages(), key(said), say(said), &out); err != nil {
		r.owner.world.t.Logf("the paused node answered: %v", err)
	}
	return out.Message
}

// TestFullDisks: the disk of a follower fills up (in `make soak`), then that of the leader. The
// others go on; when there is room again the node takes part again.
func TestFullDisks(t *testing.T) {
	c := try(t, plan{count: 3, smallDisks: []int{1, 2, 3}})
	for _, role := range soak.Of([]string{"leader"}, []string{"follower", "leader"}) {
		n := c.follower()
		if role == "leader" {
			n = c.leader()
		}
		if why := needsDisk(n); why != "" {
			t.Skip(why)
		}
		c.must(n.disk.fill())
		c.sends(fmt.Sprintf("while the disk of the %s is full", role), quickly)
		pause(c.ctx, 2*time.Second)
		c.must(n.disk.free())
		c.whole()
	}
	c.end()
}

// TestStopOnFullDisk: a node is stopped as its disk has just filled up, and started
// before there is room. Nothing that was acknowledged is lost. A node alone says with
// its exit code that it needs room.
func TestStopOnFullDisk(t *testing.T) {
	for name, p := range map[string]plan{
		"alone":        {count: 1, alone: true, smallDisks: []int{1}},
		"of a cluster": {count: 3, smallDisks: []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			if !p.alone {
				soak.Only(t, "TestFullDisks leaves a node of a cluster no room, too")
			}
			c := try(t, p)
			n := c.world.node(p.count)
			if why := needsDisk(n); why != "" {
				t.Skip(why)
			}
			c.must(n.disk.fill())
			ended := n.expectEnd()
			c.must(n.stop(stopTime))
			if said := n.logText(); p.alone && (!n.metFullDisk(ended.err) || !strings.Contains(said, "Free some space, then start again")) {
				t.Errorf("the stop on a full disk ended with %v\n%s", ended.err, n.logTail())
			}
			c.must(n.start()) // which may end for lack of room, and is repeated
			pause(c.ctx, 3*time.Second)
			c.must(n.disk.free())
			c.whole()
			c.sends("with room again", quickly)
			c.end()
		})
	}
}

// TestDamagedLog: a byte of the last batch of every log of a node is flipped while it
// is down. It has again from the others what was lost, before it votes.
func TestDamagedLog(t *testing.T) {
	c := try(t, plan{count: 3})
	for _, n := range c.world.all()[:soak.Of(1, 3)] {
		n.kill()
		c.must(n.eachLog(damage))
		c.must(n.start())
		c.whole()
		if log := n.logText(); !strings.Contains(log, "it doesn't vote until it has from the others what it lost") {
			t.Errorf("%s didn't notice:\n%s", n, n.logTail())
		}
	}
	c.sends("after the damage", quickly)
	c.end()
}

// TestSealedLog: a node dies when its logs have sealed a segment and not begun
// the next one, and when they were about to seal one. It goes on with both.
func TestSealedLog(t *testing.T) {
	soak.Only(t, "TestEveryFault seals logs, too")
	c := try(t, plan{count: 3})
	for i, leave := range []func(extent) []byte{
		func(e extent) []byte { return appendCommit(appendIndex(nil, e.entries)) },
		func(e extent) []byte { return appendIndex(nil, e.entries) },
	} {
		n := c.world.node(1 + i)
		n.kill()
		c.must(n.eachLog(func(segment string) error { return change(segment, leave) }))
		c.must(n.start())
		c.whole()
	}
	c.end()
}
