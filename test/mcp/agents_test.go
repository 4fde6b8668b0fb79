package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// service makes a service token with a mandate, and answers its client id and the headers that bear it.
func (p *program) service(t *testing.T, mandate string) (id string, headers []string) {
	t.Helper()
	var made struct {
		Token struct {
			ID string `json:"client_id"`
		} `json:"service_token"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(p.api(t, "POST", "/service-tokens", `{"name":"robot","mandate":`+mandate+`}`)), &made); err != nil {
		t.Fatal(err)
	}
	return made.Token.ID, []string{"CF-Access-Client-Id", made.Token.ID, "CF-Access-Client-Secret", made.Secret}
}

// TestAgentsRunPrograms: an agent that is to read alone runs programs, also where its client knows tasks:
// what these call is asked about by itself, and no task is put on record. A run counts once.
func TestAgentsRunPrograms(t *testing.T) {
	p := prepare(t, product, "--owner", "ana@acme.com")
	p.serve(t)
	p.signIn(t)
	at := "http://" + p.address + "/portal/mcp"
	for name, mandate := range map[string]string{"reads": `{"read_only":true,"per_minute":3}`, "writes": `{"per_minute":3}`} {
		for _, revision := range revisions { // rpc knows tasks in the newer one
			t.Run(name+" "+revision, func(t *testing.T) {
				_, robot := p.service(t, mandate)
				for i, want := range []string{"null", "null", "null", "true"} { // which say that it failed
					got, problem := rpc(t, at, revision, "tools/call", fmt.Sprintf(`{"name":"tool.run","arguments":{"program":"return %d"}}`, i), robot...)
					if text(got["isError"]) != want {
						t.Errorf("program %d was answered %s %s", i, text(got), text(problem))
					}
				}
			})
		}
	}
}

// TestWhatCanBeATask: the list says it of other servers' tools, and of the one that runs programs where
// the caller may write. What has a view is no task for that.
func TestWhatCanBeATask(t *testing.T) {
	p := prepare(t, product, "--owner", "ana@acme.com")
	p.serve(t)
	p.signIn(t)
	p.knows(t, map[string]string{"old": upstream(t, false)}, "greet")
	at := "http://" + p.address + "/portal/mcp/all"
	for mandate, want := range map[string][]string{`{}`: {"old.greet", "tool.run"}, `{"read_only":true}`: nil} {
		_, robot := p.service(t, mandate)
		hello, _ := post(t, at, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},"clientInfo":{"name":"hand","version":"1"}}}`, robot...)
		in := append([]string{"Mcp-Session-Id", hello.Header.Get("Mcp-Session-Id")}, robot...)
		var tasks []string
		for params := `{}`; params != ""; {
			page, problem := rpc(t, at, "2025-11-25", "tools/list", params, in...)
			list, ok := page["tools"].([]any)
			if !ok {
				t.Fatalf("no tools are listed: %s %s", text(page), text(problem))
			}
			for _, tool := range list {
				if tool := tool.(map[string]any); tool["execution"] != nil {
					tasks = append(tasks, tool["name"].(string))
				}
			}
			params = ""
			if next, ok := page["nextCursor"].(string); ok {
				params = `{"cursor":"` + next + `"}`
			}
		}
		if slices.Sort(tasks); !slices.Equal(tasks, want) {
			t.Errorf("of an agent with %s tasks can be %v, want %v", mandate, tasks, want)
		}
		if _, problem := rpc(t, at, "2025-11-25", "tools/call", `{"name":"tool.run","arguments":{"program":"return 1"},"task":{}}`, in...); (problem["code"] == -32601.0) != (want == nil) {
			t.Errorf("of an agent with %s a program as a task is %s", mandate, text(problem))
		}
	}
}
