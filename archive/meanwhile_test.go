package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"ubl"
	"ubl/archive"
	"ubl/test/harness"
)

// interrupted are the actors, and something that happens just before one of them is first asked.
type interrupted struct {
	ubl.Asker
	before func(ubl.Name, ubl.Command) bool
	happen func()
}

// Ask implements [ubl.Asker].
func (i *interrupted) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if i.happen != nil && i.before(to, cmd) {
		happen := i.happen
		i.happen = nil
		happen()
	}
	return i.Asker.Ask(ctx, to, cmd)
}

// write writes bob's archive, while something happens just before a question.
func (w *world) write(before func(ubl.Name, ubl.Command) bool, happen func()) (written string, err error) {
	w.t.Helper()
	var b bytes.Buffer
	begun := harness.Must[*ubl.OwnExport](w.House, ubl.PersonName(w.bob.TenantID, w.bob.UserID), ubl.ExportOwn{Request: w.Request(w.bob)})
	i := &interrupted{w.Runtime, before, happen}
	a := archive.New(archive.Options{Asker: i, Blobs: w.blobs, Now: w.Clock.Now, Version: "test"})
	err = a.Write(w.t.Context(), &b, w.Request(w.bob), begun.Receipt)
	if i.happen != nil {
		w.t.Fatal("what was to be interrupted never came")
	}
	return b.String(), err
}

// history reports whether a room is asked for so many pages or more of its history.
func history(of ubl.Name, pages int) func(ubl.Name, ubl.Command) bool {
	return func(to ubl.Name, cmd ubl.Command) bool {
		if _, ok := cmd.(ubl.ReadHistory); ok && to == of {
			pages--
		}
		return pages == 0
	}
}

// TestRemovedMeanwhile: who is taken out of a room while their archive is being written gets nothing that is said there
// from then on, and the manifest says that the room isn't whole. Their own words are in it, and so is the rest.
func TestRemovedMeanwhile(t *testing.T) {
	for name, reads := range map[string]int{"before it is read": 1, "between its entries and its page": 2, "before its files": 3} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			room, other := w.room(w.ana, "plans", w.bob), w.room(w.bob, "zebra")
			w.send(room, w.ana, "ana's first.")
			w.send(room, w.bob, "bob's words.", ubl.Attachment{Name: "x.txt", Type: "text/plain", Bytes: 1, SHA256: w.blobs.keep("bob's file.")})
			w.send(other, w.bob, "bob's other words.")
			written, err := w.write(history(room, reads), func() {
				w.remove(room, w.ana, w.bob)
				w.send(room, w.ana, "ana's last.")
			})
			if err != nil {
				t.Fatal(err)
			}
			a := w.read(written)
			a.has(t, []string{"bob's other words.", "bob's words."}, []string{"ana's last."})
			if reads == 1 {
				a.has(t, nil, []string{"ana's first."})
			}
			if !strings.Contains(fmt.Sprint(a.manifest.LeftOut), room.Local()) {
				t.Errorf("left out is %+v", a.manifest.LeftOut)
			}
		})
	}
}

// TestRemovedFromTheTenantMeanwhile: who is taken out of the tenant gets no whole archive.
func TestRemovedFromTheTenantMeanwhile(t *testing.T) {
	for name, before := range map[string]func(ubl.Name) func(ubl.Name, ubl.Command) bool{
		"in the receipts": func(ubl.Name) func(ubl.Name, ubl.Command) bool {
			return func(_ ubl.Name, cmd ubl.Command) bool { _, ok := cmd.(ubl.ReadAtoms); return ok }
		},
		"in a room": func(room ubl.Name) func(ubl.Name, ubl.Command) bool { return history(room, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			room := w.room(w.ana, "plans", w.bob)
			w.send(room, w.bob, "bob's words.")
			written, err := w.write(before(room), func() {
				harness.Must[*ubl.Member](w.House, ubl.TenantName(w.ana.TenantID), ubl.RemoveTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID})
			})
			if ubl.CodeOf(err) != ubl.CodeForbidden {
				t.Errorf("it ended with %v", err)
			}
			if _, err := zip.NewReader(strings.NewReader(written), int64(len(written))); err == nil {
				t.Error("what was written is a whole zip file")
			}
		})
	}
}

// TestOtherTenant: an archive is of one tenant. Somebody of another one under the same id has nothing of it, not even
// of rooms with the same names.
func TestOtherTenant(t *testing.T) {
	w := open(t)
	there := harness.User("bob@elsewhere.example")
	there.UserID = w.bob.UserID
	w.Enter(there)
	for who, text := range map[*ubl.Identity]string{&w.bob: "bob's words here.", &there: "bob's words there."} {
		room := w.room(*who, "plans")
		w.send(room, *who, text, ubl.Attachment{Name: "x.txt", Type: "text/plain", Bytes: 1, SHA256: w.blobs.keep("file of " + text)})
	}
	w.take(w.bob).has(t, []string{"bob's words here.", "file of bob's words here."}, []string{"words there", string(there.TenantID)})
	w.take(there).has(t, []string{"bob's words there.", "file of bob's words there."}, []string{"words here", string(w.bob.TenantID)})
	w.Refused(ubl.CodeForbidden, ubl.PersonName(w.bob.TenantID, w.bob.UserID), ubl.ExportOwn{Request: w.Request(there)})
}
