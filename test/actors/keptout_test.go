package actors_test

import (
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestAnAgentDecidesNothingAboutMembers: an owner of the place though it is, an agent with a
// mandate lets nobody in and shuts nobody out; it may still leave.
func TestAnAgentDecidesNothingAboutMembers(t *testing.T) {
	w := openTools(t, harness.Options{})
	for place, of := range map[ubl.Name][3]string{
		w.room("ours"):                     {"room.invite", "room.member.update", "room.remove"},
		w.found("workspace", "papers", ""): {"container.invite", "container.member.update", "container.remove"},
	} {
		agent := mandated(w, "bot-"+place.Local()[2:], ubl.Mandate{})
		w.letIn(place, agent)
		harness.Must[*ubl.Member](w.House, place, ubl.SetMember{Request: w.Request(w.ana), UserID: agent.UserID, Role: ubl.RoleOwner})
		bob := ubl.Member{UserID: w.bob.UserID, Role: ubl.RoleMember}
		for name, cmd := range map[string]ubl.Command{
			"lets in":   ubl.AddMember{Request: w.Request(agent), Member: bob},
			"demotes":   ubl.SetMember{Request: w.Request(agent), UserID: w.ana.UserID, Role: ubl.RoleMember},
			"shuts out": ubl.RemoveMember{Request: w.Request(agent), UserID: w.ana.UserID},
			"names":     ubl.SetHeir{Request: w.Request(agent), Heir: bob},
		} {
			if _, err := w.Ask(t.Context(), place, cmd); ubl.CodeOf(err) != ubl.CodeForbidden {
				t.Errorf("%s: the agent %s: %v", place, name, err)
			}
		}
		for _, tool := range append(of[:], "agreement.heir.set") {
			if _, err := w.Ask(t.Context(), w.tenant, ubl.Enter{Request: w.Request(agent), Act: true, Tool: tool}); ubl.CodeOf(err) != ubl.CodeForbidden {
				t.Errorf("the door leaves it %s: %v", tool, err)
			}
		}
		harness.Must[*ubl.Member](w.House, place, ubl.RemoveMember{Request: w.Request(agent), UserID: agent.UserID})
	}
}

// TestAnAgentGoesWithItsKeeper: whom somebody removes from a place takes along the agents that
// they keep, and nobody else's; who leaves doesn't.
func TestAnAgentGoesWithItsKeeper(t *testing.T) {
	w := openTools(t, harness.Options{})
	agentOf := func(keeper ubl.Identity, client string) ubl.Identity {
		harness.Must[*ubl.ServiceToken](w.House, w.tenant, ubl.ConnectAgent{
			Request: w.Request(keeper), ClientID: client, Name: client, Client: "https://client.example/metadata.json",
			Resource: "https://ubl.example/mcp", CodeHash: "code of " + client})
		harness.Must[*ubl.ServiceCaller](w.House, w.tenant, ubl.RedeemAgentCode{
			Request: w.Request(ubl.Platform()), ClientID: client, Client: "https://client.example/metadata.json",
			CodeHash: "code of " + client, FamilyHash: "family", RefreshHash: "1"})
		return harness.Must[*ubl.ServiceCaller](w.House, w.tenant, ubl.CheckAgent{ClientID: client}).Identity
	}
	bobs, anas := agentOf(w.bob, "1."+string(w.bob.TenantID)), agentOf(w.ana, "2."+string(w.ana.TenantID))
	agentOf(w.bob, "3."+string(w.bob.TenantID)) // which is in no place
	there := func(place ubl.Name, who ubl.Identity) bool {
		_, err := w.Ask(t.Context(), place, ubl.GetAgreement{Who: who})
		return err == nil
	}
	for _, place := range []ubl.Name{w.room("ours"), w.found("workspace", "papers", "")} {
		for _, leaves := range []bool{true, false} {
			w.letIn(place, w.bob, bobs, anas)
			by := w.ana
			if leaves {
				by = w.bob
			}
			before := w.head()
			remove := ubl.RemoveMember{Request: w.Request(by), UserID: w.bob.UserID}
			harness.Must[*ubl.Member](w.House, place, remove)
			if there(place, w.bob) || there(place, bobs) != leaves || !there(place, anas) {
				t.Errorf("%s, leaves %t: bob is there %t, his agent %t, ana's %t", place, leaves, there(place, w.bob), there(place, bobs), there(place, anas))
			}
			after, want := w.head(), 2
			if leaves {
				want = 1
			}
			if got := w.acts(before, ".remove", ".leave"); got != want {
				t.Errorf("%s, leaves %t: %d acts of leaving, want %d", place, leaves, got, want)
			}
			harness.Must[*ubl.Member](w.House, place, remove)
			if w.head() != after {
				t.Errorf("%s: a retry does more", place)
			}
			harness.Must[*ubl.Member](w.House, place, ubl.RemoveMember{Request: w.Request(w.ana), UserID: anas.UserID})
			if leaves {
				harness.Must[*ubl.Member](w.House, place, ubl.RemoveMember{Request: w.Request(w.ana), UserID: bobs.UserID})
			}
		}
	}
}

// acts counts those since a place of the ledger whose names end so.
func (w *tools) acts(since int64, ends ...string) (n int) {
	for _, a := range w.since(since) {
		if slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(a.Did, end) }) {
			n++
		}
	}
	return n
}
