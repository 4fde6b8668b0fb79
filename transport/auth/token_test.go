package auth

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

func TestBadLocalTokens(t *testing.T) {
	w := newWorld(t)
	m := w.localMill()
	w.refusesAll(t, m)

	for name, changes := range map[string]map[string]any{
		"no jti":                      {"jti": nil},
		"jti too long":                {"jti": strings.Repeat("j", maxTokenID+1)},
		"another's address":           {"email": "bob@corp.example"},
		"a person says service":       {"is_service": true},
		"a service says person":       {"sub": "service:bot:ann@corp.example"},
		"a service without a name":    {"sub": "service::ann@corp.example", "is_service": true},
		"a service of another":        {"sub": "service:bot:bob@corp.example", "is_service": true},
		"a service with a long name":  {"sub": "service:" + strings.Repeat("b", 65) + ":ann@corp.example", "is_service": true},
		"a service without the colon": {"sub": "bot", "is_service": true},
	} {
		t.Run(name, func(t *testing.T) {
			w.tenants.set(func(f *tenants) { f.log = nil })
			w.get(bearer(m.make(t, changes))...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			w.tenants.silent(t)
		})
	}
}

// TestLocalTokensSayNothingEmpty: a claim that others read as a number is one, or isn't there.
func TestLocalTokensSayNothingEmpty(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil || strings.Contains(string(payload), "auth_time") {
		t.Errorf("a token says %s: %v", payload, err)
	}
}

func TestLocalTokens(t *testing.T) {
	operators := []string{"root@ops.example", "dan@gmail.com"}
	user := func(subject string) ubl.UserID { return ubl.UserIDFor(LocalIssuer, subject, false) }
	tests := []struct {
		name   string
		spec   TokenSpec
		user   ubl.UserID
		email  string
		tenant ubl.TenantID
	}{
		{"the owner of a fresh node", TokenSpec{Email: "owner@localhost"}, user("owner@localhost"), "owner@localhost", "t:localhost"},
		{"someone of a domain", TokenSpec{Email: "Ann@Corp.Example"}, user("ann@corp.example"), "ann@corp.example", "t:corp.example"},
		{"an operator", TokenSpec{Email: "Root@ops.example"}, user("root@ops.example"), "root@ops.example", ubl.CoreTenant},
		{"an operator with public mail", TokenSpec{Email: "dan@gmail.com"}, user("dan@gmail.com"), "dan@gmail.com", ubl.CoreTenant},
		{"public mail", TokenSpec{Email: "eve@gmail.com"}, user("eve@gmail.com"), "eve@gmail.com", ubl.PersonalTenant(user("eve@gmail.com"))},
		{"a service", TokenSpec{Email: "ann@corp.example", Service: "bot"}, user("service:bot:ann@corp.example"), "", "t:corp.example"},
		{"an operator's service", TokenSpec{Email: "root@ops.example", Service: "bot"}, user("service:bot:root@ops.example"), "", ubl.CoreTenant},
		{"a service of public mail", TokenSpec{Email: "eve@gmail.com", Service: "bot"}, user("service:bot:eve@gmail.com"), "", ubl.PersonalTenant(user("eve@gmail.com"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, func(o *Options) { o.Operators = operators })
			tt.spec.TTL, tt.spec.Now, tt.spec.Random = time.Hour, w.clock.Now(), rand.Reader
			token, known, err := w.key.Sign(tt.spec)
			if err != nil {
				t.Fatal(err)
			}

			caller := w.get(bearer(token)...).let(t)

			id := caller.Identity
			if id.UserID != tt.user || id.Email != tt.email || id.TenantID != tt.tenant {
				t.Errorf("came in as %s <%s> of %s, want %s <%s> of %s", id.UserID, id.Email, id.TenantID, tt.user, tt.email, tt.tenant)
			}
			if id.IsService != (tt.spec.Service != "") || id.EmailDomain != ubl.EmailDomain(tt.email) || id.Issuer != LocalIssuer {
				t.Errorf("wrong identity %+v", id)
			}
			if want := ubl.TimeOf(w.clock.Now().Add(time.Hour)); caller.ExpiresAt != want || known.ExpiresAt != want {
				t.Errorf("expires at %s and %s, want %s", caller.ExpiresAt, known.ExpiresAt, want)
			}
			known.TenantID = tt.tenant
			admitted := all[ubl.AdmitToken](w.tenants)
			if len(admitted) != 1 || admitted[0].Token != known || !admitted[0].Who.IsPlatform() {
				t.Errorf("admitted %+v, want %+v once and by the platform", admitted, known)
			}
			if to := w.tenants.log[0].to; to != ubl.TenantName(ubl.CoreTenant) {
				t.Errorf("admission was asked of %s", to)
			}
			if to := w.tenants.log[1].to; to != ubl.TenantName(tt.tenant) {
				t.Errorf("entered %s", to)
			}
		})
	}
}

func TestSignRefuses(t *testing.T) {
	good := TokenSpec{Email: "ann@corp.example", TTL: time.Hour, Now: time.Now(), Random: rand.Reader}
	for name, change := range map[string]func(*TokenSpec){
		"no address":          func(s *TokenSpec) { s.Email = "" },
		"half an address":     func(s *TokenSpec) { s.Email = "ann@" },
		"an address in quote": func(s *TokenSpec) { s.Email = `"ann:x"@corp.example` },
		"a bad service name":  func(s *TokenSpec) { s.Service = "my bot" },
		"no time":             func(s *TokenSpec) { s.TTL = 0 },
		"negative time":       func(s *TokenSpec) { s.TTL = -time.Hour },
		"more than a year":    func(s *TokenSpec) { s.TTL = ubl.MaxServiceTokenTTL + time.Second },
		"hours without end":   func(s *TokenSpec) { s.TTL = 100_000 * time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			spec := good
			change(&spec)
			if _, _, err := (&Key{}).Sign(spec); ubl.CodeOf(err) != ubl.CodeValidation {
				t.Errorf("got %v, want a validation error", err)
			}
		})
	}
	longest := good
	longest.TTL = ubl.MaxServiceTokenTTL
	if _, _, err := newWorld(t).key.Sign(longest); err != nil {
		t.Errorf("the longest time is refused: %v", err)
	}
	t.Run("no randomness", func(t *testing.T) {
		spec := good
		spec.Random = strings.NewReader("short")
		if _, _, err := newWorld(t).key.Sign(spec); err == nil {
			t.Error("signed a token without an id")
		}
	})
}

// A domain that is called like tenant 0 leads to a tenant of one's own.
func TestDomainLikeTenant0(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "x@ubl_core")
	id := w.get(bearer(token)...).let(t).Identity
	if id.TenantID != ubl.PersonalTenant(id.UserID) {
		t.Errorf("x@ubl_core belongs to %s", id.TenantID)
	}
}

func TestEnterSaysWhetherItActs(t *testing.T) {
	for method, act := range map[string]bool{"GET": false, "HEAD": false, "POST": true, "PATCH": true, "DELETE": true} {
		w := newWorld(t)
		token, _ := w.token(t, "ann@corp.example")
		w.do(method, bearer(token)...).let(t)
		enters := all[ubl.Enter](w.tenants)
		if len(enters) != 1 || enters[0].Act != act {
			t.Errorf("%s entered with %+v, want Act %v", method, enters, act)
		}
		if enters[0].ID != "req:test" || enters[0].Key == "" || enters[0].Key == "client-key" {
			t.Errorf("%s entered with request id %q and key %q", method, enters[0].ID, enters[0].Key)
		}
	}
}

// What a tenant says about someone who wants to enter reaches them.
func TestEnterRefused(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	for _, tt := range []struct {
		err    error
		status int
		code   ubl.Code
	}{
		{ubl.Errorf(ubl.CodeForbidden, "shut out"), 403, ubl.CodeForbidden},
		{ubl.Errorf(ubl.CodeOverloaded, "busy"), 503, ubl.CodeOverloaded},
		{ubl.Errorf(ubl.CodeUnauthorized, "another owner of the id"), 401, ubl.CodeUnauthorized},
		{errors.New("boom"), 500, ubl.CodeInternal},
	} {
		w.tenants.set(func(f *tenants) { f.enter = func(ubl.Enter) error { return tt.err } })
		w.get(bearer(token)...).refused(t, tt.status, tt.code)
	}
}

// Who verifies a token is chosen by the issuer it names, so no request gets as
// far as this; the check stands for itself all the same.
func TestClaimsOfAnotherIssuer(t *testing.T) {
	now := time.Now()
	c := claims{Claims: jwt.Claims{Issuer: "https://evil.example", Audience: jwt.Audience{Audience}, Expiry: jwt.NewNumericDate(now.Add(time.Hour))}}
	if err := c.check(LocalIssuer, Audience, now); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("another issuer's claims: %v", err)
	}
	if err := c.check("https://evil.example", Audience, now); err != nil {
		t.Errorf("its own: %v", err)
	}
}
