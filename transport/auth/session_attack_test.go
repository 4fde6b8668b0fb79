package auth

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"ubl"
)

// sessionMill makes cookies as the node's key does, true or not.
func (w *world) sessionMill() mill {
	now := w.clock.Now()
	return mill{alg: jose.EdDSA, key: w.key.private, public: w.key.public, good: map[string]any{
		"iss": LocalIssuer, "aud": SessionAudience, "sub": "ann@corp.example", "jti": "0123456789abcdef", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"auth_time": now.Unix(), "identity_issuer": LocalIssuer, "user_id": "u:ann", "tenant_id": "t:corp.example", "email": "ann@corp.example", "method": "passkey",
	}}
}

// carrying is a browser with a cookie that it was made to have.
func (w *world) carrying(value string) *browser {
	return &browser{world: w, cookie: &http.Cookie{Name: cookieName, Value: value}}
}

// TestForgedSessions: whatever isn't a session that this node's key signed is a
// 401 that repeats nothing, and bothers no tenant.
func TestForgedSessions(t *testing.T) {
	w := newWorld(t)
	m := w.sessionMill()
	stranger, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := m.make(t, nil)
	head, rest, _ := strings.Cut(good, ".")
	_, sig, _ := strings.Cut(rest, ".")
	changed := strings.Split(m.make(t, map[string]any{"tenant_id": "t:ubl_core"}), ".")[1]
	bad := map[string]string{
		"alg none":                  unsigned(m.payload(t, nil)),
		"HS256 with the public key": mint(t, jose.HS256, m.public, nil, m.payload(t, nil)),
		"another key":               mint(t, jose.EdDSA, stranger.private, nil, m.payload(t, nil)),
		"payload changed":           head + "." + changed + "." + sig,
		"signature cut":             good[:len(good)-8],
		"a claim twice":             mint(t, m.alg, m.key, nil, append(m.payload(t, nil)[:len(m.payload(t, nil))-1], `,"exp":99999999999}`...)),
		"garbage":                   "garbage",
		"nothing":                   "",
		"huge":                      good + strings.Repeat("A", maxCredential),
	}
	for name, changes := range map[string]map[string]any{
		"a bearer's audience":     {"aud": Audience},
		"no audience":             {"aud": nil},
		"another issuer":          {"iss": "https://evil.example"},
		"expired":                 {"exp": w.clock.Now().Unix()},
		"no exp":                  {"exp": nil},
		"no id":                   {"jti": nil},
		"an id too long":          {"jti": strings.Repeat("j", maxTokenID+1)},
		"no beginning":            {"auth_time": nil},
		"no iat":                  {"iat": nil},
		"no tenant":               {"tenant_id": nil},
		"a bad tenant":            {"tenant_id": "t:../x"},
		"tenant 0, no operator's": {"tenant_id": "t:ubl_core"},
	} {
		bad[name] = m.make(t, changes)
	}
	for name, value := range bad {
		t.Run(name, func(t *testing.T) {
			answer := w.carrying(value).send("GET", "/api/whoami", "")
			if answer.Code != http.StatusUnauthorized || len(answer.Result().Cookies()) > 0 {
				t.Errorf("answered %d with cookies %v: %s", answer.Code, answer.Result().Cookies(), answer.Body)
			}
			if len(value) > 8 && strings.Contains(answer.Body.String(), value[:8]) {
				t.Errorf("the answer repeats the cookie: %s", answer.Body)
			}
			w.tenants.silent(t)
		})
	}
	if got := w.carrying(good).status(); got != http.StatusOK {
		t.Errorf("the good one is answered %d", got)
	}
}

// TestSessionsAreNoBearerTokens, nor the other way round, even where the same text
// was found good in its own place before.
func TestSessionsAreNoBearerTokens(t *testing.T) {
	b := signedIn(t)
	token, _ := b.token(t, "ann@corp.example")
	for range 2 {
		if got := b.status(); got != http.StatusOK {
			t.Fatalf("the session is answered %d", got)
		}
		b.get(bearer(token)...).let(t)
		b.get(bearer(b.cookie.Value)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		b.get(headerAssertion, b.cookie.Value).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		if got := b.carrying(token).status(); got != http.StatusUnauthorized {
			t.Errorf("a bearer token in a cookie is answered %d", got)
		}
	}
}

// TestWhichCredentialBesideACookie: what the client sent in a header beats the
// cookie, the cookie what a proxy added, and none falls back to the next.
func TestWhichCredentialBesideACookie(t *testing.T) {
	b := signedIn(t)
	bob, _ := b.token(t, "bob@corp.example")
	bobs := string(ubl.UserIDFor(LocalIssuer, "bob@corp.example", false))
	anns := string(ann().UserID)
	good := b.cookie.String()
	for _, c := range []struct {
		name    string
		path    string
		headers []string
		who     string // "" for nobody
	}{
		{"the cookie", "/api/whoami", []string{"Cookie", good}, anns},
		{"a bearer beats it", "/api/whoami", append(bearer(bob), "Cookie", good), bobs},
		{"a bad bearer too", "/api/whoami", append(bearer("x.y.z"), "Cookie", good), ""},
		{"half a service too", "/api/whoami", []string{"CF-Access-Client-Id", "x", "Cookie", good}, ""},
		{"it beats an assertion", "/api/whoami", []string{headerAssertion, bob, "Cookie", good}, anns},
		{"a bad one too", "/api/whoami", []string{headerAssertion, bob, "Cookie", "ubl=x.y.z"}, ""},
		{"others don't count", "/api/whoami", []string{headerAssertion, bob, "Cookie", "theme=dark"}, bobs},
		{"nor under TLS's name", "/api/whoami", []string{"Cookie", "__Host-" + good}, ""},
		{"two of the name", "/api/whoami", []string{"Cookie", good + "; " + good}, ""},
		{"another first", "/api/whoami", []string{"Cookie", "ubl=x; " + good}, ""},
		{"another after it", "/api/whoami", []string{"Cookie", good + "; ubl=x"}, ""},
		{"two in two headers", "/api/whoami", []string{"Cookie", good, "Cookie", "ubl=x"}, ""},
		{"to MCP", "/mcp", []string{"Cookie", good}, ""},
		{"a bearer to MCP", "/mcp", append(bearer(bob), "Cookie", good), bobs},
	} {
		alone := &browser{world: b.world}
		w := alone.send("GET", c.path, "", func(r *http.Request) {
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Add(c.headers[i], c.headers[i+1])
			}
		})
		if c.who == "" && w.Code != http.StatusUnauthorized || c.who != "" && !strings.Contains(w.Body.String(), `"`+c.who+`"`) {
			t.Errorf("%s: answered %d %s", c.name, w.Code, w.Body)
		}
	}
}

// TestTossedCookie: under TLS only the name counts that no neighbour can set.
func TestTossedCookie(t *testing.T) {
	b := signedIn(t, func(o *Options) { o.PublicURL = "https://ubl.example" })
	tossed := func(r *http.Request) { r.Header.Set("Cookie", "ubl=x.y.z; "+b.cookie.String()+"; ubl="+b.cookie.Value) }
	if w := b.send("GET", "/api/whoami", "", tossed); w.Code != http.StatusOK {
		t.Errorf("a neighbour's cookie gets in the way: %d", w.Code)
	}
	plain := b.carrying(b.cookie.Value)
	if got := plain.status(); got != http.StatusUnauthorized {
		t.Errorf("a cookie under the plain name is answered %d", got)
	}
}

// TestOtherSites can't use a visitor's cookie for anything, reading included, can't
// sign them out, and can't sign them in as somebody else. Requests without a cookie's
// authority are none of this check's business.
func TestOtherSites(t *testing.T) {
	header := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Host = "ubl.example:8443"
			r.Header.Del("Sec-Fetch-Site")
			for i := 0; i < len(pairs); i += 2 {
				r.Header.Add(pairs[i], pairs[i+1])
			}
		}
	}
	self := "t:corp.example|" + string(ann().UserID)
	for _, c := range []struct {
		name    string
		headers []string
		counts  bool // the cookie does, for signing out too
	}{
		{"our own page", []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"typed by the user", []string{"Sec-Fetch-Site", "none"}, true},
		{"another site", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"another site's link, opened in a tab", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
		{"another site with our address", []string{"Sec-Fetch-Site", "cross-site", "Referer", "https://ubl.example/ui/"}, false},
		{"a neighbour", []string{"Sec-Fetch-Site", "same-site"}, false},
		{"our own page and another site", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"}, false},
		{"our own page twice", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "same-origin"}, false},
		{"a value that we don't know", []string{"Sec-Fetch-Site", "sibling"}, false},
		{"our own page, old browser", []string{"Origin", "https://ubl.example:8443"}, true},
		{"our public URL, other Host", []string{"Origin", "https://ubl.example"}, true},
		{"another site, old browser", []string{"Origin", "https://evil.example"}, false},
		{"another port, old browser", []string{"Origin", "https://ubl.example:1"}, false},
		{"from nowhere", []string{"Origin", "null"}, false},
		{"from nowhere with our address", []string{"Origin", "null", "Referer", "https://ubl.example/ui/"}, false},
		{"our own page over plain http", []string{"Referer", "http://ubl.example:8443/ui/"}, true},
		{"our page, saying whom it shows", []string{"X-Ubl-As", self}, true},
		{"another's page over plain http", []string{"Referer", "http://evil.example/?https://ubl.example/"}, false},
		{"a page of no web", []string{"Referer", "file://ubl.example:8443/"}, false},
		{"no proof", nil, false},
	} {
		b := signedIn(t, func(o *Options) { o.PublicURL = "https://ubl.example" })
		b.tenants.set(func(f *tenants) { f.log = nil })
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"} {
			w := b.send(method, "/api/rooms", "", header(c.headers...))
			if counts := w.Code == http.StatusOK; counts != c.counts || !counts && !strings.Contains(w.Body.String(), string(ubl.CodeOriginNotAllowed)) {
				t.Errorf("%s: %s is answered %d %s", c.name, method, w.Code, w.Body)
			}
		}
		if !c.counts {
			b.tenants.silent(t) // nobody hears of it, so nothing is receipted
		}
		if w := b.send("GET", "/auth/ways", "", header(c.headers...)); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"signed_in":true`) != c.counts {
			t.Errorf("%s: asked how to sign in, we say %d %s", c.name, w.Code, w.Body)
		}
		token, _ := b.token(t, "ann@corp.example")
		if w := b.send("POST", "/api/rooms", "", header(append(c.headers, bearer(token)...)...)); w.Code != http.StatusOK {
			t.Errorf("%s: with a bearer token it is answered %d", c.name, w.Code)
		}
		w := b.send("POST", "/auth/signout", "", header(c.headers...))
		if out := b.cookie == nil; out != c.counts || out != (w.Code == http.StatusNoContent) {
			t.Errorf("%s: signing out is answered %d with cookie %v", c.name, w.Code, b.cookie)
		}
		if !c.counts && len(all[ubl.RevokeToken](b.tenants)) > 0 {
			t.Errorf("%s: the session was ended", c.name)
		}
	}
}

// TestSigningInDrawsANewId: nobody can have planted the session that a person
// comes to use, and the one they had before ends.
func TestSigningInDrawsANewId(t *testing.T) {
	b := signedIn(t)
	planted := b.cookie.Value
	bob := ann()
	bob.UserID, bob.Email, bob.Subject = "u:bob", "bob@corp.example", "bob@corp.example"
	if err := b.signIn(t, bob, ubl.SignInLink); err != nil {
		t.Fatal(err)
	}
	admitted := all[ubl.AdmitToken](b.tenants)
	first, second := admitted[0].Token, admitted[len(admitted)-1].Token
	if b.cookie.Value == planted || first.JTI == second.JTI || second.UserID != "u:bob" {
		t.Errorf("the second session is %+v, the first was %+v", second, first)
	}
	if revoked := all[ubl.RevokeToken](b.tenants); len(revoked) != 1 || revoked[0].JTI != first.JTI || revoked[0].Who.UserID != ann().UserID {
		t.Errorf("revoked %+v", revoked)
	}
}

// TestNoSessionFor services, the platform, strangers to every tenant, and for
// tenant 0 anyone but its operators.
func TestNoSessionFor(t *testing.T) {
	b := &browser{world: newWorld(t)}
	for name, change := range map[string]func(*ubl.Identity){
		"a service":    func(id *ubl.Identity) { id.IsService = true },
		"the platform": func(id *ubl.Identity) { *id = ubl.Platform() },
		"nowhere":      func(id *ubl.Identity) { id.TenantID = "" },
		"no operator":  func(id *ubl.Identity) { id.TenantID = ubl.CoreTenant },
	} {
		who := ann()
		change(&who)
		if err := b.signIn(t, who, ubl.SignInPasskey); ubl.CodeOf(err) != ubl.CodeForbidden || b.cookie != nil {
			t.Errorf("%s: %v, cookie %v", name, err, b.cookie)
		}
	}
	b.tenants.silent(t)
	root := ann()
	root.TenantID, root.Email = ubl.CoreTenant, "Root@ops.example"
	if err := b.signIn(t, root, ubl.SignInPasskey); err != nil || b.cookie == nil {
		t.Errorf("an operator: %v", err)
	}
}

// TestSessionIsReceiptedFirst: without tenant 0 nobody gets a cookie.
func TestSessionIsReceiptedFirst(t *testing.T) {
	b := &browser{world: newWorld(t)}
	b.tenants.set(func(f *tenants) { f.down = ubl.Errorf(ubl.CodeUnavailable, "no leader") })
	if err := b.signIn(t, ann(), ubl.SignInPasskey); ubl.CodeOf(err) != ubl.CodeUnavailable || b.cookie != nil {
		t.Errorf("got %v and cookie %v", err, b.cookie)
	}
}

// TestManyGroupsFitACookie: those that don't are left out, which can only take
// rights away.
func TestManyGroupsFitACookie(t *testing.T) {
	b := &browser{world: newWorld(t)}
	who := ann()
	who.Groups = nil
	for i := range 1000 {
		who.Groups = append(who.Groups, fmt.Sprintf("group-%04d", i))
	}
	if err := b.signIn(t, who, ubl.SignInOIDC); err != nil {
		t.Fatal(err)
	}
	if n := len(b.cookie.Raw); n > 4096-256 {
		t.Errorf("the cookie has %d bytes", n)
	}
	b.status()
	kept := all[ubl.Enter](b.tenants)[0].Who.Groups
	if len(kept) < 50 || kept[0] != "group-0000" {
		t.Errorf("kept %d groups", len(kept))
	}
}

// TestAnswersToCookies are kept by nobody, and no other site's page embeds them.
func TestAnswersToCookies(t *testing.T) {
	b := signedIn(t)
	w := b.send("GET", "/api/whoami", "")
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestNoCookieInTheLog, whatever becomes of it.
func TestNoCookieInTheLog(t *testing.T) {
	var log bytes.Buffer
	b := signedIn(t, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	value := b.cookie.Value
	b.send("POST", "/api/rooms", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	b.tenants.set(func(f *tenants) { f.admit = refuseToken })
	b.clock.pass(askEvery)
	b.status()
	b.carrying(value[:len(value)-4]).status()
	b.carrying("secret.").status()
	b.clock.pass(24 * time.Hour)
	b.status()
	b.send("POST", "/auth/signout", "")
	if log.Len() == 0 {
		t.Error("nothing was logged: the test can't fail")
	}
	for _, part := range append(strings.Split(value, "."), "secret.") {
		if strings.Contains(log.String(), part) {
			t.Errorf("the log has %q:\n%s", part, log.String())
		}
	}
}

// FuzzCookies: whatever a cookie says, the answer is 401 and nothing panics.
func FuzzCookies(f *testing.F) {
	w := newWorld(f)
	f.Add("ubl=a.b.c")
	f.Add(`ubl="a.b.c"; ubl=`)
	f.Add("ubl=" + w.sessionMill().make(f, map[string]any{"aud": "x"}))
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest("GET", "/api/whoami", nil)
		r.Header.Set("Cookie", header)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		rec := httptest.NewRecorder()
		(&browser{world: w}).handler().ServeHTTP(rec, r)
		if rec.Code != http.StatusUnauthorized {
			t.Errorf("answered %d", rec.Code)
		}
	})
}

// TestCookieOfAnother: a page that still shows ann neither reads nor writes with the
// cookie of who has signed in since, and gives it no fresh one.
func TestCookieOfAnother(t *testing.T) {
	b := signedIn(t)
	b.clock.pass(2 * time.Hour) // a cookie that is due
	before := b.cookie
	as := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["X-Ubl-As"] = values }
	}
	self := "t:corp.example|" + string(ann().UserID)
	for _, other := range [][]string{
		{"t:else.example|" + string(ann().UserID)}, {"t:corp.example|u:bob"}, {self + " "}, {""}, {"|"}, {self, "t:corp.example|u:bob"},
	} {
		for _, method := range []string{"GET", "POST"} {
			w := b.send(method, "/api/whoami", "", as(other...))
			if code, _ := saidNo(w); w.Code != http.StatusUnauthorized || code != ubl.CodeUnauthorized || b.cookie != before {
				t.Errorf("%s as %q is answered %d %s", method, other, w.Code, w.Body)
			}
		}
	}
	if w := b.send("POST", "/api/whoami", "", as(self)); w.Code != http.StatusOK || b.cookie == before {
		t.Errorf("as who is signed in: %d %s", w.Code, w.Body)
	}
	token, _ := b.token(t, "bob@corp.example") // names its caller itself
	if w := b.send("GET", "/api/whoami", "", as(self), func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); w.Code != http.StatusOK {
		t.Errorf("with a bearer token: %d %s", w.Code, w.Body)
	}
}
