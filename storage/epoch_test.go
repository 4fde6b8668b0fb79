package storage_test

import (
	"errors"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/test/poll"
)

// TestNotLeading: a replica that doesn't lead serves nobody, but can be copied.
func TestNotLeading(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, e, testGroup)
	if err := submit(e, message(w, 10)); err != nil {
		t.Fatal(err)
	}
	l.elect(false)
	if epoch := e.Epoch(0); epoch != 0 {
		t.Errorf("it leads under epoch %d", epoch)
	}
	_, _, errBegin := e.Begin(t.Context(), testGroup)
	errView := e.View(t.Context(), testGroup, func(ubl.Snapshot) error { return nil })
	errNote := e.PutNote(t.Context(), 0, "table", 0, nil)
	for _, err := range []error{errBegin, errView, errNote, submit(e, message(w, 10))} {
		if ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("a replica that doesn't lead answers %v", err)
		}
	}
	if empty, err := e.Empty(t.Context()); err != nil || empty {
		t.Errorf("Empty: %v, %v", empty, err)
	}
	if _, version, err := e.Note(0, "table"); err != nil || version != 0 {
		t.Errorf("Note: version %d, %v", version, err)
	}
	if len(dump(t, e)) == 0 {
		t.Error("nothing is copied")
	}
	if n := len(l.all(0)); n != 1 {
		t.Errorf("the log has %d entries: something was proposed", n)
	}
}

// TestLeasesEndWithTheEpoch: whoever led before holds nothing, even where the
// same node leads again.
func TestLeasesEndWithTheEpoch(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	old := newWriter(t, e, testGroup)
	if err := submit(e, message(old, 10)); err != nil {
		t.Fatal(err)
	}
	l.elect(false)
	term := l.elect(true)
	if epoch := e.Epoch(0); epoch != term {
		t.Errorf("it leads under epoch %d, want %d", epoch, term)
	}
	head := old.Head
	if err := submit(e, message(old, 10)); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a lease of an earlier epoch: %v", err)
	}
	w := newWriter(t, e, testGroup)
	if w.Lease.Epoch != term || w.Head != head {
		t.Errorf("Begin gave %v and %v, want epoch %d and %v", w.Lease, w.Head, term, head)
	}
	if err := submit(e, message(w, 10)); err != nil {
		t.Error(err)
	}
}

// TestEntryOfALaterTerm: what was decided under one term and got into the log
// under the next is refused, for another may have led between.
func TestEntryOfALaterTerm(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, e, testGroup)
	l.mu.Lock()
	l.term++ // the engine has not heard of it yet
	l.mu.Unlock()
	if err := submit(e, message(w, 10)); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a batch in an entry of a later term: %v", err)
	}
	if err := e.PutNote(t.Context(), 0, "table", 0, nil); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a note in an entry of a later term: %v", err)
	}
	if n := e.Applied(0); n != 2 {
		t.Errorf("%d entries are applied, want 2: refused is applied, too", n)
	}
	if all := mustContents(t, e); len(all) != 0 {
		t.Errorf("something was written: %q", all)
	}
}

// TestBeginOfALostEpoch: a Begin that waits for what was submitted before it
// gets no lease if leadership is lost meanwhile.
func TestBeginOfALostEpoch(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, e, testGroup)
	release := l.hold()
	first, begun := make(chan error, 1), make(chan error, 1)
	e.Submit(message(w, 10), func(err error) { first <- err })
	go func() {
		_, _, err := e.Begin(t.Context(), testGroup)
		begun <- err
	}()
	poll.Until(t, "the entry is proposed", func() bool { return len(l.all(0)) == 1 })
	l.elect(false)
	release()
	if err := <-first; err != nil {
		t.Errorf("what a quorum has is settled with %v", err)
	}
	if err := <-begun; ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("Begin: %v", err)
	}
}

// TestLostProposal: where the log can't say what became of an entry, everything
// in it is unavailable; what comes later is not touched by that.
func TestLostProposal(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, e, testGroup)
	lost := errors.New("leadership lost")
	l.setDown(lost)
	errNote := e.PutNote(t.Context(), 0, "table", 0, nil)
	for _, err := range []error{submit(e, message(w, 10)), errNote} {
		if ubl.CodeOf(err) != ubl.CodeUnavailable || !errors.Is(err, lost) {
			t.Errorf("settled with %v", err)
		}
	}
	l.setDown(nil)
	if err := submit(e, message(w, 10)); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a batch that builds on a lost one: %v", err)
	}
	if err := submit(e, message(newWriter(t, e, testGroup), 10)); err != nil {
		t.Errorf("after Begin: %v", err)
	}
}
