package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl/storage"
)

// TestCheck: what Raft keeps is read without a change, and damage to each part is found.
func TestCheck(t *testing.T) {
	w := newWorld(t, 1, nil)
	must(t, w.nodes[0].group(1).takeSnapshot())
	w.stop(0)
	dir := w.dirs[0]
	check := func() string {
		t.Helper()
		store, err := storage.Check(t.Context(), dir, nil, nil)
		must(t, err)
		places, err := Check(t.Context(), dir, store)
		must(t, err)
		var all []string
		for _, p := range places {
			if p.Partition != 1 && p.What != "" && !strings.Contains(p.What, membershipName) {
				t.Errorf("partition %d: %s", p.Partition, p.What)
			}
			all = append(all, p.What)
		}
		return strings.Join(all, "; ")
	}
	if found := check(); found != "" {
		t.Fatalf("in sound files it finds %s", found)
	}
	base := groupDir(dir, 1)
	states, err := filepath.Glob(filepath.Join(base, snapshotsDir, "*", "state.bin"))
	must(t, err)
	for what, c := range map[string]struct {
		path string
		at   int64
	}{
		"raft/N/acked":             {filepath.Join(base, promiseName), 22},
		"raft/N/vote is damaged":   {filepath.Join(base, voteName), 22},
		"wal-meta.db":              {logMeta(dir, 1), 4096 + 20},
		"damaged before its end":   {newestSegment(t, filepath.Join(base, logDir)), walHeader + 20},
		"a checksum doesn't match": {states[0], 100},
		membershipName:             {filepath.Join(dir, membershipName), 0},
	} {
		sound, err := os.ReadFile(c.path)
		must(t, err)
		flip(t, c.path, c.at)
		if found := check(); !strings.Contains(found, what) {
			t.Errorf("with a flip in %s it finds %q", filepath.Base(c.path), found)
		}
		must(t, os.WriteFile(c.path, sound, 0o600))
	}
	must(t, os.Rename(base, base+".away"))
	if found := check(); !strings.Contains(found, "raft/N is missing") {
		t.Errorf("without the folder it finds %q", found)
	}
	must(t, os.Rename(base+".away", base))
	if found := check(); found != "" {
		t.Errorf("afterwards it finds %s", found)
	}
}
