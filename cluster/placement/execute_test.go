package placement_test

import (
	"fmt"
	"slices"
	"strings"

	"ubl/cluster/placement"
)

// do carries a step out as a node would: whoever it is for refuses it when it
// was derived from something that holds no longer.
func (w *world) do(s placement.Step) bool {
	w.t.Helper()
	done := w.change(s)
	if done {
		w.log = append(w.log, fmt.Sprintf("%d: %s %s", s.Partition, s.Kind, s.Server))
	}
	return done
}

func (w *world) change(s placement.Step) bool {
	w.t.Helper()
	g := w.groups[s.Partition]
	switch {
	case s.Kind == placement.OpenReplica:
		return w.open(s)
	case s.Kind == placement.CloseReplica:
		return w.close(s)
	case g.leader != s.Leader || g.leader == "" || g.term != s.Term || g.config() != s.Config:
		return false
	case s.Kind == placement.TransferLeader:
		return w.transfer(s)
	}
	return w.reconfigure(s)
}

func (w *world) open(s placement.Step) bool {
	target := w.servers[s.Server]
	if _, ok := target.disk[s.Partition]; ok || !target.up {
		return false
	}
	target.disk[s.Partition] = 0
	return true
}

// close refuses when the replica knows of a newer configuration.
func (w *world) close(s placement.Step) bool {
	target := w.servers[s.Server]
	last, ok := target.disk[s.Partition]
	knows := slices.ContainsFunc(w.groups[s.Partition].configs, func(c uint64) bool { return c > s.Config && c <= last })
	if !ok || !target.up || knows {
		return false
	}
	delete(target.disk, s.Partition)
	return true
}

func (w *world) transfer(s placement.Step) bool {
	g := w.groups[s.Partition]
	if !w.takesPart(s.Partition, s.Leader) || !w.takesPart(s.Partition, s.Server) || !w.hasQuorum(s.Partition) {
		return false
	}
	w.servers[s.Server].disk[s.Partition] = g.commit
	g.leader = s.Server
	g.term++
	w.commit(s.Partition, 1)
	return true
}

// reconfigure changes the group's configuration. It takes effect when it is in
// the leader's log and commits by a majority of the new one. If that isn't up
// any more, the leader stops leading, and only the future knows whether the
// change survives. (It doesn't where a majority's disks are lost meanwhile: the
// partition would be lost too, as if that had happened a moment later.)
func (w *world) reconfigure(s placement.Step) bool {
	w.t.Helper()
	p, g := s.Partition, w.groups[s.Partition]
	if !w.takesPart(p, s.Leader) || !w.hasQuorum(p) {
		return false
	}
	voters, learners := g.voters, g.learners
	g.voters, g.learners = changed(s, voters, learners)
	if len(g.voters) > placement.MaxVoters+1 {
		w.t.Fatalf("%v makes a configuration of %v", s, g.voters)
	}
	if w.hasQuorum(p) {
		w.commit(p, 1)
		g.configs = append(g.configs, g.commit)
		return true
	}
	g.leader = ""
	if w.coin() || !w.whole(g.voters, "") {
		g.voters, g.learners = voters, learners
		return false
	}
	g.configs = append(g.configs, g.commit+1) // the next leader's first entry makes it commit
	return true
}

// changed is a configuration after a step.
func changed(s placement.Step, voters, learners []string) ([]string, []string) {
	not := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return id == s.Server })
	}
	voters, learners = not(voters), not(learners)
	switch s.Kind {
	case placement.AddLearner:
		learners = append(learners, s.Server)
	case placement.Promote:
		voters = append(voters, s.Server)
	}
	slices.Sort(voters)
	return voters, learners
}

// plan asks for the next steps and holds each against the promises.
func (w *world) plan(v placement.View) []placement.Step {
	w.t.Helper()
	steps := placement.Plan(w.table, v)
	for i, s := range steps {
		if i > 0 && steps[i-1].Partition >= s.Partition {
			w.t.Fatalf("two steps in one partition: %v", steps)
		}
		w.check(s, v)
	}
	return steps
}

// check is the safety of one step, written without the package's own words.
func (w *world) check(s placement.Step, v placement.View) {
	w.t.Helper()
	a := v.Partitions[s.Partition]
	if a.Leader == "" || s.Leader != a.Leader || s.Term != a.Term || s.Config != a.Config {
		w.t.Fatalf("%v isn't derived from the partition's leader", s)
	}
	majority := func(voters []string) bool {
		up := 0
		for _, id := range voters {
			n, _ := w.table.Node(strings.Split(id, "@")[0])
			if n.Server == id && v.Alive[id] && slices.Contains(a.Hosts, id) {
				up++
			}
		}
		return up > len(voters)/2
	}
	voters, _ := changed(s, a.Voters, a.Learners)
	switch s.Kind {
	case placement.OpenReplica:
		return
	case placement.CloseReplica:
		if slices.Contains(a.Voters, s.Server) || slices.Contains(a.Learners, s.Server) {
			w.t.Fatalf("%v closes a member", s)
		}
		return
	case placement.TransferLeader:
		voters = a.Voters
		if !slices.Contains(voters, s.Server) || s.Server == a.Leader || !v.Alive[s.Server] || a.Applied[s.Server]+placement.MaxLag < a.Commit {
			w.t.Fatalf("%v: not a living voter that has caught up", s)
		}
	case placement.Remove:
		if s.Server == a.Leader {
			w.t.Fatalf("%v removes the leader", s)
		}
	case placement.Promote:
		if !slices.Contains(a.Learners, s.Server) || a.Applied[s.Server]+placement.MaxLag < a.Commit || a.Applied[s.Server] < a.Config {
			w.t.Fatalf("%v: not a learner that has caught up", s)
		}
	}
	if s.Kind == placement.AddLearner {
		voters = a.Voters
	}
	if !majority(a.Voters) || !majority(voters) {
		w.t.Fatalf("%v costs the quorum: %v → %v\n%s", s, a.Voters, voters, w)
	}
}

// round is one turn of the loop that the leader of partition 0 runs. It tells
// whether anything was to be done.
func (w *world) round() bool {
	w.t.Helper()
	w.tick()
	before, view := w.table, w.view()
	w.assign(view)
	steps := w.plan(view)
	for _, s := range steps {
		w.do(s)
	}
	if s := placement.Leaders(w.table, w.view()); s != nil {
		w.check(*s, w.view())
		w.do(*s)
		steps = append(steps, *s)
	}
	w.forget()
	return len(steps) > 0 || w.table != before
}

func (w *world) assign(v placement.View) {
	w.t.Helper()
	table := placement.Assign(w.table, v)
	if _, err := placement.Decode(table.Encode()); err != nil {
		w.t.Fatalf("the new table isn't valid: %v\n%s", err, table.Encode())
	}
	w.table = table
}

// forget strikes who holds nothing any more.
func (w *world) forget() {
	for _, n := range w.table.Nodes {
		if table, err := w.table.Forget(n.ID, w.view()); err == nil {
			w.table = table
		}
	}
}

const maxRounds = 150

// settle runs rounds until nothing is left to do, and returns what was done
// since the last time.
func (w *world) settle() []string {
	w.t.Helper()
	w.log = nil
	for range maxRounds {
		if !w.round() {
			return w.log
		}
	}
	w.t.Fatalf("still not settled:\n%s", w)
	return nil
}
