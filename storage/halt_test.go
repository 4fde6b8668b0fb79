package storage_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
	"ubl/storage"
)

// halts notes what Options.Halted is told.
type halts struct{ told []error }

func (h *halts) halted(_ int, err error) { h.told = append(h.told, err) }

// largeLog is a log of more than a small disk holds.
func largeLog(t *testing.T) (log []storage.Entry, truth map[string]string) {
	t.Helper()
	leader, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, leader, testGroup)
	for range 300 {
		if err := submit(leader, message(w, 30_000)); err != nil {
			t.Fatal(err)
		}
	}
	return l.all(0), dump(t, leader)
}

// applyUntilHalted applies entry by entry, each committed by itself, until the
// replica refuses.
func applyUntilHalted(t *testing.T, e *storage.Engine, log []storage.Entry) error {
	t.Helper()
	for _, entry := range log {
		if _, err := e.Apply(0, []storage.Entry{entry}); err != nil {
			return err
		}
		if _, _, err := e.Note(0, "table"); err != nil {
			return err
		}
	}
	t.Fatal("there was room for everything")
	return nil
}

// checkHalted: a halted replica does nothing and says why.
func checkHalted(t *testing.T, e *storage.Engine, h *halts, log []storage.Entry) {
	t.Helper()
	if len(h.told) != 1 || ubl.CodeOf(h.told[0]) != ubl.CodeUnavailable {
		t.Errorf("Halted was told %v", h.told)
	}
	h.told = nil
	_, errApply := e.Apply(0, log)
	_, _, errNote := e.Note(0, "table")
	_, errSnapshot := e.Snapshot(0)
	e.Lead(0, 1)
	errView := e.View(t.Context(), testGroup, func(ubl.Snapshot) error { return nil })
	_, _, errBegin := e.Begin(t.Context(), testGroup)
	e.Lead(0, 0)
	for _, err := range []error{errApply, errNote, errSnapshot, errView, errBegin, e.Stats().Partitions[0].Failed} {
		if ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("a halted replica answers %v", err)
		}
	}
	if len(h.told) != 0 {
		t.Errorf("Halted is told again: %v", h.told)
	}
}

// resume goes on from what the file has, which is some beginning of the log.
func resume(t *testing.T, e *storage.Engine) int {
	t.Helper()
	if err := e.Resume(0); err != nil {
		t.Fatal(err)
	}
	if failed := e.Stats().Partitions[0].Failed; failed != nil {
		t.Errorf("after Resume: %v", failed)
	}
	return int(e.Applied(0))
}

// TestFullReplica: where there is no room, the replica stops, and goes on from
// where its file is once there is.
func TestFullReplica(t *testing.T) {
	log, truth := largeLog(t)
	dir := t.TempDir()
	var h halts
	e := openReplica(t, dir, newLog(), storage.Options{MaxBytes: 4 << 20, Halted: h.halted})
	applyUntilHalted(t, e, log)
	checkHalted(t, e, &h, log)
	applied := resume(t, e)
	if applied == 0 || applied == len(log) {
		t.Fatalf("%d entries are applied", applied)
	}
	before := dump(t, e)
	applyUntilHalted(t, e, log[applied:]) // still full
	checkHalted(t, e, &h, log)
	killed := openReplica(t, copyDir(t, dir), newLog(), storage.Options{})
	if int(killed.Applied(0)) != applied || !maps.Equal(dump(t, killed), before) {
		t.Errorf("killed while full: %d is applied, want %d", killed.Applied(0), applied)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openReplica(t, dir, newLog(), storage.Options{Boot: "the next boot"}) // a clean end is believed
	if int(e.Applied(0)) != applied || !maps.Equal(dump(t, e), before) {
		t.Errorf("closed while full: %d is applied, want %d", e.Applied(0), applied)
	}
	mustApply(t, e, log[applied:])
	if !maps.Equal(dump(t, e), truth) {
		t.Error("the replicas differ")
	}
}

// TestReplicaOnFullDisk is the same with a real disk, which gets room again
// while the replica is open.
func TestReplicaOnFullDisk(t *testing.T) {
	log, truth := largeLog(t)
	log = log[:150] // what fits once there is room
	dir, ballast := smallDisk(t)
	var h halts
	e, err := tryReplica(dir, newLog(), storage.Options{Halted: h.halted})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() // before the disk goes
	applyUntilHalted(t, e, log)
	checkHalted(t, e, &h, log)
	applied := resume(t, e)
	if applied == 0 {
		t.Fatal("the file was thrown away though it is whole")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	mustApply(t, e, log[applied:])
	have := dump(t, e)
	for key, value := range have {
		if strings.Contains(key, `\x00m`) && truth[key] != value {
			t.Errorf("a wrong value of %s", key)
		}
	}
	if n := e.Applied(0); n != 150 || len(have) < 3*150 {
		t.Errorf("%d is applied, there are %d keys", n, len(have))
	}
	if len(h.told) != 0 {
		t.Errorf("Halted was told %v", h.told)
	}
}

// breakages are failures other than a full disk. Each answers what Apply did.
func breakages(log []storage.Entry) map[string]func(t *testing.T, file *os.File, e *storage.Engine) error {
	next := func(e *storage.Engine, data []byte) error {
		_, err := e.Apply(0, []storage.Entry{{Index: e.Applied(0) + 1, Term: 1, Data: data}})
		return err
	}
	return map[string]func(t *testing.T, file *os.File, e *storage.Engine) error{
		"a damaged file": func(t *testing.T, file *os.File, e *storage.Engine) error {
			overwrite(t, file, 2*4096, nil) // all but the meta pages
			if err := next(e, emptyEntry); err != nil {
				return err
			}
			_, _, err := e.Note(0, "table")
			return err
		},
		// On the other replicas the batch may be accepted.
		"a batch that can't be checked": func(t *testing.T, file *os.File, e *storage.Engine) error {
			overwrite(t, file, 0, headOf(t, e, ubl.Group{Tenant: "t:fill0", Shard: "0"}))
			return next(e, log[0].Data)
		},
	}
}

func headOf(t *testing.T, e *storage.Engine, g ubl.Group) []byte {
	t.Helper()
	e.Lead(0, 1)
	defer e.Lead(0, 0)
	var head ubl.LedgerHead
	err := e.View(t.Context(), g, func(s ubl.Snapshot) (err error) {
		head, err = s.Head()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(head.HeadHash)
}

// overwrite puts zeros in the place of some bytes wherever they are behind an
// offset, or of all there are.
func overwrite(t *testing.T, file *os.File, from int64, what []byte) {
	t.Helper()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, info.Size()-from)
	if _, err := file.ReadAt(data, from); err != nil {
		t.Fatal(err)
	}
	if what == nil {
		clear(data)
	} else {
		data = bytes.ReplaceAll(data, what, make([]byte, len(what)))
	}
	if _, err := file.WriteAt(data, from); err != nil {
		t.Fatal(err)
	}
}

// TestEntryOfANewerVersion: a program that doesn't know an entry stops before it,
// and keeps what it has for the program that does.
func TestEntryOfANewerVersion(t *testing.T) {
	log, truth := someLog(t)
	dir := t.TempDir()
	var h halts
	e := openReplica(t, dir, newLog(), storage.Options{Halted: h.halted})
	mustApply(t, e, log)
	newer := storage.Entry{Index: e.Applied(0) + 1, Term: 1, Data: garbage}
	if _, err := e.Apply(0, []storage.Entry{newer}); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Fatalf("it answers %v", err)
	}
	resume(t, e)
	mustApply(t, e, log) // what the file has is left out
	if have := dump(t, e); !maps.Equal(have, truth) {
		t.Error("what was applied before the entry isn't what it was")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := openReplica(t, dir, newLog(), storage.Options{}).Applied(0); n != uint64(len(log)) {
		t.Errorf("opened again, %d is applied, want %d", n, len(log))
	}
}

// TestOtherFailures: after one the file is not believed any more. Whether the
// process goes on, ends cleanly or is killed: the replica begins with nothing.
func TestOtherFailures(t *testing.T) {
	log, truth := someLog(t)
	for name, breakage := range breakages(log) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			breakIt := func(e *storage.Engine) error {
				file, err := os.OpenFile(filepath.Join(dir, "store", "partition-0.db"), os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				return breakage(t, file, e)
			}
			var h halts
			e := openReplica(t, dir, newLog(), storage.Options{Halted: h.halted})
			mustApply(t, e, log)
			dump(t, e) // which commits
			if err := breakIt(e); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Fatalf("it answers %v", err)
			}
			checkHalted(t, e, &h, log)
			checkAlone(t, copyDir(t, dir), "", false)
			killed := copyDir(t, dir)
			checkBeginsAnew(t, openReplica(t, killed, newLog(), storage.Options{}), log, truth)

			if n := resume(t, e); n != 0 {
				t.Errorf("after Resume %d is applied", n)
			}
			checkBeginsAnew(t, e, log, truth)
			// What was made anew is believed again.
			resumed := openReplica(t, copyDir(t, dir), newLog(), storage.Options{})
			if n := resumed.Applied(0); n != uint64(len(log)) {
				t.Errorf("killed after Resume, %d is applied, want %d", n, len(log))
			}

			if err := breakIt(e); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Fatalf("a second time it answers %v", err)
			}
			e.Close() // which may or may not complain
			checkBeginsAnew(t, openReplica(t, dir, newLog(), storage.Options{}), log, truth)
		})
	}
}

func checkBeginsAnew(t *testing.T, e *storage.Engine, log []storage.Entry, truth map[string]string) {
	t.Helper()
	if have := dump(t, e); e.Applied(0) != 0 || len(have) != 0 {
		t.Errorf("it still has %d keys, and applied %d", len(have), e.Applied(0))
	}
	mustApply(t, e, log)
	if !maps.Equal(dump(t, e), truth) {
		t.Error("the log does not make it whole")
	}
}

// TestHaltedLeader: what is on its way through a leader that halts is
// unavailable, and nobody waits for ever.
func TestHaltedLeader(t *testing.T) {
	var h halts
	e, l := lead(t, t.TempDir(), storage.Options{Halted: h.halted})
	w := newWriter(t, e, testGroup)
	if _, err := e.Apply(0, []storage.Entry{{Index: 1, Term: 1, Data: garbage}}); err == nil {
		t.Fatal("garbage was applied")
	}
	if err := submit(e, message(w, 10)); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("Submit: %v", err)
	}
	if _, _, err := e.Begin(t.Context(), testGroup); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("Begin: %v", err)
	}
	resume(t, e)
	mustApply(t, e, l.all(0))
	w = newWriter(t, e, testGroup)
	if w.Head.Seq != 2 {
		t.Errorf("head %v after all: the log had the batch", w.Head)
	}
	if err := submit(e, message(w, 10)); err != nil {
		t.Error(err)
	}
}

// TestResumeOfAWholeReplica does nothing.
func TestResumeOfAWholeReplica(t *testing.T) {
	log, truth := someLog(t)
	e := openReplica(t, t.TempDir(), newLog(), storage.Options{})
	mustApply(t, e, log)
	if err := e.Resume(0); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(dump(t, e), truth) {
		t.Error("something was lost")
	}
}
