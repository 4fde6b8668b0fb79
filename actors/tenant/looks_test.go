package tenant_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// alike are those members whose id a client has to show.
func (p *party) alike() (ids []ubl.UserID) {
	for _, m := range harness.Must[[]ubl.Member](p.House, p.tenant, ubl.ListMembers{Who: p.ana}) {
		if m.Alike {
			ids = append(ids, m.UserID)
		}
	}
	return ids
}

// TestMembersWhoLookAlike are told apart in lists, by name or by what is shown for one,
// until one of them is called otherwise or leaves; also in lists of some, and after a
// restart.
func TestMembersWhoLookAlike(t *testing.T) {
	p := newParty(t)
	want := func(when string, n int) {
		t.Helper()
		if got := p.alike(); len(got) != n {
			t.Errorf("%s: alike are %v, want %d", when, got, n)
		}
	}
	want("ana and bob", 0)
	harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.bob, p.bob, "Ana"))
	want("bob is called as ana's address begins", 2)
	p.Reload()
	want("after a restart", 2)
	harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.ana, p.ana, "modern"))
	want("ana has a name of her own", 0)
	harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.bob, p.bob, "rnodern"))
	want("bob writes rn for m", 2)
	some := harness.Must[[]ubl.Member](p.House, p.tenant, ubl.ListMembers{Who: p.ana, Only: []ubl.UserID{p.bob.UserID}})
	if len(some) != 1 || !some[0].Alike {
		t.Errorf("some are %+v", some)
	}
	if m := harness.Must[*ubl.Member](p.House, p.tenant, ubl.FindMember{Who: p.ana, UserID: p.bob.UserID}); m.Alike {
		t.Error("what is stored of bob says whom he looks like")
	}
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	want("bob is gone", 0)
}

// TestRoomsThatLookAlike: rooms get an id of their name, and two names may look the
// same.
func TestRoomsThatLookAlike(t *testing.T) {
	p := newParty(t)
	for _, name := range []string{"team", "tearn", "сосо", "coco", "plans"} {
		harness.Must[*ubl.RoomSummary](p.House, p.tenant, ubl.CreateRoom{Request: p.Request(p.ana), Name: name})
	}
	alike := 0
	for _, r := range harness.Must[[]ubl.RoomEntry](p.House, p.tenant, ubl.ListRooms{Who: p.ana}) {
		if r.Alike {
			alike++
		}
		if r.Name == "plans" && r.Alike || r.Name == "team" && !r.Alike {
			t.Errorf("%+v", r)
		}
	}
	if alike != 4 {
		t.Errorf("%d rooms are alike", alike)
	}
}

// TestNamesThatImpersonate are refused for whatever has a name, with the one rule; a
// provider's leaves its bearer without one.
func TestNamesThatImpersonate(t *testing.T) {
	p := newParty(t)
	eve := harness.User("eve@acme.com")
	for _, name := range []string{"ana@acme.com", "Аna", "Ana\u200b", "\u202eana", "Ａna", "u:ana"} {
		p.Refused(ubl.CodeValidation, p.tenant, p.naming(p.ana, p.ana, name))
		p.Refused(ubl.CodeValidation, p.tenant, ubl.CreateRoom{Request: p.Request(p.ana), Name: name})
		p.Refused(ubl.CodeValidation, p.tenant, ubl.CreateContainer{Request: p.Request(p.ana), Kind: ubl.WorkspaceKind().Name, Name: name})
		p.Refused(ubl.CodeValidation, p.tenant, ubl.CreateServiceToken{Request: p.Request(p.ana), Name: name, ClientID: "c", SecretHash: "00"})
		p.Refused(ubl.CodeValidation, ubl.PortalName(p.ana.TenantID), ubl.AddServer{Request: p.Request(p.ana), Owner: true,
			Server: ubl.Server{ServerID: "weather", Name: name, URL: "https://mcp.example.com/mcp", Auth: ubl.AuthNone}})
		p.come(eve, name)
		if got := p.nameOf(eve.UserID); got != "" {
			t.Errorf("a provider's %q makes the name %q", name, got)
		}
	}
}

// TestWorkspacesThatLookAlike are marked in lists, as rooms are.
func TestWorkspacesThatLookAlike(t *testing.T) {
	p := newParty(t)
	for _, name := range []string{"Plans", "P1ans", "Team"} {
		harness.Must[*ubl.ContainerMade](p.House, p.tenant, ubl.CreateContainer{Request: p.Request(p.ana), Kind: "workspace", Name: name})
	}
	marked := map[string]bool{}
	list := harness.Must[*ubl.ContainerList](p.House, p.tenant, ubl.ListContainers{Request: p.Request(p.ana), Kind: "workspace"})
	for _, c := range list.Containers {
		marked[c.Name] = c.Alike
	}
	if !marked["Plans"] || !marked["P1ans"] || marked["Team"] {
		t.Errorf("marked are %v", marked)
	}
}
