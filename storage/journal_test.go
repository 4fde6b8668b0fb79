package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
)

// The tests of what only the journal has are in bubbles: there, time stands
// still and the open transaction is not committed behind their back.

func journalOf(dir string) string { return filepath.Join(dir, "store", "partition-0.db.journal") }

// write writes n messages of random bytes, which don't compress.
func write(t *testing.T, e *storage.Engine, w *storetest.Writer, n, size int) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{})
	for range n {
		b := message(w, 0)
		b.Records[0].Value = make([]byte, size)
		random.Read(b.Records[0].Value)
		if err := submit(e, b); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledInEveryRound: whenever the process is killed, all that was
// acknowledged is there, however full the journal is and however often it began
// again; and the next life goes on from there.
func TestKilledInEveryRound(t *testing.T) {
	dir := t.TempDir()
	for life, sizes := range [][]int{
		{100},                       // the first records
		{100, 100_000},              // more
		{300_000, 300_000, 300_000}, // full
		{100},
		{3 << 19, 3 << 19, 10}, // the second doesn't fit any more
		{3 << 20},              // never fits
		{3 << 20, 100},
		{},
	} {
		var left string
		synctest.Test(t, func(t *testing.T) {
			e := open(t, dir, &storage.Options{Partitions: 1})
			w := newWriter(t, e, testGroup)
			for _, size := range sizes {
				write(t, e, w, 5, size)
			}
			left = copyDir(t, dir)
			truth := mustContents(t, e)
			killed := open(t, left, nil)
			if have := mustContents(t, killed); !maps.Equal(have, truth) {
				t.Errorf("life %d: %d keys are left of %d", life, len(have), len(truth))
			}
			write(t, killed, newWriter(t, killed, testGroup), 3, 50)
			if err := errors.Join(e.Close(), killed.Close()); err != nil {
				t.Fatal(err)
			}
		})
		dir = left
	}
}

// TestJournalHasIt: what was acknowledged is in the journal and not yet in the
// file.
func TestJournalHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := open(t, dir, &storage.Options{Partitions: 1})
		w := newWriter(t, e, testGroup)
		write(t, e, w, 1, 100)
		file := filepath.Join(dir, "store", "partition-0.db")
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, e, w, 20, 100)
		after, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("the file was written: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDamagedJournal: damage is told, unless it is of the record that was being
// written.
func TestDamagedJournal(t *testing.T) {
	const page = 4096
	flip := func(at int64) func(t *testing.T, dir string) error {
		return func(t *testing.T, dir string) error {
			f, err := os.OpenFile(journalOf(dir), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			b := make([]byte, 1)
			_, errRead := f.ReadAt(b, at)
			b[0] ^= 0x40
			_, errWrite := f.WriteAt(b, at)
			return errors.Join(errRead, errWrite, f.Close())
		}
	}
	const records = 10 // a page each, behind the head
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string) error
		lost  int // records at the end
		want  error
	}{
		{"none", func(*testing.T, string) error { return nil }, 0, nil},
		{"in the zeros behind a record", flip(2*page - 1), 0, nil},
		{"in the newest record, as if it was being written", flip(records*page + 60), 1, nil},
		{"in the first record", flip(page + 60), 0, storage.ErrDamaged},
		{"in the index of a record", flip(3*page + 15), 0, storage.ErrDamaged},
		{"in the length of a record", flip(3*page + 17), 0, storage.ErrDamaged},
		{"in the head", flip(20), 0, storage.ErrDamaged},
		{"cut short", func(_ *testing.T, dir string) error { return os.Truncate(journalOf(dir), 100*page) }, 0, storage.ErrDamaged},
		{"missing", func(_ *testing.T, dir string) error { return os.Remove(journalOf(dir)) }, 0, storage.ErrDamaged},
		{"of another directory", func(t *testing.T, dir string) error {
			other := t.TempDir()
			e := open(t, other, &storage.Options{Partitions: 1})
			write(t, e, newWriter(t, e, testGroup), 1, 10)
			return errors.Join(e.Close(), os.Rename(journalOf(other), journalOf(dir)))
		}, 0, storage.ErrDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				e := open(t, dir, &storage.Options{Partitions: 1})
				w := newWriter(t, e, testGroup)
				write(t, e, w, records, 100)
				left := copyDir(t, dir)
				if err := test.spoil(t, left); err != nil {
					t.Fatal(err)
				}
				killed, err := storage.Open(left, nil)
				if !errors.Is(err, test.want) {
					t.Fatalf("Open: %v, want %v", err, test.want)
				}
				if err != nil {
					return
				}
				if again := newWriter(t, killed, testGroup); again.Head.Seq != w.Head.Seq-2*int64(test.lost) {
					t.Errorf("the head is %v; want %d messages less than %v", again.Head, test.lost, w.Head)
				}
				if err := killed.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestOlderFile: a file from before the journal's first record can't be made
// whole by it.
func TestOlderFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := open(t, dir, &storage.Options{Partitions: 1})
		w := newWriter(t, e, testGroup)
		write(t, e, w, 1, 100)
		older := copyDir(t, dir)
		for range 2 {
			mustContents(t, e) // commits, and so the journal begins again
			write(t, e, w, 3, 100)
		}
		left := copyDir(t, dir)
		name := filepath.Join("store", "partition-0.db")
		if err := os.Rename(filepath.Join(older, name), filepath.Join(left, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := storage.Open(left, nil); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("Open: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestJournalCannotBeSynced: what isn't durable is not acknowledged, nothing is
// written or shown any more, and the next start has all that was acknowledged.
func TestJournalCannotBeSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var broken atomic.Bool
		e := open(t, dir, &storage.Options{Partitions: 1, SyncData: func(f *os.File) error {
			if broken.Load() {
				return syscall.EIO
			}
			return f.Sync()
		}})
		w := newWriter(t, e, testGroup)
		write(t, e, w, 10, 100)
		acknowledged := w.Head
		broken.Store(true)
		for range 2 {
			if err := submit(e, message(w, 100)); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("a message that isn't durable settled with %v", err)
			}
		}
		if err := e.View(t.Context(), testGroup, func(ubl.Snapshot) error { return nil }); ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("View: %v, and the file lacks what was acknowledged", err)
		}
		if e.Stats().Partitions[0].Failed == nil {
			t.Error("Stats does not say that the partition failed")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		again := newWriter(t, open(t, dir, nil), testGroup)
		// The first that failed may be there: its outcome is unknown.
		if n := again.Head.Seq; n != acknowledged.Seq && n != acknowledged.Seq+2 {
			t.Errorf("the head is %v, %v was acknowledged", again.Head, acknowledged)
		}
	})
}

// TestNoSpaceForJournal: on a disk that copies what is written over, a record may
// find no room. The batch is then committed by bbolt, or was by a reader, and the
// partition goes on.
func TestNoSpaceForJournal(t *testing.T) {
	for name, meanwhile := range map[string]func(*storage.Engine) error{
		"nobody reads": func(*storage.Engine) error { return nil },
		"somebody reads it first": func(e *storage.Engine) error {
			return e.View(context.Background(), testGroup, func(ubl.Snapshot) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				var full atomic.Bool
				var e *storage.Engine
				e = open(t, dir, &storage.Options{Partitions: 1, SyncData: func(f *os.File) error {
					if !full.Load() {
						return f.Sync()
					}
					return errors.Join(meanwhile(e), &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC})
				}})
				w := newWriter(t, e, testGroup)
				write(t, e, w, 3, 100)
				full.Store(true)
				write(t, e, w, 3, 100)
				full.Store(false)
				write(t, e, w, 3, 100)
				left := open(t, copyDir(t, dir), nil)
				if again := newWriter(t, left, testGroup); again.Head != w.Head {
					t.Errorf("the head is %v, want %v", again.Head, w.Head)
				}
				if err := errors.Join(e.Close(), left.Close()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestJournalComesToFormat1: a file without a journal gets one with its first
// write, and is from then on one that older programs refuse, wherever the making
// of the journal was interrupted.
func TestJournalComesToFormat1(t *testing.T) {
	dir := t.TempDir()
	file := func(dir string) string { return filepath.Join(dir, "store", "partition-0.db") }
	if err := open(t, dir, &storage.Options{Partitions: 1}).Close(); err != nil {
		t.Fatal(err)
	}
	setFormat(t, file(dir), 1)
	if err := open(t, dir, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if was := setFormat(t, file(dir), 1); was != 1 {
		t.Errorf("a file that is only read becomes one of format %d", was)
	}
	var interrupted string
	e := open(t, dir, &storage.Options{Step: func(step string) {
		if step == "journal: made" {
			interrupted = copyDir(t, dir)
		}
	}})
	write(t, e, newWriter(t, e, testGroup), 1, 100)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if interrupted == "" {
		t.Fatal("no journal was made")
	}
	again := open(t, interrupted, nil)
	write(t, again, newWriter(t, again, testGroup), 1, 100)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, interrupted} {
		if was := setFormat(t, file(d), 2); was != 2 {
			t.Errorf("a file with a journal is of format %d", was)
		}
	}
}

// TestKilledBeforeACluster: a replica takes over what only the journal of the
// node alone had, and has none itself.
func TestKilledBeforeACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := open(t, dir, &storage.Options{Partitions: 1})
		write(t, e, newWriter(t, e, testGroup), 10, 100)
		left := copyDir(t, dir)
		truth := dump(t, e)
		delete(truth, `meta "journaled"`)
		for range 2 {
			replica := openReplica(t, left, newLog(), storage.Options{})
			if have := dump(t, replica); !maps.Equal(have, truth) {
				t.Errorf("the replica has %d keys, want %d", len(have), len(truth))
			}
			if err := replica.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(journalOf(left)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the journal is still there: %v", err)
			}
		}
		alone := open(t, left, nil) // and back again
		write(t, alone, newWriter(t, alone, testGroup), 1, 100)
		if err := errors.Join(e.Close(), alone.Close()); err != nil {
			t.Fatal(err)
		}
	})
}
