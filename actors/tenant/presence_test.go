package tenant_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestPresence: a person is there for as long as their screen says so, for members alone, and
// nothing of it is kept.
func TestPresence(t *testing.T) {
	p := newParty(t)
	present := func(who ubl.Identity, is bool) ubl.Presence {
		return *harness.Must[*ubl.Presence](p.House, p.tenant, ubl.SetPresent{Who: who, Present: is})
	}
	is := func(when string, want ...ubl.Presence) {
		t.Helper()
		slices.SortFunc(want, func(a, b ubl.Presence) int { return cmp.Compare(a.UserID, b.UserID) })
		if got := harness.Must[[]ubl.Presence](p.House, p.tenant, ubl.ListPresent{Who: p.ana}); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	is("nobody has said so")
	ana, bob := present(p.ana, true), present(p.bob, true)
	if want := ubl.TimeOf(p.Clock.Now()).Add(ubl.PresentFor); ana.Until != want {
		t.Errorf("ana is there until %s, want %s", ana.Until, want)
	}
	is("both are there", ana, bob)

	p.Clock.Add(time.Minute)
	ana = present(p.ana, true)
	p.Clock.Add(ubl.PresentFor - time.Minute)
	is("bob is silent", ana)
	present(p.ana, false)
	is("ana says that she has gone")

	bob = present(p.bob, true)
	is("bob is back", bob)
	bot := ubl.Identity{UserID: "u:bot", TenantID: p.ana.TenantID, IsService: true}
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.SetPresent{Who: bot, Present: true})
	eve := harness.User("eve@evil.example")
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.SetPresent{Who: eve, Present: true})
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.ListPresent{Who: eve})

	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	is("bob is removed")
	present(p.ana, true)
	p.Reload()
	is("after a restart")
}
