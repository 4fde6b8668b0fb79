package cluster

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ubl"
	"ubl/cluster/placement"
	"ubl/test/poll"
)

// TestServesWhatHasALeader: a partition that lost its quorum makes no survivor
// ready, and takes none from the tenants of the others; a node that reaches
// nobody is no good to anyone.
func TestServesWhatHasALeader(t *testing.T) {
	w := newWorld(t, 5, nil)
	lost, kept := 1, 0
	poll.Until(t, "the partitions have different voters", func() bool {
		return w.leader(kept) != nil && w.leader(lost) != nil && len(w.onlyIn(lost, kept)) >= 2
	})
	for _, i := range w.onlyIn(lost, kept)[:2] {
		w.stop(i)
	}
	for _, n := range w.running() {
		poll.Until(t, "a survivor isn't ready", func() bool { return n.Ready() != nil })
		poll.Until(t, "a survivor serves the other partition", func() bool { return n.Serves() == nil })
	}
	last := w.running()[0]
	for i, n := range w.nodes {
		if n != last {
			w.stop(i)
		}
	}
	poll.Until(t, "a node that is alone serves nothing", func() bool { return last.Serves() != nil })
}

// onlyIn are the nodes that vote in one partition and not in another.
func (w *world) onlyIn(in, notIn int) (list []int) {
	voters, others := w.led(in).group(in).configuration().voters, w.led(notIn).group(notIn).configuration().voters
	for i, n := range w.nodes {
		if slices.Contains(voters, n.server) && !slices.Contains(others, n.server) {
			list = append(list, i)
		}
	}
	return list
}

func (w *world) running() (list []*Node) {
	for _, n := range w.nodes {
		if n != nil {
			list = append(list, n)
		}
	}
	return list
}

// TestReadyOnceCaughtUp: a node whose disk was wiped isn't ready, nor does it
// serve, before it has every partition again and votes: a rollout would go on to
// the next one.
func TestReadyOnceCaughtUp(t *testing.T) {
	w := newWorld(t, 3, func(o *Options) { o.Timeout = 2 * time.Second }) // nobody waits for a partition that lost its leader
	w.stop(2)
	w.dirs[2] = t.TempDir()
	poll.Until(t, "others lead", func() bool { return w.leader(0) != nil && w.leader(1) != nil })
	w.start(2)
	n := w.nodes[2]
	poll.Until(t, "the node serves or is ready", func() bool { return n.Serves() == nil || n.Ready() == nil })
	for p := range testPartitions {
		if g := n.group(p); g == nil || !g.votes() {
			t.Errorf("the node takes requests before it votes in partition %d", p)
		}
	}
	w.settle()
}

// TestGoals: how far a node's replicas must come before it is ready.
func TestGoals(t *testing.T) {
	table := &placement.Table{Voters: [][]string{{"a@1", "b@1", "c@1"}, {"a@1", "b@1", "c@1"}, {"a@1", "b@1"}}}
	actual := []placement.Actual{
		{Leader: "a@1", Commit: 10, Voters: []string{"a@1", "b@1"}}, // c is to come
		{Leader: "", Commit: 0},
		{Leader: "b@1", Commit: 30, Voters: []string{"a@1", "b@1", "d@1"}}, // d is to go
	}
	view := placement.View{Partitions: actual}
	for server, want := range map[string]map[int]uint64{
		"a@1": {0: 10, 2: 30}, "c@1": {0: 10}, "d@1": {2: 30}, "e@1": {},
	} {
		if got, led := goals(server, table, view); !led || !maps.Equal(got, want) {
			t.Errorf("%s is to reach %v, want %v", server, got, want)
		}
	}
	if _, led := goals("a@1", table, placement.View{Partitions: make([]placement.Actual, 3)}); led {
		t.Error("nobody leads anything, and that counts as having caught up")
	}
	if got, _ := goals("a@1", nil, view); !maps.Equal(got, map[int]uint64{0: 10, 2: 30}) {
		t.Errorf("without a table, a is to reach %v", got)
	}
}

// TestFullDisks: where full disks keep partitions without a leader, that is what everybody
// is told; with room again they work.
func TestFullDisks(t *testing.T) {
	var full atomic.Bool
	w := newWorld(t, 3, func(o *Options) {
		o.probe = func(string, int) error {
			if full.Load() {
				return &os.PathError{Op: "write", Path: "probe", Err: syscall.ENOSPC}
			}
			return nil
		}
	})
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	full.Store(true)
	for _, n := range w.nodes {
		n.held(partition).halt(fmt.Errorf("couldn't write: %w", syscall.ENOSPC))
	}
	want := fmt.Sprintf("degraded: no room is left on the disk of a, b, c: free some space; no leader for partitions %d; 3 of 3 nodes answer", partition)
	for i, n := range w.nodes {
		poll.Until(t, "the node names the full disks", func() bool { return n.Ready() != nil && strings.HasSuffix(n.Ready().Error(), want) })
		if _, err := n.Ask(t.Context(), ubl.TenantName(group.Tenant), ubl.ReadHistory{}); ubl.CodeOf(err) != ubl.CodeUnavailable || !strings.Contains(err.Error(), "disks are full") {
			t.Errorf("node %d answers %v", i, err)
		}
	}
	status, err := w.nodes[0].Status(t.Context())
	must(t, err)
	for _, node := range status.Nodes {
		if !node.DiskFull {
			t.Errorf("the status doesn't say that the disk of %s is full", node.NodeID)
		}
	}
	full.Store(false)
	w.settle()
}

// TestCountsWhoAnswers: what Ready counts are nodes that answer, of all members: without
// those that gossip hasn't missed yet, and with those that it never met.
func TestCountsWhoAnswers(t *testing.T) {
	w := newWorld(t, 3, nil)
	for i := range 3 {
		w.stop(i)
	}
	w.start(0)
	poll.Until(t, "one of three answers", func() bool {
		err := w.nodes[0].Ready()
		return err != nil && strings.HasSuffix(err.Error(), "; 1 of 3 nodes answer")
	})
}

// TestRemovedNode: a node that was removed takes no requests and says why, also when it is
// started again.
func TestRemovedNode(t *testing.T) {
	w := newWorld(t, 4, nil)
	must(t, w.nodes[0].Remove(t.Context(), "d", 0))
	says := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "was removed from the cluster")
	}
	poll.Until(t, "it says that it was removed", func() bool { return says(w.nodes[3].Ready()) && says(w.nodes[3].Serves()) })
	w.stop(3)
	w.start(3)
	poll.Until(t, "it says so after a start", func() bool { return says(w.nodes[3].Ready()) && says(w.nodes[3].Serves()) })
	for _, n := range w.nodes[:3] {
		if err := n.Ready(); err != nil {
			t.Errorf("%s isn't ready: %v", n.ID(), err)
		}
	}
}

// TestRemovalsAtOnce: of two nodes that are to be removed at the same time one goes, and
// below three none does unless it is said how many must stay.
func TestRemovalsAtOnce(t *testing.T) {
	w := newWorld(t, 4, nil)
	errs := make(chan error)
	for i, id := range map[int]string{1: "b", 3: "d"} {
		go func() { errs <- w.nodes[i].Remove(t.Context(), id, 0) }()
	}
	var removed, refused int
	for range 2 {
		switch err := <-errs; ubl.CodeOf(err) {
		case "":
			removed++
		case ubl.CodeConflict:
			refused++
		default:
			t.Fatal(err)
		}
	}
	if removed != 1 || refused != 1 {
		t.Errorf("%d removed, %d refused", removed, refused)
	}
}
