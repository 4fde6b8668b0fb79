package tenant

import (
	"testing"

	"ubl"
	"ubl/actors"
)

// TestPhysicsDecide: whether anything new comes into a tenant follows from the
// physics in its TenantLicense. One from before there were any has those that
// every TenantLicense says.
func TestPhysicsDecide(t *testing.T) {
	sealed := ubl.Physics{Fungibility: ubl.Strict, Topology: ubl.Subjects, Permeability: ubl.Sealed, Execution: ubl.Disabled}
	realm := ubl.TenantPhysics()
	ana := ubl.Identity{UserID: "u:ana", Email: "ana@acme.com", TenantID: "t:acme.com"}
	for _, test := range []struct {
		name    string
		stored  *ubl.Physics
		physics ubl.Physics
		create  ubl.Code
	}{
		{"as stored", &realm, realm, ""},
		{"from before", nil, realm, ""},
		{"sealed", &sealed, sealed, ubl.CodeForbidden},
	} {
		var s State
		s.apply(event{
			Stamp: actors.Stamp{N: 1, Did: ubl.DidTenantCreate}, Tenant: &ubl.Tenant{TenantID: ana.TenantID}, Physics: test.stored,
			Member: &ubl.Member{UserID: ana.UserID, Role: ubl.RoleOwner}, Voucher: &voucher{},
		})
		if got := s.License.Physics; *got != test.physics {
			t.Errorf("%s: the physics are %s", test.name, got)
		}
		_, token := makers{}.decideToken(&s, ubl.CreateServiceToken{Request: ubl.Request{Who: ana}, Name: "bot", ClientID: "c1"}, actors.Moment{Now: 1})
		for what, err := range map[string]error{"a room or container": s.mayCreate(ubl.DidRoomCreate, ana, "plans"), "a service": token} {
			if ubl.CodeOf(err) != test.create {
				t.Errorf("%s: making %s is answered %v, want %q", test.name, what, err, test.create)
			}
		}
		if _, err := s.decideEnd(ubl.EndAgreement{Request: ubl.Request{Who: ana}}, actors.Moment{Now: 1}); err != nil {
			t.Errorf("%s: ending is answered %v", test.name, err)
		}
	}
}
