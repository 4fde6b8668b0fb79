package actors_test

import (
	"slices"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestUsableTools: what is said of somebody's tools is what their use is then decided by, live and
// loaded, and asking counts as no use.
func TestUsableTools(t *testing.T) {
	h := openAgreed(t)
	usable := func(who ubl.Identity) *ubl.UsableTools {
		t.Helper()
		return harness.Must[*ubl.UsableTools](h.House, h.tenant, ubl.FindUsable{Who: who, Tools: []string{"messenger.send", "messenger.edit", "room.create", "token.list", "token.create"}})
	}
	wants := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	all := []string{"messenger.send", "messenger.edit", "room.create", "token.list", "token.create"}
	wants("open to a member", usable(h.bob).Open, all)
	wants("permitted to a member", usable(h.bob).Permitted, []string{"room.create"})
	wants("permitted to an owner", usable(h.ana).Permitted, []string{"room.create", "token.list", "token.create"})

	harness.Must[*ubl.ToolAccess](h.House, h.tenant, ubl.SetToolAccess{Request: h.Request(h.ana), Tool: "messenger.send", Allowed: true, Users: []ubl.UserID{h.ana.UserID}, PerMinute: 1})
	h.agree(h.tenant, ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("token.*", ubl.ToEntries)}})
	for _, loaded := range []string{"live", "loaded"} {
		for range 3 {
			wants(loaded+": open to ana", usable(h.ana).Open, all)
		}
		wants(loaded+": closed to bob, with what is part of it", usable(h.bob).Open, []string{"room.create", "token.list", "token.create"})
		wants(loaded+": permitted to bob", usable(h.bob).Permitted, []string{"token.list", "token.create"})
		h.want("", loaded+": so it is", h.tenant, ubl.ListServiceTokens{Who: h.bob})
		h.Reload()
	}
	h.want(ubl.CodeForbidden, "somebody of another tenant", h.tenant, ubl.FindUsable{Who: harness.User("eve@other.org"), Tools: all})
}
