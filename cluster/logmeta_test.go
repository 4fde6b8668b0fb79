package cluster

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft-wal/metadb"

	"ubl"
	"ubl/storage"
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
	for range 200 { // wherever a bit flips, it opens with a term or says that it is damaged
		b := bytes.Clone(clean)
		at := r.IntN(len(b)/4096)*4096 + r.IntN(200)
		b[at] ^= 1 << r.IntN(8)
		must(t, os.WriteFile(path, b, 0o600))
		f, err := open()
		if err == nil {
			term, err := f.log.GetUint64([]byte("CurrentTerm"))
			if err != nil || term == 0 {
				t.Errorf("a flip at %d: term %d, %v", at, term, err)
			}
			must(t, f.close())
		} else if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("a flip at %d: %v", at, err)
		}
	}
	must(t, os.WriteFile(path, clean, 0o600))
	f, err = open()
	must(t, err)
	must(t, f.close())
}

// TestNodeWithDamagedLogMeta: the node starts without that replica, serves what else it
// has, and says which one is missing and why; the others go on without it.
func TestNodeWithDamagedLogMeta(t *testing.T) {
	w := newWorld(t, 3, nil)
	group := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
	partition := w.nodes[0].engine.Partition(group)
	putRecord(t, w, group, "m1", "everybody has it")
	victim := 0
	if w.leader(partition) == w.nodes[victim] {
		victim = 1
	}
	w.stop(victim)
	path := logMeta(w.dirs[victim], partition)
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, data[:10000], 0o600))
	w.start(victim)
	n := w.nodes[victim]
	if n.group(partition) != nil || n.group(1-partition) == nil {
		t.Error("the damaged replica was opened, or the other one wasn't")
	}
	eventually(t, "the node serves", func() bool { return n.Serves() == nil })
	for _, f := range n.Figures() {
		if damaged := f.Partition == partition; f.Halted != damaged || errors.Is(f.Unopened, storage.ErrDamaged) != damaged {
			t.Errorf("its figures are %+v", f)
		}
	}
	putRecord(t, w, group, "m2", "the others have it")
}
