package tenant

import (
	"slices"

	"ubl"
	"ubl/actors"
)

// home is where somebody belongs, as it is stored: whom an issuer calls so.
type home struct {
	Of       voucher      `json:"of"`
	TenantID ubl.TenantID `json:"tenant_id"`
	UserID   ubl.UserID   `json:"user_id"`
}

// maxHomes is how many are remembered of a person: the oldest is forgotten.
const maxHomes = 16

func (s *State) keepHome(h *home) {
	at := ubl.Home{TenantID: h.TenantID, UserID: h.UserID}
	list := slices.DeleteFunc(slices.Clone(s.Homes[h.Of]), func(other ubl.Home) bool { return other == at })
	s.Homes[h.Of] = append(list[max(0, len(list)-maxHomes+1):], at)
}

// decideHome records where somebody belongs. The tenant decides whether that is so each
// time they come, so that a wrong record leads nowhere.
func (s *State) decideHome(c ubl.KeepHome, _ actors.Moment) (*plan, error) {
	if s.id() != ubl.CoreTenant || !c.Who.IsPlatform() {
		return nil, ubl.Errorf(ubl.CodeForbidden, "only the platform says where people belong, in tenant 0")
	}
	in, user := ubl.Str("tenant_id", c.Home.TenantID), ubl.Str("user_id", c.Home.UserID)
	return &plan{
		Act:   act(ubl.Fields{in, user}, ubl.Fields{ubl.Str("op", ubl.DidPlatformHomeSet), in, user}),
		Event: event{Home: &home{Of: *voucherOf(c.Verified), TenantID: c.Home.TenantID, UserID: c.Home.UserID}},
	}, nil
}

// proveMember is an act of the member's own.
func (x *Tenant) proveMember(t *actors.Turn, c ubl.ProveMember) {
	if !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform proves whose an address is"))
		return
	}
	c.Who = c.Member
	c.Who.Unproven = true
	x.Change(t, c)
}

func (s *State) decideProve(c ubl.ProveMember, _ actors.Moment) (*plan, error) {
	m, ok := s.License.Members[c.Member.UserID]
	switch {
	case !ok || s.Vouched[m.UserID] != *voucherOf(c.Member):
		return nil, ubl.Errorf(ubl.CodeForbidden, "the caller is not a member of this tenant")
	case s.License.InForce() != nil:
		return nil, s.License.InForce()
	case !m.Unproven:
		return nil, ubl.Errorf(ubl.CodeConflict, "the member's address is proven already")
	case c.Verified.Unproven || !ubl.SameEmail(m.Email, c.Verified.Email):
		return nil, ubl.Errorf(ubl.CodeConflict, "the provider knows you by another address than the invitation's: ask an owner to invite that one")
	case s.hasProven(c.Verified):
		return nil, ubl.Errorf(ubl.CodeConflict, "a proven member has that address already: sign in as them, and ask an owner to remove the entry that is unproven")
	}
	m.Unproven = false
	p := setting(s.id(), m)
	p.Event.Voucher = voucherOf(c.Verified)
	return p, nil
}

// hasProven reports whether a verified person is a member under another id.
func (s *State) hasProven(who ubl.Identity) bool {
	for _, m := range s.License.Members {
		if !m.IsService && !m.Unproven && (m.UserID == who.UserID || ubl.SameEmail(m.Email, who.Email)) {
			return true
		}
	}
	return false
}
