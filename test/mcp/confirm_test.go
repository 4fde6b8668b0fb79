package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// borne sends a service's credential with each request.
type borne []string

func (b borne) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for i := 0; i < len(b); i += 2 {
		r.Header.Set(b[i], b[i+1])
	}
	return http.DefaultTransport.RoundTrip(r)
}

// client is one of the go-sdk that an agent uses, whose person answers so; nil for one without forms.
func (b borne) client(t *testing.T, url, revision, action string, asked *string) *sdk.ClientSession {
	t.Helper()
	o := &sdk.ClientOptions{}
	if action != "" {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			*asked = r.Params.Message
			return &sdk.ElicitResult{Action: action}, nil
		}
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, o).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: b}}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestPersonConfirms: before an agent's destructive call a person is asked in its client, in both eras of the
// protocol, and at both servers: for our own tools and those of other servers. What they don't let
// be done isn't, and neither is what nobody can be asked about: without forms, in a program, and over REST.
func TestPersonConfirms(t *testing.T) {
	p := prepare(t, product, "--owner", "ana@acme.com")
	p.serve(t)
	p.signIn(t)
	p.knows(t, map[string]string{"old": upstream(t, false)}, "greet")
	at := "http://" + p.address
	_, headers := p.service(t, `{"confirm":"destructive"}`)
	robot := borne(headers)
	call := func(s *sdk.ClientSession, tool string, args map[string]any) (string, bool) {
		t.Helper()
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		return spoken(t, r, err), r.IsError
	}
	rooms := 0
	for _, revision := range revisions {
		for _, mount := range []string{"/mcp", "/portal/mcp"} {
			t.Run(revision+" at "+mount, func(t *testing.T) {
				asked := ""
				lets := robot.client(t, at+mount, revision, "accept", &asked)
				rooms++
				name := fmt.Sprintf("plan-%d", rooms)
				if got, failed := call(lets, "room.create", map[string]any{"name": name}); failed || asked != "" {
					t.Fatalf("what adds was answered %s, after the question %q", got, asked)
				}
				sent, err := lets.CallTool(t.Context(), &sdk.CallToolParams{Name: "messenger.send", Arguments: map[string]any{"room_id": "r:" + name, "body": map[string]any{"text": "mistake"}}})
				if err != nil || sent.IsError {
					t.Fatalf("sending was answered %s, %v", text(sent), err)
				}
				id := sent.StructuredContent.(map[string]any)["message"].(map[string]any)["msg_id"]
				redact := map[string]any{"room_id": "r:" + name, "entry_id": id}
				history := func() string {
					got, _ := call(lets, "messenger.history", map[string]any{"room_id": "r:" + name})
					return got
				}

				mute := robot.client(t, at+mount, revision, "", nil)
				if got, failed := call(mute, "messenger.redact", redact); !failed || !strings.Contains(got, "confirmation_required") || !strings.Contains(got, "elicitation") {
					t.Errorf("without forms it was answered %s", got)
				}
				if got, failed := call(lets, "tool.run", map[string]any{"program": "return await tool('messenger.redact', args)", "arguments": redact}); !failed || !strings.Contains(got, "confirmation_required") {
					t.Errorf("in a program it was answered %s", got)
				}
				shut := robot.client(t, at+mount, revision, "decline", &asked)
				if got, failed := call(shut, "messenger.redact", redact); !failed || !strings.Contains(got, "declined") || !strings.Contains(got, "nothing was done") {
					t.Errorf("declined, it was answered %s", got)
				}
				if !strings.Contains(history(), "mistake") {
					t.Error("it was done all the same")
				}
				asked = ""
				if got, failed := call(lets, "tool.call", map[string]any{"name": "messenger.redact", "arguments": redact}); failed || strings.Contains(history(), "mistake") {
					t.Errorf("accepted, it was answered %s", got)
				}
				if !strings.Contains(asked, `The agent "robot" is about to use messenger.redact.`) || !strings.Contains(asked, `"room_id":"r:`+name) {
					t.Errorf("the person was asked %q", asked)
				}
				if mount == "/mcp" {
					return
				}
				if got, failed := call(shut, "old.greet", map[string]any{}); !failed || !strings.Contains(got, "declined") {
					t.Errorf("declined, another server's tool was answered %s", got)
				}
				asked = ""
				if got, _ := call(lets, "old.greet", map[string]any{}); strings.Contains(got, "declined") || strings.Contains(got, "confirmation_required") || !strings.Contains(asked, "old.greet") {
					t.Errorf("accepted, another server's tool was answered %s, after the question %q", got, asked)
				}
			})
		}
	}
	t.Run("REST", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), "DELETE", at+"/api/kinds/none", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := robot.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var body struct{ Error struct{ Code string } }
		if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != 403 || body.Error.Code != "confirmation_required" {
			t.Errorf("it was answered %d %+v, %v", res.StatusCode, body, err)
		}
	})
}
