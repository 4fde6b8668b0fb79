package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
)

// TestFailedCallsAreResults: what a call did wrong is told to the model as a result, in both
// eras and on both ways; what no model can mend stays an error of the protocol.
func TestFailedCallsAreResults(t *testing.T) {
	ways := map[string]*world{"direct": newWorld(t), "sdk": newWorld(t)}
	ways["sdk"].LeaveToSDK()
	long := strings.Repeat("x", 8001)
	for _, c := range []struct {
		tool, args string
		code       ubl.Code // "" for an error of the protocol
		says       []string
	}{
		{"messenger.history", `{}`, ubl.CodeValidation, []string{"room_id: is missing", `like \"r:general\"`}},
		{"messenger.history", `{"room_id":"the general"}`, ubl.CodeValidation, []string{"room_id: ", "r:general"}},
		{"messenger.history", `{"romm_id":"r:general"}`, ubl.CodeValidation, []string{"romm_id: there is no such argument", "Did you mean room_id?"}},
		{"messenger.history", `{"room_id":"r:general","limit":1000}`, ubl.CodeValidation, []string{"limit: ", "from 1 to 200"}},
		{"messenger.send", `{"room_id":"r:general","type":"text","text":"hi"}`, ubl.CodeValidation, []string{"text: there is no such argument", "Did you mean body.text?"}},
		{"messenger.send", `{"room_id":"r:general","type":"text","body":{"text":"` + long + `"}}`, ubl.CodeTooLarge, []string{"8000 bytes"}},
		{"messenger.send", `{"room_id":"r:nowhere","type":"text","body":{"text":"hi"}}`, ubl.CodeNotFound, []string{"there is no such room", "Take ids from a list"}},
		{"room.create", `{"name":"General"}`, ubl.CodeConflict, []string{"Read how it is now"}},
		{"tenant.update", `{"retention_days":3}`, ubl.CodeForbidden, []string{"only an owner"}},
		{"office.document.get", `{"workspace_id":"w:general","document_id":"d:x","version":"one"}`, ubl.CodeValidation, []string{"version: a string, where an integer is expected", "a whole number from 1"}},
		{"messenger.stream_room", `{"room_id":"r:general","seconds":99}`, ubl.CodeValidation, []string{"seconds: ", "from 1 to 60"}},
		{"no.tool", `{}`, "", []string{"-32602", "there is no such tool"}},
		{"messenger.history", `"r:general"`, "", []string{"-32602", "expected an object"}},
	} {
		for way, w := range ways {
			session := w.begin(t, w.url+"/mcp", "bob", "test")
			params := `"name":"` + c.tool + `","arguments":` + c.args
			for era, a := range map[string]answer{
				"legacy": w.legacy(t, "bob", session, "tools/call", params),
				"modern": w.modern(t, "bob", "tools/call", c.tool, params),
			} {
				wants := append([]string{`"isError":true`, `"structuredContent":{"code":"` + string(c.code) + `"`, `"request_id":"req:`}, c.says...)
				if c.code == "" {
					wants = append([]string{`"error":{`}, c.says...)
				}
				if !hasAll(a.body, wants) || c.code != "" && a.status != 200 || strings.Contains(a.body, long) {
					t.Errorf("%s %.80s, %s, %s: %d %.600s", c.tool, c.args, era, way, a.status, a.body)
				}
			}
		}
	}
}

// TestFailuresMatchOutputSchemas: a client that holds every answer against the schema that the
// tool is listed with takes failures, too, as version 1 of the TypeScript SDK does.
func TestFailuresMatchOutputSchemas(t *testing.T) {
	w := newWorld(t)
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	a := w.do(t, "POST", w.url+"/mcp/all", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", session, "X-Mcp-Schemas", "output")
	var list struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema any
			}
		}
	}
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list.Result.Tools) < 50 {
		t.Fatalf("%d tools, %v", len(list.Result.Tools), err)
	}
	var failed any
	structured(t, w.use(t, "/mcp", "ana", "test", "messenger.history", `{"room_id":5}`), &failed)
	for _, tool := range list.Result.Tools {
		if tool.OutputSchema == nil { // tool.call answers what another tool does
			continue
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:schema", tool.OutputSchema); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("mem:schema")
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if err := s.Validate(failed); err != nil {
			t.Errorf("%s doesn't admit a failure: %v", tool.Name, err)
		}
		if s.Validate(map[string]any{}) == nil {
			t.Errorf("%s admits anything", tool.Name)
		}
	}
}
