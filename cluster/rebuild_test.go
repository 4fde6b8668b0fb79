package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"ubl"
	"ubl/durable"
	"ubl/storage"
	"ubl/test/poll"
)

// record writes one through whoever leads, and reports whether it was acknowledged.
func (w *world) record(nodes []*Node, group ubl.Group, key string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, n := range nodes {
		if n.engine.Epoch(n.engine.Partition(group)) == 0 {
			continue
		}
		lease, head, err := n.engine.Begin(ctx, group)
		if err != nil {
			continue
		}
		settled := make(chan error, 1)
		n.engine.Submit(&ubl.Batch{Group: group, Lease: lease, Head: head, Next: head,
			Records: []ubl.Record{{Key: []byte(key), Value: []byte("kept")}}}, func(err error) { settled <- err })
		return <-settled == nil
	}
	return false
}

// TestDamagedLogMetaHeals: a replica whose wal-meta.db was damaged while its node was down
// is rebuilt from its peers while they go on. It has what was acknowledged, votes again,
// and never went back behind a vote of its own.
func TestDamagedLogMetaHeals(t *testing.T) {
	var log lockedBuffer
	w := newWorld(t, 3, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	const victim = 0 // it founded the cluster: its snapshot says that it is alone
	var acknowledged []string
	r := rand.New(rand.NewPCG(5, 6))
	for round, spoil := range map[string]func(data []byte) []byte{
		"cut short": func(data []byte) []byte { return data[:10000] },
		"missing":   func([]byte) []byte { return nil },
		"random bytes": func(data []byte) []byte {
			for range 50 {
				data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
			}
			return data
		},
	} {
		poll.Until(t, "a record is acknowledged", func() bool { return w.record(w.nodes, group, "m"+round) })
		acknowledged = append(acknowledged, "m"+round)
		w.stop(victim)
		path := logMeta(w.dirs[victim], partition)
		data, err := os.ReadFile(path)
		must(t, err)
		must(t, os.Remove(path))
		if data = spoil(data); data != nil {
			must(t, os.WriteFile(path, data, 0o600))
		}
		p, err := readPromise(w.dirs[victim], serverOf(t, w.dirs[victim]), partition)
		must(t, err)
		beside := filepath.Join(groupDir(w.dirs[victim], partition), voteName)
		before, err := readVote(beside, p.salt)
		must(t, err)

		others, stop := slices.DeleteFunc(slices.Clone(w.nodes), func(n *Node) bool { return n == nil }), make(chan struct{})
		var writing sync.WaitGroup
		writing.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if key := fmt.Sprintf("m%s%05d", round, i); w.record(others, group, key) {
					acknowledged = append(acknowledged, key)
				}
			}
		})
		w.start(victim)
		n := w.nodes[victim]
		poll.Until(t, "the replica is back after its file was "+round, func() bool {
			g := n.group(partition)
			return g != nil && g.files.promise.whole() && g.votes() && g.raft.AppliedIndex() >= p.index && !n.engine.Stats().Partitions[partition].Spoiled
		})
		close(stop)
		writing.Wait()
		after, err := readVote(beside, p.salt)
		must(t, err)
		if after.term < before.term || after.votedIn < before.votedIn || after.votedIn == before.votedIn && after.candidate != before.candidate {
			t.Errorf("%s: it voted %+v, and then says %+v", round, before, after)
		}
		if err := n.unopened(partition); err != nil {
			t.Errorf("%s: the replica is closed: %v", round, err)
		}
		if round != "random bytes" && !strings.Contains(log.String(), "the replica is rebuilt from its peers") { // which may hit nothing
			t.Errorf("%s: the log doesn't say that it was rebuilt\n%s", round, log.String())
		}
		log.reset()
	}
	w.settle()
	n := w.nodes[victim]
	poll.Until(t, "the rebuilt replica leads", func() bool {
		if n.engine.Epoch(partition) != 0 {
			return true
		}
		if leader := w.leader(partition); leader != nil {
			_ = leader.group(partition).handOver(raft.ServerID(n.server)) // until it works
		}
		return false
	})
	must(t, n.engine.View(t.Context(), group, func(s ubl.Snapshot) error {
		for _, key := range acknowledged {
			if value, err := s.Get([]byte(key)); string(value) != "kept" || err != nil {
				return fmt.Errorf("%s of %d was acknowledged and is lost: %w", key, len(acknowledged), err)
			}
		}
		return nil
	}))
}

func (b *lockedBuffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Reset()
}

// serverOf is the server id of a node that is down.
func serverOf(t *testing.T, dir string) string {
	t.Helper()
	m, err := readMembership(dir)
	must(t, err)
	return m.ServerID
}

// TestTooFewMayVote: where the logs of two of three are lost none can be elected, and the
// node, its log and the status say so and name them. Without the mark of one of them,
// as the runbook has it, it votes for the one that has all.
func TestTooFewMayVote(t *testing.T) {
	var log lockedBuffer
	w := newWorld(t, 3, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	poll.Until(t, "a record is acknowledged", func() bool { return w.record(w.nodes, group, "m") })
	for i := 1; i < 3; i++ {
		w.stop(i)
		must(t, os.Remove(logMeta(w.dirs[i], partition)))
	}
	w.start(1)
	w.start(2)
	says := fmt.Sprintf("too few replicas of partition %d may vote, since the logs of b, c have lost entries", partition)
	for _, n := range w.nodes {
		poll.Until(t, "the node says why", func() bool { err := n.Ready(); return err != nil && strings.Contains(err.Error(), says) })
	}
	poll.Until(t, "the log says so", func() bool { return strings.Contains(log.String(), "a partition can't elect a leader") })
	s, err := w.nodes[0].Status(t.Context())
	must(t, err)
	for _, r := range s.Partitions[partition].Replicas {
		if r.LogLost != (r.NodeID != "a") {
			t.Errorf("the status says %+v", r)
		}
	}
	w.stop(1)
	must(t, os.Remove(filepath.Join(groupDir(w.dirs[1], partition), promiseName)))
	w.start(1)
	poll.Until(t, "the replicas vote again", func() bool {
		return w.nodes[0].Ready() == nil && len(logLost(w.nodes[0].gather(t.Context()), partition)) == 0
	})
	must(t, w.nodes[0].engine.View(t.Context(), group, func(s ubl.Snapshot) error {
		if v, err := s.Get([]byte("m")); err != nil || string(v) != "kept" {
			t.Errorf("the record is %q: %v", v, err)
		}
		return nil
	}))
}

// TestLostLog: a replica whose log and vote are gone while its data is there stays closed,
// says why, and its node serves the rest. The others go on.
func TestLostLog(t *testing.T) {
	w := newWorld(t, 3, nil)
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	poll.Until(t, "a record is acknowledged", func() bool { return w.record(w.nodes, group, "m") })
	w.settle()
	poll.Until(t, "all have it", func() bool {
		for _, n := range w.nodes {
			if n.engine.Applied(partition) == 0 {
				return false
			}
		}
		return true
	})
	const victim = 1
	w.stop(victim)
	must(t, os.RemoveAll(groupDir(w.dirs[victim], partition)))
	w.start(victim)
	n := w.nodes[victim]
	if err := n.unopened(partition); err == nil || !strings.Contains(err.Error(), "raft/N is missing") {
		t.Errorf("the replica's error is %v", err)
	}
	if !slices.ContainsFunc(n.Figures(), func(f PartitionFigures) bool { return f.Partition == partition && f.Unopened != nil }) {
		t.Errorf("its figures are %+v", n.Figures())
	}
	poll.Until(t, "the others go on", func() bool { return w.record([]*Node{w.nodes[0], w.nodes[2]}, group, "more") })
	if err := n.startReplica(partition); err == nil {
		t.Error("it opens when it is asked to")
	}
	if _, err := os.Stat(groupDir(w.dirs[victim], partition)); err == nil {
		t.Error("a log was made in its place")
	}
}

// TestRebuildInterrupted: a process that ends anywhere while it sets a log aside does so
// again, and keeps the damaged one.
func TestRebuildInterrupted(t *testing.T) {
	aside := func(base string) error { // behind what is done before it
		p, err := readPromise(filepath.Dir(filepath.Dir(base)), "n1@1", 0)
		return errors.Join(err, durable.CreateMark(p.path, p.salt, 5), setAside(filepath.Join(base, "log"), filepath.Join(base, "log.damaged")))
	}
	for name, until := range map[string]func(base string) error{
		"nothing done":          func(string) error { return nil },
		"half a new log":        func(base string) error { return os.Mkdir(filepath.Join(base, "log.new"), 0o700) },
		"a new log":             func(base string) error { return makeLogMeta(filepath.Join(base, "log.new")) },
		"the old one set aside": aside,
		"an empty one for it":   func(base string) error { return errors.Join(aside(base), os.Mkdir(filepath.Join(base, "log"), 0o700)) },
		"all done": func(base string) error {
			_, err := beginAgain(filepath.Dir(filepath.Dir(base)), "n1@1", 0, 2)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open := func() (*files, error) { return openFiles(dir, "n1@1", 0, hclog.NewNullLogger()) }
			f, err := open()
			must(t, err)
			must(t, f.log.SetUint64([]byte(termKey), 9))
			must(t, f.log.StoreLogs(entries(1, 5))) // the mark stays behind
			must(t, f.close())
			path := logMeta(dir, 0)
			must(t, os.Truncate(path, 10000))
			spoiled, err := os.ReadFile(path)
			must(t, err)
			must(t, until(groupDir(dir, 0)))
			if f, err = open(); err != nil {
				if _, ok := errors.AsType[logMetaDamage](err); !ok || name == "all done" {
					t.Fatalf("it didn't open with %v", err)
				}
				_, err := beginAgain(dir, "n1@1", 0, 2)
				must(t, err)
				f, err = open()
				must(t, err)
			}
			if term, err := f.log.GetUint64([]byte(termKey)); term != 9 || err != nil {
				t.Errorf("its term is %d, %v", term, err)
			}
			if owes := f.promise.owes; owes != 5 {
				t.Errorf("it owes entries up to %d", owes)
			}
			must(t, f.close())
			if kept, err := os.ReadFile(filepath.Join(groupDir(dir, 0), "log.damaged", filepath.Base(path))); err != nil || !bytes.Equal(kept, spoiled) {
				t.Errorf("what was damaged isn't kept: %v", err)
			}
		})
	}
}

// TestLogMetaBeyondRepair: where the vote is gone in both places, or there are no peers,
// the replica stays closed and its files as they are. The node serves the rest and says why.
func TestLogMetaBeyondRepair(t *testing.T) {
	for name, c := range map[string]struct {
		nodes int
		says  string
	}{
		"both copies": {3, "its copy can't be read either"},
		"alone":       {1, "restore a backup"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.nodes, nil)
			group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
			partition := w.nodes[0].engine.Partition(group)
			putRecord(t, w, group, "m1", "everybody has it")
			w.stop(0)
			path := logMeta(w.dirs[0], partition)
			must(t, os.Truncate(path, 10000))
			spoiled, err := os.ReadFile(path)
			must(t, err)
			if c.nodes > 1 {
				flip(t, filepath.Join(groupDir(w.dirs[0], partition), voteName), 20)
			}
			w.start(0)
			n := w.nodes[0]
			if n.group(partition) != nil || n.group(1-partition) == nil {
				t.Error("the damaged replica was opened, or the other one wasn't")
			}
			if err := n.unopened(partition); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			poll.Until(t, "the node serves", func() bool { return n.Serves() == nil || c.nodes == 1 })
			for _, f := range n.Figures() {
				if damaged := f.Partition == partition; f.Halted != damaged || errors.Is(f.Unopened, storage.ErrDamaged) != damaged {
					t.Errorf("its figures are %+v", f)
				}
			}
			if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, spoiled) {
				t.Errorf("the file is not as it was: %v", err)
			}
			if c.nodes > 1 {
				poll.Until(t, "the others lead", func() bool { return w.leader(partition) != nil })
				putRecord(t, w, group, "m2", "the others have it")
			}
		})
	}
}
