package auth

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"ubl"
)

// TestBadRegistrations are refused, and nothing is recorded.
func TestBadRegistrations(t *testing.T) {
	d := openDesk(t)
	ann, bob := d.person("ann@corp.example"), d.person("bob@corp.example")
	first := newDevice(virtualwebauthn.KeyTypeEC2)
	d.visitor(t).signedIn(bob).register(first, "Bob's")
	before := d.head()
	same := func(*visitor) {}
	for _, test := range []struct {
		what    string
		device  func(*device)
		browser func(*visitor)
		body    func(credential string) string
		want    ubl.Code
	}{
		{"a page elsewhere", func(p *device) { p.rp.Origin = "https://evil.example" }, same, nil, ubl.CodeValidation},
		{"another relying party", func(p *device) { p.rp.ID = "evil.example" }, same, nil, ubl.CodeValidation},
		{"nobody there", func(p *device) { p.Options.UserNotPresent = true }, same, nil, ubl.CodeValidation},
		{"whoever holds it", func(p *device) { p.Options.UserNotVerified = true }, same, nil, ubl.CodeValidation},
		{"another's credential", func(p *device) { p.key = first.key }, same, nil, ubl.CodeConflict},
		{"nobody signed in", nil, func(v *visitor) { delete(v.jar, v.at.cookies.name()) }, nil, ubl.CodeUnauthorized},
		{"somebody else signed in", nil, func(v *visitor) { v.signedIn(bob) }, nil, ubl.CodeValidation},
		{"too late", nil, func(*visitor) { d.house.Clock.Add(passkeyTime) }, nil, ubl.CodeValidation},
		{"no name", nil, same, func(c string) string { return made(" ", c) }, ubl.CodeValidation},
		{"no credential", nil, same, func(string) string { return `{"name":"x"}` }, ubl.CodeValidation},
		{"a member more", nil, same, func(c string) string { return `{"name":"x","owner":"u:bob","credential":` + c + `}` }, ubl.CodeValidation},
		{"a long body", nil, same, func(c string) string { return made(strings.Repeat("x", maxPasskeyBody), c) }, ubl.CodeTooLarge},
	} {
		t.Run(test.what, func(t *testing.T) {
			v, p := d.visitor(t).signedIn(ann), newDevice(virtualwebauthn.KeyTypeEC2)
			begun := v.post("/auth/passkeys/register/begin", "")
			if test.device != nil {
				test.device(p)
			}
			body := made("Ann's", p.make(t, begun.Body.String()))
			if test.body != nil {
				body = test.body(p.make(t, begun.Body.String()))
			}
			test.browser(v)
			w := v.post("/auth/passkeys/register/finish", body)
			if code, message := saidNo(w); code != test.want || strings.Contains(message, "evil") {
				t.Errorf("answered %d %s, want %s", w.Code, w.Body, test.want)
			}
		})
	}
	if got := d.acts(t, before); slices.Contains(got, "passkey.register") {
		t.Errorf("on record: %q", got)
	}
}

// TestPasskeyRegistrationIsCounted: it is one of the person's creations. One too many is
// refused before anything is on record.
func TestPasskeyRegistrationIsCounted(t *testing.T) {
	var counted []ubl.Rate
	d := openDesk(t, func(o *Options) {
		o.Count = func(who ubl.Identity, rate ubl.Rate) error {
			if counted = append(counted, rate); len(counted) > 1 {
				return ubl.Errorf(ubl.CodeRateLimited, "too many for %s", who.UserID)
			}
			return nil
		}
	})
	v := d.visitor(t).signedIn(d.person("ann@corp.example"))
	v.register(newDevice(virtualwebauthn.KeyTypeEC2), "My phone")
	if !slices.Equal(counted, []ubl.Rate{ubl.Creations}) {
		t.Errorf("counted as %q", counted)
	}
	before := d.head()
	begun := v.post("/auth/passkeys/register/begin", "")
	w := v.post("/auth/passkeys/register/finish", made("My laptop", newDevice(virtualwebauthn.KeyTypeEC2).make(t, begun.Body.String())))
	if code, _ := saidNo(w); code != ubl.CodeRateLimited || len(d.acts(t, before)) > 0 {
		t.Errorf("one too many is answered %q, on record: %q", code, d.acts(t, before))
	}
}

// TestPasskeyPages: only this server's pages, at the address that passkeys belong
// to, may ask; a stray one is told where to go.
func TestPasskeyPages(t *testing.T) {
	d := openDesk(t)
	v := d.visitor(t).signedIn(d.person("ann@corp.example"))
	numbers := v.with(func(v *visitor) { v.origin = "http://127.0.0.1:8080" })
	for _, path := range []string{"login/begin", "login/finish", "register/begin", "register/finish"} {
		path = "/auth/passkeys/" + path
		if code, message := saidNo(numbers.post(path, "{}")); code != ubl.CodeOriginNotAllowed || !strings.Contains(message, deskOrigin) {
			t.Errorf("%s at 127.0.0.1: %q %s", path, code, message)
		}
		w := v.post(path, "{}", func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		})
		if code, _ := saidNo(w); code != ubl.CodeOriginNotAllowed {
			t.Errorf("%s from another site: %q", path, code)
		}
	}
	bearer, _, err := d.key.Sign(TokenSpec{Email: "ann@corp.example", TTL: time.Hour, Now: d.house.Clock.Now(), Random: d.random})
	if err != nil {
		t.Fatal(err)
	}
	w := d.visitor(t).post("/auth/passkeys/register/begin", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+bearer) })
	if code, _ := saidNo(w); code != ubl.CodeUnauthorized {
		t.Errorf("an agent with ann's token: %q", code)
	}
	if code, _ := saidNo(v.post("/auth/passkeys/login/finish", "{}", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })); code != ubl.CodeUnsupportedMedia {
		t.Errorf("a text: %q", code)
	}
}

// TestPasskeysOffered: a page is told to offer passkeys only where they work, as far as
// the server can know where that is.
func TestPasskeysOffered(t *testing.T) {
	for _, c := range []struct {
		public, host string
		want         bool
	}{
		{deskOrigin, "localhost:8080", true},
		{deskOrigin, "LOCALHOST:8080", true},
		{deskOrigin, "127.0.0.1:8080", false},
		{deskOrigin, "[::1]:8080", false},
		{deskOrigin, "localhost:8081", false},
		{"https://ubl.example", "ubl.example", true},
		{"https://ubl.example", "127.0.0.1:8080", true}, // as proxies say it
		{"http://ubl.example", "ubl.example", false},
	} {
		d := openDesk(t, func(o *Options) { o.PublicURL = c.public })
		w := d.visitor(t).send(http.MethodGet, "/auth/ways", "", func(r *http.Request) { r.Host = c.host })
		if got := strings.Contains(w.Body.String(), `"passkeys":true`); got != c.want {
			t.Errorf("%s asked as %s: %s", c.public, c.host, w.Body)
		}
	}
}

// TestWherePasskeysWork: browsers have them for names under https, and for
// localhost.
func TestWherePasskeysWork(t *testing.T) {
	for address, want := range map[string]bool{
		"": false, "http://localhost:8080": true, "http://app.localhost": true, "https://ubl.example": true, "https://ubl.example/": true,
		"http://ubl.example": false, "https://192.0.2.1": false, "https://[2001:db8::1]:8443": false, "http://127.0.0.1:8080": false,
	} {
		p, err := newPasskeys(address)
		if err != nil || (p != nil) != want {
			t.Errorf("%q: %v, %v", address, p != nil, err)
		}
	}
	d := openDesk(t, func(o *Options) { o.PublicURL = "http://ubl.example" })
	v := d.visitor(t)
	if w := v.send(http.MethodGet, "/auth/ways", ""); !strings.Contains(w.Body.String(), `"passkeys":false`) {
		t.Errorf("ways: %s", w.Body)
	}
	if code, _ := saidNo(v.post("/auth/passkeys/login/begin", "")); code != ubl.CodeNotFound {
		t.Errorf("begun: %q", code)
	}
}
