package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ubl/cluster/placement"
)

// transfers carries out what Leaders says until it says nothing, and returns
// how many it took.
func transfers(t rapid.TB, table *placement.Table, v placement.View) int {
	t.Helper()
	for n := range 1000 {
		s := placement.Leaders(table, v)
		if s == nil {
			return n
		}
		v.Partitions[s.Partition].Leader = s.Server
	}
	t.Fatal("leaders go to and fro")
	return 0
}

func leads(v placement.View) map[string]int {
	counts := make(map[string]int)
	for _, a := range v.Partitions {
		counts[a.Leader]++
	}
	return counts
}

// TestLeadersSpread: wherever they start, leaders end evenly, after few
// transfers.
func TestLeadersSpread(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := grown(rt, rapid.IntRange(1, 32).Draw(rt, "partitions"), rapid.IntRange(1, 12).Draw(rt, "nodes"))
		v := steady(table)
		for p, a := range v.Partitions {
			v.Partitions[p].Leader = rapid.SampledFrom(a.Voters).Draw(rt, "leader")
		}
		n := transfers(rt, table, v)
		counts := leads(v)
		var list []int
		for _, n := range table.Nodes {
			list = append(list, counts[n.Server])
		}
		if slices.Max(list)-slices.Min(list) > 1 || n > 2*table.Partitions {
			rt.Fatalf("%v after %d transfers", list, n)
		}
	})
}

// TestLeadersGoThroughOthers: a leads two and d none, and they share nothing
// that a leads. b takes one from a, after it has given one to d.
func TestLeadersGoThroughOthers(t *testing.T) {
	table := grown(t, 3, 6)
	table.Voters = [][]string{{"n1@1", "n2@1", "n3@1"}, {"n1@1", "n2@1", "n3@1"}, {"n2@1", "n3@1", "n4@1"}}
	v := steady(table)
	v.Partitions[0].Leader, v.Partitions[1].Leader, v.Partitions[2].Leader = "n1@1", "n1@1", "n2@1"
	v.Alive["n3@1"] = false
	var got []string
	for s := placement.Leaders(table, v); s != nil; s = placement.Leaders(table, v) {
		got = append(got, s.String())
		v.Partitions[s.Partition].Leader = s.Server
	}
	if want := []string{"partition 2: transfer n4@1", "partition 0: transfer n2@1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNobodyElseLeads: five partitions, all led by a; what makes b and c unfit.
func TestNobodyElseLeads(t *testing.T) {
	const fit, unfit = true, false
	for _, look := range []struct {
		name  string
		moves bool
		at    func(t *placement.Table, v placement.View, a *placement.Actual)
	}{
		{"two that have caught up", fit, func(t *placement.Table, v placement.View, a *placement.Actual) {}},
		{"dead", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) {
			v.Alive["n2@1"] = false
			a.Applied["n3@1"] = 0
		}},
		{"lagging", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) {
			a.Applied["n2@1"], a.Applied["n3@1"] = 7999, 7999
		}},
		{"learners", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) {
			a.Voters, a.Learners = []string{"n1@1"}, []string{"n2@1", "n3@1"}
		}},
		{"leaving", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) {
			t.Nodes[1].Leaving, t.Nodes[2].Leaving = true, true
		}},
		{"to be removed", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) {
			t.Voters = [][]string{{"n1@1"}, {"n1@1"}, {"n1@1"}, {"n1@1"}, {"n1@1"}}
		}},
		{"there, but a majority isn't", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) {
			a.Voters = append(a.Voters, "n7@1", "n8@1", "n9@1")
		}},
		{"there, but nobody leads", unfit, func(t *placement.Table, v placement.View, a *placement.Actual) { a.Leader = "" }},
	} {
		t.Run(look.name, func(t *testing.T) {
			table := grown(t, 5, 3)
			v := steady(table)
			for p := range v.Partitions {
				a := &v.Partitions[p]
				a.Leader, a.Commit = "n1@1", 9000
				a.Applied = map[string]uint64{"n2@1": 9000, "n3@1": 9000}
				look.at(table, v, a)
			}
			if s := placement.Leaders(table, v); (s != nil) != look.moves {
				t.Errorf("%v", s)
			}
		})
	}
}

// TestLeavingLeadersGo, even if the counts are even, and to whom it leads least.
func TestLeavingLeadersGo(t *testing.T) {
	table := grown(t, 3, 3)
	v := steady(table)
	for p := range v.Partitions {
		v.Partitions[p].Leader = fmt.Sprintf("n%d@1", p+1)
	}
	if s := placement.Leaders(table, v); s != nil {
		t.Fatalf("even already: %v", s)
	}
	v.Partitions[1].Leader = "n3@1" // n2 leads none
	table.Nodes[0].Leaving = true
	if s := placement.Leaders(table, v); s == nil || s.String() != "partition 0: transfer n2@1" {
		t.Errorf("%v", s)
	}
}
