package portal_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
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

// TestHeaderParts: whatever a header's value says before its secret and behind it, the
// secret isn't shown.
func TestHeaderParts(t *testing.T) {
	const key = "zx9qp3lmt7vwk2rsb8nyc4hdj6fga1ue"
	inBase64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, value := range []string{
		key, "Bearer " + key, "bearer " + key, "Token " + key, "ApiKey " + key, "AWS4-HMAC-SHA256 " + key, "Bearer  " + key, " Bearer " + key + " ",
		"Token production " + key, "Basic " + inBase64("user:"+key), "basic " + inBase64("user:"+key), "ApiKey " + inBase64(key+":"),
		"Basic " + inBase64(key+":x-oauth-basic"), inBase64("user:" + key), "Basic " + strings.TrimRight(inBase64("ab:"+key), "="),
		"session=" + key, "a=b; session=" + key + "; c=d", `Digest username="u", response="` + key + `", qop=auth`, `Token token="` + key + `"`,
	} {
		for name, shown := range ways(key) {
			got := portal.RedactShown(value, "before "+shown+" after")
			if !strings.Contains(got, "[secret]") || !strings.HasPrefix(got, "before") || !strings.HasSuffix(got, "after") {
				t.Errorf("%s of %q is shown as %q", name, value, got)
			}
		}
		if got := portal.RedactShown(value, value); strings.Contains(got, key) || strings.Contains(got, inBase64("user:"+key)) {
			t.Errorf("%q is shown as %q", value, got)
		}
		const harmless = "Authorization: Bearer Token ApiKey username response session"
		if got := portal.RedactShown(value, harmless); got != harmless {
			t.Errorf("with %q, %q became %q", value, harmless, got)
		}
	}
}

// TestSchemesShown: so it is in results and in definitions that are held, also where the
// owner has left blanks around what was set.
func TestSchemesShown(t *testing.T) {
	const key = "Zx9Qp3LmT7vWk2RsB8nYc4HdJ6fGa1Ue"
	for _, value := range []string{"Token " + key, "bearer " + key, "Bearer " + key + " \n"} {
		w := newWorld(t)
		s, inner := tools(t, eras[0])
		tool(s, "tell", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "your key is " + r.Extra.Header.Get("Authorization")}}}, nil
		})
		address := gate(t, inner, func(h http.Header) bool { return h.Get("Authorization") == strings.TrimSpace(value) }, nil)
		w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthHeader, Header: "Authorization"}, value)
		w.allow("ev.tell")
		if got := string(w.must("ev.tell", `{"text":"a"}`).Content); strings.Contains(got, key) || !strings.Contains(got, "[secret]") {
			t.Errorf("%q: the content is %s", value, got)
		}
		s.AddTool(&mcp.Tool{Name: "tell", Description: "knows " + key, InputSchema: json.RawMessage(schema)}, echo)
		if _, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "ev"); err != nil {
			t.Fatal(err)
		}
		list := harness.Must[[]*ubl.PortalTool](w.house, ubl.PortalName(w.owner.TenantID), ubl.ListPortalTools{Who: w.owner})
		if held := string(list[0].Held); strings.Contains(held, key) || !strings.Contains(held, "[secret]") {
			t.Errorf("%q: the definition that is held is %s", value, held)
		}
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
	w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthClient, ClientID: "c1", TokenURL: a.URL + "/token"}, "s1-is-a-secret")
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
