package cluster

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/storage"
)

// add gives the world another node, not yet started.
func (w *world) add(t *testing.T) (index int) {
	w.nodes, w.dirs = append(w.nodes, nil), append(w.dirs, t.TempDir())
	return len(w.nodes) - 1
}

// TestInterruptedFounding: a node whose founding broke off, and which is then
// told to join, joins: the groups that it had made with itself as the only voter
// don't come to life.
func TestInterruptedFounding(t *testing.T) {
	w := newWorld(t, 1, nil)
	i := w.add(t)
	alone := newWorld(t, 1, nil)
	alone.stop(0)
	w.dirs[i] = alone.dirs[0]
	if err := os.Remove(filepath.Join(w.dirs[i], membershipName)); err != nil {
		t.Fatal(err)
	}
	w.start(i)
	w.settle()
	for p := range testPartitions {
		if voters := w.leader(p).group(p).configuration().voters; len(voters) != 2 {
			t.Errorf("partition %d has the voters %v", p, voters)
		}
	}
}

// TestDataMayNotJoin: two nodes with data would mix them.
func TestDataMayNotJoin(t *testing.T) {
	w := newWorld(t, 1, nil)
	i := w.add(t)
	store, err := storage.Open(w.dirs[i], &storage.Options{Partitions: testPartitions})
	if err != nil {
		t.Fatal(err)
	}
	g := ubl.Group{Tenant: "t:data", Shard: "0"}
	lease, head, err := store.Begin(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	next := ubl.LedgerHead{Seq: 1, HeadHash: "h:next"}
	store.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: next, Atoms: [][]byte{[]byte("{}")}}, func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n, err := Open(ctx, w.options(i))
	if err == nil {
		_ = n.Close()
		t.Fatal("a node with data joined")
	}
	if !strings.Contains(err.Error(), "holds data") {
		t.Errorf("refused with %v", err)
	}
}

// TestConfigurationIsFenced: a step that was decided before the configuration
// changed is refused, at the leader and at the replica that it would close.
func TestConfigurationIsFenced(t *testing.T) {
	w := newWorld(t, 3, nil)
	leader := w.leader(1)
	g := leader.group(1)
	if err := g.await(g.raft.Barrier(0)); err != nil { // the voters are known before their entry is applied, with its index
		t.Fatal(err)
	}
	c := g.configuration()
	if c.index < 2 {
		t.Fatalf("the configuration's index is %d after two nodes were added", c.index)
	}
	stale := &changeRequest{Kind: 4, Partition: 1, Server: c.voters[0], Term: g.raft.CurrentTerm(), Config: c.index - 1}
	if _, err := leader.serveChange(t.Context(), stale); err == nil {
		t.Error("a change of an earlier configuration was made")
	}
	for _, n := range w.nodes {
		eventually(t, "a replica knows the configuration", func() bool { return n.group(1).configuration().index == c.index })
		if _, err := n.serveReplica(t.Context(), &replicaRequest{Partition: 1, Close: true, Config: c.index}); ubl.CodeOf(err) != ubl.CodeConflict {
			t.Errorf("closing the replica of a voter: %v", err)
		}
	}
	if now := g.configuration(); !slices.Equal(now.voters, c.voters) {
		t.Errorf("the voters are %v now, they were %v", now.voters, c.voters)
	}
}
