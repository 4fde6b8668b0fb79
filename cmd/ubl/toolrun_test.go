package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestProgramsOfAgents: the server runs an agent's program in a process of its own, the log shows
// the run and its calls, and an owner can close it.
func TestProgramsOfAgents(t *testing.T) {
	ask := limitedNode(t)
	ask("owner@localhost", "GET", "/api/whoami", "")
	const agent = "agent:owner@localhost"
	run := func(who string) string {
		return ask(who, "POST", "/portal/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool.run","arguments":{"client_request_id":"req:of-the-run","program":`+
			`"const {rooms} = await tools.messenger.list_rooms({}); await tools.messenger.send({room_id: rooms[0].room_id, type: 'text', body: {text: 'hi'}}); return rooms.length"}}}`).Body.String()
	}
	answer := run(agent)
	var got struct {
		Result struct {
			StructuredContent struct {
				Result int
				Calls  []struct {
					RequestID string `json:"request_id"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Result.StructuredContent.Result < 1 || len(got.Result.StructuredContent.Calls) != 2 {
		t.Fatalf("answered %s", answer)
	}
	var page struct {
		Calls []struct {
			Capability, Status, Parent string
			RequestID                  string `json:"request_id"`
		}
	}
	if w := ask("owner@localhost", "GET", "/api/portal/logs?limit=3", ""); json.Unmarshal(w.Body.Bytes(), &page) != nil || len(page.Calls) != 3 {
		t.Fatalf("the log has %s", w.Body)
	}
	if row := page.Calls[0]; row.Capability != "tool.run" || row.RequestID != "req:of-the-run" || row.Status != "ok" {
		t.Errorf("the run is logged as %+v", row)
	}
	for i, row := range page.Calls[1:] {
		if row.Parent != "req:of-the-run" || row.RequestID != got.Result.StructuredContent.Calls[1-i].RequestID {
			t.Errorf("a call is logged as %+v", row)
		}
	}
	ask("owner@localhost", "PUT", "/api/portal/tools/tool.run/access", `{"allowed":false}`)
	if names, _ := listed(t, ask, agent, "/mcp"); slices.Contains(names, "tool.run") {
		t.Error("an agent is shown what is closed")
	}
	if answer := run(agent); !strings.Contains(answer, "forbidden") {
		t.Errorf("a closed tool answers %s", answer)
	}
}
