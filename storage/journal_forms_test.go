package storage_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"

	"ubl/storage"
)

// TestJournalOfVersion1 opens what a killed process of an earlier version left in
// its journal, and writes on with a journal of today.
func TestJournalOfVersion1(t *testing.T) {
	dir := unpackFixture(t, "testdata/journal-v1.tar.gz")
	for range 2 {
		e := open(t, dir, nil)
		w := newWriter(t, e, testGroup)
		if w.Head.Seq < 10 {
			t.Errorf("the head is %v, want at least that of five messages", w.Head)
		}
		write(t, e, w, 1, 100)
		dir = copyDir(t, dir)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(journalOf(dir) + ".acked"); err != nil {
			t.Errorf("the journal has no mark: %v", err)
		}
	}
}

func unpackFixture(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", path, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("couldn't unpack: %v: %s", err, out)
	}
	return dir
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
		if was := setFormat(t, file(d), 3); was != 3 {
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
