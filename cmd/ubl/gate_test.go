package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/api"
	"ubl/transport/auth"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
	"ubl/transport/oauth"
)

// witness is the actors' way in. It notes with which tools requests enter their
// tenant, and lets them as far as that.
type witness struct {
	ubl.Visitor
	mu    sync.Mutex
	tools []string
}

var errSeen = ubl.Errorf(ubl.CodeForbidden, "seen, and turned away")

func (w *witness) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if in, ok := cmd.(ubl.Enter); ok && !in.Who.IsPlatform() {
		return nil, w.saw(in)
	}
	return w.Visitor.Ask(ctx, to, cmd)
}

func (w *witness) Visit(_ context.Context, in ubl.Enter, _ ubl.Name, _ ubl.Command) (*ubl.Entered, any, error) {
	return nil, nil, w.saw(in)
}

func (w *witness) saw(in ubl.Enter) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tools = append(w.tools, in.Tool)
	return errSeen
}

func (w *witness) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	tools := w.tools
	w.tools = nil
	return tools
}

// open are the routes that anyone may ask for, beside [api.Public]: they have no
// caller.
var open = append(append(oauth.Paths(), mcp.CardPaths...), "/", "/favicon.ico", "/ui", "/ui/*", "/healthz", "/readyz", "/metrics", "/auth/*", "/signin/*", "/invite/*", "/schemas", "/schemas/*",
	mcp.MetadataPath, mcp.MetadataPath+"/*")

// TestEveryRouteNamesATool: whatever is mounted beside the operations that are
// tools, which package api's test walks, tells the tenant which tool a request
// wants to use, and answers nothing where that refuses. Owners see these tools
// among the others.
func TestEveryRouteNamesATool(t *testing.T) {
	g := newGate(t)
	tools, routes := g.operations(t)
	tools = append(tools, beside()...)
	err := chi.Walk(g.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		switch {
		case method == http.MethodHead, slices.Contains(open, route), api.Public(httptest.NewRequest(http.MethodGet, route, nil)), slices.Contains(routes, method+" "+route):
		case strings.HasSuffix(strings.TrimSuffix(route, "/*"), "/mcp") && method != http.MethodPost: // has no calls
		default:
			status, body := g.try(t, method, route)
			used := g.take()
			// The portal asks once more, with no tool: whether a refusal may be logged.
			if strings.HasPrefix(route, "/portal/") && len(used) == 2 && used[1] == "" {
				used = used[:1]
			}
			if len(used) != 1 || !slices.Contains(tools, used[0]) || !strings.Contains(body, errSeen.Message) {
				t.Errorf("%s %s uses %q, and is answered %d %s", method, route, used, status, body)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoRouteTakesAnotherSitesCookie: every route with a caller refuses a cookie that
// another site's page or link made a browser send, streams and exports included, and
// asks no tenant.
func TestNoRouteTakesAnotherSitesCookie(t *testing.T) {
	g := newGate(t)
	routes := 0
	err := chi.Walk(g.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasPrefix(route, "/api/") || api.Public(httptest.NewRequest(http.MethodGet, route, nil)) {
			return nil
		}
		routes++
		for _, site := range []string{"cross-site", "same-site", ""} {
			r := httptest.NewRequestWithContext(t.Context(), method, strings.ReplaceAll(route, "{roomId}", "r:general"), nil)
			r.Header.Set("Cookie", "ubl=a.b.c")
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
			w := httptest.NewRecorder()
			g.handler.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden || method != http.MethodHead && !strings.Contains(w.Body.String(), string(ubl.CodeOriginNotAllowed)) {
				t.Errorf("%s %s from %q is answered %d %s", method, route, site, w.Code, w.Body)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if asked := g.take(); routes < 50 || len(asked) > 0 {
		t.Errorf("of %d routes %d asked a tenant", routes, len(asked))
	}
}

// gate is the whole server, whose actors a witness stands before.
type gate struct {
	*witness
	front   *front
	handler http.Handler
	token   string
}

func newGate(t *testing.T) *gate {
	t.Helper()
	p := &program{now: testNow, random: &counter64{}}
	c := &serveCmd{Data: t.TempDir(), Owner: "owner@localhost", Operator: []string{"ops@acme.com"}}
	n := opened(t, p, c.Data)
	if err := n.bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := &gate{witness: &witness{Visitor: n.asker}}
	n.asker = g.witness
	f, err := c.front(p, n, "http://127.0.0.1", "127.0.0.1:80", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.auth.Close)
	g.front, g.handler = f, f.server.Handler()
	if g.token, _, err = n.key.Load().Sign(auth.TokenSpec{Email: "ops@acme.com", TTL: time.Hour, Now: testNow(), Random: p.random}); err != nil {
		t.Fatal(err)
	}
	return g
}

// operations are those that are tools, and their routes.
func (g *gate) operations(t *testing.T) (tools, routes []string) {
	t.Helper()
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Tool string `json:"x-tool"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method, op := range item {
			if op.Tool != "" {
				tools, routes = append(tools, op.Tool), append(routes, strings.ToUpper(method)+" /api"+strings.TrimPrefix(path, "/api"))
			}
		}
	}
	return tools, routes
}

// try asks for a route as a signed-in operator; over MCP, for a tool.
func (g *gate) try(t *testing.T, method, route string) (status int, body string) {
	t.Helper()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.stream_room","arguments":{"room_id":"r:general"}}}`
	named := strings.NewReplacer("{roomId}", "r:general", "{entryId}", "m:00000000-002a-8000-8000-000000000000", "{number}", "0", "{callId}", "7", "{workspaceId}", "w:general", "{fileId}", "f:1", "{uploadId}", "up:"+strings.Repeat("0", 40))
	r := httptest.NewRequestWithContext(t.Context(), method, named.Replace(route), nil)
	send := func(path, body string) {
		r = httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	switch {
	case strings.HasSuffix(strings.TrimSuffix(route, "/*"), "/mcp"):
		send(strings.Replace(route, "*", "messenger", 1), call)
		r.Header.Set("Accept", "application/json, text/event-stream")
	case method == http.MethodPatch: // bytes of an upload: all others are operations that are tools
		r.Header.Set("Content-Type", "application/partial-upload")
		r.Header.Set("Upload-Offset", "0")
	case method+" "+route == "POST /api/rooms/{roomId}/calls/{callId}/callers":
		send("/api/rooms/r:general/calls/7/callers", `{"session":"12345678"}`)
	case method+" "+route == "POST /api/rooms/{roomId}/entries":
		send("/api/rooms/r:general/entries", `{"body":{"content_type":"a/b","bytes":"AAEC"}}`)
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestToolsOfACompletionAreLogged under the request that they were called for, and
// their acts name it.
func TestToolsOfACompletionAreLogged(t *testing.T) {
	g := newGate(t)
	who := ubl.Platform()
	caller := &envelope.Caller{Identity: who}
	caller.Let(ubl.RoleOwner)
	ctx := envelope.WithCaller(t.Context(), caller)
	req := ubl.Request{Who: who, ID: "req:inner", Key: "req:inner"}
	if _, err := g.front.agents.toolbox.Call(ctx, req, "user.whoami", json.RawMessage(`{}`), "req:outer"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.front.agents.toolbox.Call(ctx, req, "room.get", json.RawMessage(`{"room_id":"r:nowhere"}`), "req:outer"); err == nil {
		t.Fatal("there is a room")
	}
	made, err := g.front.agents.toolbox.Call(ctx, req, "room.create", json.RawMessage(`{"name":"made by a model"}`), "req:outer")
	if err != nil {
		t.Fatal(err)
	}
	atoms, err := ubl.Ask[*ubl.AtomPage](t.Context(), g, ubl.LedgerName(ubl.CoreTenant), ubl.ReadAtoms{From: 1, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(atoms.Atoms, func(a json.RawMessage) bool {
		return bytes.Contains(a, []byte(`"did":"room.create"`)) && bytes.Contains(a, []byte(`"trace":{"parent":"req:outer","request_id":"req:inner"}`))
	}) {
		t.Errorf("the ledger doesn't say what the room was made for: %s", made.Structured)
	}
	if err := g.front.agents.portal.Close(t.Context()); err != nil { // writes what waits
		t.Fatal(err)
	}
	page, err := ubl.Ask[*ubl.CallPage](t.Context(), g, ubl.PortalName(ubl.CoreTenant), ubl.ReadCalls{Who: who, Owner: true})
	if err != nil || len(page.Calls) != 3 {
		t.Fatalf("the log has %+v, %v", page, err)
	}
	for i, want := range []struct{ tool, status string }{{"room.create", "ok"}, {"room.get", "error"}, {"user.whoami", "ok"}} {
		if row := page.Calls[i]; row.Capability != want.tool || row.Status != want.status || row.Parent != "req:outer" || row.RequestID != "req:inner" {
			t.Errorf("row %d is %+v", i, row)
		}
	}
}
