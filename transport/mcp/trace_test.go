package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestTheKeyIsTheTraces: a call is in the ledger, in the portal's log and in its error under the key
// that its caller gave it, where that has the form of a request id.
func TestTheKeyIsTheTraces(t *testing.T) {
	w, o := portalWorld(t, tool("git.commit", objectTool))
	send := func(room, key string) string {
		return `{"room_id":"` + room + `","type":"text","body":{"text":"hello"},"client_request_id":"` + key + `"}`
	}
	for _, tt := range []struct{ tool, args, id string }{
		{"messenger.send", send("r:general", "key-0001"), "key-0001"},
		{"tool.call", `{"name":"messenger_send","arguments":` + send("r:general", "key-0002") + `}`, "key-0002"},
		{"messenger.send", send("r:general", "a key"), ""}, // no request id
		{"git.commit", `{"client_request_id":"key-0003"}`, ""},
	} {
		a := w.use(t, "/portal/mcp", "ana", "test", tt.tool, tt.args)
		if !strings.Contains(a.body, `"result"`) {
			t.Fatalf("%s answers %s", tt.tool, a.body)
		}
		if tt.id == "" {
			continue
		}
		if rows := o.rows(); rows[len(rows)-1].RequestID != tt.id {
			t.Errorf("the log has %+v", rows[len(rows)-1])
		}
	}
	atoms := string(encode(t, harness.Must[*ubl.AtomPage](w.House, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: 1, Limit: 500}).Atoms))
	for id, want := range map[string]bool{"key-0001": true, "key-0002": true, "a key": false, "key-0003": false} {
		if got := strings.Contains(atoms, `"trace":{"request_id":"`+id+`"`); got != want {
			t.Errorf("the ledger has the request id %q: %v", id, got)
		}
	}
	failed := w.use(t, "/mcp", "ana", "test", "messenger.send", send("r:nowhere", "key-0004"))
	if !strings.Contains(failed.body, `"request_id":"key-0004"`) {
		t.Errorf("the error is %s", failed.body)
	}
}

// TestTheKeyOfOthers: client_request_id is the key of another server's call, which that server isn't sent; it
// is the tool's own argument where the tool has one of that name.
func TestTheKeyOfOthers(t *testing.T) {
	keyed := strings.Replace(objectTool, `"inputSchema":{`, `"inputSchema":{"properties":{"client_request_id":{"type":"string"}},`, 1)
	w, _ := portalWorld(t, tool("git.commit", objectTool), tool("git.keyed", keyed))
	for _, tt := range []struct{ tool, args, key, sent string }{
		{"git.commit", `{"client_request_id":"commit-7","message":"x"}`, "commit-7", `{"message":"x"}`},
		{"tool.call", `{"name":"git.commit","arguments":{"client_request_id":"commit-8"}}`, "commit-8", `{}`},
		{"git.commit", `{"client_request_id":null,"message":"x"}`, "req:", `{"message":"x"}`},
		{"git.commit", `{"message":"client_request_id"}`, "req:", `{"message":"client_request_id"}`},
		{"git.keyed", `{"client_request_id":"mine"}`, "req:", `{"client_request_id":"mine"}`},
	} {
		var got struct {
			Key  string
			Args json.RawMessage
		}
		structured(t, w.use(t, "/portal/mcp", "ana", "test", tt.tool, tt.args), &got)
		if !strings.HasPrefix(got.Key, tt.key) || string(got.Args) != tt.sent {
			t.Errorf("%s with %s is sent %s under the key %s", tt.tool, tt.args, got.Args, got.Key)
		}
	}
	for _, wrong := range []string{`7`, `""`, `"` + strings.Repeat("x", 129) + `"`, `"a\u0007b"`} {
		if a := w.use(t, "/portal/mcp", "ana", "test", "git.commit", `{"client_request_id":`+wrong+`}`); !strings.Contains(a.body, `"code":"validation_error"`) || !strings.Contains(a.body, "client_request_id") {
			t.Errorf("the key %s is answered %s", wrong, a.body)
		}
	}
}
