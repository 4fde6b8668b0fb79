package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/types"
)

// smallLog opens a log of small segments, as a group does.
func smallLog(t *testing.T, dir string, disk types.VFS) *wal.WAL {
	t.Helper()
	return listedLog(t, dir, disk, new(segmentList))
}

func listedLog(t *testing.T, dir string, disk types.VFS, list *segmentList) *wal.WAL {
	t.Helper()
	w, err := openLog(dir, disk, list, 64<<10, hclog.NewNullLogger(), new(promised))
	if err != nil {
		t.Fatalf("couldn't open the log: %v", err)
	}
	return w
}

// endsAt wants a log's entries to be those up to an index.
func endsAt(t *testing.T, w *wal.WAL, want uint64) {
	t.Helper()
	if last, err := w.LastIndex(); err != nil || last != want {
		t.Fatalf("the log ends at %d (%v), want %d", last, err, want)
	}
	for i := uint64(1); i <= want; i++ {
		var l raft.Log
		if err := w.GetLog(i, &l); err != nil || l.Index != i || len(l.Data) != 1<<10 {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
}

// entries are n of a kilobyte each, from an index on.
func entries(from uint64, n int) []*raft.Log {
	list := make([]*raft.Log, n)
	for i := range list {
		list[i] = &raft.Log{Index: from + uint64(i), Term: 1, Data: bytes.Repeat([]byte{byte(from) + byte(i)}, 1<<10)}
	}
	return list
}

// newestSegment is the file of a log's newest segment.
func newestSegment(t *testing.T, dir string) string {
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
		w := smallLog(t, dir, fs.New())
		endsAt(t, w, last)
		if err := w.StoreLogs(entries(last+1, 70)); err != nil { // more than a segment
			t.Fatalf("after %d: %v", last, err)
		}
		last += 70
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w := smallLog(t, dir, fs.New())
	defer w.Close()
	endsAt(t, w, last)
}

// TestMendUnsynced: what a log has when it is opened outlives a power cut right
// then, also a batch whose sync never was: Raft tells others that it is stored.
func TestMendUnsynced(t *testing.T) {
	for name, end := range map[string]func(func()) error{"killed before the sync": killed, "the sync failed": failed} {
		for batch, n := range map[string]int{"a batch": 3, "one that seals its segment": 70} {
			t.Run(name+", "+batch, func(t *testing.T) {
				dir, disk := t.TempDir(), newForgetful()
				w := smallLog(t, dir, disk)
				must(t, w.StoreLogs(entries(1, 5)))
				disk.sync = end
				if err := w.StoreLogs(entries(6, n)); err == nil {
					t.Fatal("stored without a sync")
				}
				disk.sync = nil
				must(t, w.Close())
				for range 2 {
					w = smallLog(t, dir, disk)
					endsAt(t, w, uint64(5+n))
					must(t, w.Close())
					disk.cutPower(t)
				}
				w = smallLog(t, dir, disk)
				defer w.Close()
				endsAt(t, w, uint64(5+n))
				must(t, w.StoreLogs(entries(uint64(6+n), 70)))
			})
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMendWhileDiskFails: a log whose disk refuses syncs isn't opened.
func TestMendWhileDiskFails(t *testing.T) {
	dir, disk := t.TempDir(), newForgetful()
	w := smallLog(t, dir, disk)
	must(t, w.StoreLogs(entries(1, 5)))
	must(t, w.Close())
	disk.sync = failed
	if w, err := openLog(dir, disk, new(segmentList), 64<<10, hclog.NewNullLogger(), new(promised)); err == nil {
		t.Error("opened", w.Close())
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
			w := smallLog(t, dir, fs.New())
			if err := w.StoreLogs(entries(1, 5)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			writeBehind(t, newestSegment(t, dir), tail)
			w = smallLog(t, dir, fs.New())
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
// acknowledged. Cutting a log without a mark there would forget what follows.
func TestMendRefusesDamage(t *testing.T) {
	const entry = 1045 // bytes of an entry of a kilobyte as raft-wal writes it
	const batch = walFrame + entry + 3 + walFrame
	for name, damage := range map[string]struct {
		at    int64 // from the second batch on
		bytes []byte
	}{
		"an entry's data":                   {500, []byte("damage")},
		"an entry's type":                   {0, []byte{0xEE}},
		"an entry's type, which says: none": {0, []byte{0}},
		"a length beyond the file":          {4, []byte{0, 0, 0, 0x7F}},
		"a length of several batches":       {4, binary.LittleEndian.AppendUint32(nil, entry+2*batch)},
		"a length up to the last batch":     {4, binary.LittleEndian.AppendUint32(nil, entry+3*batch)},
		"the commit's type":                 {batch - walFrame, []byte{0xEE}},
		"the commit's CRC":                  {batch - 4, []byte("CRC!")},
		"all of it":                         {0, make([]byte, batch)},
		"all of it, and of the next":        {0, make([]byte, 2*batch)},
		"the last, with one under way":      {4*batch - 4, []byte("CRC!\x01\x00\x00\x00\xC8")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := smallLog(t, dir, fs.New())
			for i := range uint64(5) {
				must(t, w.StoreLogs(entries(i+1, 1)))
			}
			must(t, w.Close())
			path := newestSegment(t, dir)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			must(t, err)
			defer f.Close()
			if _, err := f.WriteAt(damage.bytes, walHeader+batch+damage.at); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			must(t, err)
			if err := mend(dir, fs.New(), new(promised)); !errors.Is(err, errDamagedLog) {
				t.Errorf("mended with %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
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
	data, err := os.ReadFile(path)
	must(t, err)
	w, err := scan(data)
	must(t, err)
	if _, err := f.WriteAt(tail, int64(w.end)); err != nil {
		t.Fatal(err)
	}
}
