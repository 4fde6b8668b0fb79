package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoSuchTool: a tool that isn't there has one code and begins with one sentence, however it is
// spelled and asked for.
func TestNoSuchTool(t *testing.T) {
	n := newNode(t)
	owner := n.bearer("the owner", n.token("owner@localhost"))
	const code, sentence = `"unknown_tool"`, "there is no such tool"
	check := func(what string, status, want int, answer string) {
		t.Helper()
		if status != want || !strings.Contains(answer, code) || !strings.Contains(answer, sentence) {
			t.Errorf("%s was answered %d %s", what, status, answer)
		}
		told := "-32602"
		if strings.Contains(what, "office.tool.call") {
			told = `"isError":true`
		}
		if strings.HasPrefix(what, "MCP") && !strings.Contains(answer, told) {
			t.Errorf("%s was answered %s", what, answer)
		}
	}
	key, body := "hash", `{"hash":"b:`+strings.Repeat("0", 64)+`"}`
	for _, name := range []string{"nosuch", "nosuch.tool", "nosuch_tool"} {
		for _, path := range []string{"/mcp", "/portal/mcp"} {
			for _, call := range []string{`{"name":"` + name + `","arguments":{}}`, `{"name":"office.tool.call","arguments":{"tool":"` + name + `","arguments":{}}}`} {
				in := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + call + `}`
				status, answer := owner.ask("POST", path, in)
				check(fmt.Sprint("MCP at ", path, " ", call), status, 200, answer)
				modern := *owner
				modern.headers = map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
				for k, v := range owner.headers {
					modern.headers[k] = v
				}
				refused := 400
				if strings.Contains(call, "office.tool.call") { // its call fails, as a result
					modern.headers["Mcp-Name"], refused = "office.tool.call", 200
				}
				meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
				status, answer = modern.ask("POST", path, strings.TrimSuffix(in, "}}")+","+meta)
				check(fmt.Sprint("MCP 2026-07-28 at ", path, " ", call), status, refused, answer)
			}
		}
		for path, in := range map[string]string{"call": `{"arguments":{}}`, key: ""} {
			if path == key {
				path, in = "approve", body
			}
			status, answer := owner.ask("POST", "/api/portal/tools/"+name+"/"+path, in)
			check("REST "+path+" "+name, status, 404, answer)
		}
		status, answer := owner.ask("PUT", "/api/portal/tools/"+name+"/access", `{"allowed":true}`)
		check("REST access "+name, status, 404, answer)
	}
}
