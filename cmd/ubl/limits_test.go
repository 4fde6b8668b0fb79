package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/limits"
	"ubl/transport/auth"
)

// limitedNode is a whole server with the limits that it has by default. Its clock stands
// still, so that no part of a rate comes back.
func limitedNode(t *testing.T, change ...func(*serveCmd)) (ask func(who, method, path, body string) *httptest.ResponseRecorder) {
	t.Helper()
	_, ask = askedNode(t, change...)
	return ask
}

// askedNode is limitedNode, with the node behind it.
func askedNode(t *testing.T, change ...func(*serveCmd)) (n *node, ask func(who, method, path, body string) *httptest.ResponseRecorder) {
	t.Helper()
	p, n, f := limitedFront(t, change...)
	tokens := map[string]string{}
	return n, func(who, method, path, body string) *httptest.ResponseRecorder {
		t.Helper()
		if tokens[who] == "" {
			service, email, ok := strings.Cut(who, ":")
			if !ok {
				service, email = "", who
			}
			var err error
			if tokens[who], _, err = n.key.Load().Sign(auth.TokenSpec{Email: email, Service: service, TTL: time.Hour, Now: p.now(), Random: p.random}); err != nil {
				t.Fatal(err)
			}
		}
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+tokens[who])
		r.Header.Set("Content-Type", "application/json")
		if strings.Contains(path, "/mcp") {
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		w := httptest.NewRecorder()
		f.server.Handler().ServeHTTP(w, r)
		return w
	}
}

// limitedFront is that server with what it is made of.
func limitedFront(t *testing.T, change ...func(*serveCmd)) (*program, *node, *front) {
	t.Helper()
	begun := time.Now()
	p := &program{now: func() time.Time { return begun }, random: &counter64{}}
	c := &serveCmd{Data: t.TempDir(), Owner: "owner@localhost", Operator: []string{"ops@acme.com"}}
	for _, f := range change {
		f(c)
	}
	if err := c.bound(p); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.mail, err = c.mailFlags.options(p); err != nil {
		t.Fatal(err)
	}
	p.scan = c.scanFlags
	n := opened(t, p, c.Data)
	if err := n.bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := c.front(p, n, "http://127.0.0.1", "127.0.0.1:80", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.auth.Close)
	return p, n, f
}

// limitOf is the limit that refused, "" for none.
func limitOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code < 400 {
		return ""
	}
	var e struct {
		Error struct {
			Code    ubl.Code
			Details map[string]string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != e.Error.Code.Status() || w.Code == 429 && w.Header().Get("Retry-After") == "" {
		t.Fatalf("answered %d %v %s", w.Code, w.Header(), w.Body)
	}
	return e.Error.Details["limit"]
}

// TestLimitsByDefault: who floods is refused with 429, by REST and by MCP, and nobody
// else is.
func TestLimitsByDefault(t *testing.T) {
	ask := limitedNode(t)
	const ana, bob = "ops@acme.com", "bob@other.example"
	send := func(who string, i int) *httptest.ResponseRecorder {
		return ask(who, "POST", "/api/rooms/r:general/messages", fmt.Sprintf(`{"type":"text","body":{"text":"%d"},"client_request_id":"m%d"}`, i, i))
	}
	flood := func(what string, want limits.Name, do func(i int) *httptest.ResponseRecorder) {
		t.Helper()
		most := limits.Default()[want]*limits.Burst + 1
		for i := range int(most) {
			if w := do(i); limitOf(t, w) != "" {
				if limitOf(t, w) != string(want) || w.Code != http.StatusTooManyRequests {
					t.Errorf("%s: refused by %s: %d %s", what, limitOf(t, w), w.Code, w.Body)
				}
				return
			} else if w.Code >= 300 {
				t.Fatalf("%s: %d %s", what, w.Code, w.Body)
			}
		}
		t.Errorf("%s: nothing refused %d", what, most)
	}
	flood("rooms", limits.CreationsIdentity, func(i int) *httptest.ResponseRecorder {
		return ask(ana, "POST", "/api/rooms", fmt.Sprintf(`{"name":"room %d"}`, i))
	})
	flood("messages", limits.SendsIdentity, func(i int) *httptest.ResponseRecorder { return send(ana, i) })
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.send","arguments":{"room_id":"r:general","type":"text","body":{"text":"x"}}}}`
	if over := ask(ana, "POST", "/mcp", call).Body.String(); !strings.Contains(over, `"code":"rate_limited"`) || !strings.Contains(over, "sends-identity") {
		t.Errorf("over MCP: %s", over)
	}
	if w := ask(ana, "GET", "/api/rooms", ""); w.Code != http.StatusOK {
		t.Errorf("reading is refused too: %d %s", w.Code, w.Body)
	}
	flood("requests", limits.RequestsIdentity, func(int) *httptest.ResponseRecorder { return ask(ana, "GET", "/api/whoami", "") })
	if w := send(bob, 1); w.Code != http.StatusCreated {
		t.Errorf("bob is refused: %d %s", w.Code, w.Body)
	}
}

// TestCountsOfATenant: rooms, containers and tokens that a tenant has are counted by
// the tenant itself.
func TestCountsOfATenant(t *testing.T) {
	ask := limitedNode(t, func(c *serveCmd) {
		c.Limit = map[string]string{"rooms-tenant": "6", "containers-tenant": "2", "tokens-tenant": "1"}
	})
	const ana = "ana@other.example"
	for _, c := range []struct{ path, limit string }{
		{"/api/rooms", "rooms-tenant"}, {"/api/workspaces", "containers-tenant"}, {"/api/service-tokens", "tokens-tenant"},
	} {
		made := 0
		for i := range 10 {
			w := ask(ana, "POST", c.path, fmt.Sprintf(`{"name":"thing %d"}`, i))
			if w.Code == http.StatusCreated {
				made++
			} else if limitOf(t, w) != c.limit {
				t.Fatalf("%s: %d %s", c.path, w.Code, w.Body)
			}
		}
		if made == 0 || made > 6 {
			t.Errorf("%s: %d made", c.path, made)
		}
	}
}

// TestBytesStored: a tenant that is full is told so by REST and by MCP, reads on, and
// leaves others room.
func TestBytesStored(t *testing.T) {
	ask := limitedNode(t, func(c *serveCmd) { c.Limit = map[string]string{"bytes-tenant": "60000"} })
	const ana, bob = "ana@other.example", "bob@another.example"
	send := func(who string, i int) *httptest.ResponseRecorder {
		return ask(who, "POST", "/api/rooms/r:general/messages",
			fmt.Sprintf(`{"type":"text","body":{"text":"%s"},"client_request_id":"m%d"}`, strings.Repeat("x", 5000), i))
	}
	sent := 0
	for sent < 20 && send(ana, sent).Code == http.StatusCreated {
		sent++
	}
	if w := send(ana, sent); w.Code != http.StatusInsufficientStorage || limitOf(t, w) != "bytes-tenant" || sent < 3 || sent > 11 {
		t.Errorf("after %d messages: %d %s", sent, w.Code, w.Body)
	}
	if w := send(ana, 0); w.Code != http.StatusCreated {
		t.Errorf("a repetition: %d %s", w.Code, w.Body)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.send","arguments":{"room_id":"r:general","type":"text","body":{"text":"x"}}}}`
	if w := ask(ana, "POST", "/mcp", call); !strings.Contains(w.Body.String(), `"code":"quota_exceeded"`) || !strings.Contains(w.Body.String(), "bytes-tenant") {
		t.Errorf("over MCP: %d %s", w.Code, w.Body)
	}
	if w := ask(ana, "GET", "/api/rooms/r:general/history", ""); w.Code != http.StatusOK {
		t.Errorf("reading: %d %s", w.Code, w.Body)
	}
	if w := send(bob, 1); w.Code != http.StatusCreated {
		t.Errorf("another tenant: %d %s", w.Code, w.Body)
	}
}
