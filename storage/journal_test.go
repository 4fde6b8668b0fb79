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
	dir, before := t.TempDir(), 0
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
		left := t.TempDir() // of the whole test: the next life begins with it
		synctest.Test(t, func(t *testing.T) {
			e := open(t, dir, &storage.Options{Partitions: 1})
			w := newWriter(t, e, testGroup)
			for _, size := range sizes {
				write(t, e, w, 5, size)
			}
			if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			truth := mustContents(t, e)
			if len(truth) < before {
				t.Fatalf("life %d begins with fewer than the %d keys of the one before: %d", life, before, len(truth))
			}
			killed := open(t, left, nil)
			if have := mustContents(t, killed); !maps.Equal(have, truth) {
				t.Errorf("life %d: %d keys are left of %d", life, len(have), len(truth))
			}
			write(t, killed, newWriter(t, killed, testGroup), 3, 50)
			before = len(mustContents(t, killed))
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
