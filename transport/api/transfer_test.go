package api

import (
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// TestBringing: what somebody transfers into a room or a container is the act of the tool that
// does the same, under its receipt, and closed by the record of either tool.
func TestBringing(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	s := newServer(t)
	s.api.Asker = envelope.Entering(visiting{h})
	ana := harness.User("ana@acme.com")
	h.Enter(ana)
	bring := func(body string) int {
		return s.enterHouse(h, ana, "POST", "/api/containers/"+string(ana.UserID)+"/transfer", body).Code
	}
	const message, document = `{"to":"r:general","content":"hello"}`, `{"to":"w:general","title":"Plan","content":"All of it"}`
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	before := harness.Must[ubl.Head](h, general, ubl.RoomHead{}).LastSeq
	if got := []int{bring(message), bring(document)}; got[0] != 200 || got[1] != 200 {
		t.Errorf("what is brought is answered %v", got)
	}
	if after := harness.Must[ubl.Head](h, general, ubl.RoomHead{}).LastSeq; after != before+1 {
		t.Errorf("the room has %d messages, and had %d", after, before)
	}
	for tool, want := range map[string][2]int{"messenger.send": {403, 200}, "office.document.create": {200, 403}, "container.transfer": {403, 403}} {
		if w := s.enterHouse(h, ana, "PUT", "/api/portal/tools/"+tool+"/access", `{"allowed":false}`); w.Code != 200 {
			t.Fatal(w.Body)
		}
		if got := [2]int{bring(message), bring(document)}; got != want {
			t.Errorf("with %s closed a message and a document are answered %v, want %v", tool, got, want)
		}
		s.enterHouse(h, ana, "PUT", "/api/portal/tools/"+tool+"/access", `{"allowed":true}`)
	}
	if got := bring(`{"to":"r:never","content":"hello"}`); got != 404 {
		t.Errorf("a room that never was: %d", got)
	}
	h.VerifyLedger(ana.TenantID)
}

// TestMembershipIsATransfer: a membership comes from the System into the tenant as an invitation,
// by who may invite, and under the record of either tool.
func TestMembershipIsATransfer(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	s := newServer(t)
	s.api.Asker = envelope.Entering(visiting{h})
	ana, bob := harness.User("ana@acme.com"), harness.User("bob@acme.com")
	h.Enter(ana)
	h.Enter(bob)
	try := func(who ubl.Identity, to, email string) int {
		return s.enterHouse(h, who, "POST", "/api/containers/t:ubl_core/transfer", `{"to":"`+to+`","email":"`+email+`"}`).Code
	}
	for _, tt := range []struct {
		what      string
		who       ubl.Identity
		to, email string
		want      int
	}{
		{"an owner", ana, "t:acme.com", "new@else.example", 200},
		{"the same address again", ana, "t:acme.com", "new@else.example", 409},
		{"a member", bob, "t:acme.com", "other@else.example", 403},
		{"another tenant", ana, "t:other.example", "other@else.example", 400},
		{"a room", ana, "r:general", "other@else.example", 400},
	} {
		if got := try(tt.who, tt.to, tt.email); got != tt.want {
			t.Errorf("%s is answered %d, want %d", tt.what, got, tt.want)
		}
	}
	open := harness.Must[[]*ubl.Invitation](h, ubl.TenantName(ana.TenantID), ubl.ListInvitations{Who: ana})
	if len(open) != 1 || open[0].Email != "new@else.example" || open[0].Role != ubl.RoleMember {
		t.Errorf("the invitations are %+v", open)
	}
	for _, tool := range []string{"container.transfer", "tenant.invitation.create"} {
		s.enterHouse(h, ana, "PUT", "/api/portal/tools/"+tool+"/access", `{"allowed":false}`)
		if got := try(ana, "t:acme.com", "third@else.example"); got != 403 {
			t.Errorf("with %s closed: %d", tool, got)
		}
		s.enterHouse(h, ana, "PUT", "/api/portal/tools/"+tool+"/access", `{"allowed":true}`)
	}
	h.VerifyLedger(ana.TenantID)
}
