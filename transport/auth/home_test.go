package auth

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
)

// comes is who an address is here when a token of this node names it, once its
// tenant has let it in.
func (d *desk) comes(t testing.TB, email string) ubl.Identity {
	t.Helper()
	token, _, err := d.key.Sign(TokenSpec{Email: email, TTL: time.Hour, Now: d.house.Clock.Now(), Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/api/whoami", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	caller, err := d.Authenticate(r.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", email, err)
	}
	return caller.Identity
}

// TestStrangersShareNoTenant: a domain that nobody claimed says nothing about who
// belongs together, whatever it is called.
func TestStrangersShareNoTenant(t *testing.T) {
	d := openDesk(t)
	for _, domain := range []string{"duck.com", "privaterelay.appleid.com", "yahoo.co.uk", "gmx.at", "gmail.com", "company.example",
		"sub.corp.example", "corp.example.org", "ubl_core", "u.0123456789abcdef", "t"} {
		first, second := d.comes(t, "ann@"+domain), d.comes(t, "bob@"+domain)
		if first.TenantID != ubl.PersonalTenant(first.UserID) || second.TenantID != ubl.PersonalTenant(second.UserID) {
			t.Errorf("@%s: ann is in %s, bob in %s", domain, first.TenantID, second.TenantID)
		}
	}
	for email, want := range map[string]ubl.TenantID{"ann@corp.example": "t:corp.example", "Bob@Corp.Example": "t:corp.example", "owner@localhost": "t:localhost"} {
		if got := d.comes(t, email).TenantID; got != want {
			t.Errorf("%s is in %s, want %s", email, got, want)
		}
	}
}

// TestDomainNobodySpeaksFor: after an upgrade the members of a domain's tenant are in
// it still, and nobody joins them before an operator claims the domain.
func TestDomainNobodySpeaksFor(t *testing.T) {
	d := openDesk(t)
	ann := d.person("ann@old.example")
	if got := d.comes(t, "ann@old.example"); got.TenantID != "t:old.example" || got.UserID != ann.UserID {
		t.Errorf("a member comes in as %+v", got)
	}
	if got := d.comes(t, "eve@old.example"); got.TenantID != ubl.PersonalTenant(got.UserID) {
		t.Errorf("a stranger of the domain is in %s", got.TenantID)
	}
	claimed := d.another(t, func(o *Options) { o.Domains = map[string]ubl.TenantID{"old.example": "t:old.example"} })
	if got := claimed.comes(t, "bob@old.example"); got.TenantID != "t:old.example" {
		t.Errorf("once it is claimed, bob is in %s", got.TenantID)
	}
	if got := claimed.comes(t, "eve@old.example"); got.TenantID != ubl.PersonalTenant(got.UserID) {
		t.Errorf("eve lost a tenant of her own to %s", got.TenantID)
	}
	elsewhere := d.another(t, func(o *Options) { o.Domains = map[string]ubl.TenantID{"old.example": "t:acme"} })
	if got := elsewhere.comes(t, "ann@old.example"); got.TenantID != "t:old.example" {
		t.Errorf("a member was moved to %s", got.TenantID)
	}
	if got := elsewhere.comes(t, "cal@old.example"); got.TenantID != "t:acme" {
		t.Errorf("who is new is in %s, want the tenant that the operator said", got.TenantID)
	}
}

// TestSameIDFromAnotherIssuer is no member: an id counts with who vouches for it.
func TestSameIDFromAnotherIssuer(t *testing.T) {
	d := openDesk(t)
	ann := d.person("ann@old.example")
	d.house.Enter(ann)
	forged := ann
	forged.Issuer, forged.TenantID = "https://evil.example", ""
	home, err := ubl.Ask[*ubl.Home](t.Context(), d.asker, ubl.TenantName(ubl.CoreTenant), ubl.FindHome{Who: forged})
	if err != nil || home.TenantID == ann.TenantID {
		t.Errorf("another issuer's %s belongs to %+v, %v", ann.UserID, home, err)
	}
	if _, err := ubl.Ask[*ubl.Home](t.Context(), d.asker, "t:old.example", ubl.FindHome{Who: ann}); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("another tenant than 0 says where people belong: %v", err)
	}
}

// TestHomeUnknown: without tenant 0 nobody is let in on a guess.
func TestHomeUnknown(t *testing.T) {
	w := newWorld(t)
	w.tenants.set(func(f *tenants) { f.down = ubl.Errorf(ubl.CodeUnavailable, "no leader").Because(errors.New("gone")) })
	token, _ := w.token(t, "ann@corp.example")
	w.get(bearer(token)...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
}

// TestOnlyClaimsJoin: whatever the addresses, two people share a tenant only where
// their operator gave both domains to it.
func TestOnlyClaimsJoin(t *testing.T) {
	d := openDesk(t)
	rapid.Check(t, func(rt *rapid.T) {
		email := rapid.StringMatching(`[a-z]{1,3}@([a-z]{1,3}\.)?(corp|mail|localhost)(\.example)?`)
		a, b := email.Draw(rt, "one"), email.Draw(rt, "other")
		claims := map[string]bool{"corp.example": true, "localhost": true}
		one, other := d.comes(t, a), d.comes(t, b)
		together := a == b || ubl.EmailDomain(a) == ubl.EmailDomain(b) && claims[ubl.EmailDomain(a)]
		if (one.TenantID == other.TenantID) != together {
			rt.Errorf("%s is in %s, %s in %s", a, one.TenantID, b, other.TenantID)
		}
	})
}

// TestOperatorsOwn: everybody whom the server names as operator owns tenant 0, not the
// first alone; their services and other people of their domain don't.
func TestOperatorsOwn(t *testing.T) {
	d := openDesk(t, func(o *Options) { o.Operators = []string{"ann@ops.example", "bob@ops.example"} })
	role := func(spec TokenSpec) (ubl.Role, error) {
		spec.TTL, spec.Now, spec.Random = time.Hour, d.house.Clock.Now(), rand.Reader
		token, _, err := d.key.Sign(spec)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/api/whoami", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		caller, err := d.Authenticate(r.Context(), r)
		if err != nil {
			return "", err
		}
		return caller.Enter(r.Context())
	}
	for _, email := range []string{"ann@ops.example", "Bob@ops.example"} {
		if got, err := role(TokenSpec{Email: email}); err != nil || got != ubl.RoleOwner {
			t.Errorf("%s is %q: %v", email, got, err)
		}
	}
	if got, err := role(TokenSpec{Email: "bob@ops.example", Service: "cron"}); err != nil || got != ubl.RoleMember {
		t.Errorf("a service of an operator's is %q: %v", got, err)
	}
}
