// Package upgrade opens what earlier versions wrote. testdata holds a backup
// made by each version of the formats, never changed once it is committed; a
// new version adds its own.
package upgrade

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestEveryVersionOpens restores each fixture, reads what is known to be in it,
// and writes on.
func TestEveryVersionOpens(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/*.tar.gz")
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, fixture := range fixtures {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			h := harness.Open(t, harness.Options{Dir: harness.Restore(t, fixture)})
			h.Clock.Add(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).Sub(h.Clock.Now())) // just after it was made
			read(t, h)
		})
	}
}

// local is a person as this program's own tokens name them.
func local(email string) ubl.Identity {
	const issuer = "urn:ubl:local"
	id := ubl.UserIDFor(issuer, email, false)
	return ubl.Identity{UserID: id, Email: email, EmailDomain: ubl.EmailDomain(email),
		TenantID: ubl.DomainTenant(ubl.EmailDomain(email)), Issuer: issuer, Subject: email}
}

// read checks the fixture's content: two people, a room of one's making with
// three messages, a policy, and the keys that they were sent with.
func read(t *testing.T, h *harness.House) {
	t.Helper()
	ana, bob := local("ana@fixture.example"), local("bob@fixture.example")
	plans := ubl.RoomName(ana.TenantID, "r:plans")
	workspaces(t, h, ana, bob)
	if entered := h.Enter(ana); entered.Role != ubl.RoleOwner {
		t.Errorf("ana is %s", entered.Role)
	}
	for _, m := range harness.Must[[]ubl.Member](h, ubl.TenantName(ana.TenantID), ubl.ListMembers{Who: bob}) {
		if m.Name != "" {
			t.Errorf("%s is called %q, of which the version before names knew nothing", m.Email, m.Name)
		}
	}
	page := harness.Must[*ubl.HistoryPage](h, plans, ubl.ReadHistory{Who: bob, Limit: 200})
	var texts []string
	for _, raw := range page.Messages {
		var m ubl.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, m.Body.Text)
	}
	want := []string{"Room created: Plans", "message 1 é", "message 2 é", "message 3 é", string(bob.UserID) + " joined"}
	if strings.Join(texts, "|") != strings.Join(want, "|") {
		t.Errorf("the room holds %q, want %q", texts, want)
	}
	room := harness.Must[*ubl.Room](h, plans, ubl.GetRoom{Who: ana})
	if room.Policy.RetentionDays != 30 || room.Policy.Join != ubl.JoinTenant {
		t.Errorf("the policy is %+v", room.Policy)
	}
	req := h.Request(ana)
	req.Key = "send-2"
	again := harness.Must[*ubl.Sent](h, plans, ubl.SendMessage{Request: req, Text: "message 2 é"})
	if again.RoomSeq != 3 {
		t.Errorf("the key of message 2 leads to room_seq %d, want 3", again.RoomSeq)
	}
	next := harness.Must[*ubl.Sent](h, plans, ubl.SendMessage{Request: h.Request(bob), Text: "and on"})
	if next.RoomSeq != 6 {
		t.Errorf("the next message is %d, want 6", next.RoomSeq)
	}
	h.VerifyLedger(ana.TenantID)
}

// workspaces checks what the version before containers couldn't know: the first
// Enter that writes makes w:general, and Agreements have the physics that they
// had without saying so.
func workspaces(t *testing.T, h *harness.House, ana, bob ubl.Identity) {
	t.Helper()
	tenant := ubl.TenantName(ana.TenantID)
	list := func() []ubl.ContainerSummary {
		return harness.Must[*ubl.ContainerList](h, tenant, ubl.ListContainers{Request: h.Request(bob)}).Containers
	}
	harness.Must[*ubl.Entered](h, tenant, ubl.Enter{Request: h.Request(bob)})
	if had := list(); len(had) != 0 {
		t.Fatalf("a look has made %+v", had)
	}
	for range 2 { // the second time there is nothing more to make
		h.Enter(bob)
		if got := list(); len(got) != 1 || got[0].ContainerID != ubl.GeneralWorkspace || got[0].Physics != ubl.WorkspaceKind().Physics {
			t.Fatalf("the containers are %+v", got)
		}
		h.Reload()
	}
	general := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	harness.Must[*ubl.DocumentResult](h, general, ubl.CreateDocument{Request: h.Request(ana), Title: "plan", Content: "écrit"})
	for name, want := range map[ubl.Name]ubl.Physics{
		tenant: ubl.TenantPhysics(), ubl.RoomName(ana.TenantID, "r:plans"): ubl.RoomPhysics(), general: ubl.WorkspaceKind().Physics,
	} {
		view := harness.Must[*ubl.AgreementView](h, name, ubl.GetAgreement{Who: bob})
		if view.Physics == nil || *view.Physics != want {
			t.Errorf("the physics of %s are %v, want %v", view.ID, view.Physics, want)
		}
	}
}
