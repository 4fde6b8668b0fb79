package actors_test

import (
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// guest comes into the tenant by an owner's invitation.
func (p *party) guest(by ubl.Identity, email string, role ubl.Role) ubl.Identity {
	p.t.Helper()
	harness.Must[*ubl.Invitation](p.House, p.tenant, ubl.CreateInvitation{Request: p.Request(by), InvitationID: "i:" + ubl.InvitationID(email[:3]),
		Invitee: harness.User(email), Role: role, TTL: time.Hour, SecretHash: email})
	who := *harness.Must[*ubl.Identity](p.House, p.tenant, ubl.AcceptInvitation{Request: p.Request(ubl.Platform()), SecretHash: email})
	who.TenantID = p.ana.TenantID
	p.Enter(who)
	return who
}

// TestInviterStaysOnRecord: a member's entry says who invited them, also once that owner
// is removed, the member has another role and has proved the address. Rooms don't keep it.
func TestInviterStaysOnRecord(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	cem := p.guest(p.bob, "cem@example.com", ubl.RoleOwner)
	says := func() {
		t.Helper()
		for range 2 {
			for _, m := range harness.Must[[]ubl.Member](p.House, p.tenant, ubl.ListMembers{Who: p.ana}) {
				want := ubl.UserID("")
				if m.UserID == cem.UserID {
					want = p.bob.UserID
				}
				if m.InvitedBy != want {
					t.Errorf("%s was invited by %q, want %q", m.Email, m.InvitedBy, want)
				}
			}
			p.Reload()
		}
	}
	says()
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	says()
	p.role(cem, ubl.RoleMember)
	says()
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: cem.UserID})
	p.role(cem, ubl.RoleMember)
	says()
	verified := harness.User("cem@example.com")
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.ProveMember{Request: p.Request(ubl.Platform()), Member: cem, Verified: verified})
	says()
	for _, m := range harness.Must[*ubl.AgreementView](p.House, p.general, ubl.GetAgreement{Who: p.ana}).Members {
		if m.InvitedBy != "" {
			t.Errorf("the room's entry of %s names who invited them", m.UserID)
		}
	}
}

// TestUnprovenOwnerClaimsNoDomain, so that an owner who came by a link draws nobody in.
func TestUnprovenOwnerClaimsNoDomain(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	g := &registry{House: p.House, t: t, ana: p.ana}
	cem := p.guest(p.bob, "cem@example.com", ubl.RoleOwner)
	p.Refused(ubl.CodeForbidden, p.tenant, g.claim(cem, "corp.example"))
	made := g.claimed(p.ana, "corp.example")
	p.Refused(ubl.CodeForbidden, p.tenant, g.verify(cem, made))
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.CheckDomain{Request: p.Request(cem), Domain: "corp.example"})
	harness.Must[*ubl.DomainClaim](p.House, p.tenant, g.verify(p.ana, made))
}
