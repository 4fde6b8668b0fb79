package actors_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// uncounted hides how many bytes a ledger has counted, as in a store of an earlier version.
type uncounted struct{ ubl.Store }

func (u uncounted) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return u.Store.View(ctx, g, func(snap ubl.Snapshot) error { return fn(uncountedSnap{snap}) })
}

type uncountedSnap struct{ ubl.Snapshot }

func (s uncountedSnap) Get(key []byte) ([]byte, error) {
	if bytes.Equal(key, []byte{'f'}) {
		return nil, nil
	}
	return s.Snapshot.Get(key)
}

// TestBytesOfATenant are counted as they are written and erased; a count of all that is
// stored comes to the same, and so does the one of a store that has none.
func TestBytesOfATenant(t *testing.T) {
	hidden := false
	h := harness.Open(t, harness.Options{Wrap: func(s ubl.Store) ubl.Store {
		if hidden {
			return uncounted{s}
		}
		return s
	}})
	y := openYard(t, h)
	tenant, room := ubl.TenantName(y.ana.TenantID), ubl.RoomName(y.ana.TenantID, ubl.GeneralRoom)
	shelf, other := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace), y.found("workspace", "other", "")
	stored := func() int64 { return h.Runtime.Usage()[y.ana.TenantID] }
	send := func(text string) {
		harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(y.ana), Text: text})
	}
	before := stored()
	for range 20 {
		send(strings.Repeat("long ", 200))
	}
	if grown := stored() - before; grown < 20*1500 || grown > 20*4000 {
		t.Errorf("20 messages of 1000 bytes take %d", grown)
	}
	for range 5 {
		y.write(shelf, "Title", strings.Repeat("word ", 2000))
	}
	d := y.write(shelf, "Title", "x")
	content := strings.Repeat("more ", 1000)
	harness.Must[*ubl.DocumentResult](h, shelf, ubl.UpdateDocument{Request: h.Request(y.ana), DocumentID: d, Content: &content})
	harness.Must[*ubl.TransferResult](h, shelf, ubl.Transfer{Request: h.Request(y.ana), To: ubl.ContainerID(other.Local()), DocumentID: d})
	harness.Must[*ubl.DocumentResult](h, shelf, ubl.DeleteDocument{Request: h.Request(y.ana), DocumentID: d})
	days := 1
	harness.Must[*ubl.Room](h, room, ubl.SetRoomPolicy{Request: h.Request(y.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	full := stored()
	h.Clock.Add(48 * time.Hour)
	harness.Must[ubl.Head](h, room, ubl.Sweep{Request: h.Request(ubl.Platform())})
	if freed := full - stored(); freed < 20*1000 {
		t.Errorf("erasing 20 messages frees %d bytes", freed)
	}
	want := stored()
	for range 2 {
		h.Reload()
		harness.Must[*ubl.Tenant](h, tenant, ubl.GetTenant{Who: y.ana})
		if got := stored(); got != want {
			t.Errorf("loaded with the record hidden (%v) there are %d bytes, want %d", hidden, got, want)
		}
		hidden = true
	}
	send("counted on")
	if stored() <= want {
		t.Error("a new count stays where it is")
	}
}

// TestATenantThatIsFull reads, deletes and repeats what it did, but adds nothing until
// something was erased. Others don't feel it.
func TestATenantThatIsFull(t *testing.T) {
	most := 1 << 40
	h := harness.Open(t, harness.Options{Quota: func(limit string, have int) error {
		if limit == ubl.QuotaBytes && have >= most {
			return ubl.Errorf(ubl.CodeQuotaExceeded, "full")
		}
		return nil
	}})
	y := openYard(t, h)
	room, shelf := ubl.RoomName(y.ana.TenantID, ubl.GeneralRoom), ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	other := y.found("workspace", "other", "")
	d := y.write(shelf, "Title", "text")
	days := 1
	harness.Must[*ubl.Room](h, room, ubl.SetRoomPolicy{Request: h.Request(y.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	first := ubl.SendMessage{Request: h.Request(y.ana), Text: strings.Repeat("long ", 1000)}
	was := harness.Must[*ubl.Sent](h, room, first)
	most = int(h.Runtime.Usage()[y.ana.TenantID])

	text := "more"
	h.Refused(ubl.CodeQuotaExceeded, room, ubl.SendMessage{Request: h.Request(y.ana), Text: "more"})
	h.Refused(ubl.CodeQuotaExceeded, shelf, ubl.CreateDocument{Request: h.Request(y.ana), Title: "T", Content: "more"})
	h.Refused(ubl.CodeQuotaExceeded, shelf, ubl.UpdateDocument{Request: h.Request(y.ana), DocumentID: d, Content: &text})
	h.Refused(ubl.CodeQuotaExceeded, shelf, ubl.Transfer{Request: h.Request(y.ana), To: ubl.ContainerID(other.Local()), DocumentID: d})
	if again := harness.Must[*ubl.Sent](h, room, first); again.RoomSeq != was.RoomSeq {
		t.Errorf("a repetition is message %d, the first was %d", again.RoomSeq, was.RoomSeq)
	}
	harness.Must[*ubl.HistoryPage](h, room, ubl.ReadHistory{Who: y.ana, Limit: 10})
	harness.Must[*ubl.DocumentResult](h, shelf, ubl.GetDocument{Request: h.Request(y.ana), DocumentID: d})
	harness.Must[*ubl.DocumentResult](h, shelf, ubl.DeleteDocument{Request: h.Request(y.ana), DocumentID: d})
	h.VerifyLedger(y.ana.TenantID)
	harness.Must[*ubl.Sent](h, ubl.RoomName(y.eve.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: h.Request(y.eve), Text: "hello"})

	most = int(h.Runtime.Usage()[y.ana.TenantID]) - 2000 // what reading and deleting left is still less than what goes
	h.Clock.Add(48 * time.Hour)
	harness.Must[ubl.Head](h, room, ubl.Sweep{Request: h.Request(ubl.Platform())})
	harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(y.ana), Text: "room again"})
}
