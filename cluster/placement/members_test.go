package placement_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"ubl/cluster/placement"
)

func join(server string) placement.Join {
	return placement.Join{Node: node(server), ClusterID: "home", Partitions: 8}
}

func alive(servers ...string) placement.View {
	v := placement.View{Alive: make(map[string]bool)}
	for _, s := range servers {
		v.Alive[s] = true
	}
	return v
}

// TestAdmitRefuses what would mix up clusters, nodes or disks.
func TestAdmitRefuses(t *testing.T) {
	table := grown(t, 8, 3)
	replaced, err := table.Admit(join("n3@2"), alive())
	if err != nil {
		t.Fatal(err)
	}
	other, few, badAddr, badID := join("n4@1"), join("n4@1"), join("n4@1"), join("n4@1")
	other.ClusterID, few.Partitions, badAddr.Node.Addr, badID.Node.Server = "elsewhere", 4, "nowhere", "n5@1"
	for _, refused := range []struct {
		name string
		join placement.Join
		want error // nil: any
	}{
		{"another cluster", other, placement.ErrOtherCluster},
		{"another number of partitions", few, placement.ErrOtherPartitions},
		{"a name that a living node has", join("n2@9"), placement.ErrNameTaken},
		{"a server that was replaced", join("n3@1"), placement.ErrGone},
		{"an address that is none", badAddr, nil},
		{"a server id of another node", badID, nil},
	} {
		_, err := replaced.Admit(refused.join, alive("n1@1", "n2@1"))
		if err == nil || (refused.want != nil && !errors.Is(err, refused.want)) {
			t.Errorf("%s: %v", refused.name, err)
		}
	}
}

// TestAdmit: a new node, one on a new address, one that is known already, and
// one with a new disk.
func TestAdmit(t *testing.T) {
	table := grown(t, 8, 3)
	stranger := join("n0@1")
	stranger.ClusterID = "" // has never been in a cluster
	table = admitted(t, table, stranger)
	if n, ok := table.Node("n0"); !ok || n != stranger.Node || len(table.Nodes) != 4 {
		t.Errorf("the new node isn't there: %v", table.Nodes)
	}
	if again, err := table.Admit(stranger, alive("n0@1")); err != nil || again != table {
		t.Errorf("admitted twice: %v", err)
	}
	left, err := table.Leave("n2", 1)
	if err != nil {
		t.Fatal(err)
	}
	moved := join("n2@1")
	moved.Node.Addr = "[2001:db8::1]:7000"
	left = admitted(t, left, moved)
	if n, _ := left.Server("n2@1"); n.Addr != moved.Node.Addr || !n.Leaving {
		t.Errorf("a new address changes nothing else: %v", n)
	}
	if !slices.Contains(table.Voters[0], "n2@1") {
		t.Fatal("n2 should have places")
	}
	wiped := admitted(t, left, join("n2@2"))
	if !wiped.Stays("n2@2") || wiped.Has("n2@1") || !slices.Equal(wiped.Gone, []string{"n2@1"}) {
		t.Errorf("a new disk is a new server that wants to stay: %v, gone %v", wiped.Nodes, wiped.Gone)
	}
	if slices.Contains(wiped.Voters[0], "n2@1") || !slices.Contains(wiped.Voters[0], "n2@2") {
		t.Errorf("it has the old one's places: %v", wiped.Voters)
	}
	if slices.Contains(left.Voters[0], "n2@2") || len(left.Gone) > 0 {
		t.Error("the table before was changed")
	}
}

// admitted also checks that the new table is valid and one version on.
func admitted(t *testing.T, table *placement.Table, j placement.Join) *placement.Table {
	t.Helper()
	next, err := table.Admit(j, alive())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := placement.Decode(next.Encode()); err != nil || next.Version != table.Version+1 {
		t.Fatalf("version %d after %d: %v", next.Version, table.Version, err)
	}
	return next
}

// TestGoneIsBounded: a node that wipes its disk at every start fills no disk.
func TestGoneIsBounded(t *testing.T) {
	table := grown(t, 8, 3)
	for i := range 1000 {
		table = admitted(t, table, join(fmt.Sprintf("n2@x%d", i)))
	}
	if n := len(table.Gone); n != 256 || table.Gone[n-1] != "n2@x998" {
		t.Errorf("%d are gone", n)
	}
}

// TestLeaveOneAtATime, and not below three, unless it is said how many must stay.
func TestLeaveOneAtATime(t *testing.T) {
	five := grown(t, 1, 5)
	four, err := five.Leave("n5", 0)
	if err != nil {
		t.Fatal(err)
	}
	three := grown(t, 1, 3)
	for name, c := range map[string]struct {
		table *placement.Table
		keep  int
		want  error
	}{
		"another leaves":                      {four, 0, placement.ErrBusy},
		"another leaves, and three stay":      {four, 3, nil},
		"another leaves, and four can't":      {four, 4, placement.ErrFew},
		"two would stay":                      {three, 0, placement.ErrFew},
		"two must stay":                       {three, 2, nil},
		"three must stay":                     {three, 3, placement.ErrFew},
		"one would stay":                      {grown(t, 1, 2), 0, placement.ErrFew},
		"one must stay":                       {grown(t, 1, 2), 1, nil},
		"the only one, whatever is asked for": {grown(t, 1, 1), 1, placement.ErrLastNode},
	} {
		if _, err := c.table.Leave("n1", c.keep); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLeaveAndForget: all but the last may leave, and are forgotten when they
// hold nothing.
func TestLeaveAndForget(t *testing.T) {
	table := grown(t, 1, 2)
	if _, err := table.Leave("n9", 1); !errors.Is(err, placement.ErrUnknownNode) {
		t.Errorf("an unknown node leaves: %v", err)
	}
	if _, err := table.Forget("n9", steady(table)); !errors.Is(err, placement.ErrUnknownNode) {
		t.Errorf("an unknown node is forgotten: %v", err)
	}
	left, err := table.Leave("n2", 1)
	if err != nil || left.Stays("n2@1") || !table.Stays("n2@1") {
		t.Fatalf("n2 leaves: %v", err)
	}
	if again, err := left.Leave("n2", 1); err != nil || again != left {
		t.Errorf("n2 leaves twice: %v", err)
	}
	if _, err := left.Leave("n1", 1); !errors.Is(err, placement.ErrLastNode) {
		t.Errorf("the last node leaves: %v", err)
	}
	placed := placement.Assign(left, steady(table))
	for name, holds := range map[string]struct {
		table *placement.Table
		at    func(v placement.View, a *placement.Actual)
	}{
		"it has a place":          {left, func(placement.View, *placement.Actual) {}},
		"it votes":                {placed, func(v placement.View, a *placement.Actual) { a.Voters = []string{"n1@1", "n2@1"} }},
		"it learns":               {placed, func(v placement.View, a *placement.Actual) { a.Learners = []string{"n2@1"} }},
		"it has a replica open":   {placed, func(v placement.View, a *placement.Actual) { a.Hosts = []string{"n2@1"} }},
		"nobody leads":            {placed, func(v placement.View, a *placement.Actual) { a.Leader = "" }},
		"it doesn't want to go":   {table, func(placement.View, *placement.Actual) {}},
		"nothing is known at all": {placed, func(v placement.View, a *placement.Actual) { *a = placement.Actual{} }},
	} {
		v := steady(placed)
		holds.at(v, &v.Partitions[0])
		if _, err := holds.table.Forget("n2", v); !errors.Is(err, placement.ErrHolds) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := steady(placed)
	v.Alive["n2@1"], v.Partitions[0].Hosts = false, []string{"n2@1"} // a dead server's replicas don't matter
	forgotten, err := placed.Forget("n2", v)
	if err != nil || forgotten.Has("n2@1") || len(forgotten.Nodes) != 1 {
		t.Fatalf("forgotten: %v", err)
	}
	if _, err := forgotten.Admit(placement.Join{Node: node("n2@1"), Partitions: 1}, alive()); !errors.Is(err, placement.ErrGone) {
		t.Errorf("it returns with its old disk: %v", err)
	}
	if back, err := forgotten.Admit(placement.Join{Node: node("n2@2"), Partitions: 1}, alive()); err != nil || !back.Stays("n2@2") {
		t.Errorf("it returns with a new disk: %v", err)
	}
}
