package mcp_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// nobody answers no question.
type nobody struct{}

func (nobody) Ask(context.Context, ubl.Name, ubl.Command) (any, error) {
	return nil, ubl.Errorf(ubl.CodeUnavailable, "nobody is there")
}

func (nobody) Subscribe(ubl.Name, func(ubl.Publication), ...string) func() { return func() {} }

// FuzzPost: whatever comes in is answered with JSON-RPC, and with no status that
// would blame the server.
func FuzzPost(f *testing.F) {
	s, err := mcp.New(mcp.Options{Acts: []envelope.Act{echo}, Asker: nobody{}, Feed: nobody{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, "2025-11-25", "")
	f.Add(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"text":"é"},`+meta("")+`}}`, "2026-07-28", "tools/call")
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`, "2025-03-26", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ubl://rooms/%"}}`, "", "")
	f.Fuzz(func(t *testing.T, body, version, method string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // else a listen would go on
		defer cancel()
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": version,
			"Mcp-Method": method, "Mcp-Name": "echo"} {
			r.Header.Set(name, value)
		}
		caller := &envelope.Caller{Identity: ana}
		caller.Let(ubl.RoleMember)
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r.WithContext(envelope.WithCaller(ctx, caller)))
		if rec.Code >= 500 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		for line := range strings.Lines(unwrap(rec.Header(), rec.Body.String())) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %s", line)
			}
		}
	})
}
