package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ubl/cluster/placement"
)

// steady is a view in which everything is as decided and everyone is alive.
func steady(t *placement.Table) placement.View {
	v := placement.View{Alive: make(map[string]bool), LongDead: make(map[string]bool)}
	for _, n := range t.Nodes {
		v.Alive[n.Server] = true
	}
	for _, voters := range t.Voters {
		a := placement.Actual{Voters: slices.Clone(voters), Hosts: slices.Clone(voters)}
		if len(voters) > 0 {
			a.Leader = voters[0]
		}
		v.Partitions = append(v.Partitions, a)
	}
	return v
}

// grown is a table of n nodes with everything decided.
func grown(t rapid.TB, partitions, n int) *placement.Table {
	t.Helper()
	table, err := placement.New("home", partitions, node("n1@1"))
	for i := 2; i <= n && err == nil; i++ {
		table, err = table.Admit(placement.Join{Node: node(fmt.Sprintf("n%d@1", i)), Partitions: partitions}, placement.View{})
		if err == nil {
			table = placement.Assign(table, steady(table))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func loads(t *placement.Table) map[string]int {
	counts := make(map[string]int)
	for _, voters := range t.Voters {
		for _, s := range voters {
			counts[s]++
		}
	}
	return counts
}

// added counts the places that a change gives to servers: copies to be made.
func added(before, after *placement.Table) int {
	n := 0
	for p, voters := range after.Voters {
		for _, s := range voters {
			if !slices.Contains(before.Voters[p], s) {
				n++
			}
		}
	}
	return n
}

// TestGrowing: eight partitions over one to ten nodes, counts a node.
func TestGrowing(t *testing.T) {
	want := [][]int{{8}, {8, 8}, {8, 8, 8}, {6, 6, 6, 6}, {5, 5, 5, 5, 4}, {4, 4, 4, 4, 4, 4},
		{4, 4, 4, 3, 3, 3, 3}, {3, 3, 3, 3, 3, 3, 3, 3}, {3, 3, 3, 3, 3, 3, 2, 2, 2}, {3, 3, 3, 3, 2, 2, 2, 2, 2, 2}}
	for i, counts := range want {
		var got []int
		for _, n := range loads(grown(t, 8, i+1)) {
			got = append(got, n)
		}
		slices.Sort(got)
		slices.Reverse(got)
		if !slices.Equal(got, counts) {
			t.Errorf("%d nodes: %v, want %v", i+1, got, counts)
		}
	}
}

// TestGrowingMovesNoMore than what the newcomer gets; and nothing moves when
// nothing changes.
func TestGrowingMovesNoMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		partitions, nodes := rapid.IntRange(1, 64).Draw(rt, "partitions"), rapid.IntRange(3, 12).Draw(rt, "nodes")
		before := grown(rt, partitions, nodes)
		if after := placement.Assign(before, steady(before)); after != before {
			rt.Fatalf("decided again: %v → %v", before.Voters, after.Voters)
		}
		joined, err := before.Admit(placement.Join{Node: node("new@1"), Partitions: partitions}, placement.View{})
		if err != nil {
			rt.Fatal(err)
		}
		after := placement.Assign(joined, steady(joined))
		if got, want := added(before, after), loads(after)["new@1"]; got != want {
			rt.Fatalf("%d moves, want %d", got, want)
		}
		if want := 3 * partitions / (nodes + 1); loads(after)["new@1"] != want {
			rt.Fatalf("the newcomer has %d, want %d", loads(after)["new@1"], want)
		}
	})
}

// TestLosingMovesLittle: what the lost node had, and rarely some more: who is
// to be last in turn may vote already where a place is left.
func TestLosingMovesLittle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := grown(rt, rapid.IntRange(1, 64).Draw(rt, "partitions"), rapid.IntRange(4, 12).Draw(rt, "nodes"))
		lost := rapid.SampledFrom(before.Nodes).Draw(rt, "lost").Server
		v := steady(before)
		v.Alive[lost] = false
		for p, a := range v.Partitions {
			if a.Leader == lost {
				v.Partitions[p].Leader = a.Voters[1]
			}
		}
		if placement.Assign(before, v) != before {
			rt.Fatal("something moves before the grace period is over")
		}
		v.LongDead[lost] = true
		after := placement.Assign(before, v)
		counts := loads(after)
		var list []int
		for _, n := range after.Nodes {
			if n.Server != lost {
				list = append(list, counts[n.Server])
			}
		}
		if counts[lost] != 0 || slices.Max(list)-slices.Min(list) > 1 {
			rt.Fatalf("counts aren't even: %v", counts)
		}
		if moves, least := added(before, after), loads(before)[lost]; moves > least+least/4+1 {
			rt.Fatalf("%d moves to replace %d", moves, least)
		}
	})
}

// TestNewcomerTakesThePlacesOfTheDead: while a voter doesn't answer, no other that lives gives its
// place to who has just joined. Once the dead one has been so for long, its places are given.
func TestNewcomerTakesThePlacesOfTheDead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		partitions := rapid.IntRange(1, 64).Draw(rt, "partitions")
		table := grown(rt, partitions, rapid.IntRange(3, 8).Draw(rt, "nodes"))
		dead := rapid.SampledFrom(table.Nodes).Draw(rt, "dead").Server
		joined, err := table.Admit(placement.Join{Node: node("new@1"), Partitions: partitions}, placement.View{})
		if err != nil {
			rt.Fatal(err)
		}
		v := steady(joined)
		v.Alive[dead] = false
		for p, a := range v.Partitions {
			if a.Leader == dead {
				v.Partitions[p].Leader = a.Voters[1]
			}
		}
		keepsTheLiving := func(after *placement.Table) {
			for p, before := range joined.Voters {
				for _, s := range before {
					if slices.Contains(before, dead) && s != dead && !slices.Contains(after.Voters[p], s) {
						rt.Fatalf("partition %d: %v → %v, and %s is dead", p, before, after.Voters[p], dead)
					}
				}
			}
		}
		keepsTheLiving(placement.Assign(joined, v))
		v.LongDead[dead] = true
		after := placement.Assign(joined, v)
		keepsTheLiving(after)
		if n := loads(after)[dead]; n > 0 {
			rt.Fatalf("the dead one still has %d places: %v", n, after.Voters)
		}
	})
}

// TestDecisions that a single look shows, in the scene of TestOneLook.
func TestDecisions(t *testing.T) {
	type table = placement.Table
	type view = placement.View
	type actual = placement.Actual
	dead := func(v view, servers ...string) {
		for _, s := range servers {
			v.Alive[s], v.LongDead[s] = false, true
		}
	}
	for _, look := range []struct {
		name string
		at   func(t *table, v view, a *actual)
		want []string
	}{
		{"nothing changed", func(t *table, v view, a *actual) {}, []string{"a@1", "b@1", "c@1"}},
		{"nothing was decided: who votes, stays", func(t *table, v view, a *actual) {
			t.Voters[0] = nil
			a.Voters = []string{"a@1", "c@1", "e@1"}
		}, []string{"a@1", "c@1", "e@1"}},
		{"nothing was decided and nobody leads", func(t *table, v view, a *actual) { t.Voters[0], a.Leader = nil, "" }, nil},
		{"dead for long, but just back", func(t *table, v view, a *actual) { v.LongDead["c@1"] = true }, []string{"a@1", "b@1", "c@1"}},
		{"dead for long, but nobody leads", func(t *table, v view, a *actual) { dead(v, "c@1"); a.Leader = "" }, []string{"a@1", "b@1", "c@1"}},
		{"leaving, but nobody leads", func(t *table, v view, a *actual) { t.Nodes[2].Leaving = true; a.Leader = "" }, []string{"a@1", "b@1", "c@1"}},
		{"the one to come died: who still votes comes before a spare", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"b@1", "d@1", "e@1"}
			a.Leader, a.Voters = "e@1", []string{"b@1", "c@1", "e@1"}
			dead(v, "d@1")
		}, []string{"b@1", "c@1", "e@1"}},
		{"the one to come died, there is no spare: the dead voter has its place again", func(t *table, v view, a *actual) {
			t.Voters[0] = []string{"a@1", "b@1", "d@1"}
			dead(v, "c@1", "d@1", "e@1")
		}, []string{"a@1", "b@1", "c@1"}},
		{"two left, one took the place of both dead: one is enough to replace", func(t *table, v view, a *actual) {
			dead(v, "c@1", "e@1")
		}, []string{"a@1", "b@1", "d@1"}},
		{"all leave but the dead: who votes, stays", func(t *table, v view, a *actual) {
			t.Nodes[0].Leaving, t.Nodes[1].Leaving, t.Nodes[2].Leaving = true, true, true
			dead(v, "d@1", "e@1")
		}, []string{"a@1", "b@1", "c@1"}},
		{"four vote in the middle of an exchange, and nothing is decided", func(t *table, v view, a *actual) {
			t.Voters[0] = nil
			a.Voters = []string{"a@1", "b@1", "c@1", "d@1"}
		}, []string{"a@1", "b@1", "c@1"}},
	} {
		t.Run(look.name, func(t *testing.T) {
			table, v := scene(t)
			look.at(table, v, &v.Partitions[0])
			before := slices.Clone(table.Voters[0])
			next := placement.Assign(table, v)
			if got := next.Voters[0]; !slices.Equal(got, look.want) {
				t.Errorf("%v, want %v", got, look.want)
			}
			if unchanged := slices.Equal(before, next.Voters[0]); unchanged != (next == table) || !slices.Equal(table.Voters[0], before) {
				t.Error("the table is copied when it changes, and only then")
			}
			if next != table && next.Version != table.Version+1 {
				t.Errorf("version %d after %d", next.Version, table.Version)
			}
		})
	}
}

// TestCheapMoves: n3 gives n4 one of its two places: the one that costs least
// to move.
func TestCheapMoves(t *testing.T) {
	for _, look := range []struct {
		name string
		at   func(first, second *placement.Actual)
		want int // the partition that moves
	}{
		{"either", func(first, second *placement.Actual) {}, 0},
		{"it leads the first", func(first, second *placement.Actual) { first.Leader = "n3@1" }, 1},
		{"the other learns in the second", func(first, second *placement.Actual) { second.Learners = []string{"n4@1"} }, 1},
		{"... and it leads there", func(first, second *placement.Actual) {
			second.Leader, second.Learners = "n3@1", []string{"n4@1"}
		}, 1},
		{"it doesn't vote in the second yet", func(first, second *placement.Actual) {
			second.Voters = second.Voters[:2]
			first.Learners = []string{"n4@1"}
		}, 1},
		{"the first has no leader", func(first, second *placement.Actual) { first.Leader = "" }, 1},
	} {
		t.Run(look.name, func(t *testing.T) {
			before, err := grown(t, 2, 3).Admit(placement.Join{Node: node("n4@1"), Partitions: 2}, placement.View{})
			if err != nil {
				t.Fatal(err)
			}
			v := steady(before)
			look.at(&v.Partitions[0], &v.Partitions[1])
			after := placement.Assign(before, v)
			for p, voters := range after.Voters {
				if moved := slices.Contains(voters, "n4@1"); moved != (p == look.want) {
					t.Errorf("%v", after.Voters)
				}
			}
		})
	}
}

// TestNothingKnown: no view, no decision, no step.
func TestNothingKnown(t *testing.T) {
	table, _ := scene(t)
	v := placement.View{}
	if placement.Assign(table, v) != table || len(placement.Plan(table, v)) > 0 || placement.Leaders(table, v) != nil {
		t.Error("something is done without knowing anything")
	}
}
