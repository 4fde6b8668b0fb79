package placement_test

import (
	"testing"

	"ubl/cluster/placement"
)

// scene is a partition of a cluster a..e in which a, b and c vote and should,
// all is well, and a leads.
func scene(t *testing.T) (*placement.Table, placement.View) {
	t.Helper()
	table, err := placement.New("home", 1, node("a@1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"b@1", "c@1", "d@1", "e@1"} {
		if table, err = table.Admit(placement.Join{Node: node(id), Partitions: 1}, placement.View{}); err != nil {
			t.Fatal(err)
		}
	}
	table.Voters = [][]string{{"a@1", "b@1", "c@1"}}
	v := placement.View{Alive: make(map[string]bool), LongDead: make(map[string]bool), Partitions: []placement.Actual{{
		Leader: "a@1", Term: 7, Config: 5000, Commit: 9000, Voters: []string{"a@1", "b@1", "c@1"},
		Applied: make(map[string]uint64), Hosts: []string{"a@1", "b@1", "c@1"},
	}}}
	for _, n := range table.Nodes {
		v.Alive[n.Server] = true
		v.Partitions[0].Applied[n.Server] = 9000
	}
	return table, v
}

// TestOneLook is what Plan answers to one look at a partition.
func TestOneLook(t *testing.T) {
	type table = placement.Table
	type view = placement.View
	type actual = placement.Actual
	for _, look := range []struct {
		name string
		at   func(t *table, v view, a *actual)
		want string
	}{
		{"all is well", func(t *table, v view, a *actual) {}, ""},
		{"nobody leads", func(t *table, v view, a *actual) { a.Leader = ""; t.Voters[0][2] = "d@1" }, ""},
		{"who was said to lead is dead", func(t *table, v view, a *actual) { v.Alive["a@1"] = false; t.Voters[0][2] = "d@1" }, ""},
		{"who is said to lead doesn't vote", func(t *table, v view, a *actual) { a.Leader = "d@1"; t.Voters[0][2] = "d@1" }, ""},
		{"nothing is decided", func(t *table, v view, a *actual) { t.Voters[0] = nil }, ""},
		{"a newcomer opens", func(t *table, v view, a *actual) { t.Voters[0][2] = "d@1" }, "partition 0: open d@1"},
		{"a dead newcomer doesn't", func(t *table, v view, a *actual) { t.Voters[0][2] = "d@1"; v.Alive["d@1"] = false }, ""},
		{"a newcomer learns", func(t *table, v view, a *actual) {
			t.Voters[0][2] = "d@1"
			a.Hosts = append(a.Hosts, "d@1")
		}, "partition 0: learner d@1"},
		{"a learner that lost its replica opens it again", func(t *table, v view, a *actual) {
			t.Voters[0][2] = "d@1"
			a.Learners = []string{"d@1"}
		}, "partition 0: open d@1"},
		{"a learner has caught up", learner(8000), "partition 0: promote d@1"},
		{"a learner is one entry too late", learner(7999), ""},
		{"a learner's entries are few, but it lacks the snapshot before them", func(t *table, v view, a *actual) {
			learner(0)(t, v, a)
			a.Commit, a.Config = 3, 2
		}, ""},
		{"a learner that died isn't promoted", func(t *table, v view, a *actual) {
			learner(9000)(t, v, a)
			v.Alive["d@1"] = false
		}, ""},
		{"three of four will be up: promote", func(t *table, v view, a *actual) {
			learner(9000)(t, v, a)
			v.Alive["c@1"] = false
		}, "partition 0: promote d@1"},
		{"two of three are dead: not even learners", func(t *table, v view, a *actual) {
			learner(9000)(t, v, a)
			v.Alive["b@1"], v.Alive["c@1"] = false, false
			a.Learners = append(a.Learners, "e@1")
		}, ""},
		{"voters without a replica don't count", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"a@1", "b@1"}
			a.Hosts = []string{"a@1", "c@1"}
		}, "partition 0: open b@1"},
		{"voters whose server was replaced don't count, whoever answers for them", func(t *table, v view, a *actual) {
			t.Nodes[1].Server, t.Nodes[2].Server = "b@2", "c@2"
			t.Voters[0] = []string{"a@1", "b@2", "c@2"}
			a.Hosts = append(a.Hosts, "b@2", "c@2")
		}, ""},
		{"a learner that isn't wanted goes", func(t *table, v view, a *actual) { a.Learners = []string{"d@1"} }, "partition 0: remove d@1"},
		{"the voter that has to go goes when the others vote", func(t *table, v view, a *actual) { t.Voters[0] = []string{"a@1", "b@1"} }, "partition 0: remove c@1"},
		{"but not if it is needed", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"a@1", "b@1"}
			v.Alive["b@1"] = false
		}, ""},
		{"the dead go first", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"a@1"}
			v.Alive["c@1"] = false
		}, "partition 0: remove c@1"},
		{"the leader goes last", func(t *table, v view, a *actual) { t.Voters[0] = []string{"c@1"} }, "partition 0: remove b@1"},
		{"a leader that has to go hands over", func(t *table, v view, a *actual) { t.Voters[0] = []string{"b@1", "c@1"} }, "partition 0: transfer b@1"},
		{"to one that has caught up", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"b@1", "c@1"}
			a.Applied["b@1"] = 7999
		}, "partition 0: transfer c@1"},
		{"or waits", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"b@1", "c@1"}
			a.Applied["b@1"], a.Applied["c@1"] = 0, 0
		}, ""},
		{"a replica of no member closes", func(t *table, v view, a *actual) { a.Hosts = append(a.Hosts, "e@1") }, "partition 0: close e@1"},
		{"not while the configuration may be old", func(t *table, v view, a *actual) {
			a.Hosts = append(a.Hosts, "e@1")
			v.Alive["b@1"], v.Alive["c@1"] = false, false
		}, ""},
		{"a voter that had to close its replica opens it", func(t *table, v view, a *actual) { a.Hosts = a.Hosts[:2] }, "partition 0: open c@1"},
		{"which doesn't hold up a newcomer", func(t *table, v view, a *actual) {
			learner(9000)(t, v, a)
			t.Voters[0] = []string{"a@1", "b@1", "d@1"}
			a.Hosts = []string{"a@1", "c@1", "d@1"}
		}, "partition 0: promote d@1"},
	} {
		t.Run(look.name, func(t *testing.T) {
			table, v := scene(t)
			look.at(table, v, &v.Partitions[0])
			got := ""
			for _, s := range placement.Plan(table, v) {
				got += s.String()
			}
			if got != look.want {
				t.Errorf("%q, want %q", got, look.want)
			}
		})
	}
}

// learner: d should replace c, learns, and has applied so much.
func learner(applied uint64) func(*placement.Table, placement.View, *placement.Actual) {
	return func(t *placement.Table, v placement.View, a *placement.Actual) {
		t.Voters[0] = []string{"a@1", "b@1", "d@1"}
		a.Hosts, a.Learners = append(a.Hosts, "d@1"), []string{"d@1"}
		a.Applied["d@1"] = applied
	}
}

// TestStepSaysWhatItWasDerivedFrom, so that it can be refused later, and what
// is needed to carry it out.
func TestStepSaysWhatItWasDerivedFrom(t *testing.T) {
	table, v := scene(t)
	learner(9000)(table, v, &v.Partitions[0])
	want := placement.Step{Kind: placement.Promote, Server: "d@1", Addr: "d.example:7000", Leader: "a@1", Term: 7, Config: 5000}
	if steps := placement.Plan(table, v); len(steps) != 1 || steps[0] != want {
		t.Errorf("%+v, want %+v", steps, want)
	}
	if !want.ByLeader() || (placement.Step{Kind: placement.OpenReplica}).ByLeader() || (placement.Step{Kind: placement.CloseReplica}).ByLeader() {
		t.Error("a server opens and closes its replicas itself; the leader does all else")
	}
}
