package actors_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestRemovalClosesInvitations: an invitation that was open for a person's address when
// they came in by another way ends with their removal, on record. Those for others stay
// open, and an owner may invite the address again.
func TestRemovalClosesInvitations(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	invite := func(id ubl.InvitationID, email string) {
		t.Helper()
		harness.Must[*ubl.Invitation](p.House, p.tenant, ubl.CreateInvitation{Request: p.Request(p.ana), InvitationID: id,
			Invitee: harness.User(email), Role: ubl.RoleMember, TTL: 24 * time.Hour, SecretHash: string(id)})
	}
	cem := harness.User("cem@example.com")
	invite("i:cem", "CEM@example.com")
	invite("i:dora", "dora@example.com")
	p.Enter(cem) // by the tenant's domain
	before := harness.Must[ubl.LedgerHead](p.House, ubl.LedgerName(cem.TenantID), ubl.GetLedgerHead{}).Seq
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: cem.UserID})
	effect := harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(cem.TenantID), ubl.ReadAtoms{From: before + 2, Limit: 1}).Atoms[0]
	(&yard{House: p.House, t: t, ana: p.ana}).checkLedger()
	closed := fmt.Sprintf(`{"invitation_id":"i:cem","op":"tenant.invitation.revoke","tenant_id":%q,"user_id":%q}`,
		cem.TenantID, ubl.Invited(cem.TenantID, "i:cem", cem.Email).UserID)
	if !strings.Contains(string(effect), closed) {
		t.Errorf("the removal's effects lack %s: %s", closed, effect)
	}
	for range 2 {
		for _, i := range harness.Must[[]*ubl.Invitation](p.House, p.tenant, ubl.ListInvitations{Who: p.ana}) {
			if gone := i.ID == "i:cem"; gone != (i.RevokedAt != nil) {
				t.Errorf("%s was taken back at %v", i.ID, i.RevokedAt)
			}
		}
		_, err := p.Ask(t.Context(), p.tenant, ubl.AcceptInvitation{Request: p.Request(ubl.Platform()), SecretHash: "i:cem"})
		if ubl.CodeOf(err) != ubl.CodeNotFound {
			t.Errorf("the removed person's invitation was answered %v", err)
		}
		harness.Must[*ubl.Invitation](p.House, p.tenant, ubl.FindInvitation{SecretHash: "i:dora"})
		p.Reload()
	}
	invite("i:again", cem.Email)
	harness.Must[*ubl.Identity](p.House, p.tenant, ubl.AcceptInvitation{Request: p.Request(ubl.Platform()), SecretHash: "i:again"})
}
