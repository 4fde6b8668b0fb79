package actors_test

import (
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestRemovedUnderAnotherSubject: who was removed doesn't come back by their verified
// address under another issuer or subject, until an owner lets the address in again.
func TestRemovedUnderAnotherSubject(t *testing.T) {
	other := func(p *party, subject, email string) ubl.Identity {
		who := p.bob
		who.Issuer, who.Subject, who.Email = "https://other.example", subject, email
		who.UserID = ubl.UserIDFor(who.Issuer, who.Subject, false)
		return who
	}
	removed := func(t *testing.T) *party {
		p := openParty(t, harness.Open(t, harness.Options{}))
		harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
		for range 2 {
			for _, back := range []ubl.Identity{other(p, "bob", p.bob.Email), other(p, "bob2", "Bob@Example.com")} {
				p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(back)})
			}
			p.Reload()
		}
		p.Enter(other(p, "eve", "eve@example.com"))
		return p
	}
	t.Run("the entry is set again", func(t *testing.T) {
		p := removed(t)
		p.role(p.bob, ubl.RoleMember)
		p.Enter(p.bob)
		p.Enter(other(p, "bob", p.bob.Email))
	})
	t.Run("the address is invited", func(t *testing.T) {
		p := removed(t)
		harness.Must[*ubl.Invitation](p.House, p.tenant, ubl.CreateInvitation{Request: p.Request(p.ana), InvitationID: "i:bob",
			Invitee: p.bob, Role: ubl.RoleMember, TTL: time.Hour, SecretHash: "bobs"})
		harness.Must[*ubl.Identity](p.House, p.tenant, ubl.AcceptInvitation{Request: p.Request(ubl.Platform()), SecretHash: "bobs"})
		guest := ubl.Invited(p.ana.TenantID, "i:bob", p.bob.Email)
		p.Enter(guest)
		back := other(p, "bob", p.bob.Email)
		p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(back)}) // the link proves nothing
		harness.Must[*ubl.Member](p.House, p.tenant, ubl.ProveMember{Request: p.Request(ubl.Platform()), Member: guest, Verified: back})
		back.UserID = guest.UserID
		p.Enter(back)
	})
	t.Run("an unproven entry was removed", func(t *testing.T) {
		p := openParty(t, harness.Open(t, harness.Options{}))
		harness.Must[*ubl.Invitation](p.House, p.tenant, ubl.CreateInvitation{Request: p.Request(p.ana), InvitationID: "i:cem",
			Invitee: harness.User("cem@example.com"), Role: ubl.RoleMember, TTL: time.Hour, SecretHash: "cems"})
		guest := harness.Must[*ubl.Identity](p.House, p.tenant, ubl.AcceptInvitation{Request: p.Request(ubl.Platform()), SecretHash: "cems"})
		harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: guest.UserID})
		p.Enter(harness.User("cem@example.com"))
	})
}
