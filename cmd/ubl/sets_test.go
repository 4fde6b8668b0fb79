package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/office"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// listed asks for tools/list, and answers the names and how many bytes the answer has.
func listed(t *testing.T, ask func(who, method, path, body string) *httptest.ResponseRecorder, who, path string) (names []string, size int) {
	t.Helper()
	w := ask(who, "POST", path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	body := w.Body.String()
	if _, data, ok := strings.Cut(body, "data: "); ok { // an event
		body = data
	}
	var got struct {
		Result struct {
			Tools []struct {
				Name   string
				Output json.RawMessage `json:"outputSchema"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Result.Tools) == 0 {
		t.Fatalf("%s at %s: %d %s", who, path, w.Code, w.Body)
	}
	for _, tool := range got.Result.Tools {
		names = append(names, tool.Name)
		if tool.Output != nil {
			t.Errorf("%s has the schema of its answer, and nobody asked for it", tool.Name)
		}
	}
	return names, len(body)
}

// TestEveryToolOfOursIsInASet of the table, or in that of a family with operations of its own. Any
// other would be in a set that nobody knows.
func TestEveryToolOfOursIsInASet(t *testing.T) {
	names, _ := listed(t, limitedNode(t), "ops@acme.com", "/mcp/all") // an operator is shown all
	if len(names) < 100 {
		t.Fatalf("an operator is shown %d tools", len(names))
	}
	known := append(mcp.Sets(), "person", "webhook")
	for _, name := range names {
		if !slices.Contains(known, mcp.SetOf(name)) {
			t.Errorf("%s is in no set: add it to ownSets in transport/mcp/sets.go", name)
		}
	}
}

// TestTheManualNamesEverySet that tools of ours are in, and no other.
func TestTheManualNamesEverySet(t *testing.T) {
	manual, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, said, begun := strings.Cut(string(manual), "The sets are ")
	said, _, ended := strings.Cut(said, "and each server's id")
	if !begun || !ended {
		t.Fatal("the manual doesn't list the sets")
	}
	var told, there []string
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(said, -1) {
		told = append(told, name[1])
	}
	names, _ := listed(t, limitedNode(t), "ops@acme.com", "/mcp/all")
	for _, name := range names {
		there = append(there, mcp.SetOf(name))
	}
	slices.Sort(told)
	slices.Sort(there)
	if there = slices.Compact(there); !slices.Equal(told, there) {
		t.Errorf("the manual says that the sets are %v, and they are %v", told, there)
	}
}

// TestTheSkillNamesWhatIsThere: every word that the skill of the plugin shows as a name is a tool,
// or a member or code of answers.
func TestTheSkillNamesWhatIsThere(t *testing.T) {
	skill, err := os.ReadFile("../../deploy/claude-plugin/skills/ubl/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	names, _ := listed(t, limitedNode(t), "ops@acme.com", "/mcp/all")
	names = append(names, "client_request_id", "isError", "receipt", "cid", "seq", string(ubl.CodeForbidden), string(ubl.CodeRateLimited), string(ubl.CodeUnavailable))
	for _, name := range regexp.MustCompile("`([A-Za-z_.]+)`").FindAllStringSubmatch(string(skill), -1) {
		if !slices.Contains(names, name[1]) {
			t.Errorf("there is no %s", name[1])
		}
	}
}

// TestTheDefaultIsSmall: what an agent is shown that chooses nothing, with all tools there are,
// has at most 15 tools and 24,000 bytes.
func TestTheDefaultIsSmall(t *testing.T) {
	ask := limitedNode(t)
	if w := ask("owner@localhost", "GET", "/api/whoami", ""); w.Code != 200 { // a service can't be the first
		t.Fatal(w.Body)
	}
	for _, who := range []string{"agent:owner@localhost", "owner@localhost", "ops@acme.com"} {
		for _, path := range []string{"/mcp", "/portal/mcp", "/mcp/readonly"} {
			names, size := listed(t, ask, who, path)
			t.Logf("%s at %s: %d tools, %d bytes", who, path, len(names), size)
			if len(names) > 15 || size > 24_000 {
				t.Errorf("%s is shown %d tools in %d bytes at %s", who, len(names), size, path)
			}
			for _, name := range []string{"tool.search", "tool.describe", "tool.call", "tool.run", "messenger.history", "office.document.search"} {
				if !slices.Contains(names, name) {
					t.Errorf("%s isn't shown %s at %s", who, name, path)
				}
			}
		}
	}
	// An agent whose maker is an owner is a member by itself.
	all, _ := listed(t, ask, "agent:owner@localhost", "/mcp/all")
	for _, name := range []string{"platform.node.remove", "token.create", "portal.server.add", "person.get", "webhook.create"} {
		if slices.Contains(all, name) {
			t.Errorf("an agent is shown %s", name)
		}
	}
}

// TestModelsGetTheirCallersTools: a model that works for an agent is offered none of what is for people alone.
func TestModelsGetTheirCallersTools(t *testing.T) {
	_, _, f := limitedFront(t)
	who := ubl.Platform() // a service of tenant 0, which there is
	for _, who.IsService = range []bool{true, false} {
		tools, err := f.agents.toolbox.List(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		for name, offered := range map[string]bool{"messenger.send": true, "person.reminder.add": !who.IsService, "webhook.create": !who.IsService} {
			if got := slices.ContainsFunc(tools, func(tool office.Tool) bool { return tool.Name == name }); got != offered {
				t.Errorf("a service (%t) is offered %s: %t", who.IsService, name, got)
			}
		}
	}
}

// TestTheLogShowsACallOnceItIsAnswered: a newcomer's first call, a refused one, and one by
// tool.call, to whoever asks next.
func TestTheLogShowsACallOnceItIsAnswered(t *testing.T) {
	ask := limitedNode(t)
	ask("owner@localhost", "GET", "/api/whoami", "")
	for i, call := range []struct{ who, tool, args, logged, status string }{
		{"newcomer:owner@localhost", "messenger.list_rooms", `{}`, "messenger.list_rooms", "ok"},
		{"another:owner@localhost", "tool.access", `{"tool":"messenger.send","allowed":false}`, "tool.access", "denied"},
		{"third:owner@localhost", "tool.call", `{"name":"user.whoami"}`, "user.whoami", "ok"},
		{"fourth:owner@localhost", "no.such.tool", `{}`, "no.such.tool", "denied"},
		{"newcomer:owner@localhost", "messenger.history", `{"room_id":"r:nowhere"}`, "messenger.history", "error"},
	} {
		ask(call.who, "POST", "/portal/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+call.tool+`","arguments":`+call.args+`}}`)
		for _, who := range []string{call.who, "owner@localhost"} {
			w := ask(who, "GET", "/api/portal/logs?limit=1", "")
			var page struct {
				Calls []struct{ Capability, Status string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || len(page.Calls) != 1 || page.Calls[0].Capability != call.logged || page.Calls[0].Status != call.status {
				t.Errorf("%d: %s reads %d %s", i, who, w.Code, w.Body)
			}
		}
	}
}

// TestSetsThatAnAddressChooses are those that the consent page comes with. "all" lists all, and gives
// no more than is usual.
func TestSetsThatAnAddressChooses(t *testing.T) {
	for path, want := range map[string]string{
		"/mcp": "messenger office", "/mcp/readonly": "messenger office", "/mcp/all": "messenger office", "/mcp/default,files": "messenger office files",
		"/mcp/files": "files", "/mcp/rooms,messenger/readonly": "messenger rooms", "/mcp/tools": "",
	} {
		sets, err := new(toolbox).sets(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var chosen []string
		for _, set := range sets {
			if set.Chosen {
				chosen = append(chosen, set.Name)
			}
		}
		if got := strings.Join(chosen, " "); got != want {
			t.Errorf("%s chooses %q, want %q", path, got, want)
		}
	}
}

// TestAServerIsChosenByItself: a tool server may be called like what the consent page offers of our
// own. Each is chosen alone, by a name that a mandate takes.
func TestAServerIsChosenByItself(t *testing.T) {
	b := &toolbox{acts: map[string]envelope.Act{"portal.server.list": {Do: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"servers":[{"server_id":"files"},{"server_id":"models"},{"server_id":"tools"},{"server_id":"weather"}]}`), nil
	}}}}
	for path, want := range map[string]string{
		"/portal/mcp": "messenger office", "/portal/mcp/files": "files", "/portal/mcp/server:files": "server:files",
		"/portal/mcp/weather,server:tools": "server:tools weather",
	} {
		sets, err := b.sets(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		tools := map[string][]string{}
		var chosen []string
		for _, set := range sets {
			if tools[set.Name] != nil {
				t.Errorf("at %s who chooses %s chooses %v and %v", path, set.Name, tools[set.Name], set.Tools)
			}
			if tools[set.Name] = set.Tools; set.Chosen {
				chosen = append(chosen, set.Name)
			}
			m := ubl.Mandate{Sets: []string{set.Name}, Tools: set.Tools}
			if err := m.Check(); err != nil {
				t.Errorf("no mandate takes %s: %v", set.Name, err)
			}
		}
		if got := strings.Join(chosen, " "); got != want {
			t.Errorf("%s chooses %q, want %q", path, got, want)
		}
	}
}
