package portal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// TestSecretsShown: a server that tells its callers which header it got, in the
// content, beside it and on the way, is not heard.
func TestSecretsShown(t *testing.T) {
	const key = `k=abc&x=<1>"/é`
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			s, inner := tools(t, e)
			tool(s, "tell", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if token := r.Params.GetProgressToken(); token != nil {
					if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "with " + key}); err != nil {
						t.Error(err)
					}
				}
				return &mcp.CallToolResult{
					Content:           []mcp.Content{&mcp.TextContent{Text: "your key is " + key}},
					StructuredContent: map[string]any{key: []any{"Bearer " + key}, "n": 7},
				}, nil
			})
			address := gate(t, inner, func(h http.Header) bool { return h.Get("X-Api-Key") == key }, nil)
			w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthHeader, Header: "X-Api-Key"}, key)
			w.allow("ev.tell")

			var mu sync.Mutex
			var told []string
			progress := func(_, _ float64, message string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, message)
			}
			for _, fn := range []func(float64, float64, string){nil, progress} {
				r, err := w.Call(t.Context(), w.house.Request(w.bob), "ev.tell", json.RawMessage(`{"text":"a"}`), "", fn)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := canonical(t, r.Content), `[{"text":"your key is [secret]","type":"text"}]`; got != want {
					t.Errorf("the content is %s", got)
				}
				if got, want := canonical(t, r.Structured), `{"[secret]":["Bearer [secret]"],"n":7}`; got != want {
					t.Errorf("the structured content is %s", got)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(told, ", "); strings.Contains(got, "abc") {
				t.Errorf("the progress tells %s", got)
			}
		})
	}
}

func canonical(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	out, err := ubl.Canonical(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(out)
}

// TestNumericSecret: what only looks like the secret goes too, and what is left is
// still JSON.
func TestNumericSecret(t *testing.T) {
	w := newWorld(t)
	w.add(ubl.Server{ServerID: "ev", URL: modern(t, `{"type":"object"}`, func(w http.ResponseWriter, _ *http.Request, call rpc) {
		answerJSON(w, call, `{"content":[],"structuredContent":{"id":1234567890,"text":"0123456789"}}`)
	}), Auth: ubl.AuthHeader, Header: "X-Api-Key"}, "12345678")
	w.allow("ev.x")
	if got := string(w.must("ev.x", `{}`).Structured); got != `{"id":"[secret]90","text":"0[secret]9"}` {
		t.Errorf("the structured content is %s", got)
	}
}

// TestEarlierSecretsShown: a token that was renewed while the call ran, or ended with
// it, is not shown either.
func TestEarlierSecretsShown(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	var mu sync.Mutex
	var shown []string
	address := modern(t, `{"type":"object"}`, func(w http.ResponseWriter, r *http.Request, call rpc) {
		mu.Lock()
		defer mu.Unlock()
		shown = append(shown, r.Header.Get("Authorization"))
		if len(shown) == 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		a.revoke()
		a.forget("c1")
		text, _ := json.Marshal(strings.Join(shown, ", "))
		answerJSON(w, call, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
	})
	w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthClient, ClientID: "c1", TokenURL: a.URL + "/token"}, "s1")
	w.allow("ev.x")
	if got := string(w.must("ev.x", `{}`).Content); got != `[{"text":"Bearer [secret], Bearer [secret]","type":"text"}]` {
		t.Errorf("the content is %s", got)
	}
}

// TestLargeIntegers: they reach the caller as the server wrote them, and the effect
// has a hash.
func TestLargeIntegers(t *testing.T) {
	w := newWorld(t)
	w.add(ubl.Server{ServerID: "ev", URL: modern(t, `{"type":"object"}`, func(w http.ResponseWriter, _ *http.Request, call rpc) {
		answerJSON(w, call, `{"content":[],"structuredContent": {"id": 1234567890123456789, "x": 6.02e23}}`)
	})}, "")
	w.allow("ev.x")
	if got := string(w.must("ev.x", `{}`).Structured); got != `{"id":1234567890123456789,"x":6.02e23}` {
		t.Errorf("the structured content is %s", got)
	}
	if row := w.log()[0]; row.Status != "ok" {
		t.Errorf("the log says %+v", row)
	}
}
