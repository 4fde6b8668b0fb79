package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// recounted shows another count of the bytes than a ledger has stored, as a store of an
// earlier version has.
type recounted struct {
	ubl.Store
	change func(stored []byte) []byte
}

func (u recounted) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return u.Store.View(ctx, g, func(snap ubl.Snapshot) error { return fn(recountedSnap{snap, u.change}) })
}

type recountedSnap struct {
	ubl.Snapshot
	change func([]byte) []byte
}

func (s recountedSnap) Get(key []byte) ([]byte, error) {
	v, err := s.Snapshot.Get(key)
	if bytes.Equal(key, []byte{'f'}) {
		v = s.change(bytes.Clone(v))
	}
	return v, err
}

// TestBytesOfATenant are counted as they are written and erased; a count of all that is
// stored comes to the same, and so does the one of a store that has none.
func TestBytesOfATenant(t *testing.T) {
	record := "as it is"
	h := harness.Open(t, harness.Options{Wrap: func(s ubl.Store) ubl.Store {
		return recounted{s, func(stored []byte) []byte {
			switch record {
			case "hidden":
				return nil
			case "of the version that counted no events": // and so far less
				stored[0], stored[8] = 1, 7
			}
			return stored
		}}
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
	was := stored()
	groups := make([]string, ubl.MaxToolGroups)
	for i := range groups {
		groups[i] = strings.Repeat("g", 100) + fmt.Sprint(i)
	}
	harness.Must[*ubl.ToolAccess](h, tenant, ubl.SetToolAccess{Request: h.Request(y.ana), Tool: "files.read", Groups: groups})
	if grown := stored() - was; grown < 10_000 {
		t.Errorf("an event of 10,000 bytes takes %d", grown)
	}
	harness.Must[*ubl.Server](h, ubl.PortalName(y.ana.TenantID), ubl.AddServer{Request: h.Request(y.ana), Owner: true,
		Server: ubl.Server{ServerID: "files", Name: "Files", URL: "https://files.example/mcp", Auth: "none"}})
	want := stored()
	for _, record = range []string{"as it is", "hidden", "of the version that counted no events"} {
		h.Reload()
		harness.Must[*ubl.Tenant](h, tenant, ubl.GetTenant{Who: y.ana})
		if got := stored(); got != want {
			t.Errorf("loaded with the record %s there are %d bytes, want %d", record, got, want)
		}
	}
	record = "as it is"
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
	days := 2
	harness.Must[*ubl.Room](h, room, ubl.SetRoomPolicy{Request: h.Request(y.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	first := ubl.SendMessage{Request: h.Request(y.ana), Text: strings.Repeat("long ", 1000)}
	was := harness.Must[*ubl.Sent](h, room, first)
	for range 20 { // so that the little that is still let in is far from a tenth
		harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(y.ana), Text: first.Text})
	}
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
	y.adds(room, shelf)
	y.frees(room, shelf)
	h.VerifyLedger(y.ana.TenantID)
	most = int(float64(h.Runtime.Usage()[y.ana.TenantID]) / 1.1)
	h.Refused(ubl.CodeQuotaExceeded, shelf, ubl.GetDocument{Request: h.Request(y.ana), DocumentID: d})
	harness.Must[*ubl.HistoryPage](h, room, ubl.ReadHistory{Who: y.ana, Limit: 10})
	harness.Must[*ubl.Sent](h, ubl.RoomName(y.eve.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: h.Request(y.eve), Text: "hello"})

	most = int(h.Runtime.Usage()[y.ana.TenantID]) - 2000 // what reading and deleting left is still less than what goes
	h.Clock.Add(48 * time.Hour)
	harness.Must[ubl.Head](h, room, ubl.Sweep{Request: h.Request(ubl.Platform())})
	harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(y.ana), Text: "room again"})
}

// adds does what a full tenant may not: each kind of act that leaves more behind.
func (y *yard) adds(room, shelf ubl.Name) {
	y.t.Helper()
	name, tenant, portal := "Bo", ubl.TenantName(y.ana.TenantID), ubl.PortalName(y.ana.TenantID)
	req := func() ubl.Request { return y.Request(y.ana) }
	newcomer := y.bob
	newcomer.UserID, newcomer.Subject, newcomer.Email = "u:new", "new", "new@"+newcomer.EmailDomain
	invitee := harness.User("cy@far.example")
	invitee.TenantID = y.ana.TenantID
	added := ubl.Member{UserID: newcomer.UserID, Email: newcomer.Email, Role: ubl.RoleMember}
	for _, c := range []struct {
		to  ubl.Name
		cmd ubl.Command
	}{
		{tenant, ubl.SetTenantMember{Request: req(), UserID: y.bob.UserID, Name: &name}},
		{tenant, ubl.SetTenantMember{Request: req(), UserID: y.bob.UserID, Role: ubl.RoleOwner}},
		{tenant, ubl.SetToolAccess{Request: req(), Tool: "files.read", Allowed: true}},
		{tenant, ubl.CreateInvitation{Request: req(), InvitationID: "i:1", Invitee: invitee, Role: ubl.RoleMember, SecretHash: strings.Repeat("0", 64), TTL: time.Hour}},
		{tenant, ubl.CreateRoom{Request: req(), Name: "more"}},
		{tenant, ubl.CreateContainer{Request: req(), Kind: "workspace", Name: "more"}},
		{tenant, ubl.SetDefaults{Request: req()}},
		{tenant, ubl.ClaimDomain{Request: req(), Domain: "more.example"}},
		{tenant, ubl.Enter{Request: y.Request(newcomer)}},
		{room, ubl.AddMember{Request: req(), Member: added}},
		{room, ubl.SetHeir{Request: req(), Heir: added}},
		{shelf, ubl.AddMember{Request: req(), Member: added}},
		{portal, ubl.AddServer{Request: req(), Owner: true, Server: ubl.Server{ServerID: "files", Name: "Files", URL: "https://files.example/mcp", Auth: "none"}}},
		{portal, ubl.SetBudget{Request: req(), Owner: true, TokensPerDay: 5}},
	} {
		if _, err := y.Ask(context.Background(), c.to, c.cmd); ubl.CodeOf(err) != ubl.CodeQuotaExceeded {
			y.t.Errorf("%T at %s: %v", c.cmd, c.to, err)
		}
	}
}

// frees does what a full tenant still may.
func (y *yard) frees(room, shelf ubl.Name) {
	y.t.Helper()
	tenant, less := ubl.TenantName(y.ana.TenantID), 1
	req := func() ubl.Request { return y.Request(y.ana) }
	for _, c := range []struct {
		to  ubl.Name
		cmd ubl.Command
	}{
		{tenant, ubl.Enter{Request: req(), Act: true}},
		{tenant, ubl.SetToolAccess{Request: req(), Tool: "messenger.send"}},
		{tenant, ubl.ListContainers{Request: req(), Receipted: true}},
		{shelf, ubl.ListDocuments{Request: req()}},
		{tenant, ubl.RemoveTenantMember{Request: req(), UserID: y.bob.UserID}},
		{room, ubl.SetRoomPolicy{Request: req(), Patch: ubl.RoomPolicyPatch{RetentionDays: &less}}},
	} {
		if _, err := y.Ask(context.Background(), c.to, c.cmd); err != nil {
			y.t.Errorf("%T at %s: %v", c.cmd, c.to, err)
		}
	}
}
