package cluster

import (
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/poll"
)

// TestFiguresOfAHaltedReplica: a replica that stopped is still told of, for as
// long as it takes no part; so is every write to a log.
func TestFiguresOfAHaltedReplica(t *testing.T) {
	var writes atomic.Int64
	w := newWorld(t, 1, func(o *Options) {
		o.Logged = func(took time.Duration, err error) {
			if err == nil && took > 0 {
				writes.Add(1)
			}
		}
	})
	n := w.nodes[0]
	halted := func() bool {
		list := n.Figures()
		if len(list) != testPartitions {
			t.Fatalf("of %d partitions is told: %+v", len(list), list)
		}
		return list[1].Halted
	}
	if halted() || !n.Figures()[1].Leads {
		t.Errorf("before: %+v", n.Figures())
	}
	if writes.Load() == 0 {
		t.Error("of no write to the log was told")
	}
	old := n.group(1)
	n.halted(1, errors.New("the disk is full"))
	if !halted() {
		t.Error("nobody learns that the replica halted")
	}
	<-old.closed
	poll.Until(t, "its group is gone", func() bool { return n.held(1) != old })
	if !halted() && n.held(1) == nil {
		t.Error("nobody learns that the replica waits to come back")
	}
	poll.Until(t, "the replica is back", func() bool { return !halted() })
}

// TestNodesTellOfThemselves: every node's status has the version and the newest backup of each
// node that says them.
func TestNodesTellOfThemselves(t *testing.T) {
	at := ubl.Time(1_767_789_296_789)
	w := newWorld(t, 1, func(o *Options) {
		o.Version, o.BackupAt = "0.2.0", func() *ubl.Time { return &at }
	})
	s, err := w.nodes[0].Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Nodes[0]; n.Version != "0.2.0" || n.BackupAt == nil || *n.BackupAt != at {
		t.Errorf("the node is told of as %+v", n)
	}
}

// TestSnapshotFigures: a snapshot that a node takes, and one that it takes over from
// its leader, are told of, with how long they took.
func TestSnapshotFigures(t *testing.T) {
	var taken, installed atomic.Int64
	tell := func(n *atomic.Int64) func(time.Duration, error) {
		return func(took time.Duration, err error) {
			if took < 0 || err != nil {
				t.Errorf("a snapshot took %s: %v", took, err)
			}
			n.Add(1)
		}
	}
	w := newWorld(t, 2, func(o *Options) { o.Snapshotted, o.Installed = tell(&taken), tell(&installed) })
	if n := installed.Load(); n < testPartitions { // one that took too long is sent again
		t.Errorf("a node that joined took over %d snapshots, want one a partition", n)
	}
	before := taken.Load()
	if err := w.nodes[0].group(0).takeSnapshot(); err != nil {
		t.Fatal(err)
	}
	if n := taken.Load() - before; n != 1 {
		t.Errorf("%d snapshots were told of, one was taken", n)
	}
}

// TestStatusWithoutALeader: while a partition has no leader its copies stay in sight, as
// the newest configuration among those that answer has them.
func TestStatusWithoutALeader(t *testing.T) {
	three := []string{"n1@1", "n2@2", "n3@3"}
	reports := []*report{
		{ServerID: "n1@1", Replicas: []replicaReport{{Partition: 0, Leads: true, Term: 3, Config: 7, Commit: 20, Applied: 20, Voters: three}, {Partition: 1, Term: 5, Config: 4, Commit: 30, Applied: 30, Voters: three[:1]}}},
		{ServerID: "n2@2", Replicas: []replicaReport{{Partition: 1, Term: 6, Config: 8, Commit: 28, Applied: 27, Voters: three, Learners: []string{"n4@4"}}}},
	}
	view := viewOf(reports, 3)
	var got []ubl.ClusterPartition
	for p, a := range view.Partitions {
		got = append(got, partitionStatus(p, lastKnown(reports, p, a)))
	}
	want := []ubl.ClusterPartition{
		{Partition: 0, Leader: "n1", Term: 3, CommitIndex: 20, Voters: []string{"n1", "n2", "n3"}, Learners: []string{}, Replicas: []ubl.ClusterReplica{{NodeID: "n1", AppliedIndex: 20}}},
		{Partition: 1, Term: 6, CommitIndex: 30, Voters: []string{"n1", "n2", "n3"}, Learners: []string{"n4"},
			Replicas: []ubl.ClusterReplica{{NodeID: "n1", AppliedIndex: 30}, {NodeID: "n2", AppliedIndex: 27, Lag: 3}}},
		{Partition: 2, Voters: []string{}, Learners: []string{}, Replicas: []ubl.ClusterReplica{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the status is\n%+v, want\n%+v", got, want)
	}
}

// TestStoppingNodeOpensNoReplica, which nobody would close.
func TestStoppingNodeOpensNoReplica(t *testing.T) {
	w := newWorld(t, 4, nil)
	for _, n := range w.nodes {
		n.cancel()
		for p := range n.engine.Partitions() {
			if n.held(p) != nil {
				continue
			}
			if err := n.startReplica(p); err == nil {
				t.Errorf("%s opens its replica of partition %d", n.ID(), p)
			}
		}
	}
}
