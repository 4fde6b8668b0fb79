package storage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/test/poll"
)

func checkNote(t *testing.T, e *storage.Engine, name, want string, version int64) {
	t.Helper()
	value, have, err := e.Note(0, name)
	if err != nil || string(value) != want || have != version {
		t.Errorf("the note %s is %q in version %d, %v; want %q in version %d", name, value, have, err, want, version)
	}
}

// TestNoteVersions: a note is replaced only by who knows its newest version.
func TestNoteVersions(t *testing.T) {
	dir := t.TempDir()
	e, l := lead(t, dir, storage.Options{})
	checkNote(t, e, "table", "", 0)
	put := func(from int64, value string) error { return e.PutNote(t.Context(), 0, "table", from, []byte(value)) }
	for n := range int64(3) {
		for _, wrong := range []int64{n - 1, n + 1, -1} {
			if err := put(wrong, "wrong"); ubl.CodeOf(err) != ubl.CodeConflict {
				t.Errorf("over version %d instead of %d: %v", wrong, n, err)
			}
		}
		if err := put(n, fmt.Sprint("value ", n+1)); err != nil {
			t.Fatal(err)
		}
		checkNote(t, e, "table", fmt.Sprint("value ", n+1), n+1)
	}
	if err := put(3, ""); err != nil {
		t.Fatal(err)
	}
	checkNote(t, e, "table", "", 4)   // empty, and there
	checkNote(t, e, "another", "", 0) // notes don't meet
	if all := mustContents(t, e); len(all) != 0 {
		t.Errorf("notes are among the groups' data: %q", all)
	}
	if empty, err := e.Empty(t.Context()); err != nil || !empty {
		t.Errorf("with nothing but notes, Empty is %v, %v", empty, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openReplica(t, dir, l, storage.Options{})
	checkNote(t, e, "table", "", 4)
}

// TestNotesRace: of those who replace one version, one wins.
func TestNotesRace(t *testing.T) {
	e, _ := lead(t, t.TempDir(), storage.Options{})
	for version := range int64(10) {
		var won atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				err := e.PutNote(t.Context(), 0, "table", version, []byte{byte(i)})
				if err == nil {
					won.Add(1)
				} else if ubl.CodeOf(err) != ubl.CodeConflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := won.Load(); n != 1 {
			t.Errorf("%d have replaced version %d", n, version)
		}
	}
}

func TestMalformedNotes(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	for _, name := range []string{"", strings.Repeat("n", 65)} {
		if err := e.PutNote(t.Context(), 0, name, 0, nil); ubl.CodeOf(err) != ubl.CodeInternal {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
	}
	if err := e.PutNote(t.Context(), 0, strings.Repeat("n", 64), 0, nil); err != nil {
		t.Errorf("a name of 64 bytes: %v", err)
	}
	if n := len(l.all(0)); n != 1 {
		t.Errorf("the log has %d entries, want 1", n)
	}
}

// TestNoteOfAnEndedContext: the caller is let go, what becomes of the note is
// not known to it.
func TestNoteOfAnEndedContext(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	release := l.hold()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.PutNote(ctx, 0, "table", 0, []byte("value")) }()
	poll.Until(t, "the note is proposed", func() bool { return len(l.all(0)) == 1 })
	cancel()
	if err := <-done; ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("PutNote: %v", err)
	}
	release()
	poll.Until(t, "the note is proposed", func() bool { return e.Applied(0) == 1 })
	checkNote(t, e, "table", "value", 1)
}

// TestNoteTravels: a snapshot carries notes to other nodes.
func TestNoteTravels(t *testing.T) {
	snapshot, _, _ := snapshotOfSome(t)
	e, _ := oldReplica(t, t.TempDir(), storage.Options{})
	checkNote(t, e, "table", "", 0)
	if err := e.Install(0, strings.NewReader(string(snapshot))); err != nil {
		t.Fatal(err)
	}
	checkNote(t, e, "table", "value", 1)
	if err := e.Reset(0); err != nil {
		t.Fatal(err)
	}
	checkNote(t, e, "table", "", 0)
}

// TestNodeAloneKeepsNoNotes: they are of a cluster.
func TestNodeAloneKeepsNoNotes(t *testing.T) {
	e := open(t, t.TempDir(), &storage.Options{Partitions: 1})
	if err := e.PutNote(t.Context(), 0, "table", 0, nil); ubl.CodeOf(err) != ubl.CodeInternal {
		t.Errorf("PutNote: %v", err)
	}
	if _, version, err := e.Note(0, "table"); err != nil || version != 0 {
		t.Errorf("Note: version %d, %v", version, err)
	}
}
