package portal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
)

// signIn takes a user to the authorization server and back, and keeps their grant.
func (w *world) signIn(who ubl.Identity) {
	w.t.Helper()
	back := browse(w.t, w.connect(who))
	if _, err := w.Callback(w.t.Context(), who, back.Get("state"), back.Get("code"), back.Get("iss")); err != nil {
		w.t.Fatalf("%s can't sign in: %v", who.Email, err)
	}
}

// connect is where a user has to go to sign in to ev.
func (w *world) connect(who ubl.Identity) string {
	w.t.Helper()
	to, err := w.Connect(w.t.Context(), who, "ev")
	if err != nil {
		w.t.Fatal(err)
	}
	return to
}

// stateOf is the state in the address that a browser is sent to.
func stateOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("state")
}

// thief is an authorization server that must never be shown a client's secret.
func thief(t *testing.T) *authServer {
	a := newAuthServer(t)
	a.clients["c1"] = ""
	honest := a.Config.Handler
	a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pass, _ := r.BasicAuth()
		if pass == "s1-is-a-secret" || r.FormValue("client_secret") == "s1-is-a-secret" {
			t.Error("the secret went to a server that the upstream has named")
		}
		honest.ServeHTTP(w, r)
	})
	return a
}

// TestSecretGoesWhereTheOwnerSaid: a server of tools may name another authorization
// server at any time; the client's secret isn't shown to it.
func TestSecretGoesWhereTheOwnerSaid(t *testing.T) {
	w := newWorld(t)
	a, evil := newAuthServer(t), thief(t)
	address := guarded(t, eras[1], a.knows, func() string { return evil.URL })

	// A sign-in that began where the server said, for a client without a secret.
	w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthUser, ClientID: "c1"}, "")
	old := browse(t, w.connect(w.bob))
	if _, err := w.Remove(t.Context(), w.house.Request(w.owner), true, "ev"); err != nil {
		t.Fatal(err)
	}
	w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthUser, ClientID: "c1", TokenURL: a.URL + "/token"}, "s1-is-a-secret")
	if _, err := w.Callback(t.Context(), w.bob, old.Get("state"), old.Get("code"), old.Get("iss")); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a sign-in from before the client had a secret was answered %v", err)
	}

	// One that begins now: the code goes to the owner's address, which doesn't know it.
	now := browse(t, w.connect(w.bob))
	if _, err := w.Callback(t.Context(), w.bob, now.Get("state"), now.Get("code"), now.Get("iss")); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a code of another authorization server was answered %v", err)
	}
	if n := evil.count(); n != 0 {
		t.Errorf("the named server gave %d tokens", n)
	}
}

// TestMixUp: an answer that names another issuer is another server's, also where
// the one that was asked doesn't say that it names itself, and where it says nothing.
func TestMixUp(t *testing.T) {
	a := newAuthServer(t)
	advertised := newAuthServer(t)
	advertised.iss = true
	for _, c := range []struct {
		name   string
		server ubl.Server
		issuer func() string // that the metadata names; nil for no metadata
		iss    string
		ok     bool
	}{
		{"not advertised, none", ubl.Server{ClientID: "c2"}, func() string { return a.URL }, "", true},
		{"not advertised, its own", ubl.Server{ClientID: "c2"}, func() string { return a.URL }, a.URL, true},
		{"not advertised, another's", ubl.Server{ClientID: "c2"}, func() string { return a.URL }, "https://idp.example", false},
		{"advertised, none", ubl.Server{ClientID: "c2"}, func() string { return advertised.URL }, "", false},
		{"no metadata, another's", ubl.Server{ClientID: "c2"}, nil, "https://idp.example", false},
		{"set by an owner, who knows no issuer", ubl.Server{ClientID: "c2", AuthorizeURL: a.URL + "/authorize", TokenURL: a.URL + "/token"}, nil, a.URL, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a.clients["c2"], advertised.clients["c2"] = "", ""
			w := newWorld(t)
			c.server.ServerID, c.server.Auth = "ev", ubl.AuthUser
			c.server.URL = guarded(t, eras[1], a.knows, c.issuer)
			w.add(c.server, "")
			to := w.connect(w.bob)
			state, code := stateOf(t, to), "code"
			if c.issuer != nil || c.ok {
				code = browse(t, to).Get("code")
			}
			_, err := w.Callback(t.Context(), w.bob, state, code, c.iss)
			if want := map[bool]ubl.Code{false: ubl.CodeValidation}[c.ok]; ubl.CodeOf(err) != want {
				t.Errorf("it was answered %v", err)
			}
		})
	}
}

// TestEndpointsElsewhere: metadata can't send users to one host and their code to another, unless the
// provider names itself in its answers or an owner has set the address that is elsewhere.
func TestEndpointsElsewhere(t *testing.T) {
	other := newAuthServer(t)
	for _, c := range []struct {
		name   string
		set    ubl.Server
		at     map[string]string
		iss    bool
		refuse bool
	}{
		{name: "all at the issuer"},
		{name: "an honest one's sign-in page", at: map[string]string{"authorize": other.URL}, refuse: true},
		{name: "another's token address", at: map[string]string{"token": other.URL}, refuse: true},
		{name: "both elsewhere", at: map[string]string{"authorize": other.URL, "token": other.URL}, refuse: true},
		{name: "it names itself", at: map[string]string{"token": other.URL}, iss: true},
		{name: "an owner has set the page", at: map[string]string{"authorize": other.URL}, set: ubl.Server{AuthorizeURL: other.URL + "/authorize"}},
		{name: "an owner has set the token address", at: map[string]string{"token": other.URL}, set: ubl.Server{TokenURL: other.URL + "/token"}},
		{name: "an owner has set one of two", at: map[string]string{"authorize": other.URL, "token": other.URL}, set: ubl.Server{TokenURL: other.URL + "/token"}, refuse: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			a := newAuthServer(t)
			a.elsewhere, a.iss = c.at, c.iss
			c.set.ServerID, c.set.Auth = "ev", ubl.AuthUser
			c.set.URL = guarded(t, eras[1], a.knows, func() string { return a.URL })
			w.add(c.set, "")
			_, err := w.Connect(t.Context(), w.bob, "ev")
			if want := map[bool]ubl.Code{true: ubl.CodeConflict}[c.refuse]; ubl.CodeOf(err) != want {
				t.Errorf("the user was answered %v", err)
			}
		})
	}
}

// TestMovedWhileSigningIn: a grant is for the address that the user has agreed to.
func TestMovedWhileSigningIn(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[1], a.knows, func() string { return a.URL }), Auth: ubl.AuthUser}, "")
	back := browse(t, w.connect(w.bob))
	elsewhere := "https://elsewhere.example/mcp"
	if _, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{URL: &elsewhere}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Callback(t.Context(), w.bob, back.Get("state"), back.Get("code"), back.Get("iss")); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a sign-in to the old address was answered %v", err)
	}
	if n := a.count(); n != 0 {
		t.Errorf("%d tokens were fetched for the new one", n)
	}
}

// TestStateWorksOnce: a sign-in that has ended can't be ended again, on this node or another,
// whatever the authorization server thinks of the code. One that failed can be tried again.
func TestStateWorksOnce(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[1], a.knows, func() string { return a.URL }), Auth: ubl.AuthUser}, "")
	back := browse(t, w.connect(w.bob))
	other := w.node()
	end := func(p *portal.Portal) error {
		_, err := p.Callback(t.Context(), w.bob, back.Get("state"), back.Get("code"), back.Get("iss"))
		return err
	}
	restore := a.keepCodes()
	a.forgetCodes()
	if err := end(w.Portal); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Fatalf("a code that isn't taken is answered %v", err)
	}
	restore()
	if err := end(w.Portal); err != nil {
		t.Fatal(err)
	}
	// The other node's exchange ends this node's token, which the first look at its tools may still need.
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	for name, p := range map[string]*portal.Portal{"the same node": w.Portal, "another node": other} {
		restore()
		if err := end(p); ubl.CodeOf(err) != ubl.CodeConflict || !strings.Contains(err.Error(), "begin again") {
			t.Errorf("on %s it is answered %v", name, err)
		}
	}
	if n := a.count(); n != 2 { // another node learns of it from the Portal, once it has a token
		t.Errorf("%d tokens were fetched", n)
	}
	if _, err := w.Disconnect(t.Context(), w.house.Request(w.bob), "ev"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*portal.Portal{w.Portal, other} {
		restore()
		if err := end(p); ubl.CodeOf(err) != ubl.CodeConflict {
			t.Errorf("after disconnecting it is answered %v", err)
		}
	}
}

// TestCancelledRefresh: a refresh token that works once isn't lost with a caller who
// goes while it is used.
func TestCancelledRefresh(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[1], a.knows, func() string { return a.URL }), Auth: ubl.AuthUser}, "")
	w.signIn(w.bob)
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	w.house.Clock.Add(2 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	a.mu.Lock()
	a.refreshing = cancel
	a.mu.Unlock()
	_, _ = w.Call(ctx, w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil) // either way
	if ctx.Err() == nil {
		t.Fatal("nothing was refreshed")
	}
	w.must("ev.echo", `{"text":"a"}`)
	if _, err := w.node().Call(t.Context(), w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Errorf("another node was answered %v", err)
	}
}

// TestUsersSeeDifferentTools: what one account is shown adds to what is known, and
// takes nothing from others. An owner's sync does.
func TestUsersSeeDifferentTools(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	var mu sync.Mutex
	list := []*mcp.Tool{}
	show := func(tools ...*mcp.Tool) {
		mu.Lock()
		defer mu.Unlock()
		list = tools
	}
	named := func(name, description string) *mcp.Tool {
		return &mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		mu.Lock()
		defer mu.Unlock()
		s := mcp.NewServer(&mcp.Implementation{Name: "others", Version: "1"}, nil)
		for _, tool := range list {
			s.AddTool(tool, echo)
		}
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	w.add(ubl.Server{ServerID: "ev", URL: gate(t, serve(t, h), a.knows, func() string { return a.URL }), Auth: ubl.AuthUser}, "")

	holds := func(when string, want ...string) {
		t.Helper()
		got := []string{}
		tools, err := w.Listing(t.Context(), w.owner, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			switch {
			case tool.Gone:
				got = append(got, tool.Tool+" gone")
			case tool.HeldHash != "":
				got = append(got, tool.Tool+" held")
			default:
				got = append(got, tool.Tool)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, the tools are %q, want %q", when, got, want)
		}
	}
	show(named("admin", "for admins"), named("echo", "says it"))
	w.signIn(w.owner)
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	holds("as ana sees it", "ev.admin", "ev.echo")

	show(named("bobs", "for bob"), named("echo", "says it otherwise"))
	w.signIn(w.bob)
	portal.SyncAs(w.Portal, t.Context(), w.bob, "ev")
	holds("after bob's list", "ev.admin", "ev.bobs", "ev.echo held")

	show(named("admin", "for admins"), named("echo", "says it"))
	portal.SyncAs(w.Portal, t.Context(), w.owner, "ev")
	holds("after ana's list", "ev.admin", "ev.bobs", "ev.echo held")

	if _, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "ev"); err != nil {
		t.Fatal(err)
	}
	holds("after an owner's sync", "ev.admin", "ev.bobs gone", "ev.echo")
}

// TestLogsNoUpstreamText: what an authorization server writes doesn't reach our log.
func TestLogsNoUpstreamText(t *testing.T) {
	var mu sync.Mutex
	var text bytes.Buffer
	w := newWorld(t, func(o *portal.Options) { o.Log = slog.New(slog.NewTextHandler(&locked{&mu, &text}, nil)) })
	a := newAuthServer(t)
	w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[1], a.knows, func() string { return a.URL }), Auth: ubl.AuthUser}, "")
	w.signIn(w.bob)
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	a.mu.Lock()
	clear(a.refresh)
	a.mu.Unlock()
	a.revoke()
	portal.SyncAs(w.Portal, t.Context(), w.bob, "ev")
	mu.Lock()
	defer mu.Unlock()
	if got := text.String(); !strings.Contains(got, "couldn't sync a server") || !strings.Contains(got, "code=forbidden") || strings.Contains(got, "invalid_grant") {
		t.Errorf("the log says %s", got)
	}
}

// locked is a writer for several goroutines.
type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

// TestArgumentsInHeaders: a server of 2026-07-28 may want arguments in headers too,
// also from a session that never asked for its tools.
func TestArgumentsInHeaders(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[0])
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}`)}, echo)
	for _, name := range []string{"a", "b", "c"} { // more than a page
		tool(s, name, echo)
	}
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	other := w.node()
	if _, err := other.Call(t.Context(), w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Errorf("in a new session: %v", err)
	}
}

// TestDisconnect: a user's sign-in is forgotten, no other's, and it doesn't come back
// by a token that is refreshed meanwhile.
func TestDisconnect(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	a.clients["c2"] = ""
	w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[1], a.knows, func() string { return a.URL }), Auth: ubl.AuthUser, ClientID: "c2"}, "")
	w.signIn(w.owner)
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	w.signIn(w.bob) // ends the owner's token, which is refreshed when it is needed
	w.allow("ev.echo")
	disconnect := func() error {
		return second(w.Disconnect(t.Context(), w.house.Request(w.bob), "ev"))
	}
	w.must("ev.echo", `{"text":"a"}`)
	if err := disconnect(); err != nil {
		t.Fatal(err)
	}
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	if err := disconnect(); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("a second time was answered %v", err)
	}
	if _, err := w.Call(t.Context(), w.house.Request(w.owner), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Errorf("another user's sign-in: %v", err)
	}

	w.signIn(w.bob)
	w.must("ev.echo", `{"text":"a"}`)
	var gone error
	a.refreshing = sync.OnceFunc(func() { gone = disconnect() })
	a.revoke()
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	if gone != nil {
		t.Errorf("while a token was refreshed: %v", gone)
	}
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	w.house.VerifyLedger(w.bob.TenantID)
}
