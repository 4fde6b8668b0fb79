package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"ubl/transport/envelope"
)

// TestBadReturns from the provider sign nobody in, and show nothing of what was
// sent.
func TestBadReturns(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	set := func(name, value string) func(*visitor, url.Values) {
		return func(_ *visitor, q url.Values) { q.Set(name, value) }
	}
	gone := func(name string) func(*visitor, url.Values) {
		return func(_ *visitor, q url.Values) { q.Del(name) }
	}
	failed := func(code string) func(*visitor, url.Values) {
		return func(_ *visitor, q url.Values) {
			q.Del("code")
			q.Set("error", code)
			q.Set("error_description", "<script>evil</script>")
		}
	}
	for _, test := range []struct {
		what   string
		change func(*visitor, url.Values)
		status int
	}{
		{"another state", set("state", "evil"), 400},
		{"no state", gone("state"), 400},
		{"two states", func(_ *visitor, q url.Values) { q.Add("state", "evil") }, 400},
		{"no code", gone("code"), 400},
		{"two codes", func(_ *visitor, q url.Values) { q.Add("code", "evil") }, 400},
		{"a code and an error", set("error", "evil"), 400},
		{"an endless code", set("code", strings.Repeat("x", maxOIDCPart+1)), 400},
		{"a code that the provider doesn't know", set("code", "evil"), 401},
		{"another browser", func(v *visitor, _ url.Values) { clear(v.jar) }, 400},
		{"a spoiled cookie", func(v *visitor, _ url.Values) { v.spoil(garbled) }, 400},
		{"another issuer", set("iss", "https://evil.example"), 401},
		{"the issuer but for a slash", set("iss", p.Issuer()+"/"), 401},
		{"declined", failed("access_denied"), 403},
		{"a failure of a name that nobody knows", failed("<b>evil</b>"), 403},
		{"a provider in trouble", failed("temporarily_unavailable"), 503},
		{"declined by another issuer", func(v *visitor, q url.Values) { failed("access_denied")(v, q); q.Set("iss", "https://evil.example") }, 401},
	} {
		t.Run(test.what, func(t *testing.T) {
			v := d.visitor(t)
			back := p.at(t, v.start(p, "/ui/"), annAtProvider())
			q := back.Query()
			test.change(v, q)
			w := v.open(back.Path + "?" + q.Encode())
			if w.Code != test.status {
				t.Errorf("answered %d %s, want %d", w.Code, w.Body, test.status)
			}
			refusedPage(t, v, w)
		})
	}
	t.Run("a code of another sign-in", func(t *testing.T) { // PKCE ties it to the browser that began
		v, thief := d.visitor(t), d.visitor(t)
		stolen := p.at(t, v.start(p, "/ui/"), annAtProvider()).Query().Get("code")
		back := p.at(t, thief.start(p, "/ui/"), annAtProvider())
		q := back.Query()
		q.Set("code", stolen)
		if w := thief.open(back.Path + "?" + q.Encode()); w.Code != http.StatusUnauthorized {
			t.Errorf("answered %d", w.Code)
		}
	})
	t.Run("a good one", func(t *testing.T) {
		v := d.visitor(t)
		q := p.at(t, v.start(p, "/ui/"), annAtProvider()).Query()
		q.Set("iss", p.Issuer())
		if w := v.open("/auth/oidc/callback?" + q.Encode()); w.Code != http.StatusSeeOther {
			t.Errorf("answered %d %s", w.Code, w.Body)
		}
	})
	t.Run("too late", func(t *testing.T) {
		v := d.visitor(t)
		back := p.at(t, v.start(p, "/ui/"), annAtProvider())
		d.house.Clock.Add(oidcTime)
		w := v.open(back.RequestURI())
		if w.Code != http.StatusBadRequest {
			t.Errorf("answered %d %s", w.Code, w.Body)
		}
		refusedPage(t, v, w)
	})
}

// refusedPage: nobody is signed in, and the page is plain, closed and silent.
func refusedPage(t *testing.T, v *visitor, w *httptest.ResponseRecorder) {
	t.Helper()
	if strings.Contains(w.Body.String(), "evil") || !strings.Contains(w.Body.String(), "You are not signed in") {
		t.Errorf("the page says %s", w.Body)
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the page comes with %v", w.Header())
	}
	if who := v.session(); who.UserID != "" {
		t.Errorf("signed in as %+v", who)
	}
}

// TestBadIDTokens: what the provider's token must say of the sign-in, and that it
// is held to everything that a bearer token is.
func TestBadIDTokens(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	m := p.mill(t, d.house.Clock.Now())
	other := startIDP(t, must(rsa.GenerateKey(rand.Reader, 2048))).mill(t, d.house.Clock.Now())
	try := func(t *testing.T, token func(nonce string) string) (*visitor, *httptest.ResponseRecorder) {
		v := d.visitor(t)
		way := v.start(p, "/ui/")
		back := p.at(t, way, annAtProvider())
		p.answers("/token", func(w http.ResponseWriter, _ *http.Request) {
			envelope.Write(w, http.StatusOK, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": token(way.Query().Get("nonce"))})
		})
		return v, v.open(back.RequestURI())
	}
	with := func(changes map[string]any) func(string) string {
		return func(nonce string) string {
			all := map[string]any{"nonce": nonce}
			maps.Copy(all, changes)
			return m.make(t, all)
		}
	}
	ago := d.house.Clock.Now().Add(-time.Minute).Unix()
	for what, token := range map[string]func(string) string{
		"no nonce":                      with(map[string]any{"nonce": nil}),
		"another's nonce":               with(map[string]any{"nonce": strings.Repeat("A", 43)}),
		"a nonce that is no text":       with(map[string]any{"nonce": 7}),
		"for another client":            with(map[string]any{"aud": "evil"}),
		"for programs":                  with(map[string]any{"aud": "ubl-api"}),
		"for several, made for nobody":  with(map[string]any{"aud": []string{p.ClientID, "evil"}}),
		"for several, made for another": with(map[string]any{"aud": []string{p.ClientID, "evil"}, "azp": "evil"}),
		"made for another":              with(map[string]any{"azp": "evil"}),
		"expired":                       with(map[string]any{"exp": ago}),
		"without an end":                with(map[string]any{"exp": nil}),
		"of another issuer":             with(map[string]any{"iss": "https://evil.example"}),
		"of no address":                 with(map[string]any{"email": nil}),
		"of an unverified address":      with(map[string]any{"email_verified": false}),
		"of an address that is silent":  with(map[string]any{"email_verified": nil}),
		"for signing out":               with(map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}),
		"of another key": func(nonce string) string {
			return other.make(t, map[string]any{"nonce": nonce, "iss": p.Issuer(), "aud": p.ClientID})
		},
		"signed with what is public": func(nonce string) string {
			return mint(t, jose.HS256, m.public, nil, m.payload(t, map[string]any{"nonce": nonce}))
		},
		"not signed": func(nonce string) string { return unsigned(m.payload(t, map[string]any{"nonce": nonce})) },
		"no token":   func(string) string { return "evil" },
		"nothing":    func(string) string { return "" },
	} {
		t.Run(what, func(t *testing.T) {
			v, w := try(t, token)
			if w.Code != http.StatusUnauthorized {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
			refusedPage(t, v, w)
		})
	}
	for what, token := range map[string]func(string) string{
		"a good one": with(nil), "for several, made for us": with(map[string]any{"aud": []string{p.ClientID, "other"}, "azp": p.ClientID}),
	} {
		if _, w := try(t, token); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
}

// TestProviderMisbehaves while it should turn a code into a token: the secret goes
// nowhere else, and nobody waits for ever.
func TestProviderMisbehaves(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	led := make(chan string, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { led <- r.URL.Path }))
	defer elsewhere.Close()
	for what, test := range map[string]struct {
		answer http.HandlerFunc
		status int
	}{
		"leads elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, 401},
		"fails":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, 503},
		"doesn't answer":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 503},
		"doesn't know us": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, 401},
		"says nothing": {func(w http.ResponseWriter, _ *http.Request) {
			envelope.Write(w, 200, map[string]string{"access_token": "x"})
		}, 401},
		"says no end of it": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) }, 503},
	} {
		t.Run(what, func(t *testing.T) {
			v := d.visitor(t)
			back := p.at(t, v.start(p, "/ui/"), annAtProvider())
			p.answers("/token", test.answer)
			w := v.open(back.RequestURI())
			if w.Code != test.status {
				t.Errorf("answered %d %s, want %d", w.Code, w.Body, test.status)
			}
			refusedPage(t, v, w)
		})
	}
	select {
	case path := <-led:
		t.Errorf("the code went elsewhere, to %s", path)
	default:
	}
}

// TestMixUp: an evil provider has its visitor sign in at an honest one, to be
// brought the honest one's code. Where the honest one names itself, it isn't.
func TestMixUp(t *testing.T) {
	honest, evil := startIDP(t, nil), startIDP(t, nil)
	d := openOIDC(t, honest, evil)
	v := d.visitor(t)
	q := v.start(evil, "/ui/").Query()
	way := *must(url.Parse(honest.AuthorizationEndpoint()))
	q.Set("client_id", honest.ClientID)
	way.RawQuery = q.Encode()
	back := honest.at(t, &way, annAtProvider())
	w := v.open(back.RequestURI() + "&iss=" + url.QueryEscape(honest.Issuer()))
	if w.Code != http.StatusUnauthorized || evil.fetches("token") != 0 {
		t.Errorf("answered %d, and the evil one was brought %d codes", w.Code, evil.fetches("token"))
	}
}

// TestProviderNamesItself: one that says so must do so.
func TestProviderNamesItself(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	p.answers("openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		envelope.Write(w, http.StatusOK, map[string]any{
			"issuer": p.Issuer(), "jwks_uri": p.JWKSEndpoint(), "authorization_endpoint": p.AuthorizationEndpoint(), "token_endpoint": p.TokenEndpoint(),
			"token_endpoint_auth_methods_supported": []string{"client_secret_post"}, "authorization_response_iss_parameter_supported": true,
		})
	})
	v := d.visitor(t)
	way := v.start(p, "/ui/")
	if got := way.Query().Get("scope"); got != "openid email" {
		t.Errorf("asks for %q, though the provider names no others", got)
	}
	back := p.at(t, way, annAtProvider())
	if w := v.with(func(*visitor) {}).open(back.RequestURI()); w.Code != http.StatusUnauthorized {
		t.Errorf("nameless: %d", w.Code)
	}
	if w := v.open(back.RequestURI() + "&iss=" + url.QueryEscape(p.Issuer())); w.Code != http.StatusSeeOther {
		t.Errorf("named: %d %s", w.Code, w.Body)
	}
}

// TestExchangesAreFew: a provider isn't asked for more codes at a time than it has
// to be, however often a ceremony is ended. Who waits is told to come again.
func TestExchangesAreFew(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	v := d.visitor(t)
	back := p.at(t, v.start(p, "/ui/"), annAtProvider())
	codes := d.providers[p.Issuer()].codes
	for range maxExchanges {
		codes <- struct{}{}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	tooMany := v.with(func(*visitor) {}).send(http.MethodGet, back.RequestURI(), "", func(r *http.Request) { *r = *r.WithContext(gone) })
	if tooMany.Code != http.StatusServiceUnavailable || p.fetches("token") != 0 {
		t.Errorf("answered %d %s after %d exchanges", tooMany.Code, tooMany.Body, p.fetches("token"))
	}
	for range maxExchanges {
		<-codes
	}
	if w := v.open(back.RequestURI()); w.Code != http.StatusSeeOther || len(codes) != 0 {
		t.Errorf("afterwards %d %s, with %d under way", w.Code, w.Body, len(codes))
	}
}
