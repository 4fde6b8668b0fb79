package web

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestForms: an agent asks over MCP with buttons, bob presses one on his phone and then another, and the
// agent reads what he chose. Ana fills in a form of several fields, is told what it lacks, and changes
// her answer; of a private form bob isn't shown hers.
func TestForms(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	bob.enter("general")
	ana.enter("general")
	agent := s.agentWith(owner, "scribe", &mcp.ClientOptions{})
	use := func(tool string, args map[string]any) (answer struct {
		Entry struct {
			EntryID string `json:"entry_id"`
		}
		Answers []struct{ Values map[string]any }
	}) {
		t.Helper()
		args["room_id"] = general
		got, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		must(t, err)
		if got.IsError {
			t.Fatalf("%s answers %+v", tool, got.Content[0])
		}
		text, err := json.Marshal(got.StructuredContent)
		must(t, err)
		must(t, json.Unmarshal(text, &answer))
		return answer
	}
	chosen := func(form string) any {
		if list := use("messenger.form.get", map[string]any{"form_id": form}).Answers; len(list) == 1 {
			return list[0].Values["deploy"]
		}
		return nil
	}

	asked := use("messenger.form.create", map[string]any{"text": "May I deploy?", "fields": []any{
		map[string]any{"name": "deploy", "label": "Deploy", "type": "button", "options": []string{"Approve", "Reject"}, "required": true},
	}}).Entry.EntryID
	ana.sees("May I deploy?", "0 answers")
	bob.sees("May I deploy?")
	bob.press("button", "Approve")
	bob.sees("1 answer", "Your answer")
	ana.sees("1 answer", "Who answered")
	if got := chosen(asked); got != "Approve" {
		t.Errorf("the agent reads %v", got)
	}
	bob.press("button", "Reject")
	bob.until("the second answer to stand", func() bool { return chosen(asked) == "Reject" })
	bob.until("the second button to be pressed", func() bool {
		return eval[string](bob, `[...document.querySelectorAll('.form .buttons [aria-pressed=true]')].map((b) => b.textContent).join()`) == "Reject"
	})
	bob.examine("form-buttons-phone")

	trip := use("messenger.form.create", map[string]any{"text": "Who comes along?", "private": true, "fields": []any{
		map[string]any{"name": "name", "label": "Full name", "type": "line", "required": true},
		map[string]any{"name": "guests", "label": "Guests", "type": "number", "min": 1, "max": 9},
		map[string]any{"name": "day", "label": "Day", "type": "date", "from": "2026-01-01"},
		map[string]any{"name": "car", "label": "By car", "type": "yes_no", "required": true},
		map[string]any{"name": "meal", "label": "Meal", "type": "one", "options": []string{"Soup", "Salad"}},
		map[string]any{"name": "tools", "label": "Tools", "type": "several", "options": []string{"Rope", "Axe"}},
		map[string]any{"name": "wishes", "label": "Wishes", "type": "text"},
	}}).Entry.EntryID
	ana.sees("Who comes along?", "Only who asks sees what you answer")
	ana.press("button", "Send answer")
	ana.sees("This has to be filled in")
	ana.examine("form-fields")
	ana.fill("Full name", "Ana Bell")
	ana.press("switch", "By car")
	ana.press("switch", "Axe")
	ana.press("button", "Send answer")
	ana.sees("Ana Bell", "Change answer")
	values := use("messenger.form.get", map[string]any{"form_id": trip}).Answers
	if len(values) != 1 || values[0].Values["name"] != "Ana Bell" || values[0].Values["car"] != true {
		t.Errorf("the agent reads %v", values)
	}
	ana.examine("form-answered")
	bob.sees("Who comes along?", "1 answer")
	if eval[bool](bob, `document.body.textContent.includes('Ana Bell')`) {
		t.Error("bob is shown a private answer")
	}
	ana.press("button", "Change answer")
	ana.fill("Full name", "Ana Maria Bell")
	ana.press("button", "Send answer")
	ana.sees("Ana Maria Bell")
}
