package tenant

import (
	"testing"

	"ubl"
	"ubl/actors"
)

// TestCameByLinkBefore: members who came by invitation when entries didn't say so are
// unproven, through all that happened to their entries since, until they prove it.
func TestCameByLinkBefore(t *testing.T) {
	var s State
	eve, local := ubl.Member{UserID: "u:eve", Email: "eve@else.org", Role: ubl.RoleMember}, &voucher{"urn:ubl:local", "eve@else.org"}
	n := int64(0)
	apply := func(e event) {
		n++
		e.N, e.Version = n, eventVersion
		s.apply(e)
	}
	unproven := func(want bool, when string) {
		t.Helper()
		m, in := s.License.Members[eve.UserID]
		if !in {
			m = s.Removed[eve.UserID]
		}
		if m.Unproven != want {
			t.Errorf("%s, unproven is %v", when, m.Unproven)
		}
	}
	apply(event{Stamp: actors.Stamp{Did: ubl.DidTenantCreate}, Tenant: &ubl.Tenant{TenantID: "t:acme.com"}, Member: &ubl.Member{UserID: "u:ana", Role: ubl.RoleOwner}, Voucher: &voucher{"i", "ana"}})
	accepted := invitation{Invitation: ubl.Invitation{ID: "i:1", Email: eve.Email}, UserID: eve.UserID, Voucher: *local}
	apply(event{Stamp: actors.Stamp{Did: ubl.DidInvitationAccept}, Invitation: &accepted, Member: &eve, Voucher: local})
	unproven(true, "after the invitation")
	promoted := eve
	promoted.Role = ubl.RoleOwner
	apply(event{Stamp: actors.Stamp{Did: ubl.DidTenantMemberUpdate}, Member: &promoted})
	unproven(true, "in another role")
	apply(event{Stamp: actors.Stamp{Did: ubl.DidTenantMemberRemove}, Member: &promoted})
	unproven(true, "shut out")
	apply(event{Stamp: actors.Stamp{Did: ubl.DidTenantMemberUpdate}, Member: &promoted})
	unproven(true, "let in again")
	if got := s.standing(ubl.Identity{UserID: "u:eve", Issuer: local.Issuer, Subject: local.Subject}); !got.Member || !got.Unproven {
		t.Errorf("she stands as %+v", got)
	}
	apply(event{Stamp: actors.Stamp{Did: ubl.DidTenantMemberProve}, Member: &promoted, Voucher: &voucher{"https://id.example", "eve"}})
	unproven(false, "verified")
	if ana := s.License.Members["u:ana"]; ana.Unproven {
		t.Error("who founded the tenant is unproven")
	}
}

// TestOpenInvitationFromBefore leads to an id of its own too, not to its address's.
func TestOpenInvitationFromBefore(t *testing.T) {
	s := State{Tenant: ubl.Tenant{TenantID: "t:acme.com"}}
	old := invitation{Invitation: ubl.Invitation{ID: "i:1", Email: "eve@else.org"}, UserID: "u:local-eve", Voucher: voucher{"urn:ubl:local", "eve@else.org"}}
	want := ubl.Invited("t:acme.com", "i:1", "eve@else.org")
	if got := s.apart(old).invitee(); got.UserID != want.UserID || got.Issuer != want.Issuer || !got.Unproven {
		t.Errorf("it leads to %+v", got)
	}
}
