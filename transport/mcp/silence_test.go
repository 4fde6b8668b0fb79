package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// TestASlowToolIsNotSilent: who wants to see progress reads comments until there is
// an answer, or a refusal that would have had a status of its own before.
func TestASlowToolIsNotSilent(t *testing.T) {
	for want, answer := range map[string]func() (json.RawMessage, error){
		`"done":true`:    func() (json.RawMessage, error) { return json.RawMessage(`{"done":true}`), nil },
		`"isError":true`: func() (json.RawMessage, error) { return nil, ubl.Errorf(ubl.CodeValidation, "not so") },
	} {
		heard := make(chan struct{})
		slow := wrong(func() (json.RawMessage, error) { <-heard; return answer() })
		w := newWorld(t, func(o *mcp.Options) { o.Acts, o.Limits.Keepalive = []envelope.Act{slow}, 10*time.Millisecond })
		r, err := http.NewRequest("POST", w.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test.wrong",`+
			meta(`,"progressToken":1`)+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "test.wrong"} {
			r.Header.Set(name, value)
		}
		s := w.stream(t, r, "ana")
		s.wants(t, ": keepalive")
		close(heard)
		if lines := s.ends(t); !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("the answer is %q, want %s", lines, want)
		}
	}
}
