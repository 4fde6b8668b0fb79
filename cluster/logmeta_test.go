package cluster

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/storage"
	"ubl/test/soak"
)

// logMeta is where a node keeps a partition's term and vote.
func logMeta(dir string, partition int) string {
	return filepath.Join(groupDir(dir, partition), logDir, metadb.FileName)
}

// TestDamagedLogMeta: a replica whose term and vote can't be believed isn't opened. It
// neither ends the process nor goes back to an older term.
func TestDamagedLogMeta(t *testing.T) {
	dir := t.TempDir()
	open := func() (*files, error) { return openFiles(dir, "n1@1", 0, hclog.NewNullLogger()) }
	f, err := open()
	must(t, err)
	for term := range uint64(3) {
		must(t, f.log.SetUint64([]byte("CurrentTerm"), term+1))
		must(t, f.log.Set([]byte("LastVoteCand"), []byte("n2@2")))
		must(t, f.log.SetUint64([]byte("LastVoteTerm"), term+1))
	}
	must(t, f.log.StoreLogs(entries(1, 3)))
	must(t, f.close())
	path := logMeta(dir, 0)
	clean, err := os.ReadFile(path)
	must(t, err)
	beside := filepath.Join(groupDir(dir, 0), voteName)
	voted, err := os.ReadFile(beside)
	must(t, err)
	zero := func(from, n int) []byte {
		b := bytes.Clone(clean)
		clear(b[from:min(len(b), from+n)])
		return b
	}
	older := 4096 // the page of the older meta, and the newer
	if clean[16+48] < clean[4096+16+48] {
		older = 0
	}
	for what, damaged := range map[string][]byte{
		"cut to two pages": clean[:10000], "cut to one": clean[:5000], "empty": {}, "missing": nil, "zeros": zero(0, len(clean)),
		"the older meta": zero(older, 4096), "the newer meta": zero(4096-older, 4096), "both metas": zero(0, 8192),
		"the list of free pages, or data": zero(8192, len(clean)),
	} {
		must(t, os.Remove(path))
		if what != "missing" {
			must(t, os.WriteFile(path, damaged, 0o600))
		}
		if f, err := open(); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("%s: opened with %v", what, err)
			if err == nil {
				must(t, f.close())
			}
		}
		must(t, os.WriteFile(path, clean, 0o600))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range soak.Of(40, 400) { // wherever a bit flips, it opens with a vote no older or says that it is damaged
		b := bytes.Clone(clean)
		at := r.IntN(len(b)/4096)*4096 + r.IntN(400)
		b[at] ^= 1 << r.IntN(8)
		must(t, os.WriteFile(path, b, 0o600))
		must(t, os.WriteFile(beside, voted, 0o600))
		f, err := open()
		if err == nil {
			v, err := f.ballots.theirs()
			if last, _ := f.log.LastIndex(); err != nil || v.term < 3 || v.votedIn == 3 && v.candidate != "n2@2" || v.votedIn < 3 || last != 3 {
				t.Errorf("a flip at %d: vote %+v, the log ends at %d, %v", at, v, last, err)
			}
			must(t, f.close())
		} else if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("a flip at %d: %v", at, err)
		}
	}
	must(t, os.WriteFile(beside, voted, 0o600))
	must(t, os.WriteFile(path, clean, 0o600))
	f, err = open()
	must(t, err)
	must(t, f.close())
}

// TestSegmentLists: whatever raft-wal does to a log, its list of segments is found sound;
// one that names others is not.
func TestSegmentLists(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	list := new(segmentList)
	w := listedLog(t, dir, fs.New(), list)
	for range 150 {
		first, err := w.FirstIndex()
		must(t, err)
		last, err := w.LastIndex()
		must(t, err)
		size := last - first + 1
		switch at := r.IntN(10); {
		case last == 0 || at < 6:
			must(t, w.StoreLogs(entries(last+1, 1+r.IntN(40))))
		case at == 6:
			must(t, w.DeleteRange(first, first+r.Uint64N(size+size/4)))
		case at == 7:
			must(t, w.DeleteRange(last-r.Uint64N(min(size, 50)), last))
		case at == 8: // a leader's snapshot
			must(t, w.DeleteRange(first, last))
			must(t, w.StoreLogs(entries(last+1000, 3)))
		default:
			must(t, w.Close())
			list = new(segmentList)
			w = listedLog(t, dir, fs.New(), list)
		}
		must(t, w.DeleteRange(math.MaxUint64, math.MaxUint64)) // deletes nothing, but waits for a rotation that is under way
		must(t, checkLogMeta(dir, true))
	}
	last, err := w.LastIndex()
	must(t, err)
	must(t, w.StoreLogs(entries(last+1, 200)))
	must(t, w.StoreLogs(entries(last+201, 1))) // after the rotation
	must(t, w.Close())
	state := types.PersistentState{Segments: *list.newest.Load()}
	state.NextSegmentID = state.Segments[len(state.Segments)-1].ID + 1
	if len(state.Segments) < 3 || !isList(dir, state) {
		t.Fatalf("a sound list: %+v", state)
	}
	newest := filepath.Join(dir, segment.FileName(state.Segments[len(state.Segments)-1]))
	for what, kill := range map[string]func() error{ // while the newest file was made
		"empty":   func() error { return os.WriteFile(newest, nil, 0o600) },
		"missing": func() error { return os.Remove(newest) },
	} {
		if must(t, kill()); !isList(dir, state) {
			t.Errorf("the newest file is %s, as a kill may leave it, and counts as damage", what)
		}
	}
	for name, change := range map[string]func(s *types.PersistentState){
		"the next id":        func(s *types.PersistentState) { s.NextSegmentID++ },
		"a sealed one's id":  func(s *types.PersistentState) { s.Segments[0].ID += 100 },
		"its first entry":    func(s *types.PersistentState) { s.Segments[0].BaseIndex-- },
		"its last entry":     func(s *types.PersistentState) { s.Segments[0].MaxIndex-- },
		"where its index is": func(s *types.PersistentState) { s.Segments[0].IndexStart += 8 },
		"that it is sealed":  func(s *types.PersistentState) { s.Segments[0].SealTime = time.Time{} },
		"one is missing":     func(s *types.PersistentState) { s.Segments = slices.Delete(s.Segments, 1, 2) },
		"the newest":         func(s *types.PersistentState) { s.Segments = s.Segments[:len(s.Segments)-1] },
		"the newest's first": func(s *types.PersistentState) { s.Segments[len(s.Segments)-1].BaseIndex++ },
	} {
		changed := types.PersistentState{NextSegmentID: state.NextSegmentID, Segments: slices.Clone(state.Segments)}
		change(&changed)
		if isList(dir, changed) {
			t.Errorf("%s is another, and nobody notices", name)
		}
	}
}
