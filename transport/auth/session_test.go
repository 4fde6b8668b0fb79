package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// browser is a browser with its cookies, as far as sessions are concerned.
type browser struct {
	*world
	agent  string
	cookie *http.Cookie // the session's, nil for none
}

// send is a request of one of this server's own pages.
func (b *browser) send(method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", b.agent)
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	for _, c := range change {
		c(r)
	}
	r = r.WithContext(envelope.WithRequest(r.Context(), &envelope.Request{ID: "req:test"}))
	w := httptest.NewRecorder()
	b.handler().ServeHTTP(w, r)
	b.keep(w)
	return w
}

// handler is what a browser talks to: ways in and out, and an API that answers
// with the caller.
func (b *browser) handler() http.Handler {
	api := b.MiddlewareForBrowsers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := envelope.CallerOf(r.Context())
		if _, err := c.Enter(r.Context()); err != nil {
			envelope.WriteError(w, r, err)
			return
		}
		envelope.Write(w, http.StatusOK, map[string]any{"user": c.Identity.UserID, "tenant": c.Identity.TenantID, "token": c.TokenID})
	}))
	mux := http.NewServeMux()
	mux.Handle("/api/", api)
	mux.Handle("/mcp", b.Middleware(api))
	mux.Handle("/", b.Browsers())
	return mux
}

// keep does with cookies what a browser does.
func (b *browser) keep(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		switch {
		case c.MaxAge < 0:
			b.cookie = nil
		default:
			b.cookie = c
		}
	}
}

// signIn begins a session, as the ways in do.
func (b *browser) signIn(t testing.TB, who ubl.Identity, method ubl.SignInMethod) error {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/signin", nil)
	r.Header.Set("User-Agent", b.agent)
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	err := b.startSession(w, r, who, method)
	b.keep(w)
	return err
}

const safariOnIPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"

func ann() ubl.Identity {
	return ubl.Identity{
		UserID: ubl.UserIDFor(LocalIssuer, "ann@corp.example", false), Email: "ann@corp.example", EmailDomain: "corp.example",
		Groups: []string{"staff"}, TenantID: "t:corp.example", Issuer: LocalIssuer, Subject: "ann@corp.example",
	}
}

// signedIn is ann's browser, signed in by a passkey.
func signedIn(t testing.TB, change ...func(*Options)) *browser {
	t.Helper()
	b := &browser{world: newWorld(t, change...), agent: safariOnIPhone}
	if err := b.signIn(t, ann(), ubl.SignInPasskey); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSessionBegins with a receipt in tenant 0, and its cookie is the whole
// identity from then on.
func TestSessionBegins(t *testing.T) {
	b := signedIn(t)
	admitted := all[ubl.AdmitToken](b.tenants)
	if len(admitted) != 1 || !admitted[0].Who.IsPlatform() {
		t.Fatalf("admitted %+v", admitted)
	}
	now := ubl.TimeOf(b.clock.Now())
	want := ubl.PlatformToken{
		JTI: admitted[0].Token.JTI, UserID: ann().UserID, TenantID: "t:corp.example", CreatedAt: now, ExpiresAt: now.Add(12 * time.Hour),
		Kind: ubl.TokenSession, Label: "Safari on iPhone", Method: ubl.SignInPasskey,
	}
	if got := admitted[0].Token; got != want || got.JTI == "" {
		t.Errorf("admitted %+v, want %+v", got, want)
	}
	if w := b.send("GET", "/api/whoami", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want.JTI) {
		t.Errorf("the cookie is answered %d %s", w.Code, w.Body)
	}
	enters := all[ubl.Enter](b.tenants)
	if len(enters) != 1 || len(enters[0].Who.Groups) != 1 || enters[0].Who.Issuer != LocalIssuer || enters[0].Who.Subject != "ann@corp.example" {
		t.Errorf("entered as %+v", enters)
	}
}

// TestCookie is out of the reach of scripts and other sites; under TLS it has the
// name that no neighbour can set.
func TestCookie(t *testing.T) {
	for url, want := range map[string]string{
		"":                    "ubl=; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
		"http://lan.example":  "ubl=; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
		"HTTPS://ubl.example": "__Host-ubl=; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax",
		"https://ubl.example": "__Host-ubl=; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax",
	} {
		b := signedIn(t, func(o *Options) { o.PublicURL = url })
		c := *b.cookie
		if len(c.Value) > 3500 {
			t.Errorf("the cookie has %d bytes", len(c.Value))
		}
		c.Value, c.Raw = "", ""
		if got := c.String(); got != want {
			t.Errorf("%q sets %q, want %q", url, got, want)
		}
	}
}

// status sends a look at the API and tells how it was answered.
func (b *browser) status() int { return b.send("GET", "/api/whoami", "").Code }

// turn is that of the cookie that the browser holds.
func (b *browser) turn(t testing.TB) int64 {
	t.Helper()
	c, err := b.key.verifySession(b.cookie.Value, b.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c.Turn
}

// TestCookieIsMadeAnew when it is used after an hour, idles out after twelve, and
// ends a month after the session began.
func TestCookieIsMadeAnew(t *testing.T) {
	b := signedIn(t)
	id := all[ubl.AdmitToken](b.tenants)[0].Token.JTI
	began := b.clock.Now()
	for _, step := range []struct {
		after  time.Duration
		status int
		turn   int64
	}{
		{0, 200, 0},
		{time.Hour - time.Second, 200, 0},
		{time.Second, 200, 1},
		{0, 200, 1},
		{11 * time.Hour, 200, 2},
	} {
		b.clock.pass(step.after)
		if got := b.status(); got != step.status || b.turn(t) != step.turn {
			t.Errorf("after %s: answered %d with turn %d, want %d with %d", step.after, got, b.turn(t), step.status, step.turn)
		}
	}
	admitted := all[ubl.AdmitToken](b.tenants)
	if last := admitted[len(admitted)-1].Token; last.JTI != id || last.Turn != 1 || last.CreatedAt != ubl.TimeOf(began) {
		t.Errorf("the second cookie is admitted as %+v", last)
	}

	idle := *b
	idle.clock.pass(12 * time.Hour)
	if got := idle.status(); got != http.StatusUnauthorized {
		t.Errorf("after twelve idle hours: answered %d", got)
	}

	b = signedIn(t)
	began = b.clock.Now()
	for b.clock.Now().Before(began.Add(30*24*time.Hour - 2*time.Hour)) {
		b.clock.pass(2 * time.Hour)
		if got := b.status(); got != http.StatusOK {
			t.Fatalf("after %s in use: answered %d", b.clock.Now().Sub(began), got)
		}
	}
	b.clock.pass(2 * time.Hour)
	if got := b.status(); got != http.StatusUnauthorized {
		t.Errorf("after a month: answered %d", got)
	}
}

// TestAnOldCookieIsLeftAlone: what the tenant says of it counts, and a refused
// request makes no new one.
func TestAnOldCookieIsLeftAlone(t *testing.T) {
	b := signedIn(t)
	b.clock.pass(2 * time.Hour)
	before := b.cookie
	b.tenants.set(func(f *tenants) { f.admit = refuseToken })
	if got := b.status(); got != http.StatusUnauthorized || b.cookie != before {
		t.Errorf("a revoked session is answered %d with cookie %v", got, b.cookie)
	}
}

// TestSessionEndsEverywhere at once: what tenant 0 tells closes its streams here.
func TestSessionEndsEverywhere(t *testing.T) {
	b := signedIn(t)
	b.clock.pass(2 * time.Hour)
	b.status() // a second cookie; both name one session
	old := *b
	b.status()
	c, err := b.key.verifySession(b.cookie.Value, b.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	caller := b.get("Cookie", b.cookie.String()) // not a caller where cookies don't count
	if caller.caller != nil {
		t.Fatal("a cookie counts for programs")
	}
	e, _, err := b.resolve(t.Context(), credential{token: b.cookie.Value, session: true})
	if err != nil {
		t.Fatal(err)
	}
	b.feed.revoke(ubl.CoreTenant, c.ID)
	if !closed(e.revoked) {
		t.Error("its streams were not told")
	}
	b.tenants.set(func(f *tenants) { f.admit = refuseToken })
	if b.status() != http.StatusUnauthorized || old.status() != http.StatusUnauthorized {
		t.Error("a cookie of a revoked session counts")
	}
}

// TestARevokedSessionIsToldSo, and no other: its browser deletes what it kept.
func TestARevokedSessionIsToldSo(t *testing.T) {
	told := func(b *browser) bool {
		w := b.send("GET", "/api/whoami", "")
		return w.Code == http.StatusUnauthorized && strings.Contains(w.Body.String(), `"details":{"credential":"revoked"}`)
	}
	revoked := func(ubl.AdmitToken) error {
		err := ubl.Errorf(ubl.CodeUnauthorized, "no")
		err.Details = map[string]string{"credential": "revoked"}
		return err
	}
	b := signedIn(t)
	b.status() // it is in the cache
	b.clock.pass(2 * askEvery)
	b.tenants.set(func(f *tenants) { f.admit = revoked })
	for _, when := range []string{"when its node asks again", "at its first use on a node"} {
		if !told(b) {
			t.Errorf("a revoked session isn't told so %s", when)
		}
	}
	for what, end := range map[string]func(*browser){
		"one that tenant 0 doesn't know": func(b *browser) { b.tenants.set(func(f *tenants) { f.admit = refuseToken }) },
		"an expired one":                 func(b *browser) { b.clock.pass(sessionIdle + time.Minute) },
		"none":                           func(b *browser) { b.cookie = nil },
	} {
		b := signedIn(t)
		if end(b); told(b) || b.status() != http.StatusUnauthorized {
			t.Errorf("%s is told that it was revoked", what)
		}
	}
}

// TestSignOut ends the session on the server and forgets the cookie; where tenant
// 0 can't be asked it does neither, so that it can be tried again.
func TestSignOut(t *testing.T) {
	b := signedIn(t)
	id := all[ubl.AdmitToken](b.tenants)[0].Token.JTI
	b.tenants.set(func(f *tenants) { f.down = ubl.Errorf(ubl.CodeUnavailable, "no leader") })
	if w := b.send("POST", "/auth/signout", ""); w.Code != http.StatusServiceUnavailable || b.cookie == nil {
		t.Errorf("without tenant 0: answered %d with cookie %v", w.Code, b.cookie)
	}
	b.tenants.set(func(f *tenants) { f.down = nil })
	b.tenants.set(func(f *tenants) { f.log = nil })
	showsAnother := func(r *http.Request) { r.Header.Set("X-UBL-As", "t:example.com|u:another") }
	if w := b.send("POST", "/auth/signout", "", showsAnother); w.Code != http.StatusUnauthorized || b.cookie == nil {
		t.Errorf("from a page that shows another: answered %d with cookie %v", w.Code, b.cookie)
	}
	for range 2 { // the second time there is nothing to end
		if w := b.send("POST", "/auth/signout", ""); w.Code != http.StatusNoContent || b.cookie != nil {
			t.Errorf("answered %d with cookie %v", w.Code, b.cookie)
		}
	}
	revoked := all[ubl.RevokeToken](b.tenants)
	if len(revoked) != 1 || revoked[0].JTI != id || revoked[0].Who.UserID != ann().UserID {
		t.Errorf("revoked %+v, want %s by its owner", revoked, id)
	}
	if w := b.send("GET", "/auth/signout", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a look at it is answered %d", w.Code)
	}
}

// TestWays tells what there is, and whether one is signed in.
func TestWays(t *testing.T) {
	b := signedIn(t)
	signed := func() string {
		w := b.send("GET", "/auth/ways", "")
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("answered %d, kept %q", w.Code, w.Header().Get("Cache-Control"))
		}
		_, s, _ := strings.Cut(w.Body.String(), `"signed_in":`)
		return s
	}
	if got := signed(); got != "true}" {
		t.Errorf("with a session: %s", got)
	}
	b.tenants.set(func(f *tenants) { f.admit = refuseToken })
	b.clock.pass(askEvery)
	if got := signed(); got != "false}" {
		t.Errorf("with a revoked one: %s", got)
	}
	b.cookie = nil
	if got := signed(); got != "false}" {
		t.Errorf("without one: %s", got)
	}
}

// TestDeviceOf names browsers and machines, and repeats nothing that was sent.
func TestDeviceOf(t *testing.T) {
	for agent, want := range map[string]string{
		safariOnIPhone: "Safari on iPhone",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":    "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":            "Chrome on Mac",
		"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0":                                                           "Firefox on Linux",
		"Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1":    "Chrome on iPad",
		"Mozilla/5.0 (Linux; Android 16; SM-S938B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/": "Samsung Internet on Android",
		"curl/8.14.1 <script>": "",
		"":                     "",
	} {
		if got := deviceOf(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}
