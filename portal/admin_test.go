package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestAddRefuses holds servers that can't be added against the member that is wrong.
func TestAddRefuses(t *testing.T) {
	w := newWorld(t)
	ok := ubl.Server{ServerID: "ev", Name: "Events", URL: "https://ev.example/mcp", Auth: ubl.AuthNone}
	for _, c := range []struct {
		name   string
		change func(*ubl.Server)
		secret string
		place  string
	}{
		{"an id in capitals", func(s *ubl.Server) { s.ServerID = "Ev" }, "", "server_id"},
		{"an id with a dot", func(s *ubl.Server) { s.ServerID = "a.b" }, "", "server_id"},
		{"our own name", func(s *ubl.Server) { s.ServerID = "messenger" }, "", "server_id"},
		{"no name", func(s *ubl.Server) { s.Name = " " }, "", "name"},
		{"a name with a line break", func(s *ubl.Server) { s.Name = "a\nb" }, "", "name"},
		{"plain HTTP", func(s *ubl.Server) { s.URL = "http://ev.example/mcp" }, "", "url"},
		{"credentials", func(s *ubl.Server) { s.URL = "https://a:b@ev.example/mcp" }, "", "url"},
		{"an unknown way", func(s *ubl.Server) { s.Auth = "magic" }, "", "auth"},
		{"a secret for nothing", func(*ubl.Server) {}, "hunter22", "secret"},
		{"no secret", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "", "secret"},
		{"a secret with a line break", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "hunter22\r\nHost: x", "secret"},
		{"a secret that is too short", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "hunter2", "secret"},
		{"a short one behind a scheme", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "Bearer hunter2", "secret"},
		{"a short password", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "Basic bG9uZy11c2VybmFtZTpodW50ZXIy", "secret"},
		{"a short one among blanks", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "  hunter2 ", "secret"},
		{"blanks for a secret", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, "          ", "secret"},
		{"a client's secret that is too short", func(s *ubl.Server) {
			s.Auth, s.ClientID, s.TokenURL = ubl.AuthClient, "c", "https://auth.example/token"
		}, "hunter2", "secret"},
		{"a huge secret", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X-Key" }, strings.Repeat("hunter22", 9000), "secret"},
		{"no header", func(s *ubl.Server) { s.Auth = ubl.AuthHeader }, "hunter22", "header"},
		{"HTTP's own header", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "host" }, "hunter22", "header"},
		{"MCP's own header", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "mcp-session-id" }, "hunter22", "header"},
		{"no header's name", func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X Key" }, "hunter22", "header"},
		{"a key in the query", func(s *ubl.Server) { s.URL += "?toolset=all&API-Key=hunter22" }, "", "url"},
		{"no client", func(s *ubl.Server) { s.Auth = ubl.AuthClient }, "hunter22", "client_id"},
		{"a secret of no client", func(s *ubl.Server) { s.Auth = ubl.AuthUser }, "hunter22", "client_id"},
		{"a secret for whoever the server names", func(s *ubl.Server) { s.Auth, s.ClientID = ubl.AuthClient, "c" }, "hunter22", "token_url"},
		{"a client's secret for whoever the server names", func(s *ubl.Server) { s.Auth, s.ClientID = ubl.AuthUser, "c" }, "hunter22", "token_url"},
		{"a bad token URL", func(s *ubl.Server) { s.Auth, s.ClientID, s.TokenURL = ubl.AuthClient, "c", "ftp://x" }, "hunter22", "token_url"},
		{"a bad authorize URL", func(s *ubl.Server) { s.Auth, s.AuthorizeURL = ubl.AuthUser, "javascript:x" }, "", "authorize_url"},
		{"a bad scope", func(s *ubl.Server) { s.Auth, s.Scopes = ubl.AuthUser, []string{"a b"} }, "", "scopes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ok
			c.change(&s)
			_, err := w.Add(t.Context(), w.house.Request(w.owner), true, s, c.secret)
			if e := ubl.AsError(err); err == nil || e.Code != ubl.CodeValidation || !strings.HasPrefix(e.Message, c.place+":") {
				t.Errorf("it was answered %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter22") {
				t.Errorf("the error quotes the secret: %v", err)
			}
		})
	}
	for name, err := range map[string]error{
		"add":      second(w.Add(t.Context(), w.house.Request(w.bob), false, ok, "")),
		"update":   second(w.Update(t.Context(), w.house.Request(w.bob), false, "ev", ubl.ServerPatch{}, nil)),
		"remove":   second(w.Remove(t.Context(), w.house.Request(w.bob), false, "ev")),
		"sync":     second(w.Sync(t.Context(), w.house.Request(w.bob), false, "ev")),
		"approve":  second(w.Approve(t.Context(), w.house.Request(w.bob), false, "ev.x", "b:")),
		"listing":  second(w.Listing(t.Context(), w.bob, false)),
		"discover": second(w.Discover(t.Context(), w.bob, false, "https://registry.example")),
	} {
		if ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("%s by a member was answered %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestASecretIsPartOfTheKey: a retry with the same secret is the same, one with
// another is a conflict, and no secret is dropped in silence.
func TestASecretIsPartOfTheKey(t *testing.T) {
	w := newWorld(t)
	s := ubl.Server{ServerID: "ev", Name: "Events", URL: "https://ev.example/mcp", Auth: ubl.AuthHeader, Header: "X-Key"}
	add, update := w.house.Request(w.owner), w.house.Request(w.owner)
	for _, c := range []struct {
		name, secret string
		want         ubl.Code
	}{{"first", "mistyped", ""}, {"again", "mistyped", ""}, {"corrected", "hunter22", ubl.CodeIdempotencyConflict}} {
		if _, err := w.Add(t.Context(), add, true, s, c.secret); ubl.CodeOf(err) != c.want {
			t.Errorf("adding, %s: %v", c.name, err)
		}
	}
	for _, c := range []struct {
		name   string
		secret *string
		want   ubl.Code
	}{{"first", new("mistyped"), ""}, {"again", new("mistyped"), ""}, {"corrected", new("hunter22"), ubl.CodeIdempotencyConflict}} {
		if _, err := w.Update(t.Context(), update, true, "ev", ubl.ServerPatch{}, c.secret); ubl.CodeOf(err) != c.want {
			t.Errorf("updating, %s: %v", c.name, err)
		}
	}
	for _, e := range harness.Must[*ubl.AtomPage](w.house, ubl.LedgerName(w.owner.TenantID), ubl.ReadAtoms{From: 1, Limit: 500}).Atoms {
		if strings.Contains(string(e), "mistyped") {
			t.Errorf("the ledger has the secret: %s", e)
		}
	}
}

// TestLifeOfAServer: disabled it is not asked and shows nothing, enabled it is back,
// removed it is forgotten.
func TestLifeOfAServer(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[1])
	tool(s, "echo", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	set := func(disabled bool) {
		t.Helper()
		if _, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{Disabled: &disabled}, nil); err != nil {
			t.Fatal(err)
		}
	}
	set(true)
	w.sees(w.bob)
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	if _, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "ev"); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("syncing a disabled server was answered %v", err)
	}
	set(false)
	w.sees(w.bob, "ev.echo")
	w.must("ev.echo", `{"text":"a"}`)

	tool(s, "new", echo)
	w.house.Clock.Add(1)
	got, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "ev")
	if err != nil || got.Tools != 2 || got.Status != ubl.ServerUp {
		t.Errorf("a sync on demand answers %+v, %v", got, err)
	}
	if _, err := w.Remove(t.Context(), w.house.Request(w.owner), true, "ev"); err != nil {
		t.Fatal(err)
	}
	w.sees(w.bob)
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	// Another one under its name is allowed nothing.
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.sees(w.bob)
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)
	w.house.VerifyLedger(w.bob.TenantID)
}

// registryServers is a page of a registry, as its OpenAPI has it.
const registryServers = `{"servers":[
	{"server":{"name":"com.example/weather","title":"Weather","description":"Says it","version":"1.2.0","remotes":[
		{"type":"sse","url":"https://w.example/sse"},
		{"type":"streamable-http","url":"https://w.example/mcp","headers":[{"name":"Authorization","isRequired":true,"isSecret":true}]}]},
	 "_meta":{"io.modelcontextprotocol.registry/official":{"status":"active","isLatest":true}}},
	{"server":{"name":"com.example/local","description":"To install","version":"1","packages":[{"registryType":"npm"}]}},
	{"server":{"name":"com.example/template","version":"1","remotes":[{"type":"streamable-http","url":"https://{tenant}.example/mcp"}]}},
	{"server":{"name":"com.example/plain","version":"1","remotes":[{"type":"streamable-http","url":"http://plain.example/mcp"}]}},
	{"name":"com.example/old","description":"Before the envelope","version":"0.9","remotes":[{"type":"streamable-http","url":"https://old.example/mcp"}]},
	null
],"metadata":{"nextCursor":%q,"count":6}}`

// TestDiscover reads registries of both versions, page by page and never without end.
func TestDiscover(t *testing.T) {
	w := newWorld(t)
	var asked []string
	pages := 3
	registry := func(path string) string {
		asked = nil
		return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
				return
			}
			asked = append(asked, r.URL.RawQuery)
			next := fmt.Sprint("page", len(asked))
			if len(asked) >= pages {
				next = ""
			}
			fmt.Fprintf(w, registryServers, next)
		}))
	}
	for _, path := range []string{"/v0.1/servers", "/v0/servers"} {
		got, err := w.Discover(t.Context(), w.owner, true, registry(path)+"?search=weather")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(got)
		want := `[{"name":"com.example/weather","title":"Weather","description":"Says it","version":"1.2.0","url":"https://w.example/mcp","headers":["Authorization"]},` +
			`{"name":"com.example/old","description":"Before the envelope","version":"0.9","url":"https://old.example/mcp","headers":[]}]`
		if string(text) != want {
			t.Errorf("%s offers %s", path, text)
		}
		if len(asked) != 3 || asked[0] != "limit=100&search=weather&version=latest" || !strings.Contains(asked[2], "cursor=page2") {
			t.Errorf("%s was asked %q", path, asked)
		}
	}
	pages = 1000
	if _, err := w.Discover(t.Context(), w.owner, true, registry("/v0.1/servers")); err != nil || len(asked) > 20 {
		t.Errorf("an endless registry was asked %d times, %v", len(asked), err)
	}
	for name, address := range map[string]string{
		"nothing there": "http://127.0.0.1:1",
		"another site":  serve(t, http.NotFoundHandler()),
		"a huge page": serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"servers":[{"x":%q}]}`, strings.Repeat("x", 3<<20))
		})),
		"not a list at all": serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[1,2`) })),
	} {
		if _, err := w.Discover(t.Context(), w.owner, true, address); ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("%s was answered %v", name, err)
		}
	}
	hiding := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"servers":[{"server":{"name":"a\u200b/b","title":"c\u202ed","description":"e\u001b[2J\udb40\udc61f","version":"1\u2066",
			"remotes":[{"type":"streamable-http","url":"https://w.example/mcp","headers":[{"name":"X-Key"},{"name":"call token.create"}]}]}}]}`)
	}))
	want := `[{"name":"a/b","title":"cd","description":"e[2Jf","version":"1","url":"https://w.example/mcp","headers":["X-Key"]}]`
	got, err := w.Discover(t.Context(), w.owner, true, hiding)
	if text, _ := json.Marshal(got); err != nil || string(text) != want {
		t.Errorf("what can't be seen is offered as %q, %v", text, err)
	}
	if _, err := w.Discover(t.Context(), w.owner, true, "file:///etc"); ubl.CodeOf(err) != ubl.CodeValidation {
		t.Errorf("a file was answered %v", err)
	}
}

// TestShortSecretsThatAreThere: a server whose secret an earlier version let be short keeps
// it; what replaces it is long enough.
func TestShortSecretsThatAreThere(t *testing.T) {
	w := newWorld(t)
	harness.Must[*ubl.Server](w.house, ubl.PortalName(w.owner.TenantID), ubl.AddServer{Request: w.house.Request(w.owner), Owner: true,
		Server: ubl.Server{ServerID: "ev", Name: "Ev", URL: "https://ev.example/mcp", Auth: ubl.AuthHeader, Header: "X-Key"}, Secret: []byte("sealed by an earlier version")})
	name, short, blank := "Events", "hunter2", "   "
	if _, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{Name: &name}, nil); err != nil {
		t.Error(err)
	}
	for _, secret := range []*string{&short, &blank} {
		_, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{}, secret)
		if ubl.CodeOf(err) != ubl.CodeValidation || !strings.Contains(err.Error(), "at least 8 bytes") {
			t.Errorf("%q was answered %v", *secret, err)
		}
	}
}
