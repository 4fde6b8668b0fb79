package tenant_test

import (
	"cmp"
	"slices"
	"testing"

	"ubl"
	"ubl/test/harness"
)

func (p *party) former() []ubl.FormerMember {
	return harness.Must[[]ubl.FormerMember](p.House, p.tenant, ubl.ListFormer{Who: p.ana})
}

// TestFormerMembers keep the name that they left with, and nothing else of them is told;
// who comes back is none any more, and who isn't a member learns nothing.
func TestFormerMembers(t *testing.T) {
	p := newParty(t)
	is := func(when string, want ...ubl.FormerMember) {
		t.Helper()
		if got := p.former(); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	cem := harness.User("cem@acme.com")
	p.come(cem, "")
	is("before anybody has left")
	harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.bob, p.bob, "rnodern"))
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(cem), UserID: cem.UserID})
	bob, nameless := ubl.FormerMember{UserID: p.bob.UserID, Name: "rnodern"}, ubl.FormerMember{UserID: cem.UserID}
	sorted := func(of ...ubl.FormerMember) []ubl.FormerMember {
		slices.SortFunc(of, func(a, b ubl.FormerMember) int { return cmp.Compare(a.UserID, b.UserID) })
		return of
	}
	is("one was removed, one has left", sorted(bob, nameless)...)
	p.Reload()
	is("after a restart", sorted(bob, nameless)...)

	harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.ana, p.ana, "modern"))
	bob.Alike = true
	is("ana is called what looks the same", sorted(bob, nameless)...)

	p.Refused(ubl.CodeForbidden, p.tenant, ubl.ListFormer{Who: p.bob})
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.ListFormer{Who: harness.User("eve@evil.example")})

	harness.Must[*ubl.Member](p.House, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID, Role: ubl.RoleMember})
	is("bob is let in again", nameless)
}
