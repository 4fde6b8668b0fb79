package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
)

// TestBackupUnderLoad backs up while 32 writers write. What is restored must be
// each group as it was at some moment after the backup began: all that was
// acknowledged before, whole batches, no gap.
func TestBackupUnderLoad(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	const writers = 32
	var acked [writers]struct {
		sync.Mutex
		head ubl.LedgerHead
	}
	stop := make(chan struct{})
	var started, all sync.WaitGroup
	started.Add(writers)
	for i := range writers {
		w := newWriter(t, e, loadGroup(i))
		all.Go(func() {
			for n := 0; ; n++ {
				if err := submit(e, message(w, 500)); err != nil {
					t.Error(err)
					return
				}
				acked[i].Lock()
				acked[i].head = w.Head
				acked[i].Unlock()
				if n == 3 {
					started.Done()
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	started.Wait()
	var before [writers]ubl.LedgerHead
	for i := range before {
		acked[i].Lock()
		before[i] = acked[i].head
		acked[i].Unlock()
	}
	var archive bytes.Buffer
	var done, total int64
	err := e.Backup(t.Context(), &archive, &storage.BackupOptions{Progress: func(d, n int64) { done, total = d, n }})
	close(stop)
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if done == 0 || done != total {
		t.Errorf("progress ended at %d of %d", done, total)
	}

	restored := openRestored(t, archive.Bytes())
	if restored.Incarnation() == e.Incarnation() {
		t.Error("the restored directory poses as the old one")
	}
	for i := range writers {
		w := newWriter(t, restored, loadGroup(i))
		if w.Head.Seq < before[i].Seq {
			t.Errorf("writer %d: head %d in the backup, %d was acknowledged before it", i, w.Head.Seq, before[i].Seq)
		}
		checkMessages(t, restored, w, 500)
		sameUpTo(t, e, restored, w)
		if err := submit(restored, message(w, 500)); err != nil {
			t.Errorf("writing goes on after a restore: %v", err)
		}
	}
}

func loadGroup(i int) ubl.Group {
	return ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:load%d", i)), Shard: "0"}
}

// sameUpTo compares the atoms of two stores up to the writer's head.
func sameUpTo(t *testing.T, a, b *storage.Engine, w *storetest.Writer) {
	t.Helper()
	atoms := func(e *storage.Engine) (list []string) {
		err := e.View(t.Context(), w.Group, func(s ubl.Snapshot) error {
			for seq := int64(1); seq <= w.Head.Seq; seq++ {
				atom, err := s.Atom(seq)
				if err != nil {
					return err
				}
				list = append(list, string(atom))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	have, want := atoms(b), atoms(a)
	for i := range want {
		if have[i] != want[i] {
			t.Fatalf("%s: atom %d differs", w.Group, i+1)
		}
	}
}

func openRestored(t *testing.T, archive []byte) *storage.Engine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	if err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, nil); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, nil)
}

// backupOf is an archive of a small store, and what is in it.
func backupOf(t *testing.T) (archive []byte, truth map[string]string) {
	t.Helper()
	e := open(t, t.TempDir(), &storage.Options{Partitions: 2})
	fill(t, e, 6, 10, 300)
	var b bytes.Buffer
	if err := e.Backup(t.Context(), &b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), mustContents(t, e)
}

func TestRestoreGivesEverything(t *testing.T) {
	archive, truth := backupOf(t)
	if have := mustContents(t, openRestored(t, archive)); !maps.Equal(have, truth) {
		t.Errorf("%d keys restored, want %d", len(have), len(truth))
	}
}

// TestRefusedRestores: each is refused for the right reason, leaves nothing
// that opens, and does not stand in the way of a good one.
func TestRefusedRestores(t *testing.T) {
	archive, truth := backupOf(t)
	flipped := bytes.Clone(archive)
	flipped[len(flipped)/2] ^= 1
	newer := bytes.Replace(archive, []byte(`"format": 1,`), []byte(`"format": 3,`), 1)
	newerStore := bytes.Replace(archive, []byte(`"store_format": 4,`), []byte(`"store_format": 7,`), 1)
	tests := []struct {
		name    string
		archive []byte
		want    error
	}{
		{"nothing", nil, storage.ErrDamaged},
		{"no archive", []byte("hello"), storage.ErrDamaged},
		{"cut in the list", archive[:600], storage.ErrDamaged},
		{"cut in a part", archive[:len(archive)/2], storage.ErrDamaged},
		{"cut at the end", archive[:len(archive)-20_000], storage.ErrDamaged},
		{"a flipped bit", flipped, storage.ErrDamaged},
		{"a newer archive", newer, storage.ErrNewerFormat},
		{"a newer store in it", newerStore, storage.ErrNewerFormat},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			err := storage.Restore(t.Context(), bytes.NewReader(test.archive), dir, nil, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("Restore: %v, want %v", err, test.want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 0 {
				t.Errorf("it leaves %q", left)
			}
			if err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, nil); err != nil {
				t.Fatalf("a good restore afterwards: %v", err)
			}
			if have := mustContents(t, open(t, dir, nil)); !maps.Equal(have, truth) {
				t.Error("the restored data differs")
			}
		})
	}
}

func TestRestoreOnlyIntoEmpty(t *testing.T) {
	archive, _ := backupOf(t)
	dir := t.TempDir()
	e := open(t, dir, nil)
	restore := func() error { return storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, nil) }
	if err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, &storage.Options{LockTimeout: 1}, nil); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("into an open directory: %v", err)
	}
	e.Close()
	if err := restore(); !errors.Is(err, storage.ErrNotEmpty) {
		t.Errorf("over data: %v", err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "holiday.jpg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := restore(); !errors.Is(err, storage.ErrNotEmpty) {
		t.Errorf("over someone's files: %v", err)
	}
}

// TestKilledRestore: what a killed process leaves is refused until the restore
// is repeated.
func TestKilledRestore(t *testing.T) {
	archive, truth := backupOf(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "restoring"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(dir, nil); err == nil {
		t.Error("a half restored directory was opened")
	}
	if err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, nil); err != nil {
		t.Fatal(err)
	}
	if have := mustContents(t, open(t, dir, nil)); !maps.Equal(have, truth) {
		t.Error("the restored data differs")
	}
}

// TestCancelled: both directions stop when their context ends.
func TestCancelled(t *testing.T) {
	archive, _ := backupOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := open(t, t.TempDir(), nil)
	stop := func(done, _ int64) { cancel() }
	if err := e.Backup(ctx, io.Discard, &storage.BackupOptions{Progress: stop}); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup: %v", err)
	}
	if err := storage.Restore(ctx, bytes.NewReader(archive), t.TempDir(), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Restore: %v", err)
	}
}

// TestBackupFindsDamage: a backup of damaged data would be worse than none.
func TestBackupFindsDamage(t *testing.T) {
	v := newVictim(t)
	for at := v.used / 2; ; at += 1000 {
		b := bytes.Clone(v.clean)
		b[at] ^= 1
		if _, err := v.try(t, b, nil); err == nil {
			continue // a free page
		}
		if err := os.WriteFile(v.file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := storage.Open(v.dir, &storage.Options{VerifyBytes: -1})
		if errors.Is(err, storage.ErrDamaged) {
			continue // bbolt itself stumbled over it
		}
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Backup(t.Context(), io.Discard, nil); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("Backup of damaged data: %v", err)
		}
		return
	}
}
