package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"ubl/test/poll"
)

// TestClosedWhileItAsks: from whom a tool is taken while it waits for their reply, by an owner who
// closes it or narrows the agent's mandate, sees neither its question nor its answer, and their reply
// doesn't reach it. Once they may use it again, all goes on.
func TestClosedWhileItAsks(t *testing.T) {
	p := prepare(t, product, "--owner", "ana@acme.com")
	p.serve(t)
	p.signIn(t)
	p.knows(t, map[string]string{"old": upstream(t, false)}, "greet", "elicitation")
	client, robot := p.service(t, `{"tools":["old.*"],"places":["r:general"]}`)
	at := "http://" + p.address + "/portal/mcp"
	const reply = `{"action":"accept","content":{"name":"Ana"}}`
	for name, taken := range map[string]struct{ path, away, back string }{
		"the tool is closed":      {"/portal/tools/old.greet/access", `{"allowed":false}`, `{"allowed":true}`},
		"the mandate is narrowed": {"/service-tokens/" + client + "/mandate", `{"tools":["messenger.*"]}`, `{"tools":["old.*"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			hello, _ := post(t, at, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"hand","version":"1"}}}`, robot...)
			old := append([]string{"Mcp-Session-Id", hello.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25"}, robot...)
			begun, problem := rpc(t, at, "2025-11-25", "tools/call", `{"name":"old.greet","arguments":{},"task":{}}`, old...)
			made, _ := begun["task"].(map[string]any)
			id, ok := made["taskId"].(string)
			if !ok {
				t.Fatalf("no task is made: %s %s", text(begun), text(problem))
			}
			task := `{"taskId":"` + id + `"}`
			get := func() string {
				got, problem := rpc(t, at, "2026-07-28", "tasks/get", task, robot...)
				return text(got) + text(problem)
			}
			poll.Until(t, "the task asks", func() bool { return strings.Contains(get(), "Who are you?") })
			parked, _ := rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.greet","arguments":{}}`, robot...)
			state, ok := parked["requestState"].(string)
			if !ok {
				t.Fatalf("the call isn't parked: %s", text(parked))
			}
			resume := func() string {
				got, problem := rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.greet","arguments":{},"requestState":"`+state+`","inputResponses":{"q1":`+reply+`}}`, robot...)
				return text(got) + text(problem)
			}

			p.api(t, "PUT", taken.path, taken.away)
			if said := resume(); !strings.Contains(said, "forbidden") || strings.Contains(said, "hello") {
				t.Errorf("the parked call was answered %s", said)
			}
			if said := get(); strings.Contains(said, "Who are you?") {
				t.Errorf("the task still asks: %s", said)
			}
			if got, problem := rpc(t, at, "2026-07-28", "tasks/update", `{"taskId":"`+id+`","inputResponses":{"q1":`+reply+`}}`, robot...); problem == nil {
				t.Errorf("a reply to the task was answered %s", text(got))
			}
			if got, problem := rpc(t, at, "2025-11-25", "tasks/result", task, old...); problem == nil {
				t.Errorf("its result is %s", text(got))
			}
			answer := `{"jsonrpc":"2.0","id":"ask-` + strings.TrimPrefix(id, "call-") + `-1","result":` + reply + `}`
			if res, said := post(t, at, answer, old...); res.StatusCode != http.StatusForbidden {
				t.Errorf("a reply of the older protocol was answered %d %s", res.StatusCode, said)
			}

			p.api(t, "PUT", taken.path, taken.back)
			if said := get(); !strings.Contains(said, "Who are you?") {
				t.Fatalf("the task doesn't ask any more, so that a reply has reached it: %s", said)
			}
			if said := resume(); !strings.Contains(said, "accept: hello, Ana") {
				t.Errorf("the parked call came to %s", said)
			}
			if res, said := post(t, at, answer, old...); res.StatusCode != http.StatusAccepted {
				t.Errorf("the reply was answered %d %s", res.StatusCode, said)
			}
			poll.Until(t, "the task has an answer", func() bool { return strings.Contains(get(), "accept: hello, Ana") })

			p.api(t, "PUT", taken.path, taken.away)
			if said := get(); strings.Contains(said, "hello") {
				t.Errorf("the answer is told: %s", said)
			}
			p.api(t, "PUT", taken.path, taken.back)
		})
	}
}
