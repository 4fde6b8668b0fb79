package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/oauth2-proxy/mockoidc"

	"ubl"
)

// idp is an OpenID provider that nobody here wrote, on loopback.
type idp struct {
	*mockoidc.MockOIDC
	down    atomic.Bool // drops every connection, and keeps its port
	mu      sync.Mutex
	fetched map[string]int // by last part of the path
	// instead answers in the provider's place where it reports true; nil for never.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

// startIDP starts a provider with the RSA key, nil for one of its own.
func startIDP(t testing.TB, key *rsa.PrivateKey) *idp {
	t.Helper()
	m, err := mockoidc.NewServer(key)
	if err != nil {
		t.Fatal(err)
	}
	p := &idp{MockOIDC: m, fetched: map[string]int{}}
	m.ClientID = "ubl-test"
	if err := m.AddMiddleware(p.counting); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(ln, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p
}

func (p *idp) stop() { _ = p.Server.Close() }

func (p *idp) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down.Load() {
			panic(http.ErrAbortHandler)
		}
		p.mu.Lock()
		p.fetched[path.Base(r.URL.Path)]++
		instead := p.instead
		p.mu.Unlock()
		if instead == nil || !instead(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

func (p *idp) fetches(page string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetched[page]
}

// signIn goes through the provider's own code flow and brings back its id token.
func (p *idp) signIn(t testing.TB, user *mockoidc.MockUser) string {
	t.Helper()
	p.QueueUser(user)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	form := url.Values{"client_id": {p.ClientID}, "client_secret": {p.ClientSecret}, "redirect_uri": {"http://127.0.0.1/back"}}
	ask := maps.Clone(form)
	ask["scope"], ask["state"], ask["response_type"] = []string{"openid email groups"}, []string{"s"}, []string{"code"}
	res, err := client.Get(p.AuthorizationEndpoint() + "?" + ask.Encode())
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	back, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	form["grant_type"], form["code"] = []string{"authorization_code"}, back.Query()["code"]
	res, err = client.PostForm(p.TokenEndpoint(), form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct {
		IDToken string `json:"id_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || got.IDToken == "" {
		t.Fatalf("no id token: %v", err)
	}
	return got.IDToken
}

// mill makes tokens with the provider's key, true or not.
func (p *idp) mill(t testing.TB, now time.Time) mill {
	t.Helper()
	kid, err := p.Keypair.KeyID()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(p.Keypair.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return mill{
		alg: jose.RS256, key: p.Keypair.PrivateKey,
		public: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		header: map[jose.HeaderKey]any{"kid": kid},
		good: map[string]any{
			"iss": p.Issuer(), "aud": p.ClientID, "sub": "auth0.ann", "email": "ann@corp.example", "email_verified": true,
			"exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "nbf": now.Unix(),
		},
	}
}

func (p *idp) issuer(trusted ...string) Issuer {
	return Issuer{URL: p.Issuer(), Audience: p.ClientID, TrustedDomains: trusted}
}

func with(issuers ...Issuer) func(*Options) { return func(o *Options) { o.Issuers = issuers } }

func TestBadOIDCTokens(t *testing.T) {
	p := startIDP(t, nil)
	w := newWorld(t, with(p.issuer()))
	m := p.mill(t, w.clock.Now())
	w.refusesAll(t, m)

	t.Run("an algorithm the provider does not use", func(t *testing.T) {
		w.tenants.set(func(f *tenants) { f.log = nil })
		ps := mint(t, jose.PS256, m.key, m.header, m.payload(t, map[string]any{"jti": "ps"}))
		w.get(bearer(ps)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		w.tenants.silent(t)
	})
	t.Run("a token of ours with its issuer", func(t *testing.T) {
		w.get(bearer(w.localMill().make(t, map[string]any{"iss": p.Issuer(), "aud": p.ClientID}))...).
			refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	})
	t.Run("a token of its with our issuer", func(t *testing.T) {
		w.get(bearer(m.make(t, map[string]any{"iss": LocalIssuer, "aud": Audience, "jti": "0123", "sub": "ann@corp.example"}))...).
			refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	})
	t.Run("its word on services counts for nothing", func(t *testing.T) {
		if w.get(bearer(m.make(t, map[string]any{"is_service": true}))...).let(t).Identity.IsService {
			t.Error("a provider made a service")
		}
	})
}

// The whole way: a person signs in at the provider, and comes to us with what
// it gave them, in either header.
func TestOIDC(t *testing.T) {
	p := startIDP(t, nil)
	token := p.signIn(t, &mockoidc.MockUser{
		Subject: "auth0.ann", Email: "Ann@Corp.Example", EmailVerified: true, Groups: []string{"eng", "design"},
	})
	w := newWorld(t, with(p.issuer())) // whose clock stands still: the token is not from later
	for _, headers := range [][]string{bearer(token), {"Cf-Access-Jwt-Assertion", token}} {
		caller := w.get(headers...).let(t)
		id := caller.Identity
		if id.UserID != "u:auth0.ann" || id.Email != "ann@corp.example" || id.EmailDomain != "corp.example" || id.TenantID != "t:corp.example" {
			t.Errorf("came in as %+v", id)
		}
		if !slices.Equal(id.Groups, []string{"eng", "design"}) || id.IsService || id.Issuer != p.Issuer() || id.Subject != "auth0.ann" {
			t.Errorf("came in as %+v", id)
		}
		if left := caller.ExpiresAt.Std().Sub(w.clock.Now()); left <= 0 || left > p.AccessTTL+time.Second {
			t.Errorf("expires in %v", left)
		}
	}
	if n := count[ubl.AdmitToken](w.tenants); n != 0 {
		t.Error("a provider's token was admitted as if it were ours")
	}

	p.stop()
	w.get(bearer(token)...).let(t) // verified once, it needs the provider no more
	w.clock.pass(p.AccessTTL + time.Second)
	w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
}

func TestOIDCMapping(t *testing.T) {
	first, second, third := startIDP(t, nil), startIDP(t, nil), startIDP(t, nil)
	limited := third.issuer()
	limited.Domains = []string{"Ops.Example", "corp.example"}
	w := newWorld(t, with(first.issuer("Trusted.Example"), second.issuer(), limited))
	one, two, three := first.mill(t, w.clock.Now()), second.mill(t, w.clock.Now()), third.mill(t, w.clock.Now())
	hashed := func(m mill, sub string) ubl.UserID { return ubl.UserIDFor(m.good["iss"].(string), sub, false) }
	tests := []struct {
		name    string
		mill    mill
		changes map[string]any
		user    ubl.UserID
		tenant  ubl.TenantID // "" where it is refused
	}{
		{"first issuer keeps the subject", one, nil, "u:auth0.ann", "t:corp.example"},
		{"a subject that is no id is hashed", one, map[string]any{"sub": "auth0|ann"}, hashed(one, "auth0|ann"), "t:corp.example"},
		{"a subject that looks hashed is hashed", one, map[string]any{"sub": string(hashed(two, "x"))[2:]}, hashed(one, string(hashed(two, "x"))[2:]), "t:corp.example"},
		{"second issuer is hashed", two, nil, hashed(two, "auth0.ann"), "t:corp.example"},
		{"an operator", three, map[string]any{"email": "ROOT@ops.example"}, hashed(three, "auth0.ann"), ubl.CoreTenant},
		{"an operator, by an issuer of no domain", one, map[string]any{"email": "root@ops.example"}, "", ""},
		{"an operator, not verified", three, map[string]any{"email": "root@ops.example", "email_verified": false}, "", ""},
		{"an operator, not said to be verified", three, map[string]any{"email": "root@ops.example", "email_verified": nil}, "", ""},
		{"a domain of the issuer", three, nil, hashed(three, "auth0.ann"), "t:corp.example"},
		{"a domain that isn't the issuer's", three, map[string]any{"email": "ann@else.example"}, "", ""},
		{"a part of a domain of the issuer", three, map[string]any{"email": "ann@sub.corp.example"}, "", ""},
		{"public mail", one, map[string]any{"email": "ann@gmail.com"}, "u:auth0.ann", ubl.PersonalTenant("u:auth0.ann")},
		{"public mail, another issuer", two, map[string]any{"email": "ann@gmail.com"}, hashed(two, "auth0.ann"), ubl.PersonalTenant(hashed(two, "auth0.ann"))},
		{"trusted for the domain", one, map[string]any{"email": "ann@trusted.example", "email_verified": nil}, "u:auth0.ann", "t:trusted.example"},
		{"trusted, but it says false", one, map[string]any{"email": "ann@trusted.example", "email_verified": false}, "", ""},
		{"trusted for another domain", one, map[string]any{"email_verified": nil}, "", ""},
		{"trusted for the parent", one, map[string]any{"email": "ann@sub.trusted.example", "email_verified": nil}, "", ""},
		{"another issuer is trusted", two, map[string]any{"email": "ann@trusted.example", "email_verified": nil}, "", ""},
		{"groups that are no list", one, map[string]any{"groups": "eng"}, "u:auth0.ann", "t:corp.example"},
		{"groups that are no names", one, map[string]any{"groups": []int{1}}, "u:auth0.ann", "t:corp.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := w.get(bearer(tt.mill.make(t, tt.changes))...)
			if tt.tenant == "" {
				a.refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
				return
			}
			id := a.let(t).Identity
			if id.UserID != tt.user || id.TenantID != tt.tenant || id.Groups == nil {
				t.Errorf("came in as %s of %s, want %s of %s", id.UserID, id.TenantID, tt.user, tt.tenant)
			}
		})
	}
}

// TestOneIssuerSpeaksForOperators where it lists no domain: there is no other.
func TestOneIssuerSpeaksForOperators(t *testing.T) {
	p := startIDP(t, nil)
	w := newWorld(t, with(p.issuer()))
	root := p.mill(t, w.clock.Now()).make(t, map[string]any{"email": "root@ops.example"})
	if id := w.get(bearer(root)...).let(t).Identity; id.TenantID != ubl.CoreTenant {
		t.Errorf("came in as %+v", id)
	}
}

// What Cloudflare Access puts in front of its own service tokens names nobody;
// the refusal says what to send instead.
func TestCloudflareServiceAssertion(t *testing.T) {
	p := startIDP(t, nil)
	w := newWorld(t, with(p.issuer("corp.example")))
	m := p.mill(t, w.clock.Now())
	assertion := m.make(t, map[string]any{"sub": "", "email": nil, "email_verified": nil, "common_name": "0123.access", "type": "app"})
	a := w.get("Cf-Access-Jwt-Assertion", assertion).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	if !strings.Contains(a.message, "CF-Access-Client-Id") {
		t.Errorf("the refusal does not help: %s", a.message)
	}
	token, _ := w.token(t, "ann@corp.example")
	w.get("Cf-Access-Jwt-Assertion", assertion, "Authorization", "Bearer "+token).let(t)
}

// A provider that changes its key is followed; tokens of the old key that were
// not seen before are out.
func TestOIDCKeyRotation(t *testing.T) {
	before := startIDP(t, nil)
	w := newWorld(t, with(before.issuer()))
	old := before.mill(t, w.clock.Now())
	seen := old.make(t, nil)
	w.get(bearer(seen)...).let(t)

	after := startIDP(t, must(rsa.GenerateKey(rand.Reader, 2048)))
	before.answers("jwks.json", after.JWKS) // the provider stays where it is: its port could be another's by then
	fresh := after.mill(t, w.clock.Now())
	fresh.good["iss"], fresh.good["aud"] = old.good["iss"], old.good["aud"]

	w.clock.pass(fetchEvery)
	w.get(bearer(fresh.make(t, nil))...).let(t)
	w.afterFetch(http.StatusUnauthorized, func(i int) string {
		return old.make(t, map[string]any{"sub": fmt.Sprint("unseen", i)})
	}).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	w.get(bearer(seen)...).let(t)
	forged := mint(t, jose.RS256, old.key, fresh.header, fresh.payload(t, nil))
	w.get(bearer(forged)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
}

// afterFetch asks until a token gets the status, for a minute at most: go-oidc answers
// who waited for keys a moment before it has the new ones in place and lets go of that
// fetch, and who comes in that moment is judged by what was before.
func (w *world) afterFetch(status int, token func(i int) string) (last answer) {
	for i, deadline := 0, time.Now().Add(time.Minute); i == 0 || last.status != status && time.Now().Before(deadline); i++ {
		last = w.get(bearer(token(i))...)
	}
	return last
}

// A provider that is down does not keep us from starting, and its people are
// told to come back, not that their tokens are bad.
func TestOIDCProviderDown(t *testing.T) {
	p := startIDP(t, nil)
	issuer := p.issuer()
	p.down.Store(true)
	w := newWorld(t, with(issuer))
	m := p.mill(t, w.clock.Now())
	m.good["iss"] = issuer.URL
	token := m.make(t, nil)

	w.get(bearer(token)...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
	local, _ := w.token(t, "ann@corp.example")
	w.get(bearer(local)...).let(t)

	p.down.Store(false)
	w.get(bearer(token)...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
	if n := p.fetches("openid-configuration"); n != 0 {
		t.Errorf("asked again at once, %d times", n)
	}
	w.clock.pass(fetchEvery)
	w.get(bearer(token)...).let(t)

	p.down.Store(true)
	w.clock.pass(fetchEvery)
	unknown := mint(t, jose.RS256, m.key, map[jose.HeaderKey]any{"kid": "newer"}, m.payload(t, map[string]any{"sub": "new"}))
	w.afterFetch(http.StatusServiceUnavailable, func(int) string { return unknown }).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
	w.get(bearer(m.make(t, map[string]any{"sub": "new"}))...).let(t) // its key is known
}

// Forged tokens do not make us hammer the provider.
func TestOIDCFetchesSeldom(t *testing.T) {
	p := startIDP(t, nil)
	w := newWorld(t, with(p.issuer()))
	m := p.mill(t, w.clock.Now())
	for range 3 {
		for range 20 {
			forged := mint(t, jose.HS256, m.public, nil, m.payload(t, nil))
			w.get(bearer(forged)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			unknown := mint(t, jose.RS256, m.key, map[jose.HeaderKey]any{"kid": "no such key"}, m.payload(t, nil))
			w.get(bearer(unknown)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		}
		w.clock.pass(fetchEvery)
	}
	if n := p.fetches("jwks.json"); n != 3 {
		t.Errorf("fetched the keys %d times in three windows, want 3", n)
	}
	if n := p.fetches("openid-configuration"); n != 1 {
		t.Errorf("discovered %d times, want once", n)
	}
}

func TestNewRefuses(t *testing.T) {
	key, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := Issuer{URL: "https://login.example", Audience: "ubl"}
	for name, change := range map[string]func(*Options){
		"no key":                          func(o *Options) { o.Key = nil },
		"no asker":                        func(o *Options) { o.Asker = nil },
		"no feed":                         func(o *Options) { o.Feed = nil },
		"no randomness":                   func(o *Options) { o.Random = strings.NewReader("") },
		"an operator without @":           func(o *Options) { o.Operators = []string{"root"} },
		"an issuer in plain http":         func(o *Options) { o.Issuers = []Issuer{{URL: "http://login.example", Audience: "ubl"}} },
		"an issuer that is no URL":        func(o *Options) { o.Issuers = []Issuer{{URL: "login.example", Audience: "ubl"}} },
		"an issuer named like us":         func(o *Options) { o.Issuers = []Issuer{{URL: LocalIssuer, Audience: "ubl"}} },
		"an issuer named like tenant 0's": func(o *Options) { o.Issuers = []Issuer{{URL: ubl.PlatformIssuer, Audience: "ubl"}} },
		"an issuer for anyone":            func(o *Options) { o.Issuers = []Issuer{{URL: "https://login.example"}} },
		"an issuer twice":                 func(o *Options) { o.Issuers = []Issuer{good, good} },
	} {
		o := Options{Key: key, Asker: &tenants{}, Feed: &feed{sinks: map[int]sink{}}, Issuers: []Issuer{good}}
		change(&o)
		if a, err := New(o); err == nil {
			a.Close()
			t.Errorf("%s: started", name)
		}
	}
}
