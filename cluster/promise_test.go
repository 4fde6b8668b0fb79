package cluster

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/fs"

	"ubl"
	"ubl/durable"
	"ubl/test/poll"
)

// TestWhatALogOwes: a batch behind the mark was being written when the power went; one
// that the mark names was acknowledged. So was one that others follow.
func TestWhatALogOwes(t *testing.T) {
	const entry = walFrame + 1045 + 3 + walFrame // bytes of an entry of a kilobyte and its commit
	for name, c := range map[string]struct {
		known      bool
		mark, kept uint64
		at         int64 // of the flipped byte, from the segment's beginning
		last, owes uint64
		refused    bool
	}{
		"the last batch, acknowledged":         {known: true, mark: 5, at: walHeader + 4*entry + 500, last: 4, owes: 5},
		"the last batch's commit":              {known: true, mark: 5, at: walHeader + 5*entry - 4, last: 4, owes: 5},
		"the last batch, which a snapshot has": {known: true, mark: 5, kept: 5, at: walHeader + 4*entry + 500, last: 4},
		"the last batch, being written":        {known: true, mark: 4, at: walHeader + 4*entry + 500, last: 4},
		"the last batch of an earlier version": {at: walHeader + 4*entry + 500, last: 4},
		"one in the middle":                    {known: true, mark: 5, at: walHeader + 2*entry + 500, last: 2, owes: 5},
		"one in the middle, the mark behind":   {known: true, mark: 1, at: walHeader + 2*entry + 500, last: 2, owes: 5},
		"one in the middle, earlier version":   {at: walHeader + 2*entry + 500, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := smallLog(t, dir, fs.New())
			for i := range uint64(5) {
				must(t, w.StoreLogs(entries(i+1, 1)))
			}
			must(t, w.Close())
			flip(t, newestSegment(t, dir), c.at)
			p := &promised{path: filepath.Join(t.TempDir(), promiseName), known: c.known, index: c.mark, kept: c.kept}
			err := mend(dir, fs.New(), p)
			if c.refused {
				if err == nil {
					t.Error("the damage was taken for a torn write")
				}
				return
			}
			must(t, err)
			if p.owes != c.owes {
				t.Errorf("the log owes entries up to %d, want %d", p.owes, c.owes)
			}
			if _, err := os.Stat(p.path + damagedSuffix); (err == nil) != (c.owes > 0) {
				t.Errorf("a copy of the damaged segment: %v", err)
			}
			w = smallLog(t, dir, fs.New())
			defer w.Close()
			endsAt(t, w, c.last)
		})
	}
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	data[at] ^= 0x10
	must(t, os.WriteFile(path, data, 0o600))
}

// TestDamagedMark: a mark that is damaged is made again from a log that is sound. A log
// that is damaged before its end stays closed then, since nothing says what it lost.
func TestDamagedMark(t *testing.T) {
	dir := t.TempDir()
	open := func() (*files, error) { return openFiles(dir, "n1@1", 0, hclog.NewNullLogger()) }
	f, err := open()
	must(t, err)
	must(t, f.log.SetUint64([]byte(termKey), 9))
	for i := range uint64(5) {
		must(t, f.log.StoreLogs(entries(i+1, 1)))
		f.promise.stored(i + 1)
	}
	must(t, f.close())
	mark := filepath.Join(groupDir(dir, 0), promiseName)
	sound, err := os.ReadFile(mark)
	must(t, err)
	for _, at := range []int64{2, 15, 22, int64(len(sound)) - 1} { // in each part
		flip(t, mark, at)
		f, err := open()
		if err != nil {
			t.Fatalf("a flip at %d: %v", at, err)
		}
		if !f.promise.remade || !f.promise.whole() {
			t.Errorf("a flip at %d: made again %v, owes %d", at, f.promise.remade, f.promise.owes)
		}
		must(t, f.close())
		if again, err := os.ReadFile(mark); err != nil || !bytes.Equal(again, sound) {
			t.Fatalf("a flip at %d: the mark is %x, want %x, %v", at, again, sound, err)
		}
	}
	must(t, os.WriteFile(mark, nil, 0o600))
	flip(t, newestSegment(t, filepath.Join(groupDir(dir, 0), logDir)), walHeader+20)
	if f, err := open(); err == nil {
		t.Error("a damaged log was taken for whole")
		must(t, f.close())
	}
}

// TestPromise: what is owed stays on disk until the log has all of it again, whatever
// a leader has cut meanwhile; then the mark follows the log.
func TestPromise(t *testing.T) {
	p := promised{path: filepath.Join(t.TempDir(), promiseName)}
	open := func(owes uint64) *promise {
		p.index, p.owes = 0, owes
		if index, err := durable.ReadMark(p.path, p.salt); err == nil {
			p.known, p.index = true, index
		}
		kept, err := p.keep(3)
		must(t, err)
		return kept
	}
	marks := func(k *promise, want uint64) {
		t.Helper()
		must(t, k.mark.Close())
		if index, err := durable.ReadMark(p.path, p.salt); err != nil || index != want {
			t.Errorf("the mark is at %d (%v), want %d", index, err, want)
		}
	}
	marks(open(0), 3) // a log of an earlier version
	k := open(7)
	k.stored(5)
	must(t, k.cut(4))
	if k.whole() {
		t.Error("it votes without what it owes")
	}
	marks(k, 7)
	k = open(7)
	k.stored(8)
	if !k.whole() {
		t.Error("it has all again and doesn't vote")
	}
	must(t, k.cut(6))
	marks(k, 6)
	k = open(9)
	if k.covered(8) || !k.covered(9) {
		t.Error("a snapshot covers something else than what it has")
	}
	marks(k, 9)
	flip(t, p.path, 3)
	if _, err := durable.ReadMark(p.path, p.salt); err == nil {
		t.Error("a damaged mark was read")
	}
}

// lose has a node that is down lose the last batch of a partition's log.
func (w *world) lose(t *testing.T, i, partition int) {
	t.Helper()
	path := newestSegment(t, filepath.Join(groupDir(w.dirs[i], partition), logDir))
	data, err := os.ReadFile(path)
	must(t, err)
	whole, err := scan(data)
	must(t, err)
	flip(t, path, int64(whole.end-walFrame-8))
}

// TestDamagedLogHeals: a replica whose log lost its last batch doesn't help to elect a
// leader that never had it; when somebody who has it is there again, all is as before.
func TestDamagedLogHeals(t *testing.T) {
	var log lockedBuffer
	w := newWorld(t, 3, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	leader := slices.Index(w.nodes, w.led(partition))
	damaged, behind := (leader+1)%3, (leader+2)%3
	putRecord(t, w, group, "m1", "everybody has it")
	w.stop(behind)
	putRecord(t, w, group, "m2", "a majority has it")
	has := w.nodes[leader].group(partition).raft.LastIndex()
	poll.Until(t, "the other has it", func() bool { return w.nodes[damaged].group(partition).raft.AppliedIndex() >= has })
	w.stop(damaged)
	w.stop(leader)
	w.lose(t, damaged, partition)
	w.start(damaged)
	w.start(behind)
	poll.Until(t, "the one without the batch has asked for votes in vain", func() bool {
		return strings.Contains(log.String(), errNotWhole.Error()) || w.leader(partition) != nil // the log says it once
	})
	if n := w.leader(partition); n != nil {
		t.Fatalf("%s leads, without what was acknowledged", n.server)
	}
	lost := func(i int) bool {
		return slices.ContainsFunc(w.nodes[i].Figures(), func(f PartitionFigures) bool { return f.Partition == partition && f.LogLost })
	}
	if !lost(damaged) || lost(behind) {
		t.Error("the figures don't say whose log has lost entries")
	}
	w.start(leader)
	poll.Until(t, "somebody leads", func() bool { return w.leader(partition) != nil })
	poll.Until(t, "the damaged one has it again and votes", func() bool {
		g := w.nodes[damaged].group(partition)
		return g.raft.LastIndex() >= has && g.files.promise.whole() && !lost(damaged)
	})
	w.settle()
	for i, n := range w.nodes {
		g := n.group(partition)
		var l raft.Log
		poll.Until(t, "the entry is everywhere", func() bool { return g.files.log.GetLog(has, &l) == nil && g.raft.AppliedIndex() >= has })
		if l.Index != has {
			t.Errorf("node %d has entry %d in its place", i, l.Index)
		}
	}
}

// TestTheOnlyLogIsDamaged: where no other node has what was lost, the replica isn't
// opened: it would elect itself.
func TestTheOnlyLogIsDamaged(t *testing.T) {
	w := newWorld(t, 1, nil)
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	putRecord(t, w, group, "m1", "only here")
	w.stop(0)
	w.lose(t, 0, partition)
	w.start(0)
	if w.nodes[0].group(partition) != nil {
		t.Error("it was opened without what was acknowledged")
	}
	if other := 1 - partition; w.nodes[0].group(other) == nil {
		t.Error("the other partition wasn't opened")
	}
}
