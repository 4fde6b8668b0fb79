package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"testing"

	"ubl/storage"
)

// A backup is of the data, not of a cluster: how far a replica was and what
// notes it had mean nothing where it is restored.

// restoredReplica restores an archive and opens it as a replica that has just
// been founded.
func restoredReplica(t *testing.T, archive []byte) *storage.Engine {
	t.Helper()
	dir := t.TempDir()
	if err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, nil); err != nil {
		t.Fatal(err)
	}
	return openReplica(t, dir, newLog(), storage.Options{})
}

// dataOf leaves out what only a replica has.
func dataOf(all map[string]string) map[string]string {
	data := maps.Clone(all)
	maps.DeleteFunc(data, func(key, _ string) bool { return key == `meta "applied"` || key == `meta "note:table"` })
	return data
}

func TestBackupOfReplica(t *testing.T) {
	log, truth := someLog(t)
	if len(dataOf(truth)) != len(truth)-2 {
		t.Fatal("the replica has no notes, or does not know how far it is")
	}
	dir := t.TempDir()
	e := openReplica(t, dir, newLog(), storage.Options{})
	mustApply(t, e, log) // in an open transaction
	var archive bytes.Buffer
	if err := e.Backup(t.Context(), &archive, nil); err != nil {
		t.Fatal(err)
	}
	restored := restoredReplica(t, archive.Bytes())
	if !maps.Equal(dump(t, restored), dataOf(truth)) {
		t.Error("the restored data differs")
	}
	if n := restored.Applied(0); n != 0 {
		t.Errorf("what is restored has applied %d entries", n)
	}
	checkNote(t, restored, "table", "", 0)
	// The replica itself has kept what its backup left out.
	if !maps.Equal(dump(t, e), truth) {
		t.Error("the backup has changed the replica")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "backup-*")); len(left) != 0 {
		t.Errorf("it leaves %q", left)
	}
}

// elsewhere fetches copies of what another directory has.
func elsewhere(fetch func(ctx context.Context, p int, path string) error) storage.Fetch {
	return func(ctx context.Context, p int, path string) (bool, error) { return false, fetch(ctx, p, path) }
}

// TestDamagedCopy: damage in a copy that another node sent is not damage here; in a copy
// of our own it is.
func TestDamagedCopy(t *testing.T) {
	v := newVictim(t)
	b := bytes.Clone(v.clean)
	b[v.leafOf(t, 8)+10]--
	v.lay(t, b)
	other := open(t, v.dir, nil)
	sound := open(t, t.TempDir(), &storage.Options{Partitions: 1})
	for _, test := range []struct {
		e    *storage.Engine
		back func(*storage.Engine) error
		want int64
	}{
		{sound, func(e *storage.Engine) error {
			return e.BackupFrom(t.Context(), io.Discard, elsewhere(other.CopyPartition), nil)
		}, 0},
		{other, func(e *storage.Engine) error { return e.Backup(t.Context(), io.Discard, nil) }, 1},
	} {
		before := test.e.Stats().Partitions[0].Damaged
		err := test.back(test.e)
		if s := test.e.Stats().Partitions[0]; !errors.Is(err, storage.ErrDamaged) || s.Damaged-before != test.want || s.Spoiled != (test.want > 0) {
			t.Errorf("the backup gives %v; counted here: %d, want %d", err, s.Damaged-before, test.want)
		}
	}
}

// TestBackupFromOthers: partitions come from other nodes' directories, and the
// archive is one of this directory all the same.
func TestBackupFromOthers(t *testing.T) {
	l := newLog()
	other := openReplica(t, t.TempDir(), l, storage.Options{Partitions: 2})
	l.elect(true)
	fill(t, other, 6, 5, 100)
	truth := mustContents(t, other)
	e := openReplica(t, t.TempDir(), newLog(), storage.Options{Partitions: 2}) // has nothing itself
	var archive bytes.Buffer
	if err := e.BackupFrom(t.Context(), &archive, elsewhere(other.CopyPartition), nil); err != nil {
		t.Fatal(err)
	}
	if have := mustContents(t, openRestored(t, archive.Bytes())); !maps.Equal(have, truth) {
		t.Errorf("%d keys are restored, want %d", len(have), len(truth))
	}
}

// TestRefusedFetches: a backup with anything else than the partition in it is
// none.
func TestRefusedFetches(t *testing.T) {
	l := newLog()
	e := openReplica(t, t.TempDir(), l, storage.Options{Partitions: 2})
	l.elect(true)
	fill(t, e, 6, 5, 100)
	single := openReplica(t, t.TempDir(), newLog(), storage.Options{})
	gone := errors.New("the node is gone")
	tests := []struct {
		name  string
		fetch func(ctx context.Context, p int, path string) error
		want  error
	}{
		{"the other partition", func(ctx context.Context, p int, path string) error {
			return e.CopyPartition(ctx, 1-p, path)
		}, storage.ErrDamaged},
		{"a store with fewer partitions", func(ctx context.Context, _ int, path string) error {
			return single.CopyPartition(ctx, 0, path)
		}, storage.ErrDamaged},
		{"nothing", func(context.Context, int, string) error { return nil }, storage.ErrDamaged},
		{"an error", func(context.Context, int, string) error { return gone }, gone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := e.BackupFrom(t.Context(), io.Discard, elsewhere(test.fetch), nil); !errors.Is(err, test.want) {
				t.Errorf("BackupFrom: %v, want %v", err, test.want)
			}
		})
	}
}

// TestBackupOfAFoundingNode: what a node alone has marked for its log is left
// out, too.
func TestBackupOfAFoundingNode(t *testing.T) {
	e := open(t, t.TempDir(), &storage.Options{Partitions: 1})
	fill(t, e, 2, 3, 100)
	if err := e.MarkApplied(1); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := e.Backup(t.Context(), &archive, nil); err != nil {
		t.Fatal(err)
	}
	if n := restoredReplica(t, archive.Bytes()).Applied(0); n != 0 {
		t.Errorf("what is restored has applied %d entries", n)
	}
}

// TestInterruptedBackup: what a killed backup leaves is thrown away by the next
// start.
func TestInterruptedBackup(t *testing.T) {
	log, truth := someLog(t)
	s := &stepper{t: t, dir: t.TempDir()}
	e := openReplica(t, s.dir, newLog(), storage.Options{Step: s.step})
	mustApply(t, e, log)
	if err := e.Backup(t.Context(), io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.copies[0], "backup-*")); len(left) != 1 {
		t.Fatalf("the kill left %q", left)
	}
	s.checkCopies([]string{"backup: fetched"}, "", truth, nil)
	if left, _ := filepath.Glob(filepath.Join(s.copies[0], "backup-*")); len(left) != 0 {
		t.Errorf("after a start there still is %q", left)
	}
}
