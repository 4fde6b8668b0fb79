package cluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// openLog opens a log of small segments, as a group does.
func openLog(t *testing.T, dir string) *wal.WAL {
	t.Helper()
	if err := mend(dir); err != nil {
		t.Fatalf("couldn't mend: %v", err)
	}
	w, err := wal.Open(dir, wal.WithSegmentSize(64<<10), wal.WithLogger(hclog.NewNullLogger()))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// entries are n of a kilobyte each, from an index on.
func entries(from uint64, n int) []*raft.Log {
	list := make([]*raft.Log, n)
	for i := range list {
		list[i] = &raft.Log{Index: from + uint64(i), Term: 1, Data: bytes.Repeat([]byte{byte(from) + byte(i)}, 1<<10)}
	}
	return list
}

// segment is the file of a log's newest segment.
func segment(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no segment: %v", err)
	}
	return slices.Max(names)
}

// TestMendSealed: a log that is closed right after a segment was sealed takes
// entries again when it is opened, and has all it had.
func TestMendSealed(t *testing.T) {
	dir := t.TempDir()
	last := uint64(0)
	for range 10 {
		w := openLog(t, dir)
		if have, err := w.LastIndex(); err != nil || have != last {
			t.Fatalf("the log ends at %d (%v), want %d", have, err, last)
		}
		if err := w.StoreLogs(entries(last+1, 70)); err != nil { // more than a segment
			t.Fatalf("after %d: %v", last, err)
		}
		last += 70
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w := openLog(t, dir)
	defer w.Close()
	for i := uint64(1); i <= last; i++ {
		var l raft.Log
		if err := w.GetLog(i, &l); err != nil || l.Index != i || len(l.Data) != 1<<10 {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
}

// TestMendTorn: what a power cut left behind the last commit goes, nothing else.
func TestMendTorn(t *testing.T) {
	for name, tail := range map[string][]byte{
		"half an entry":             {walEntry, 0, 0, 0, 200, 0, 0, 0, 1, 2, 3},
		"an index without a commit": {walIndex, 0, 0, 0, 8, 0, 0, 0, 32, 0, 0, 0, 40, 0, 0, 0},
		"a commit of nothing whole": {walEntry, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, walCommit, 0, 0, 0, 1, 2, 3, 4},
		"garbage":                   bytes.Repeat([]byte{0xEE}, 500),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := openLog(t, dir)
			if err := w.StoreLogs(entries(1, 5)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			writeBehind(t, segment(t, dir), tail)
			w = openLog(t, dir)
			defer w.Close()
			if last, err := w.LastIndex(); err != nil || last != 5 {
				t.Fatalf("the log ends at %d (%v), want 5", last, err)
			}
			if err := w.StoreLogs(entries(6, 70)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestMendRefusesDamage: a batch that isn't whole with others behind it was
// acknowledged. Cutting the log there would forget what follows.
func TestMendRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	w := openLog(t, dir)
	for i := range uint64(5) {
		if err := w.StoreLogs(entries(i+1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(segment(t, dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("damage"), 1500); err != nil { // in the second entry
		t.Fatal(err)
	}
	if err := mend(dir); !errors.Is(err, errDamagedLog) {
		t.Errorf("mended with %v", err)
	}
}

// writeBehind puts bytes behind a segment's last commit.
func writeBehind(t *testing.T, path string, tail []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := scanSegment(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(tail, w.end); err != nil {
		t.Fatal(err)
	}
}
