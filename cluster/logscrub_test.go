package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/raft-wal/fs"

	"ubl/storage"
)

// TestScrubLog: a flipped bit in a sealed segment is found wherever it is, with the
// segment's name; the newest segment is left to who writes it.
func TestScrubLog(t *testing.T) {
	dir := t.TempDir()
	w := smallLog(t, dir, fs.New())
	for i := range uint64(150) {
		must(t, w.StoreLogs(entries(i+1, 1)))
	}
	must(t, w.Close())
	names, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	must(t, err)
	slices.Sort(names)
	if len(names) < 3 {
		t.Fatalf("%d segments", len(names))
	}
	if found := scrubLog(t.Context(), dir, -1); found != nil {
		t.Fatalf("a sound log: %v", found)
	}
	clean, err := os.ReadFile(names[1])
	must(t, err)
	whole, err := scan(clean)
	must(t, err)
	for _, at := range []int{4, 40, 900, whole.end / 2, whole.begin + 20, whole.end - 4} {
		flip(t, names[1], int64(at))
		found := scrubLog(t.Context(), dir, -1)
		if len(found) != 1 || !errors.Is(found[0], storage.ErrDamaged) || !strings.Contains(found[0].Error(), filepath.Base(names[1])) {
			t.Errorf("byte %d of %d: found %v", at, whole.end, found)
		}
		must(t, os.WriteFile(names[1], clean, 0o600))
	}
	flip(t, names[len(names)-1], 900)
	if found := scrubLog(t.Context(), dir, -1); found != nil {
		t.Errorf("the newest segment: %v", found)
	}
}

// TestScrubLogs: damage in a log counts as damage of its partition.
func TestScrubLogs(t *testing.T) {
	w := newWorld(t, 1, nil)
	eventually(t, "it leads", func() bool { return w.leader(0) != nil })
	n := w.nodes[0]
	damages := func() int64 { return n.engine.Stats().Partitions[0].Damaged }
	n.ScrubLogs(t.Context(), -1)
	if damages() != 0 {
		t.Fatal("sound logs are called damaged")
	}
	older := filepath.Join(groupDir(n.opts.Dir, 0), logDir, strings.Repeat("0", 20)+"-"+strings.Repeat("0", 16)+".wal")
	must(t, os.WriteFile(older, make([]byte, 1<<10), 0o600))
	n.ScrubLogs(t.Context(), -1)
	if damages() != 1 || !n.engine.Stats().Partitions[0].Spoiled {
		t.Errorf("a damaged log counts %d times", damages())
	}
}
