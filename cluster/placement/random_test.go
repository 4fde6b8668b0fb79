package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ubl/cluster/placement"
)

// chaos is a world in which anything happens at any time, and steps are carried
// out late, twice, or never.
type chaos struct {
	*world
	rt      *rapid.T
	pending []placement.Step
	old     placement.View // what the leader of partition 0 saw some time ago
	born    int
}

// TestNothingIsLostAndAllSettles: over random histories no step costs a quorum
// (see check) and no partition loses what it acknowledged (see elect). When the
// failures stop, every partition gets what the nodes allow within a bounded
// number of rounds, and then nothing more is done.
func TestNothingIsLostAndAllSettles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newChaos(rt)
		ops := []func(){c.tick, c.look, c.decide, c.decide, c.decideLate, c.doOne, c.doOne, c.doOne, c.loseOne,
			c.dies, c.returns, c.returns, c.wiped, c.returnsWiped, c.joins, c.leaves, c.gracePasses, c.forget}
		for range rapid.IntRange(1, 150).Draw(rt, "events") {
			ops[rapid.IntRange(0, len(ops)-1).Draw(rt, "op")]()
		}
		c.failuresStop()
		c.settle()
		c.settled()
	})
}

func newChaos(rt *rapid.T) *chaos {
	c := &chaos{world: found(rt, rapid.IntRange(1, 8).Draw(rt, "partitions"), "n0@0"), rt: rt}
	c.pace = func() uint64 { return rapid.Uint64Range(0, 3*burst).Draw(rt, "pace") }
	c.coin = func() bool { return rapid.Bool().Draw(rt, "coin") }
	for range rapid.IntRange(0, 6).Draw(rt, "members") {
		c.joins()
	}
	for range rapid.IntRange(0, 40).Draw(rt, "rounds") {
		c.round()
	}
	c.look()
	return c
}

// one picks any of the list; false if it is empty.
func one[T any](c *chaos, from []T) (T, bool) {
	if len(from) == 0 {
		var none T
		return none, false
	}
	return from[rapid.IntRange(0, len(from)-1).Draw(c.rt, "which")], true
}

// decides tells whether partition 0 can commit what its leader decides.
func (c *chaos) decides() bool { return c.groups[0].leader != "" && c.hasQuorum(0) }

func (c *chaos) look() { c.old = c.view() }

func (c *chaos) decide() {
	if c.decides() {
		c.decideFrom(c.view())
	}
}

// decideLate decides from an old view, as a leader of partition 0 may that is
// slow to learn.
func (c *chaos) decideLate() {
	if c.decides() {
		c.decideFrom(c.old)
	}
}

func (c *chaos) decideFrom(v placement.View) {
	c.assign(v)
	c.pending = append(c.pending, c.plan(v)...)
	if s := placement.Leaders(c.table, v); s != nil {
		c.check(*s, v)
		c.pending = append(c.pending, *s)
	}
}

// doOne carries out any of the pending steps, and may keep it for a second time.
func (c *chaos) doOne() {
	s, ok := one(c, c.pending)
	if !ok {
		return
	}
	c.do(s)
	if c.coin() {
		c.loseStep(s)
	}
}

func (c *chaos) loseOne() {
	if s, ok := one(c, c.pending); ok {
		c.loseStep(s)
	}
}

func (c *chaos) loseStep(s placement.Step) {
	i := slices.Index(c.pending, s)
	c.pending = slices.Delete(c.pending, i, i+1)
}

// which lists the servers for which the rule holds.
func (c *chaos) which(rule func(id string, s *server) bool) []string {
	return slices.DeleteFunc(c.ids(), func(id string) bool { return !rule(id, c.servers[id]) })
}

func (c *chaos) dies() {
	if id, ok := one(c, c.which(func(_ string, s *server) bool { return s.up })); ok {
		c.kill(id)
	}
}

func (c *chaos) returns() {
	if id, ok := one(c, c.dead()); ok {
		c.revive(id)
	}
}

// dead are those that may come back: their disks are whole.
func (c *chaos) dead() []string {
	return c.which(func(_ string, s *server) bool { return !s.up && s.disk != nil })
}

// wiped takes a disk, but never the one too many: then the data would be lost
// whatever is decided.
func (c *chaos) wiped() {
	id, ok := one(c, c.which(func(id string, s *server) bool { return s.disk != nil && c.canLose(id) }))
	if ok {
		c.wipe(id)
	}
}

func (c *chaos) canLose(id string) bool {
	for _, g := range c.groups {
		if slices.Contains(g.voters, id) && !c.whole(g.voters, id) {
			return false
		}
	}
	return true
}

// returnsWiped admits a new incarnation of a node whose server isn't alive,
// with its disk lost or merely replaced.
func (c *chaos) returnsWiped() {
	old, ok := one(c, c.which(func(id string, s *server) bool { return !s.up && c.table.Has(id) && c.canLose(id) }))
	if !ok || !c.decides() {
		return
	}
	c.wipe(old)
	n, _ := c.table.Server(old)
	c.born++
	c.join(fmt.Sprintf("%s@%d", n.ID, c.born))
}

func (c *chaos) joins() {
	if c.decides() && len(c.table.Nodes) < 7 {
		c.born++
		c.join(fmt.Sprintf("n%d@%d", c.born, c.born))
	}
}

func (c *chaos) leaves() {
	n, ok := one(c, c.table.Nodes)
	if ok && c.decides() {
		_ = c.leave(n.ID) // the last node is refused
	}
}

// failuresStop: the dead return, except for some whose absence leaves every
// partition its majority and the cluster a node that stays. They are dead for
// long.
func (c *chaos) failuresStop() {
	c.pace = func() uint64 { return 1 << 40 }
	dead := c.dead()
	for _, id := range dead {
		c.revive(id)
	}
	c.tick()
	for _, id := range dead {
		c.servers[id].up = rapid.Bool().Draw(c.rt, "back")
		if !c.able() {
			c.servers[id].up = true
		}
	}
	if !c.able() { // the only nodes to stay were wiped
		c.join("last@1")
	}
	c.gracePasses()
}

func (c *chaos) able() bool {
	for p := range c.groups {
		if !c.hasQuorum(p) {
			return false
		}
	}
	return len(c.staying()) > 0
}

// staying are the nodes that should carry everything.
func (c *chaos) staying() []string {
	return c.which(func(id string, s *server) bool { return s.up && c.table.Stays(id) })
}

// settled is what the end has to look like.
func (c *chaos) settled() {
	replicas, leaders := make(map[string]int), make(map[string]int)
	for p, g := range c.groups {
		c.settledGroup(p)
		leaders[g.leader]++
		for _, id := range g.voters {
			replicas[id]++
		}
	}
	c.even("replicas", replicas)
	c.even("leaders", leaders)
}

func (c *chaos) settledGroup(p int) {
	g, staying := c.groups[p], c.staying()
	good := 0
	for _, id := range g.voters {
		switch {
		case slices.Contains(staying, id):
			good++
		case !c.table.Has(id):
			c.rt.Fatalf("partition %d: %s votes and is gone\n%s", p, id, c)
		case len(staying) >= placement.MaxVoters:
			c.rt.Fatalf("partition %d: %s votes, dead or leaving, with nodes enough\n%s", p, id, c)
		case c.servers[id].up && 2*(len(c.upVoters(p))-1) > len(g.voters)-1:
			c.rt.Fatalf("partition %d: %s votes and could have left\n%s", p, id, c)
		}
	}
	if good != min(placement.MaxVoters, len(staying)) || len(g.learners) > 0 || !slices.Contains(staying, g.leader) {
		c.rt.Fatalf("partition %d isn't as it should be with %v\n%s", p, staying, c)
	}
	for _, id := range c.ids() {
		if c.takesPart(p, id) && c.table.Has(id) && !slices.Contains(g.voters, id) {
			c.rt.Fatalf("partition %d: %s has a stray replica\n%s", p, id, c)
		}
	}
}

func (c *chaos) even(what string, counts map[string]int) {
	var list []int
	for _, id := range c.staying() {
		list = append(list, counts[id])
	}
	if slices.Max(list)-slices.Min(list) > 1 {
		c.rt.Fatalf("%s aren't even: %v of %v\n%s", what, list, c.staying(), c)
	}
}
