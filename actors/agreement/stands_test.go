package agreement_test

import (
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// TestStands: an act names a record under which its author stands.
func TestStands(t *testing.T) {
	const joins ubl.Did = "room.join"
	who := func(id ubl.UserID, tenant ubl.TenantID) ubl.Identity {
		return ubl.Identity{UserID: id, TenantID: tenant}
	}
	in := &ubl.Agreement{ID: "a:room:r:plans", TenantID: "t:acme.com", Members: map[ubl.UserID]ubl.Member{"u:ana": {}, "u:guest": {}}}
	ana, bob, guest, eve := who("u:ana", "t:acme.com"), who("u:bob", "t:acme.com"), who("u:guest", "t:other"), who("u:eve", "t:other")
	license := ubl.TenantAgreement("t:acme.com")
	for _, at := range []struct {
		what   string
		who    ubl.Identity
		did    ubl.Did
		under  ubl.AgreementID
		stands bool
	}{
		{"an entry under the record", ana, "room.send", in.ID, true},
		{"an entry under the TenantLicense", ana, "room.send", license, true},
		{"an entry under another's record", ana, "room.send", "a:room:r:other", false},
		{"an entry under another tenant's license", ana, "room.send", ubl.TenantAgreement("t:other"), false},
		{"one of the tenant under the record", bob, "room.send", in.ID, false},
		{"one of the tenant who joins by it", bob, joins, in.ID, true},
		{"one of the tenant under its license", bob, "room.send", license, true},
		{"a guest with an entry, under the record", guest, "room.send", in.ID, true},
		{"a guest with an entry, under the TenantLicense", guest, "room.send", license, false},
		{"a stranger", eve, "room.send", in.ID, false},
		{"the platform", ubl.Platform(), "room.trim", in.ID, true},
	} {
		err := agreement.Stands(in, actors.Proposal{Who: at.who, Did: at.did, Agreement: at.under}, joins)
		if (err == nil) != at.stands || err != nil && ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("%s: %v", at.what, err)
		}
	}
}
