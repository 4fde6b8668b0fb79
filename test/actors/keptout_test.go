package actors_test

import (
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
