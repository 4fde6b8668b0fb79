package storage_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"ubl/storage"
)

func markOf(dir string) string { return filepath.Join(dir, "store", "partition-0.db.mark") }

// killedReplica is what a killed process leaves of a replica whose file had
// everything: committed, but never synced.
func killedReplica(t *testing.T, boot string) (dir string, log []storage.Entry, truth map[string]string) {
	t.Helper()
	log, _ = someLog(t)
	running := t.TempDir()
	e := openReplica(t, running, newLog(), storage.Options{Boot: boot})
	mustApply(t, e, log)
	truth = dump(t, e) // which commits
	dir = copyDir(t, running)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, log, truth
}

// TestMarks: a file is believed only if nothing it had can have been lost. Else
// it is thrown away, and the log makes it anew; a node alone, which has no log,
// refuses it.
func TestMarks(t *testing.T) {
	write := func(text string) func(mark string) error {
		return func(mark string) error { return os.WriteFile(mark, []byte(text), 0o600) }
	}
	tests := []struct {
		name    string
		spoil   func(mark string) error
		boot    string // that it comes up in
		trusted bool
	}{
		{"the process was killed", nil, "a boot", true},
		{"the machine went down", nil, "the next boot", false},
		{"the mark is empty", write(""), "a boot", false},
		{"the mark is torn", write(`{"format":1,"bo`), "a boot", false},
		{"the mark is zeros", write("\x00\x00\x00\x00"), "a boot", false},
		{"the mark is of a later format", write(`{"format":2,"boot":"a boot"}`), "a boot", false},
		{"the mark names no boot", write(`{"format":1,"boot":""}`), "a boot", false},
		{"a write had failed", write(`{"format":1,"boot":"lost"}`), "a boot", false},
		{"it was closed cleanly", os.Remove, "the next boot", true},
	}
	killed, log, truth := killedReplica(t, "a boot")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := copyDir(t, killed)
			if test.spoil != nil {
				if err := test.spoil(markOf(dir)); err != nil {
					t.Fatal(err)
				}
			}
			checkAlone(t, copyDir(t, dir), test.boot, test.trusted)
			e := openReplica(t, dir, newLog(), storage.Options{Boot: test.boot})
			have := dump(t, e)
			if test.trusted && (e.Applied(0) != uint64(len(log)) || !maps.Equal(have, truth)) {
				t.Errorf("%d is applied, want %d; or its data has changed", e.Applied(0), len(log))
			}
			if !test.trusted && (e.Applied(0) != 0 || len(have) != 0) {
				t.Errorf("it still has %d keys, and applied %d", len(have), e.Applied(0))
			}
			mustApply(t, e, log)
			if !maps.Equal(dump(t, e), truth) {
				t.Error("the log does not make it whole")
			}
			// The file is new, and so is its mark: a kill now loses nothing.
			again := openReplica(t, copyDir(t, dir), newLog(), storage.Options{Boot: test.boot})
			if again.Applied(0) != uint64(len(log)) {
				t.Errorf("killed again, %d is applied, want %d", again.Applied(0), len(log))
			}
		})
	}
}

// checkAlone opens a directory as a node alone.
func checkAlone(t *testing.T, dir, boot string, trusted bool) {
	t.Helper()
	e, err := storage.Open(dir, &storage.Options{Boot: boot})
	if !trusted {
		if err == nil {
			e.Close()
		}
		if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("a node alone opens it: %v", err)
		}
		return
	}
	if err != nil {
		t.Errorf("a node alone: %v", err)
		return
	}
	defer e.Close()
	if list, err := allGroups(t.Context(), e); err != nil || len(list) != 3 {
		t.Errorf("a node alone finds %d groups, %v", len(list), err)
	}
}

// TestMarkIsThereWhileOpen: it comes before the first write and goes after the
// last sync.
func TestMarkIsThereWhileOpen(t *testing.T) {
	dir := t.TempDir()
	e, _ := lead(t, dir, storage.Options{})
	if _, err := os.Stat(markOf(dir)); err != nil {
		t.Errorf("while it is open: %v", err)
	}
	fill(t, e, 1, 2, 10)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(markOf(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("once it is closed: %v", err)
	}
}

// TestAloneAfterAKill: a node alone syncs what it opens, and everything after.
// So the file needs no mark any more, and outlives the boot.
func TestAloneAfterAKill(t *testing.T) {
	dir, _, _ := killedReplica(t, "a boot")
	e := open(t, dir, &storage.Options{Boot: "a boot"})
	fill(t, e, 4, 1, 10)
	truth := mustContents(t, e)
	crashed := copyDir(t, dir)
	if have := mustContents(t, open(t, crashed, &storage.Options{Boot: "the next boot"})); !maps.Equal(have, truth) {
		t.Error("something was lost")
	}
}

// TestKilledWhileThrownAway: a file that is not believed may be gone when the
// process ends; the mark still says why.
func TestKilledWhileThrownAway(t *testing.T) {
	dir, log, truth := killedReplica(t, "a boot")
	if err := os.Remove(filepath.Join(dir, "store", "partition-0.db")); err != nil {
		t.Fatal(err)
	}
	e := openReplica(t, dir, newLog(), storage.Options{Boot: "the next boot"})
	mustApply(t, e, log)
	if !maps.Equal(dump(t, e), truth) {
		t.Error("the log does not make it whole")
	}
}

// TestUnknownBoot: where the system doesn't tell which boot it is, only a clean
// end is believed.
func TestUnknownBoot(t *testing.T) {
	if _, err := os.Stat("/proc/sys/kernel/random/boot_id"); err != nil {
		dir, _, _ := killedReplica(t, "")
		if e := openReplica(t, dir, newLog(), storage.Options{}); e.Applied(0) != 0 {
			t.Error("a killed process is believed, and the boot isn't known")
		}
		return
	}
	dir, log, _ := killedReplica(t, "")
	if e := openReplica(t, dir, newLog(), storage.Options{}); e.Applied(0) != uint64(len(log)) {
		t.Error("the same boot is not known again")
	}
}
