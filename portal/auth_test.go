package portal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"ubl"
	"ubl/portal"
)

// guarded lets only those through to a server of tools whose header is right, and
// says where others can sign in.
func guarded(t *testing.T, e era, ok func(http.Header) bool, issuer func() string) string {
	t.Helper()
	s, inner := tools(t, e)
	tool(s, "echo", echo)
	return gate(t, inner, ok, issuer)
}

// gate is guarded for any server of tools.
func gate(t *testing.T, inner string, ok func(http.Header) bool, issuer func() string) string {
	t.Helper()
	target, err := url.Parse(inner)
	if err != nil {
		t.Fatal(err)
	}
	var own string
	own = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/meta" && issuer != nil {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q],"scopes_supported":["openid"]}`, own+"/mcp", issuer())
			return
		}
		if r.URL.Path != "/mcp" {
			http.NotFound(w, r)
			return
		}
		if !ok(r.Header) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/meta"`, own))
			http.Error(w, "secret", http.StatusUnauthorized)
			return
		}
		forward(w, r, target)
	}))
	return own + "/mcp"
}

// forward hands a request on as it is.
func forward(w http.ResponseWriter, r *http.Request, to *url.URL) {
	// Else the request is closed as soon as the answer begins, maybe while it is still
	// looked for more behind its end, and with that the way to the server.
	_ = http.NewResponseController(w).EnableFullDuplex()
	out := r.Clone(r.Context())
	out.URL, out.Host, out.RequestURI = to, to.Host, ""
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	buf := make([]byte, 4096)
	for {
		n, err := resp.Body.Read(buf)
		if _, bad := w.Write(buf[:n]); bad != nil || err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// TestHeader: a fixed header goes to its server and nowhere else.
func TestHeader(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	key := "k1-is-a-secret"
	address := guarded(t, eras[1], func(h http.Header) bool {
		mu.Lock()
		defer mu.Unlock()
		return h.Get("X-Api-Key") == key
	}, nil)
	server := w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthHeader, Header: "X-Api-Key"}, "k1-is-a-secret")
	if server.Status != ubl.ServerUp {
		t.Fatalf("the server is %s: %s", server.Status, server.Problem)
	}
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	// A server may tell callers what it was shown; they don't hear it.
	shown := w.must("ev.echo", `{"text":"your key is k1-is-a-secret"}`)
	if text := string(shown.Content) + string(shown.Structured); strings.Contains(text, "k1-is-a-secret") || !strings.Contains(text, "[secret]") {
		t.Errorf("the result shows the secret: %s", text)
	}
	other := w.node() // another node has the same key
	if _, err := other.Call(t.Context(), w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Fatal(err)
	}

	mu.Lock()
	key = "k2-is-a-secret"
	mu.Unlock()
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	k2 := "k2-is-a-secret"
	if _, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{}, &k2); err != nil {
		t.Fatal(err)
	}
	w.must("ev.echo", `{"text":"a"}`)

	// An address elsewhere must not get the secret.
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "" {
			t.Error("the secret went to another server")
		}
	}))
	defer evil.Close()
	_, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{URL: &evil.URL}, nil)
	if ubl.CodeOf(err) != ubl.CodeValidation {
		t.Errorf("the address was changed without the secret: %v", err)
	}

	// Neither lists nor the store know it in plain.
	servers, err := w.Servers(t.Context(), w.owner)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(servers); strings.Contains(string(text), "k2") {
		t.Error("the list shows the secret")
	}
	// Another key opens nothing.
	stranger := w.node(func(o *portal.Options) { o.Keys = func() [][]byte { return [][]byte{[]byte(strings.Repeat("x", 32))} } })
	if _, err := stranger.Call(t.Context(), w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a node with another key was answered %v", err)
	}
}

// TestClientCredentials: the token is fetched where the owner has said, used until
// it ends, and fetched anew where the server refuses it.
func TestClientCredentials(t *testing.T) {
	for _, e := range eras[:2] {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			a := newAuthServer(t)
			address := guarded(t, e, a.knows, func() string { return a.URL })
			server := w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthClient, ClientID: "c1", TokenURL: a.URL + "/token"}, "s1-is-a-secret")
			if server.Status != ubl.ServerUp {
				t.Fatalf("the server is %s: %s", server.Status, server.Problem)
			}
			w.allow("ev.echo")
			w.must("ev.echo", `{"text":"a"}`)
			w.must("ev.echo", `{"text":"a"}`)
			before := a.count()
			a.revoke()
			w.must("ev.echo", `{"text":"a"}`)
			w.house.Clock.Add(2 * time.Hour)
			w.must("ev.echo", `{"text":"a"}`)
			if n := a.count() - before; n != 2 {
				t.Errorf("%d tokens were fetched for one that was revoked and one that ended", n)
			}
		})
	}
	t.Run("a wrong secret", func(t *testing.T) {
		w := newWorld(t)
		a := newAuthServer(t)
		server := w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[0], a.knows, nil), Auth: ubl.AuthClient, ClientID: "c1", TokenURL: a.URL + "/token"}, "wrong-secret")
		if server.Status != ubl.ServerDown || !strings.Contains(server.Problem, "gives the portal no token") || strings.Contains(server.Problem, "secret text") {
			t.Errorf("the server is %s: %q", server.Status, server.Problem)
		}
	})
}

// browse follows a sign-in to where the browser is sent back.
func browse(t *testing.T, address string) url.Values {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatalf("the authorization server answers %s", resp.Status)
	}
	if got := back.Scheme + "://" + back.Host + back.Path; got != "https://ubl.example"+portal.CallbackPath {
		t.Fatalf("the browser is sent to %s", got)
	}
	return back.Query()
}

// TestSignIn is a user's way to a grant, with an OpenID provider of others.
func TestSignIn(t *testing.T) {
	w := newWorld(t)
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Server.Close() })
	address := guarded(t, eras[1], func(h http.Header) bool {
		_, err := m.Keypair.VerifyJWT(strings.TrimPrefix(h.Get("Authorization"), "Bearer "), m.Now)
		return err == nil
	}, m.Issuer)
	w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthUser, ClientID: m.ClientID, TokenURL: m.TokenEndpoint(), Scopes: []string{"openid"}}, m.ClientSecret)

	connect := func(who ubl.Identity) url.Values {
		t.Helper()
		to, err := w.Connect(t.Context(), who, "ev")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(to, m.AuthorizationEndpoint()) {
			t.Fatalf("the user is sent to %s", to)
		}
		return browse(t, to)
	}
	back := connect(w.owner)
	if p, err := w.Pending(back.Get("state")); err != nil || p.Email != w.owner.Email || p.ServerID != "ev" || p.TenantID != w.owner.TenantID || p.ServerHost != hostIn(t, address) || p.TokenHost != hostIn(t, m.TokenEndpoint()) {
		t.Errorf("the page of consent shows %+v, %v", p, err)
	}
	other := w.node() // any node takes it up
	elsewhere := w.owner
	elsewhere.TenantID = "t:else.example"
	for _, by := range []ubl.Identity{w.bob, elsewhere, {}} { // a link isn't enough to be given somebody's account
		if _, err := other.Callback(t.Context(), by, back.Get("state"), back.Get("code"), back.Get("iss")); ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("%s of %s, who didn't begin, is answered %v", by.Email, by.TenantID, err)
		}
	}
	if _, err := other.Callback(t.Context(), w.owner, back.Get("state"), back.Get("code"), back.Get("iss")); err != nil {
		t.Fatal(err)
	}
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp }) // the first to sign in shows its tools
	w.allow("ev.echo")
	call := func(who ubl.Identity) error {
		_, err := w.Call(t.Context(), w.house.Request(who), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil)
		return err
	}
	if err := call(w.owner); err != nil {
		t.Fatal(err)
	}

	// Bob has to sign in himself.
	e := ubl.AsError(call(w.bob))
	if e.Code != ubl.CodeForbidden || e.Details["url"] != "/api/portal/servers/ev/connect" {
		t.Errorf("bob was answered %v %v", e, e.Details)
	}
	back = connect(w.bob)
	if _, err := w.Callback(t.Context(), w.bob, back.Get("state"), back.Get("code"), ""); err != nil {
		t.Fatal(err)
	}
	if err := call(w.bob); err != nil {
		t.Error(err)
	}

	// A token that has ended is refreshed on the way.
	m.FastForward(15 * time.Minute)
	if err := call(w.bob); err != nil {
		t.Errorf("after the token has ended: %v", err)
	}
	// With the refresh token gone too, they sign in again.
	m.FastForward(2 * time.Hour)
	if err := call(w.bob); ubl.CodeOf(err) != ubl.CodeForbidden || ubl.AsError(err).Details["url"] == "" {
		t.Errorf("after the grant has ended: %v", err)
	}

	// A state is no other's, not for ever, and not to be made up.
	back = connect(w.bob)
	w.house.Clock.Add(11 * time.Minute)
	if _, err := w.Callback(t.Context(), w.bob, back.Get("state"), back.Get("code"), ""); ubl.CodeOf(err) != ubl.CodeValidation {
		t.Errorf("an old state was answered %v", err)
	}
	for _, bad := range []string{"", "x", back.Get("state")[1:], strings.Repeat("A", 300)} {
		if _, err := w.Pending(bad); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("a bad state was answered %v", err)
		}
	}
	back = connect(w.bob)
	if _, err := w.Callback(t.Context(), w.bob, back.Get("state"), "wrong", ""); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a wrong code was answered %v", err)
	}
	w.house.VerifyLedger(w.bob.TenantID)
}

// TestRegistration: where an owner has set no client, the portal registers one;
// refresh tokens that work once are kept by whoever was first.
func TestRegistration(t *testing.T) {
	w := newWorld(t)
	a := newAuthServer(t)
	a.iss = true
	address := guarded(t, eras[1], a.knows, func() string { return a.URL })
	w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthUser}, "")
	to, err := w.Connect(t.Context(), w.bob, "ev")
	if err != nil {
		t.Fatal(err)
	}
	back := browse(t, to)
	if _, err := w.Callback(t.Context(), w.bob, back.Get("state"), back.Get("code"), "https://evil.example"); ubl.CodeOf(err) != ubl.CodeValidation {
		t.Errorf("another issuer was answered %v", err)
	}
	if _, err := w.Callback(t.Context(), w.bob, back.Get("state"), back.Get("code"), back.Get("iss")); err != nil {
		t.Fatal(err)
	}
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	w.allow("ev.echo")
	nodes := []*portal.Portal{w.Portal, w.node()}
	for i := range 4 {
		for _, p := range nodes {
			if _, err := p.Call(t.Context(), w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		a.revoke() // each node finds its token refused, and one refresh token for both
	}
}

// TestConnectOnlyWhereUsersSignIn refuses what can't be begun.
func TestConnectOnlyWhereUsersSignIn(t *testing.T) {
	w := newWorld(t)
	_, address := tools(t, eras[0])
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	if _, err := w.Connect(t.Context(), w.bob, "ev"); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a server without sign-in was answered %v", err)
	}
	if _, err := w.Connect(t.Context(), w.bob, "none"); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("an unknown server was answered %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Connect(ctx, w.bob, "ev"); err == nil {
		t.Error("a caller who has gone is answered")
	}
}

func hostIn(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
