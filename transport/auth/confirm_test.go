package auth

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"ubl"
	"ubl/transport/envelope"
)

// caller is who a request of the browser's page is from, as the API sees it: nil for
// nobody.
func (v *visitor) caller() (c *envelope.Caller) {
	r := httptest.NewRequest(http.MethodGet, v.origin+"/api/whoami", nil)
	for name, value := range v.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	v.at.MiddlewareForBrowsers(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c = envelope.CallerOf(r.Context())
	})).ServeHTTP(httptest.NewRecorder(), r)
	return c
}

// fresh reports whether the browser's session may do what is sensitive now.
func (v *visitor) fresh() bool {
	c := v.caller()
	return c != nil && c.Session && c.Confirmed(ubl.TimeOf(v.at.house.Clock.Now())) == nil
}

// stale lets so much time pass that nobody's proof is fresh.
func (d *desk) stale() { d.house.Clock.Add(envelope.FreshFor) }

// confirmWith goes through the ceremony with a device.
func (v *visitor) confirmWith(d *device) *httptest.ResponseRecorder {
	v.t.Helper()
	w := v.post("/auth/confirm/passkey/begin", "")
	if w.Code != http.StatusOK {
		return w
	}
	return v.post("/auth/confirm/passkey/finish", d.sign(v.t, w.Body.String()))
}

// TestConfirmByPasskey: a session that began a while ago can't make a passkey until its
// person uses one that they have. Then it is another session, and the one before is over.
func TestConfirmByPasskey(t *testing.T) {
	d := openDesk(t)
	ann := d.person("ann@corp.example")
	ann.Groups = []string{"staff"}
	v, phone := d.visitor(t).signedIn(ann), newDevice(virtualwebauthn.KeyTypeEC2)
	v.register(phone, "My phone")
	if !v.fresh() {
		t.Error("a new session isn't fresh")
	}
	d.stale()
	before := d.head()
	if code, _ := saidNo(v.post("/auth/passkeys/register/begin", "")); code != ubl.CodeConfirmation || v.fresh() {
		t.Errorf("a passkey is begun with %q, fresh: %v", code, v.fresh())
	}
	if acts := d.acts(t, before); len(acts) > 0 || v.ceremonies() > 0 {
		t.Errorf("the refusal left %q and %d ceremonies", acts, v.ceremonies())
	}

	old, was := v.with(func(*visitor) {}), v.caller()
	v.at = d.another(t)
	if w := v.confirmWith(phone); w.Code != http.StatusOK || v.ceremonies() > 0 {
		t.Fatalf("confirmed: %d %s", w.Code, w.Body)
	}
	now := v.caller()
	if !v.fresh() || now.TokenID == was.TokenID || !slices.Equal(now.Identity.Groups, ann.Groups) || now.Identity.UserID != ann.UserID {
		t.Errorf("the session is %+v, fresh: %v", now, v.fresh())
	}
	if old.caller() != nil {
		t.Error("a copy of the cookie before is still good")
	}
	if acts := d.acts(t, before); !slices.Equal(acts, []string{"passkey.use", "platform.token.create", "platform.token.revoke"}) {
		t.Errorf("on record: %q", acts)
	}
	v.register(newDevice(virtualwebauthn.KeyTypeEC2), "My laptop")
	d.stale()
	if v.fresh() {
		t.Error("a confirmation never ends")
	}
}

// TestConfirmationLengthensNoSession: its groups are no newer than they were.
func TestConfirmationLengthensNoSession(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	began, err := newSession(localPerson("t:corp.example", "ann@corp.example"), ubl.SignInOIDC, "", now, strings.NewReader(strings.Repeat("a", 16)))
	if err != nil {
		t.Fatal(err)
	}
	late := now.Add(sessionMost - time.Hour)
	next, err := began.confirmed(late, ubl.SignInPasskey, strings.NewReader(strings.Repeat("b", 16)))
	if err != nil {
		t.Fatal(err)
	}
	if end := now.Add(sessionMost); !next.Expiry.Time().Equal(end) || next.ID == began.ID || next.provedAt() != ubl.TimeOf(late) {
		t.Errorf("it ends %v, want %v: %+v", next.Expiry.Time(), end, next)
	}
}

// TestNobodyElseConfirms: another person's passkey, another session's ceremony, a used
// one, and another page's request leave the session as it is.
func TestNobodyElseConfirms(t *testing.T) {
	d := openDesk(t)
	phone, other := newDevice(virtualwebauthn.KeyTypeEC2), newDevice(virtualwebauthn.KeyTypeEC2)
	v, bob := d.visitor(t).signedIn(d.person("ann@corp.example")), d.visitor(t).signedIn(d.person("bob@corp.example"))
	v.register(phone, "Ann's")
	bob.register(other, "Bob's")
	d.stale()
	begin := func(v *visitor) string {
		t.Helper()
		w := v.post("/auth/confirm/passkey/begin", "")
		if w.Code != http.StatusOK {
			t.Fatalf("begun: %d %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
	for what, finish := range map[string]func() *httptest.ResponseRecorder{
		"another person's passkey": func() *httptest.ResponseRecorder {
			return v.post("/auth/confirm/passkey/finish", other.sign(t, begin(v)))
		},
		"another person's passkey that signs in": func() *httptest.ResponseRecorder {
			return v.post("/auth/confirm/passkey/finish", other.sign(t, v.beginLogin()))
		},
		"one's own, for a sign-in": func() *httptest.ResponseRecorder {
			return v.post("/auth/confirm/passkey/finish", phone.sign(t, v.beginLogin()))
		},
		"another session's ceremony": func() *httptest.ResponseRecorder {
			signed := other.sign(t, begin(bob))
			both := v.with(func(v *visitor) {
				session := v.jar[cookieName]
				maps.Copy(v.jar, bob.jar)
				v.jar[cookieName] = session
			})
			return both.post("/auth/confirm/passkey/finish", signed)
		},
		"no session": func() *httptest.ResponseRecorder {
			signed := phone.sign(t, begin(v))
			return v.with(func(v *visitor) { delete(v.jar, cookieName) }).post("/auth/confirm/passkey/finish", signed)
		},
		"a page of another site": func() *httptest.ResponseRecorder {
			return v.post("/auth/confirm/passkey/finish", phone.sign(t, begin(v)), fromSite("cross-site"))
		},
		"a page that shows another": func() *httptest.ResponseRecorder {
			return v.post("/auth/confirm/passkey/finish", phone.sign(t, begin(v)), func(r *http.Request) { r.Header.Set(headerActsFor, "t:corp.example|u:bob") })
		},
	} {
		id := v.caller().TokenID
		w := finish()
		if w.Code < 400 || v.fresh() || v.caller().TokenID != id {
			t.Errorf("%s: %d %s, fresh: %v", what, w.Code, w.Body, v.fresh())
		}
	}
	signed := phone.sign(t, begin(v))
	again := v.with(func(*visitor) {})
	if w := v.post("/auth/confirm/passkey/finish", signed); w.Code != http.StatusOK || !v.fresh() {
		t.Fatalf("one's own: %d %s", w.Code, w.Body)
	}
	replayed := again.with(func(r *visitor) { r.jar[cookieName] = v.jar[cookieName] })
	if w := replayed.post("/auth/confirm/passkey/finish", signed); w.Code < 400 {
		t.Errorf("a used one confirms the next session: %d", w.Code)
	}
}

// TestConfirmByLink is for who has neither passkey nor provider: the server prints a
// link that works once, in the browser that asked, for the session that asked.
func TestConfirmByLink(t *testing.T) {
	var links []string
	d := openDesk(t, func(o *Options) {
		o.PrintLink = func(email, path string) { links = append(links, email+" "+path) }
	})
	v := d.visitor(t).signedIn(d.person("ann@corp.example"))
	d.stale()
	if w := v.open("/auth/confirm"); w.Code != http.StatusForbidden {
		t.Errorf("another site is told the ways: %d", w.Code)
	}
	if got := v.confirmWays(); !got.Link || got.Passkey || got.Fresh || len(got.OIDC) > 0 {
		t.Errorf("the ways are %+v", got)
	}
	if w := v.post("/auth/confirm/link", ""); w.Code != http.StatusNoContent || strings.Contains(w.Body.String(), "link/") || len(links) != 1 {
		t.Fatalf("asked: %d %q, printed %d", w.Code, w.Body, len(links))
	}
	if w := v.post("/auth/confirm/link", ""); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("asked again: %d", w.Code)
	}
	email, path, _ := strings.Cut(links[0], " ")
	if email != "ann@corp.example" {
		t.Errorf("printed for %s", email)
	}
	for what, browser := range map[string]*visitor{
		"another browser":               d.visitor(t),
		"another browser of the person": d.visitor(t).signedIn(d.person("ann@corp.example")),
		"somebody else, here": v.with(func(v *visitor) {
			v.jar[cookieName] = d.visitor(t).signedIn(d.person("bob@corp.example")).jar[cookieName]
		}),
	} {
		if w := browser.post(path, ""); w.Code < 400 {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
	if w := v.send(http.MethodPost, path, "", fromSite("cross-site")); w.Code < 400 || v.fresh() {
		t.Errorf("another site confirms: %d", w.Code)
	}
	if w := v.open(path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), email) || v.fresh() {
		t.Errorf("a look: %d %s, fresh: %v", w.Code, w.Body, v.fresh())
	}
	used := v.with(func(*visitor) {})
	if w := v.post(path, ""); w.Code != http.StatusOK || !v.fresh() || v.ceremonies() > 0 {
		t.Fatalf("confirmed: %d %s, fresh: %v", w.Code, w.Body, v.fresh())
	}
	if used.caller() != nil {
		t.Error("the session before is still good")
	}
	used.jar[cookieName] = v.jar[cookieName]
	if w := used.post(path, ""); w.Code < 400 {
		t.Errorf("the link works twice: %d", w.Code)
	}

	v.register(newDevice(virtualwebauthn.KeyTypeEC2), "My phone")
	d.stale()
	if w := v.post("/auth/confirm/link", ""); w.Code != http.StatusForbidden || len(links) != 1 {
		t.Errorf("who has a passkey is printed a link: %d", w.Code)
	}
}

func (v *visitor) confirmWays() (ways confirmAnswer) {
	v.t.Helper()
	w := v.send(http.MethodGet, "/auth/confirm", "", fromSite("same-origin"))
	if err := json.Unmarshal(w.Body.Bytes(), &ways); err != nil || w.Code != http.StatusOK {
		v.t.Fatalf("the ways: %d %s", w.Code, w.Body)
	}
	return ways
}

// TestConfirmAtProvider: it must be asked to ask again, must say that it did since, and
// must name the same person.
func TestConfirmAtProvider(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	// through goes to the provider and back, with an id token of these claims.
	through := func(v *visitor, query string, claims map[string]any) (*url.URL, *httptest.ResponseRecorder) {
		t.Helper()
		w := v.send(http.MethodGet, "/auth/oidc/"+idOf(p)+"/start?"+query, "", fromSite("same-origin"))
		way, err := url.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusFound {
			return nil, w
		}
		m := p.mill(t, d.house.Clock.Now())
		all := map[string]any{"nonce": way.Query().Get("nonce"), "sub": "ann", "email": "ann@corp.example"}
		maps.Copy(all, claims)
		back := p.at(t, way, annAtProvider())
		p.answers("/token", func(w http.ResponseWriter, _ *http.Request) {
			envelope.Write(w, http.StatusOK, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": m.make(t, all)})
		})
		return way, v.open(back.RequestURI())
	}
	v := d.visitor(t)
	way, w := through(v, "", map[string]any{"auth_time": d.house.Clock.Now().Unix()})
	if w.Code != http.StatusSeeOther || !v.fresh() || way.Query().Has("prompt") || way.Query().Get("max_age") != "2592000" {
		t.Fatalf("signed in: %d %s, asking %v", w.Code, w.Body, way)
	}
	d.stale()
	if got := v.confirmWays(); len(got.OIDC) != 1 || got.OIDC[0].ID != idOf(p) || got.Link || got.Passkey || got.Fresh {
		t.Errorf("the ways are %+v", got)
	}
	now := d.house.Clock.Now()
	for what, claims := range map[string]map[string]any{
		"asked before":           {"auth_time": now.Add(-leeway - time.Second).Unix()},
		"doesn't say when":       nil,
		"says it in words":       {"auth_time": "just now"},
		"names somebody else":    {"auth_time": now.Unix(), "sub": "bob", "email": "bob@corp.example"},
		"names an older address": {"auth_time": now.Unix(), "sub": "ann2"},
	} {
		id := v.caller().TokenID
		if way, w := through(v, "confirm=1", claims); w.Code != http.StatusForbidden || v.fresh() || v.caller().TokenID != id {
			t.Errorf("%s: %d %s, fresh: %v", what, w.Code, w.Body, v.fresh())
		} else if way.Query().Get("prompt") != "login" || way.Query().Get("max_age") != "0" {
			t.Errorf("it is asked %v", way)
		}
	}
	if _, w := through(v, "confirm=1&return=/ui/confirmed", map[string]any{"auth_time": now.Unix()}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/ui/confirmed" || !v.fresh() {
		t.Errorf("confirmed: %d %s, fresh: %v", w.Code, w.Body, v.fresh())
	}

	// A provider that lets people in without asking makes no fresh session, nor does one
	// that doesn't say whether it asked.
	for what, claims := range map[string]map[string]any{
		"an hour ago": {"auth_time": now.Add(-time.Hour).Unix()}, "nothing": nil, "words": {"auth_time": "just now"},
		"a moment to come": {"auth_time": now.Add(leeway + time.Second).Unix()}, "before 1970": {"auth_time": -5},
	} {
		silent := d.visitor(t)
		if _, w := through(silent, "", claims); w.Code != http.StatusSeeOther || silent.fresh() {
			t.Errorf("let in by a provider that says %s: %d, fresh: %v", what, w.Code, silent.fresh())
		}
	}
	if _, w := through(d.visitor(t), "confirm=1", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("nobody confirms: %d", w.Code)
	}
	local := d.visitor(t).signedIn(d.person("boss@corp.example"))
	if _, w := through(local, "confirm=1", nil); w.Code != http.StatusForbidden {
		t.Errorf("who came another way is sent to the provider: %d", w.Code)
	}
}

// TestSilentProvider: who came by a provider that doesn't say when it asked confirms by a
// link, time and again, until they have a passkey.
func TestSilentProvider(t *testing.T) {
	p := startIDP(t, nil)
	var links []string
	d := openDesk(t, func(o *Options) {
		o.Issuers = []Issuer{p.client()}
		o.PrintLink = func(_, path string) { links = append(links, path) }
	})
	ann := ubl.Identity{UserID: ubl.UserIDFor(p.Issuer(), "ann", true), Email: "ann@corp.example", EmailDomain: "corp.example", Groups: []string{},
		TenantID: "t:corp.example", Issuer: p.Issuer(), Subject: "ann"}
	d.house.Enter(ann)
	v, w := d.visitor(t), httptest.NewRecorder()
	if err := d.beginSession(w, httptest.NewRequest(http.MethodPost, "/", nil), ann, beginning{method: ubl.SignInOIDC}); err != nil {
		t.Fatal(err)
	}
	v.keep(w)
	for n := range 2 {
		if ways := v.confirmWays(); v.fresh() || !ways.Link || len(ways.OIDC) != 0 {
			t.Fatalf("round %d: fresh: %v, the ways are %+v", n, v.fresh(), ways)
		}
		if w := v.post("/auth/confirm/link", ""); w.Code != http.StatusNoContent || len(links) != n+1 {
			t.Fatalf("asked for a link: %d %s", w.Code, w.Body)
		}
		if w := v.post(links[n], ""); w.Code >= http.StatusBadRequest || !v.fresh() {
			t.Fatalf("by the link: %d %s", w.Code, w.Body)
		}
		d.stale()
	}
}
