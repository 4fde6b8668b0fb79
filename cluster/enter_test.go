package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/storage"
	"ubl/test/poll"
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
		if voters := w.led(p).group(p).configuration().voters; len(voters) != 2 {
			t.Errorf("partition %d has the voters %v", p, voters)
		}
	}
}

// TestDataMayNotJoin: two nodes with data would mix them.
func TestDataMayNotJoin(t *testing.T) {
	w := newWorld(t, 1, nil)
	i := w.add(t)
	put(t, w.dirs[i])
	w.refusesData(i)
}

// refusesData has a node open that holds data and must not go on.
func (w *world) refusesData(i int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	n, err := Open(ctx, w.options(i))
	if err == nil {
		_ = n.Close()
		w.t.Fatal("a node with data joined, or founded a cluster")
	}
	if !strings.Contains(err.Error(), "holds data") {
		w.t.Errorf("refused with %v", err)
	}
}

// put has a directory hold data, as a node alone writes it.
func put(t *testing.T, dir string) {
	t.Helper()
	store, err := storage.Open(dir, &storage.Options{Partitions: testPartitions})
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
}

// TestConfigurationIsFenced: a step that was decided before the configuration
// changed is refused, at the leader and at the replica that it would close.
func TestConfigurationIsFenced(t *testing.T) {
	w := newWorld(t, 3, steady)
	leader := w.led(1)
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
		poll.Until(t, "a replica knows the configuration", func() bool { return n.group(1).configuration().index == c.index })
		if _, err := n.serveReplica(t.Context(), &replicaRequest{Partition: 1, Close: true, Config: c.index}); ubl.CodeOf(err) != ubl.CodeConflict {
			t.Errorf("closing the replica of a voter: %v", err)
		}
	}
	if now := g.configuration(); !slices.Equal(now.voters, c.voters) {
		t.Errorf("the voters are %v now, they were %v", now.voters, c.voters)
	}
}

// records are what a cluster puts on record of its nodes. The first attempt of
// each fails after the table was changed, as when the leader dies then.
type records struct {
	mu    sync.Mutex
	tried map[string]int
}

func (r *records) joined(_ context.Context, nodeID, serverID string, in bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	what := fmt.Sprintf("%s %t", serverID, in)
	if r.tried[what]++; nodeOf(serverID) != nodeID || r.tried[what] == 1 {
		return errors.New("it can't be written now")
	}
	return nil
}

// told reports whether it is on record that a server came or went.
func (r *records) told(server string, in bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tried[fmt.Sprintf("%s %t", server, in)] > 1
}

// TestNobodyJoinsOffTheRecord: a node gets what all share only once it is on
// record that it is in, and is forgotten only once it is that it is out.
func TestNobodyJoinsOffTheRecord(t *testing.T) {
	r := &records{tried: map[string]int{}}
	kept := 0
	w := newWorld(t, 1, func(o *Options) { o.Joined = r.joined })
	i := w.add(t)
	w.change = func(o *Options) {
		o.Joined = r.joined
		o.Keep = func(map[string][]byte) error {
			kept++
			r.mu.Lock()
			defer r.mu.Unlock()
			for what, times := range r.tried {
				if times < 2 {
					t.Errorf("the node got what is shared before this was on record: %s", what)
				}
			}
			return nil
		}
	}
	w.start(i)
	server := w.nodes[i].server
	if kept != 1 || !r.told(server, true) {
		t.Errorf("the node joined with %v on record, and got %d times what is shared", r.tried, kept)
	}
	w.settle()
	if err := w.nodes[0].Remove(t.Context(), w.nodes[i].opts.NodeID, 1); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "the node is forgotten", func() bool {
		s, err := w.nodes[0].Status(t.Context())
		return err == nil && len(s.Nodes) == 1
	})
	if !r.told(server, false) {
		t.Error("the node was forgotten off the record")
	}
}

// TestDataBesideACluster: a node with data that is told how many nodes there will
// be founds their cluster, but none beside one that lives.
func TestDataBesideACluster(t *testing.T) {
	w := newWorld(t, 1, nil)
	i := w.add(t)
	w.change = func(o *Options) { o.Expect = 3 }
	put(t, w.dirs[i])
	w.refusesData(i)
}
