package cluster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ubl"
	"ubl/test/poll"
)

// damage flips a bit of a text in a node's file of a partition, once it is there.
func damage(t *testing.T, dir string, partition int, text string) {
	t.Helper()
	f := openPartition(t, dir, partition)
	poll.Until(t, "the file has the text", func() bool { return flipText(t, f, text) })
}

// openPartition opens a node's file of a partition. Another file that takes its place
// isn't this one any more.
func openPartition(t *testing.T, dir string, partition int) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "store", fmt.Sprintf("partition-%d.db", partition)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// flipText flips a bit wherever a file has the text, and reports whether it has.
func flipText(t *testing.T, f *os.File, text string) (found bool) {
	t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; ; { // older pages may have it, too
		at := bytes.Index(data[from:], []byte(text))
		if at < 0 {
			return found
		}
		from += at + len(text)
		if _, err := f.WriteAt([]byte{text[0] ^ 1}, int64(from-len(text))); err != nil {
			t.Fatal(err)
		}
		found = true
	}
}

// putRecord writes a record through a partition's leader.
func putRecord(t *testing.T, w *world, g ubl.Group, key, value string) {
	t.Helper()
	write(t, w, g, ubl.Batch{Records: []ubl.Record{{Key: []byte(key), Value: []byte(value)}}})
}

// write writes a batch through a partition's leader.
func write(t *testing.T, w *world, g ubl.Group, b ubl.Batch) {
	t.Helper()
	poll.Until(t, "the batch is written", func() bool { // the leader may change meanwhile
		e := w.led(w.running()[0].engine.Partition(g)).engine
		lease, head, err := e.Begin(t.Context(), g)
		if err != nil {
			return false
		}
		settled := make(chan error, 1)
		b.Group, b.Lease, b.Head, b.Next = g, lease, head, head
		e.Submit(&b, func(err error) { settled <- err })
		return <-settled == nil
	})
}

// TestDamagedReplicaHeals: the scrub of a replica finds a flipped bit, its node
// makes the copy anew, and then it is as the others are. So does a leader.
func TestDamagedReplicaHeals(t *testing.T) {
	for _, who := range []string{"a follower", "the leader"} {
		t.Run(who, func(t *testing.T) {
			w := newWorld(t, 3, nil)
			g := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
			p := w.nodes[0].engine.Partition(g)
			const text = "what was written and is to be kept"
			putRecord(t, w, g, "m1", text)
			victim := 0
			for i, n := range w.nodes {
				if (n == w.leader(p)) == (who == "the leader") {
					victim = i
				}
			}
			n := w.nodes[victim]
			old := n.held(p)
			// The text is in the file before its commit ends, and an open transaction may
			// have it in memory and write it once more. What the scrub counted is gone as
			// soon as the copy is made anew; only damage makes it anew.
			f := openPartition(t, w.dirs[victim], p)
			poll.Until(t, "the damage is met", func() bool {
				flipText(t, f, text)
				n.engine.ScrubOnce(t.Context())
				return n.engine.Stats().Partitions[p].Scrub.Damages > 0 || n.held(p) != old
			})
			poll.Until(t, "the replica is made anew", func() bool {
				g := n.group(p)
				return g != nil && g != old && w.leader(p) != nil && n.engine.Applied(p) > 0
			})
			if s := n.engine.Stats().Partitions[p].Scrub; s.Damages != 0 {
				t.Errorf("the new copy is said to have %d damaged places", s.Damages)
			}
			w.settle()
			putRecord(t, w, g, "m2", "more")
			poll.Until(t, "the copy has caught up and is whole", func() bool {
				n.engine.ScrubOnce(t.Context())
				s := n.engine.Stats().Partitions[p]
				data, err := os.ReadFile(filepath.Join(w.dirs[victim], "store", fmt.Sprintf("partition-%d.db", p)))
				return err == nil && s.Scrub.Damages == 0 && bytes.Contains(data, []byte(text)) && n.engine.Applied(p) == w.led(p).engine.Applied(p)
			})
			n.heal(p, ubl.ErrDamaged)
			if g := n.group(p); g == nil || g.halted.Load() != nil {
				t.Error("damage that comes back at once stops the replica again")
			}
		})
	}
}

// forge changes a text wherever a file has it as the end of a value, and the value's checksum with
// it, and reports whether the file has the text.
func forge(t *testing.T, f *os.File, text, other string) (found bool) {
	t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	// A CRC is linear: what changes it is the same whatever stands before.
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	change := crc32.Checksum([]byte(text), castagnoli) ^ crc32.Checksum([]byte(other), castagnoli)
	for from := 0; ; { // older pages may have it, too
		at := bytes.Index(data[from:], []byte(text))
		if at < 0 {
			return found
		}
		at += from
		from = at + len(text)
		sum := binary.BigEndian.Uint32(data[at-4:])
		if _, err := f.WriteAt(append(binary.BigEndian.AppendUint32(nil, sum^change), other...), int64(at-4)); err != nil {
			t.Fatal(err)
		}
		found = true
	}
}

// TestAForgedReplicaIsNamed: a value of one copy is changed together with its checksum. No copy has
// damage, and every node says which one holds something else than the others.
func TestAForgedReplicaIsNamed(t *testing.T) {
	w := newWorld(t, 3, func(o *Options) {
		steady(o)
		o.Storage.Numbers = []ubl.Numbers{{Space: 'm', Counter: "c", Named: true, FromOne: true, Fixed: true}}
	})
	g := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	p := w.nodes[0].engine.Partition(g)
	const records = 200 // three whole ranges of 64
	run := ubl.Batch{Counters: []ubl.Counter{{Key: []byte("cr:one"), From: 0, To: records}}}
	for i := range uint64(records) {
		run.Records = append(run.Records, ubl.Record{Key: binary.BigEndian.AppendUint64([]byte("mr:one\x00"), i+1), Value: fmt.Appendf(nil, "what was written at %03d", i+1)})
	}
	write(t, w, g, run)
	scrub := func() {
		for _, n := range w.nodes {
			n.engine.ScrubOnce(t.Context())
		}
	}
	differ := func(want ...string) func() bool {
		return func() bool {
			scrub()
			for _, n := range w.nodes {
				if n.gather(t.Context()); !slices.Equal(n.Differing(p), want) {
					return false
				}
			}
			return true
		}
	}
	counted := func(n *Node) (count int64) {
		for _, d := range n.group(p).scrub().Digests {
			count += d.Count
		}
		return count
	}
	poll.Until(t, "the copies are compared", func() bool {
		scrub()
		return !slices.ContainsFunc(w.nodes, func(n *Node) bool { return counted(n) < 3 })
	})
	poll.Until(t, "they are alike", differ())
	f := openPartition(t, w.dirs[1], p)
	poll.Until(t, "the forged copy is named", func() bool {
		forge(t, f, "what was written at 007", "what was never said 007")
		return differ(w.nodes[1].opts.NodeID)()
	})
	for _, n := range w.nodes {
		if s := n.engine.Stats().Partitions[p].Scrub; s.Damages != 0 {
			t.Errorf("node %s finds %d damaged places", n.opts.NodeID, s.Damages)
		}
	}
}

// TestDifferingReplicas: the status names the copy that holds something else.
func TestDifferingReplicas(t *testing.T) {
	digests := func(sum string) *ubl.ClusterScrub {
		return &ubl.ClusterScrub{Digests: []ubl.Digest{{}, {Count: 3, Ranges: "00000000000000aa", Sum: sum}}}
	}
	other := &ubl.ClusterScrub{Digests: []ubl.Digest{{}, {Count: 4, Ranges: "00000000000000bb", Sum: "3"}}}
	for name, test := range map[string]struct {
		scrubs []*ubl.ClusterScrub
		want   []string
	}{
		"the same":            {[]*ubl.ClusterScrub{digests("1"), digests("1"), digests("1")}, nil},
		"one differs":         {[]*ubl.ClusterScrub{digests("2"), digests("1"), digests("1")}, []string{"a"}},
		"one against one":     {[]*ubl.ClusterScrub{digests("2"), digests("1"), nil}, []string{"b"}},
		"other ranges":        {[]*ubl.ClusterScrub{digests("1"), other, digests("1")}, nil},
		"nobody has a pass":   {[]*ubl.ClusterScrub{{}, {}, {}}, nil},
		"an older node":       {[]*ubl.ClusterScrub{nil, nil, nil}, nil},
		"all of three differ": {[]*ubl.ClusterScrub{digests("1"), digests("2"), digests("3")}, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			var reports []*report
			for i, s := range test.scrubs {
				reports = append(reports, &report{NodeID: string(rune('a' + i)), Replicas: []replicaReport{{Partition: 1, Scrub: s}}})
			}
			if got := ubl.Differing(copies(reports, 1)); fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%v differ, want %v", got, test.want)
			}
		})
	}
}
