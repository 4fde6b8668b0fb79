//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl/test/soak"
)

// Callers that wait while a node falls silent. `make soak` measures how long, on a
// machine that is known to be quiet; elsewhere the limits only guard against a wait
// for somebody who says nothing.
var (
	answeredWithin = soak.Of(10*time.Second, 1500*time.Millisecond)
	// A node whose cable is plugged in again answers within that.
	healedWithin = soak.Of(15*time.Second, 4*time.Second)
	// noticedWithin is for a node that may still have to find out that too few are left.
	noticedWithin = soak.Of(8*time.Second, 2*time.Second)
	// refusedAtWorst is for one answer of a node that knows.
	refusedAtWorst = soak.Of(4*time.Second, refusedWithin)
)

// refusedWithin is for most answers of a node that knows that too few are left, on any
// machine: nothing is waited for. They take milliseconds with ten busy processes a core.
const refusedWithin = 2 * time.Second

// silenced is a way to fall silent without a word, and its end.
type silenced struct {
	name  string
	begin func(w *world, n *node) error
	end   func(w *world, n *node) error
	// waits says that the node itself takes requests meanwhile.
	waits bool
}

var silences = []silenced{
	{name: "paused",
		begin: func(_ *world, n *node) error { return n.signal(stop) },
		end:   func(_ *world, n *node) error { return n.signal(wake) }},
	{name: "cut off", waits: true,
		begin: func(w *world, n *node) error { return w.eachWay(n, w.net.cut) },
		end:   func(w *world, n *node) error { return w.eachWay(n, w.net.join) }},
	{name: "without power",
		begin: func(w *world, n *node) error {
			err := w.net.unplug(n.index) // so that nobody hears its connections end
			n.kill()
			return err
		},
		end: func(w *world, n *node) error { return errors.Join(w.net.plug(n.index), n.start()) }},
}

// eachWay does something to both directions between a node and every other.
func (w *world) eachWay(n *node, do func(from, to int) error) error {
	var errs []error
	for _, other := range w.all() {
		if other != n {
			errs = append(errs, do(n.index, other.index), do(other.index, n.index))
		}
	}
	return errors.Join(errs...)
}

// TestSilentNodes: the leader falls silent, paused, cut off or without power,
// while callers wait at all the others, who are answered as soon as another leads. A
// node that was cut off refuses its callers meanwhile, and answers soon after.
func TestSilentNodes(t *testing.T) {
	c := quiet(t)
	for _, s := range soak.Of(silences[1:2], silences) {
		if why := c.world.net.lacks(); why != "" && s.name != "paused" {
			t.Logf("nobody is %s: %s", s.name, why)
			continue
		}
		for range soak.Of(1, 3) {
			c.silence(s)
		}
	}
}

// TestWithoutQuorum: when two of three nodes are silent the third says soon that it
// can't answer, and when to ask again; it answers again when they are back.
func TestWithoutQuorum(t *testing.T) {
	c := quiet(t)
	nodes := c.world.all()
	for _, n := range nodes[:2] {
		c.must(n.signal(stop))
	}
	refused := func(i int) time.Duration {
		a := c.say(nodes[2], fmt.Sprintf("without a quorum %d", i))
		t.Logf("without a quorum: %d, Retry-After %q, after %s: %s", a.status, a.retry, a.took, a.said)
		if a.status != http.StatusServiceUnavailable || a.retry == "" {
			t.Errorf("without a quorum it answered %d, Retry-After %q", a.status, a.retry)
		}
		return a.took
	}
	if took := refused(0); took > noticedWithin {
		t.Errorf("it took %s to find out", took)
	}
	var took []time.Duration // by one that knows
	for i := range 5 {
		took = append(took, refused(i+1))
	}
	slices.Sort(took)
	if took[2] > refusedWithin || took[4] > refusedAtWorst {
		t.Errorf("it knows, and its answers took %s", took)
	}
	for _, n := range nodes[:2] {
		c.must(n.signal(wake))
	}
	c.whole()
	if a := c.say(nodes[2], "with a quorum again"); a.status/100 != 2 {
		t.Errorf("with a quorum again it answered %d: %s", a.status, a.said)
	}
	for _, n := range nodes {
		for _, wrong := range n.exposed() {
			t.Errorf("%s: %s", n, wrong)
		}
	}
}

// calm is three nodes without load, and a user of one tenant.
type calm struct {
	*testing.T
	world  *world
	user   *client
	victim int // how many have been silent
}

func quiet(t *testing.T) *calm {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	needsCluster(t)
	w := newWorld(t, seedOf(t), plan{count: 3, silence: soak.Of(time.Second, 500*time.Millisecond)})
	w.up()
	c := &calm{T: t, world: w, user: &client{world: w, token: w.token("ana@" + domain(1)), tally: new(tally)}}
	_, err := whoami(w.life, c.user)
	c.must(err)
	c.whole()
	return c
}

func (c *calm) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// whole waits until all nodes are ready and leadership is spread over them.
func (c *calm) whole() {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.world.life, healTime)
	defer cancel()
	c.must(c.world.wholeWithin(ctx, underLoad))
	c.must(poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		all, err := c.world.picture(ctx)
		if err == nil {
			err = all.spread()
		}
		return err
	}))
}

// leader is who leads the partition of the user's tenant.
func (c *calm) leader() (leader *node) {
	c.Helper()
	c.must(poll(c.world.life, 20*time.Millisecond, func(ctx context.Context) error {
		all, err := c.world.picture(ctx)
		if leader = all.leader(1); err == nil && leader == nil {
			err = errors.New("the partition has no leader")
		}
		return err
	}))
	return leader
}

// silence has the leader be silent for some seconds.
func (c *calm) silence(s silenced) {
	c.Helper()
	nodes, victim := c.world.all(), c.leader()
	c.victim++
	var callers sync.WaitGroup
	calling, stopCalling := context.WithCancel(c.world.life)
	var mu sync.Mutex
	var longest time.Duration
	var answers, refused int
	for _, n := range nodes {
		if n == victim {
			continue
		}
		for k := range 4 {
			callers.Go(func() {
				for i := 0; calling.Err() == nil; i++ {
					took, no := c.insist(n, fmt.Sprintf("%s %d: %s %d-%d", s.name, c.victim, n, k, i))
					mu.Lock()
					longest, answers, refused = max(longest, took), answers+1, refused+no
					mu.Unlock()
					pause(calling, 5*time.Millisecond)
				}
			})
		}
	}
	pause(calling, 100*time.Millisecond) // some wait, some come later
	c.must(s.begin(c.world, victim))
	pause(calling, soak.Of(2*time.Second, 5*time.Second))
	if s.waits {
		a := c.say(victim, fmt.Sprintf("%s %d: of itself", s.name, c.victim))
		c.Logf("%s, %s says of itself: %d, Retry-After %q, after %s", s.name, victim, a.status, a.retry, a.took)
		if a.status != http.StatusServiceUnavailable || a.retry == "" || a.took > noticedWithin {
			c.Errorf("%s while it is %s: %d, Retry-After %q, after %s", victim, s.name, a.status, a.retry, a.took)
		}
	}
	c.must(s.end(c.world, victim))
	healed := time.Now()
	if s.waits {
		c.insist(victim, fmt.Sprintf("%s %d: of itself, back", s.name, c.victim))
		if took := time.Since(healed); took > healedWithin {
			c.Errorf("%s answered %s after it was %s no more", victim, took, s.name)
		}
	}
	back := time.Since(healed)
	pause(calling, time.Second)
	stopCalling()
	callers.Wait()
	c.Logf("%s %s: %d answers at the others, the longest after %s, %d refusals; it answered %s after the end", victim, s.name, answers, longest, refused, back)
	if longest > answeredWithin || soak.On() && refused > 0 {
		c.Errorf("while %s was %s a caller waited %s, and %d were refused", victim, s.name, longest, refused)
	}
	c.whole()
}

// insist says something at one node until it is acknowledged, and tells how long that
// took and how often the node refused.
func (c *calm) insist(n *node, said string) (took time.Duration, refused int) {
	began := time.Now()
	again := c.world.backoff()
	for {
		a := c.say(n, said)
		switch {
		case a.status/100 == 2:
			return time.Since(began), refused
		case a.status != 0 && a.status != http.StatusServiceUnavailable:
			c.Errorf("%s answered %q with %d: %s", n, said, a.status, a.said)
			return time.Since(began), refused
		}
		refused++
		if again.wait(c.world.life); time.Since(began) > healTime || c.world.life.Err() != nil {
			c.Errorf("%s never answered %q: %d %s", n, said, a.status, a.said)
			return time.Since(began), refused
		}
	}
}

// told is a node's answer: status 0 where there was none.
type told struct {
	status int
	retry  string
	said   string
	took   time.Duration
}

func (c *calm) say(n *node, said string) (a told) {
	ctx, cancel := context.WithTimeout(c.world.life, 20*time.Second)
	defer cancel()
	began := time.Now()
	resp, err := c.user.open(ctx, n, "POST", "/api/rooms/r:general/messages", say(said), func(h http.Header) { h.Set("Idempotency-Key", key(said)) })
	if err != nil {
		return told{said: err.Error(), took: time.Since(began)}
	}
	defer resp.Body.Close()
	var out struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err = json.NewDecoder(resp.Body).Decode(&out)
	a = told{status: resp.StatusCode, retry: resp.Header.Get("Retry-After"), said: out.Error.Message, took: time.Since(began)}
	if err != nil {
		a.status = 0
	}
	return a
}
