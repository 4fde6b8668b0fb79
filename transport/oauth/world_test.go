package oauth_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/test/harness"
	"ubl/transport"
	"ubl/transport/api"
	"ubl/transport/auth"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
	"ubl/transport/oauth"
)

// Where the server is, what agents are let in to, and what the usual client is.
const (
	here     = "https://ubl.example"
	resource = here + "/mcp"
	back     = "http://127.0.0.1:7777/callback"
	verifier = "a-verifier-of-forty-three-characters-or-more-"
)

// world is the authorization server over real tenants and rooms, in front of it all that the
// product has there, and a clock.
type world struct {
	*harness.House
	t         *testing.T
	publicURL string
	auth      *auth.Authenticator
	key       *auth.Key // of all nodes
	handler   http.Handler
	// documents is the server of clients' documents, whatever host they name.
	documents http.HandlerFunc
	counted   error // what a stranger hears who registers or is looked up
}

func newWorld(t *testing.T) *world { return newWorldAt(t, here) }

// newWorldAt is one under a public URL, "" for none.
func newWorldAt(t *testing.T, publicURL string) *world {
	t.Helper()
	w := &world{House: harness.Open(t, harness.Options{}), t: t, publicURL: publicURL}
	harness.Must[*ubl.Entered](w.House, ubl.TenantName(ubl.CoreTenant), ubl.Enter{Request: w.Request(ubl.Platform()), Name: "UBL", Act: true})
	key, err := auth.NewKey(rand.Reader)
	must(t, err)
	w.key = key
	w.node()
	return w
}

// node begins to ask a node that hasn't heard of anything: of another node there are the key and
// what the tenants keep.
func (w *world) node() {
	w.t.Helper()
	t, publicURL, key := w.t, w.publicURL, func() *auth.Key { return w.key }
	browsers := publicURL
	if browsers == "" {
		browsers = "http://localhost:8080"
	}
	var err error
	w.auth, err = auth.New(auth.Options{
		Key: w.key, Asker: w.House, Feed: w.House, Now: w.Clock.Now, PublicURL: browsers,
		Domains: map[string]ubl.TenantID{"acme.com": "t:acme.com", "other.com": "t:other.com"},
	})
	must(t, err)
	t.Cleanup(w.auth.Close)
	acts := map[string]envelope.Act{}
	rest := api.New(api.Options{Asker: envelope.Entering(w.House), Now: w.Clock.Now, Random: rand.Reader, NewServiceToken: auth.NewServiceToken})
	for _, act := range rest.Acts() {
		acts[act.Name] = act
	}
	consent, err := oauth.New(oauth.Options{
		PublicURL: publicURL, Browsers: browsers, Resource: mcp.Resource, PathOf: mcp.PathOf, Scope: mcp.Scope,
		Keys:  func(purpose string) [][]byte { return key().Derived("oauth " + purpose) },
		Asker: envelope.Entering(w.House),
		Use: func(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
			return acts[tool].Do(ctx, args)
		},
		Sets: func(context.Context, string) ([]oauth.Set, error) {
			return []oauth.Set{{Name: "messenger", Says: "Read and send messages", Tools: []string{"messenger.*"}, Chosen: true},
				{Name: "office", Says: "Read and write documents", Tools: []string{"office.*"}}}, nil
		},
		NewAgent: func(tenant ubl.TenantID) (string, error) { return auth.NewClientID(tenant, rand.Reader) },
		TenantOf: auth.TenantOfClient,
		Sign:     func(a oauth.Access) (string, error) { return w.auth.SignAgent(auth.AgentToken(a)) },
		Opened: func(token string) (oauth.Access, bool) {
			a, ok := w.auth.OpenAgent(token)
			return oauth.Access(a), ok
		},
		Pages: w.pages(), Count: func(*http.Request) error { return w.counted }, From: func(r *http.Request) string { return r.RemoteAddr }, Now: w.Clock.Now,
	})
	must(t, err)
	tools, err := mcp.New(mcp.Options{Acts: rest.Acts(), Asker: envelope.Entering(w.House), Feed: w.House, PublicURL: publicURL, Authorizes: true,
		SessionKeys: func() [][]byte { return key().Derived("mcp sessions") }, Now: w.Clock.Now})
	must(t, err)
	w.handler = transport.New(transport.Options{
		API: rest.Mount, Public: api.Public, SignIn: w.auth.Browsers(), Consent: consent.Mount, PublicURL: publicURL, Now: w.Clock.Now,
		Authenticate: w.auth.MiddlewareForAgents(publicURL), AuthenticateBrowsers: w.auth.MiddlewareForBrowsers,
		Open: consent.Open,
		Agents: func(r chi.Router, authenticate func(http.Handler) http.Handler) {
			known := tools.Challenge(authenticate)
			r.Handle("/mcp", known(tools.Handler()))
			r.Handle("/portal/mcp", known(tools.PortalHandler()))
		},
	}).Handler()
}

// pages fetches from the world's own server, whatever the host.
func (w *world) pages() *http.Client {
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.documents(rw, r) }))
	w.t.Cleanup(server.Close)
	client := server.Client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   string
}

func (w *world) send(r *http.Request) answer {
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return answer{rec.Code, rec.Header(), rec.Body.String()}
}

// location is where the answer leads; the query is read.
func (a answer) location(t *testing.T) (at string, q url.Values) {
	t.Helper()
	u, err := url.Parse(a.header.Get("Location"))
	if err != nil || u.String() == "" {
		t.Fatalf("the answer leads nowhere: %d %s", a.status, a.body)
	}
	q = u.Query()
	u.RawQuery = ""
	return u.String(), q
}

// person is somebody at a browser, signed in by a link.
type person struct {
	w       *world
	cookies map[string]string
}

func (w *world) stranger() *person { return &person{w, map[string]string{}} }

func (w *world) person(email string) *person {
	w.t.Helper()
	link, err := w.auth.OfferLink(w.t.Context(), email, time.Minute)
	must(w.t, err)
	p := w.stranger()
	if a := p.post(link, nil); a.status != http.StatusSeeOther {
		w.t.Fatalf("signing in is answered %d %s", a.status, a.body)
	}
	return p
}

// request is one of a page of the server's own.
func (p *person) request(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequestWithContext(p.w.t.Context(), method, here+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range p.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

func (p *person) do(r *http.Request) answer {
	a := p.w.send(r)
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		p.cookies[c.Name] = c.Value
	}
	return a
}

func (p *person) get(path string) answer { return p.do(p.request("GET", path, nil)) }

func (p *person) post(path string, form url.Values) answer {
	return p.do(p.request("POST", path, form))
}

// register makes a client known with what is changed of the usual one's metadata.
func (w *world) register(change map[string]any) map[string]any {
	w.t.Helper()
	a := w.registers(change)
	out := map[string]any{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusCreated {
		w.t.Fatalf("registering is answered %d %s", a.status, a.body)
	}
	return out
}

func (w *world) registers(change map[string]any) answer {
	meta := map[string]any{"client_name": "Harbour Robot", "redirect_uris": []string{back}, "token_endpoint_auth_method": "none"}
	for name, value := range change {
		meta[name] = value
	}
	data, err := json.Marshal(meta)
	must(w.t, err)
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", here+"/oauth/register", bytes.NewReader(data))
	r.Header.Set("Content-Type", "application/json")
	return w.send(r)
}

func (w *world) client() string {
	w.t.Helper()
	return w.register(nil)["client_id"].(string)
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// asks is a good authorization of a client.
func asks(client string) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {back}, "state": {"xyz & co"}, "scope": {"mcp"},
		"code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}, "resource": {resource},
	}
}

// with is the same with other values; an empty list takes one away.
func with(q url.Values, changes url.Values) url.Values {
	out := url.Values{}
	for name, values := range q {
		out[name] = values
	}
	for name, values := range changes {
		if out[name] = values; len(values) == 0 {
			delete(out, name)
		}
	}
	return out
}

var formValue = regexp.MustCompile(`name="form" value="([^"]*)"`)

// page is the page that asks the person, with its form's value.
func (p *person) page(q url.Values) (a answer, form string) {
	p.w.t.Helper()
	a = p.get("/oauth/authorize?" + q.Encode())
	m := formValue.FindStringSubmatch(a.body)
	if a.status != http.StatusOK || m == nil {
		p.w.t.Fatalf("the page is %d %s%s", a.status, a.header.Get("Location"), a.body)
	}
	return a, html.UnescapeString(m[1])
}

// allows is the form with which a person allows what the page suggests, in r:general.
func allows(form string) url.Values {
	return url.Values{"form": {form}, "answer": {"allow"}, "name": {"Robot"}, "set": {"messenger"}, "where": {"chosen"}, "place": {"r:general"}, "per_minute": {"60"}, "days": {"30"}}
}

// code has the person let the client in, and is its code.
func (p *person) code(q url.Values) string {
	p.w.t.Helper()
	_, form := p.page(q)
	a := p.post("/oauth/consent", allows(form))
	at, got := a.location(p.w.t)
	if a.status != http.StatusSeeOther || at != q.Get("redirect_uri") || got.Get("code") == "" {
		p.w.t.Fatalf("consent is answered %d %s %v", a.status, at, got)
	}
	return got.Get("code")
}

// redeems is a good request for the first tokens.
func redeems(client, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {back}, "resource": {resource}}
}

func refreshes(client, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {token}}
}

// asksFor posts a program's form.
func (w *world) asksFor(path string, q url.Values, headers ...string) answer {
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", here+path, strings.NewReader(q.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return w.send(r)
}

// tokens are a client's.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Scope   string `json:"scope"`
}

func (w *world) tokens(q url.Values) tokens {
	w.t.Helper()
	a := w.asksFor("/oauth/token", q)
	var out tokens
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" {
		w.t.Fatalf("the token endpoint answers %d %v %s", a.status, a.header, a.body)
	}
	return out
}

// refused wants an error of RFC 6749 from an endpoint for programs.
func (a answer) refused(t *testing.T, status int, code string) {
	t.Helper()
	var said struct {
		Code string `json:"error"`
		Says string `json:"error_description"`
	}
	if err := json.Unmarshal([]byte(a.body), &said); err != nil || a.status != status || said.Code != code || said.Says == "" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("answered %d %s, want %d %s", a.status, a.body, status, code)
	}
}

// calls has an agent use a tool at an MCP server; the answer of HTTP.
func (w *world) calls(path, token, tool, args string) answer {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", here+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	return w.send(r)
}

const hello = `{"room_id":"r:general","type":"text","body":{"text":"hello"}}`
