package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/oauth2-proxy/mockoidc"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// client is the provider as one that people sign in at; programs' tokens are for
// another audience.
func (p *idp) client() Issuer {
	return Issuer{URL: p.Issuer(), Audience: "ubl-api", ClientID: p.ClientID, ClientSecret: p.ClientSecret}
}

// openOIDC opens a desk whose people sign in at the providers. Its clock stands still and is
// some minutes ahead of theirs: what they say in the test is not from later than that.
func openOIDC(t testing.TB, providers ...*idp) *desk {
	t.Helper()
	d := openDesk(t, func(o *Options) {
		for _, p := range providers {
			o.Issuers = append(o.Issuers, p.client())
		}
	})
	d.house.Clock.Add(time.Now().Add(4 * time.Minute).Truncate(time.Second).Sub(d.house.Clock.Now()))
	return d
}

// withClients is another node with the same providers.
func (d *desk) withClients(t testing.TB, providers ...*idp) *desk {
	return d.another(t, func(o *Options) {
		for _, p := range providers {
			o.Issuers = append(o.Issuers, p.client())
		}
	})
}

// answers has the provider's page of that name answer something else.
func (p *idp) answers(page string, answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, page) {
			return false
		}
		answer(w, r)
		return true
	}
}

// start goes to the provider, and gives the way there.
func (v *visitor) start(p *idp, back string) *url.URL {
	v.t.Helper()
	w := v.send(http.MethodGet, "/auth/oidc/"+idOf(p)+"/start?return="+url.QueryEscape(back), "", fromSite("same-origin"))
	at, err := w.Result().Location()
	if err != nil || w.Code != http.StatusFound {
		v.t.Fatalf("started: %d %s, %v", w.Code, w.Body, err)
	}
	return at
}

func idOf(p *idp) string { return (&provider{Issuer: Issuer{URL: p.Issuer()}}).id() }

// at is what somebody does at the provider: they are sent back, to the path.
func (p *idp) at(t testing.TB, way *url.URL, user *mockoidc.MockUser) *url.URL {
	t.Helper()
	p.QueueUser(user)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	res, err := client.Get(way.String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	back, err := res.Location()
	if err != nil {
		t.Fatalf("the provider answers %s", res.Status)
	}
	return back
}

func annAtProvider() *mockoidc.MockUser {
	return &mockoidc.MockUser{Subject: "auth0.ann", Email: "Ann@Corp.Example", EmailVerified: true, Groups: []string{"eng"}}
}

// TestOIDCSignIn: from the app to the provider and back, ended on another node.
// Who comes in is who a bearer token of that provider names.
func TestOIDCSignIn(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	v := d.visitor(t)
	if w := v.open("/auth/ways"); !strings.Contains(w.Body.String(), fmt.Sprintf(`"oidc":[{"id":%q,"name":%q}]`, idOf(p), strings.TrimPrefix(p.Addr(), "http://"))) {
		t.Errorf("ways: %s", w.Body)
	}

	way := v.start(p, "/ui/rooms/r:general?at=7")
	q := way.Query()
	if got := q.Get("redirect_uri"); got != deskOrigin+"/auth/oidc/callback" {
		t.Errorf("comes back to %s", got)
	}
	if q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) != 43 || len(q.Get("nonce")) != 43 ||
		q.Get("response_type") != "code" || q.Get("scope") != "openid email profile groups" || q.Get("client_id") != p.ClientID {
		t.Errorf("asks for %v", q)
	}
	back := p.at(t, way, annAtProvider())
	if at := back.Scheme + "://" + back.Host + back.Path; at != deskOrigin+"/auth/oidc/callback" {
		t.Fatalf("sent back to %s", at)
	}
	before := d.head()
	v.at = d.withClients(t, p)
	w := v.open(back.RequestURI())
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/ui/rooms/r:general?at=7" || w.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("came back: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if v.ceremonies() != 0 {
		t.Errorf("cookies are left: %v", v.jar)
	}
	if got := d.acts(t, before); !slices.Equal(got, []string{"platform.token.create"}) {
		t.Errorf("on record: %q", got)
	}

	mill := p.mill(t, d.house.Clock.Now())
	mill.good["aud"], mill.good["groups"] = "ubl-api", []string{"eng"}
	r := httptest.NewRequest(http.MethodGet, "/api/whoami", nil)
	r.Header.Set("Authorization", "Bearer "+mill.make(t, nil))
	byToken, err := d.Authenticate(r.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", v.session()), fmt.Sprintf("%+v", byToken.Identity); got != want {
		t.Errorf("signed in as %s; a token names %s", got, want)
	}

	if w := v.open(back.RequestURI()); w.Code != http.StatusBadRequest {
		t.Errorf("once more: %d", w.Code)
	}
}

// TestStartFromElsewhere: another site's page can't have its visitor signed in.
func TestStartFromElsewhere(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	for site, want := range map[string]int{
		"cross-site": http.StatusForbidden, "same-site": http.StatusForbidden,
		"same-origin": http.StatusFound, "none": http.StatusFound,
	} {
		v := d.visitor(t)
		w := v.send(http.MethodGet, "/auth/oidc/"+idOf(p)+"/start", "", fromSite(site))
		if w.Code != want || (v.ceremonies() > 0) != (want == http.StatusFound) {
			t.Errorf("from %s: %d %v", site, w.Code, v.jar)
		}
	}
}

// fromSite is a request that a page of such a site made the browser send.
func fromSite(site string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", site) }
}

// TestTwoTabs: each comes back to where it began, in whatever order.
func TestTwoTabs(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	v := d.visitor(t)
	first, second := v.start(p, "/ui/first"), v.start(p, "/ui/second")
	for _, tab := range []struct {
		way  *url.URL
		want string
	}{{second, "/ui/second"}, {first, "/ui/first"}} {
		w := v.open(p.at(t, tab.way, annAtProvider()).RequestURI())
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != tab.want {
			t.Errorf("led to %q (%d), want %s", got, w.Code, tab.want)
		}
	}
}

// TestReturn leads to pages of the app and nowhere else.
func TestReturn(t *testing.T) {
	for s, want := range map[string]string{
		"/ui/": "/ui/", "/ui/rooms/r:general": "/ui/rooms/r:general", "/ui/x?y=https://evil.example#z": "/ui/x?y=https://evil.example#z",
		"/ui//evil.example": "/ui//evil.example", // a path of ours: a host would stand at the beginning
		"":                  home, "/": home, "/ui": home, "/uix/": home, "/api/tokens": home, "ui/": home,
		"//evil.example/ui/": home, "https://evil.example/ui/": home, "http:/ui/": home, "javascript:alert(1)//ui/": home,
		`/\evil.example/ui/`: home, `\/ui/`: home, `/ui/\..\..`: home, "/ui/%5c..": home,
		"/ui/../api/x": home, "/ui/%2e%2e/api/x": home, "/ui/..": home, " /ui/": home, "/ui/\r\nX: y": home, "/ui/%": home,
		"/ui/" + strings.Repeat("x", maxReturn): home,
	} {
		if got := localPath(s); got != want {
			t.Errorf("%q leads to %q, want %q", s, got, want)
		}
	}
}

// TestProviderPages must be reached as safely as its keys.
func TestProviderPages(t *testing.T) {
	for _, name := range []string{"authorization_endpoint", "token_endpoint"} {
		for _, address := range []string{"http://idp.example/x", "javascript:alert(1)", ""} {
			p := startIDP(t, nil)
			d := openOIDC(t, p)
			p.answers("openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
				doc := map[string]any{"issuer": p.Issuer(), "jwks_uri": p.JWKSEndpoint(), "authorization_endpoint": p.AuthorizationEndpoint(), "token_endpoint": p.TokenEndpoint()}
				doc[name] = address
				envelope.Write(w, http.StatusOK, doc)
			})
			if w := d.visitor(t).send(http.MethodGet, "/auth/oidc/"+idOf(p)+"/start", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Location") != "" {
				t.Errorf("%s %q: %d %v", name, address, w.Code, w.Header())
			}
		}
	}
}

// TestWhoMayNotStart, and what a provider that is down leads to.
func TestWhoMayNotStart(t *testing.T) {
	p, tokensOnly := startIDP(t, nil), startIDP(t, nil)
	d := openDesk(t, func(o *Options) { o.Issuers = []Issuer{tokensOnly.issuer(), p.client()} })
	for _, id := range []string{"nobody", idOf(tokensOnly)} {
		if w := d.visitor(t).send(http.MethodGet, "/auth/oidc/"+id+"/start", ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", id, w.Code)
		}
	}
	p.down.Store(true)
	w := d.visitor(t).send(http.MethodGet, "/auth/oidc/"+idOf(p)+"/start", "")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "cannot be reached") {
		t.Errorf("down: %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// TestOIDCShutOut: who was removed from the tenant gets no session.
func TestOIDCShutOut(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	owner := d.person("owner@corp.example")
	v := d.visitor(t)
	if w := v.open(p.at(t, v.start(p, "/ui/"), annAtProvider()).RequestURI()); w.Code != http.StatusSeeOther {
		t.Fatalf("at first: %d %s", w.Code, w.Body)
	}
	ann := v.session()
	harness.Must[*ubl.Member](d.house, ubl.TenantName(ann.TenantID), ubl.RemoveTenantMember{Request: d.house.Request(owner), UserID: ann.UserID})
	v = d.visitor(t)
	w := v.open(p.at(t, v.start(p, "/ui/"), annAtProvider()).RequestURI())
	if w.Code != http.StatusForbidden {
		t.Errorf("removed: %d %s", w.Code, w.Body)
	}
	refusedPage(t, v, w)
}

// TestProviderNotTrusted: whom a provider vouched for is let in no longer than the
// provider is configured, neither with a session nor with a passkey.
func TestProviderNotTrusted(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	v, phone := d.visitor(t), newDevice(virtualwebauthn.KeyTypeRSA)
	if w := v.open(p.at(t, v.start(p, "/ui/"), annAtProvider()).RequestURI()); w.Code != http.StatusSeeOther {
		t.Fatalf("came back: %d %s", w.Code, w.Body)
	}
	v.signedIn(v.session()).register(phone, "phone") // the provider doesn't say when it asked
	elsewhere := p.client()
	elsewhere.Domains = []string{"else.example"}
	for name, issuers := range map[string][]Issuer{"not configured": nil, "for another domain": {elsewhere}} {
		now := d.another(t, with(issuers...))
		v.at = now
		if got := v.session(); got.UserID != "" {
			t.Errorf("%s: the session is %+v", name, got)
		}
		stranger := now.visitor(t)
		if w := stranger.finishLogin(phone.sign(t, stranger.beginLogin())); w.Code != http.StatusForbidden {
			t.Errorf("%s: the passkey is answered %d %s", name, w.Code, w.Body)
		}
	}
}

// TestClientsThatCannotBe are refused when a node starts.
func TestClientsThatCannotBe(t *testing.T) {
	for what, change := range map[string]func(*Options){
		"nowhere to come back to": func(o *Options) {
			o.PublicURL, o.Issuers = "", []Issuer{{URL: "https://id.example", Audience: "a", ClientID: "c"}}
		},
		"a secret of nobody": func(o *Options) { o.Issuers = []Issuer{{URL: "https://id.example", Audience: "a", ClientSecret: "s"}} },
	} {
		key := must(NewKey(strings.NewReader(strings.Repeat("k", 32))))
		o := Options{Key: key, Asker: &tenants{}, Feed: &feed{sinks: map[int]sink{}}, PublicURL: deskOrigin}
		change(&o)
		if a, err := New(o); err == nil {
			a.Close()
			t.Errorf("%s: started", what)
		} else if strings.Contains(err.Error(), `"s"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
