package storage_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
)

// fillUp writes until the store refuses and returns the writer as it was when
// the last batch was acknowledged.
func fillUp(t *testing.T, e *storage.Engine) *storetest.Writer {
	t.Helper()
	w := newWriter(t, e, testGroup)
	for range 10_000 {
		head := w.Head
		err := submit(e, message(w, 30_000))
		if err == nil {
			continue
		}
		if ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Fatalf("a full disk settled with %v", err)
		}
		w.Head = head
		return w
	}
	t.Fatal("the disk never filled up")
	return nil
}

// checkMessages reads every message up to the writer's head.
func checkMessages(t *testing.T, e *storage.Engine, w *storetest.Writer, size int) {
	t.Helper()
	err := e.View(t.Context(), w.Group, func(s ubl.Snapshot) error {
		head, err := s.Head()
		if err != nil || head != w.Head {
			t.Errorf("head %v, %v; want %v", head, err, w.Head)
		}
		for seq := int64(1); seq <= w.Head.Seq; seq++ {
			if atom, err := s.Atom(seq); err != nil || atom == nil {
				t.Fatalf("atom %d: %q, %v", seq, atom, err)
			}
		}
		n := int64(0)
		err = s.Ascend([]byte("m"), []byte("n"), func(_, v []byte) bool {
			n++
			return bytes.Equal(v, bytes.Repeat([]byte{byte('A' + n%26)}, size))
		})
		if n != w.Head.Seq/2 {
			t.Errorf("%d messages, want %d", n, w.Head.Seq/2)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkFull: nothing acknowledged is lost, reads go on, small and large writes
// are refused or succeed, and the file is sound when it is opened again.
func checkFull(t *testing.T, dir string, e *storage.Engine, o *storage.Options, makeRoom func(o *storage.Options)) {
	w := fillUp(t, e)
	checkMessages(t, e, w, 30_000)
	for range 3 {
		head := w.Head
		if err := submit(e, message(w, 1_000_000)); ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("a large batch on a full disk settled with %v", err)
		}
		w.Head = head
	}
	if failed := e.Stats().Partitions[0].Failed; failed != nil {
		t.Fatalf("a clean lack of space closed the partition: %v", failed)
	}
	// The group is loaded anew, as after every failure.
	if again := newWriter(t, e, testGroup); again.Head != w.Head {
		t.Errorf("Begin gave %v on a full disk, want %v", again.Head, w.Head)
	}
	if o.MaxBytes > 0 { // a bound that only a restart moves
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		makeRoom(o)
		e = open(t, dir, o)
	} else {
		makeRoom(o)
	}
	w = newWriter(t, e, testGroup)
	for range 20 {
		if err := submit(e, message(w, 30_000)); err != nil {
			t.Fatalf("there is room again: %v", err)
		}
	}
	checkMessages(t, e, w, 30_000)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	checkMessages(t, open(t, dir, o), w, 30_000)
}

func TestFullFile(t *testing.T) {
	dir := t.TempDir()
	o := &storage.Options{Partitions: 1, MaxBytes: 4 << 20}
	checkFull(t, dir, open(t, dir, o), o, func(o *storage.Options) { o.MaxBytes = 64 << 20 })
}

// smallDisk is a directory on a disk of 8 MiB, half of it taken by a file.
func smallDisk(t *testing.T) (dir, ballast string) {
	t.Helper()
	disk := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted here (a bound on the file covers the rest): %v: %s", err, bytes.TrimSpace(out))
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", disk).Run(); err != nil {
			t.Error(err)
		}
	})
	ballast = filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(disk, "data"), ballast
}

func TestFullDisk(t *testing.T) {
	dir, ballast := smallDisk(t)
	o := &storage.Options{Partitions: 1}
	e, err := storage.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	checkFull(t, dir, e, o, func(*storage.Options) {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBackupToFullDisk: the error comes back and the copies are removed.
func TestBackupToFullDisk(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, &storage.Options{Partitions: 1})
	fill(t, e, 2, 5, 100)
	full := errors.New("full")
	err := e.Backup(t.Context(), failingWriter{full}, nil)
	if !errors.Is(err, full) {
		t.Errorf("Backup: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "backup-*")); len(left) != 0 {
		t.Errorf("a failed backup leaves %q", left)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
