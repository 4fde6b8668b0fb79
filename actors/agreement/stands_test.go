package agreement_test

import (
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

func who(id ubl.UserID, tenant ubl.TenantID) ubl.Identity {
	return ubl.Identity{UserID: id, TenantID: tenant}
}

// plans is the record of a room that ana owns.
func plans(terms ubl.Terms) *agreement.Kept {
	return &agreement.Kept{Agreement: ubl.Agreement{
		ID: "a:room:r:plans", TenantID: "t:acme.com", Status: ubl.AgreementInForce, Terms: &terms, Members: map[ubl.UserID]ubl.Member{
			"u:ana": {UserID: "u:ana", Role: ubl.RoleOwner}, "u:bob": {UserID: "u:bob", Role: ubl.RoleMember}, "u:guest": {UserID: "u:guest", Role: ubl.RoleMember},
		},
	}}
}

var (
	ana, bob, cem = who("u:ana", "t:acme.com"), who("u:bob", "t:acme.com"), who("u:cem", "t:acme.com")
	everyday      = []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners}}, {Did: "messenger.*", To: []string{ubl.ToEntries}}, {Did: "room.join", To: []string{ubl.ToTenant}}}
)

// TestStands: an act names a record under which its author stands, as its terms say.
func TestStands(t *testing.T) {
	in := plans(ubl.Terms{Permits: everyday})
	guest, eve, license := who("u:guest", "t:other"), who("u:eve", "t:other"), ubl.TenantAgreement("t:acme.com")
	for _, at := range []struct {
		what   string
		who    ubl.Identity
		did    ubl.Did
		under  ubl.AgreementID
		stands bool
	}{
		{"an entry under the record", bob, "messenger.send", in.ID, true},
		{"an entry, of an owner's act", bob, "room.invite", in.ID, false},
		{"an owner", ana, "room.invite", in.ID, true},
		{"an entry under the TenantLicense", bob, "messenger.send", license, true},
		{"an entry under another's record", bob, "messenger.send", "a:room:r:other", false},
		{"an entry under another tenant's license", bob, "messenger.send", ubl.TenantAgreement("t:other"), false},
		{"one of the tenant under the record", cem, "messenger.send", in.ID, false},
		{"one of the tenant who joins by it", cem, "room.join", in.ID, true},
		{"one of the tenant under its license", cem, "messenger.send", license, true},
		{"somebody else by an entry's id", guest, "messenger.send", in.ID, false},
		{"a stranger under the TenantLicense", guest, "messenger.send", license, false},
		{"a stranger who joins", eve, "room.join", in.ID, false},
		{"nobody", ubl.Identity{}, "room.join", in.ID, false},
		{"the platform", ubl.Platform(), "room.trim", in.ID, true},
	} {
		err := in.Stands(actors.Proposal{Who: at.who, Did: at.did, Agreement: at.under})
		if (err == nil) != at.stands || err != nil && ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("%s: %v", at.what, err)
		}
	}
}

// TestBounds: acts come in the terms' time and no more often than these let, of each or of all
// together. What takes away, looks, or is about the record knows no time.
func TestBounds(t *testing.T) {
	in := plans(ubl.Terms{Permits: everyday, From: 1000, Until: 1000 + ubl.Time(time.Hour.Milliseconds()), Limits: []ubl.Limit{
		{Did: "messenger.*", PerMinute: 2}, {Did: "room.invite", PerMinute: 1, Together: true},
	}})
	ask := func(p actors.Proposal) ubl.Code {
		p.Agreement = in.ID
		err := in.Stands(p)
		if err == nil {
			in.Counts(p)
		}
		return ubl.CodeOf(err)
	}
	send := actors.Proposal{At: 999, Who: bob, Did: ubl.DidSend}
	if got := ask(send); got != ubl.CodeForbidden {
		t.Errorf("before the terms: %q", got)
	}
	for name, early := range map[string]actors.Proposal{
		"a removal": {At: 999, Who: ana, Did: ubl.DidRoomRemove, Frees: true}, "a look": {At: 999, Who: ana, Did: ubl.DidRoomUpdate, Looks: true},
		"a proposal": {At: 999, Who: ana, Did: ubl.DidAgreementPropose},
	} {
		if got := ask(early); got != "" {
			t.Errorf("%s before the terms: %q", name, got)
		}
	}
	for i, want := range []ubl.Code{"", "", ubl.CodeRateLimited} {
		send.At = 1000
		if got := ask(send); got != want {
			t.Errorf("message %d: %q, want %q", i+1, got, want)
		}
	}
	if send.Who = ana; ask(send) != "" {
		t.Error("one caller's messages count as another's")
	}
	invite := actors.Proposal{At: 1000, Who: ana, Did: ubl.DidRoomInvite}
	if ask(invite) != "" || ask(invite) != ubl.CodeRateLimited {
		t.Error("two invitations in a minute, of one that all have together")
	}
	if send.At = in.Terms.Until; ask(send) != ubl.CodeForbidden {
		t.Error("a message after the terms")
	}
}

// TestReach: terms don't go beyond the physics.
func TestReach(t *testing.T) {
	to := func(did ubl.Did, to string) *ubl.Terms {
		return &ubl.Terms{Permits: []ubl.Permit{{Did: string(did), To: []string{to}}}}
	}
	for p, may := range map[ubl.Permeability][2]bool{
		ubl.Sealed: {}, ubl.Gated: {}, ubl.Collaborative: {}, ubl.Open: {true, false}, ubl.Public: {true, true},
	} {
		r := agreement.ContainerReach(ubl.Physics{Permeability: p})
		for i, whom := range []string{ubl.ToTenant, ubl.ToAnyone} {
			if err := r.Check(to(ubl.DidDocumentGet, whom)); (err == nil) != may[i] {
				t.Errorf("%s, to %s: %v", p, whom, err)
			}
		}
		if err := r.Check(to(ubl.DidReceive, ubl.ToTenant)); err != nil {
			t.Errorf("%s, gifts of the tenant: %v", p, err)
		}
	}
}
