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
	https  bool
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
