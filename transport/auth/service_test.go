package auth

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/poll"
)

func (w *world) serviceToken(t testing.TB, tenant ubl.TenantID) (clientID, secret string) {
	t.Helper()
	clientID, secret, hash, err := NewServiceToken(tenant, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.tenants.set(func(f *tenants) { f.secret = map[string]string{clientID: hash} })
	return clientID, secret
}

// remembered is how many credentials the cache has.
func (w *world) remembered() int {
	w.cache.mu.Lock()
	defer w.cache.mu.Unlock()
	return len(w.cache.entries)
}

func TestNewServiceToken(t *testing.T) {
	clientID, secret, hash, err := NewServiceToken("t:corp.example", bytes.NewReader(bytes.Repeat([]byte{0xab}, 48)))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("ab", 16) + ".t:corp.example"; clientID != want {
		t.Errorf("client id %s, want %s", clientID, want)
	}
	if want := strings.Repeat("ab", 32); secret != want {
		t.Errorf("secret %s, want %s", secret, want)
	}
	// printf ab…ab | sha256sum
	if len(hash) != 64 || hash != hashSecret(secret) || strings.Contains(hash, "abababab") {
		t.Errorf("hash %s", hash)
	}
	if _, _, _, err := NewServiceToken("t:corp.example", strings.NewReader("short")); err == nil {
		t.Error("drew a token of five bytes")
	}
}

func TestServiceBearer(t *testing.T) {
	digits, secret := strings.Repeat("ab", 16), strings.Repeat("cd", 32)
	if got, want := ServiceBearer(digits+".t:corp.example", secret), "ubl_"+digits+"_"+secret+"_corp.example"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, bad := range [][2]string{{digits, secret}, {digits + ".corp.example", secret}, {digits + ".t:corp.example", secret + "0"}, {"", ""}} {
		if got := ServiceBearer(bad[0], bad[1]); got != "" {
			t.Errorf("of %q: %s", bad, got)
		}
	}
}

func TestServiceToken(t *testing.T) {
	w := newWorld(t)
	clientID, secret := w.serviceToken(t, "t:corp.example")
	headers := []string{"CF-Access-Client-Id", clientID, "CF-Access-Client-Secret", secret}

	caller := w.get(headers...).let(t)
	if id := caller.Identity; !id.IsService || id.TenantID != "t:corp.example" || id.Groups == nil || caller.ExpiresAt != 0 {
		t.Errorf("came in as %+v until %s", id, caller.ExpiresAt)
	}
	for _, c := range all[ubl.CheckServiceToken](w.tenants) {
		if c.SecretHash != hashSecret(secret) || c.ClientID != clientID {
			t.Errorf("asked about %+v", c)
		}
	}

	t.Run("is checked at each request", func(t *testing.T) {
		before := count[ubl.CheckServiceToken](w.tenants)
		w.get(headers...).let(t)
		if got := count[ubl.CheckServiceToken](w.tenants); got != before+1 {
			t.Errorf("checked %d times, want once", got-before)
		}
	})
	t.Run("is the same one as a bearer", func(t *testing.T) {
		one := ServiceBearer(clientID, secret)
		before, kept := count[ubl.CheckServiceToken](w.tenants), w.remembered()
		again := w.get(bearer(one)...).let(t)
		if !reflect.DeepEqual(again.Identity, caller.Identity) || count[ubl.CheckServiceToken](w.tenants) != before+1 || w.remembered() != kept {
			t.Errorf("came in as %+v, checked %d times", again.Identity, count[ubl.CheckServiceToken](w.tenants)-before)
		}
		if said := w.get(bearer(one[:len(one)-2]+"/")...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized); strings.Contains(said.message, secret) {
			t.Errorf("the refusal says %s", said.message)
		}
	})
	t.Run("comes with its mandate as it is now", func(t *testing.T) {
		for _, m := range []*ubl.Mandate{nil, {Places: []string{"r:general"}}, {ReadOnly: true}} {
			w.tenants.set(func(f *tenants) { f.mandate = m })
			before := count[ubl.CheckServiceToken](w.tenants)
			id := w.get(headers...).let(t).Identity
			entered := all[ubl.Enter](w.tenants)
			if id.Mandate != m || entered[len(entered)-1].Who.Mandate != m || count[ubl.CheckServiceToken](w.tenants) != before+1 {
				t.Errorf("with the mandate %+v it comes in with %+v", m, id.Mandate)
			}
		}
	})
	t.Run("is asked about when the clock was set back, too", func(t *testing.T) {
		w.clock.pass(-time.Minute)
		before := count[ubl.CheckServiceToken](w.tenants)
		w.get(headers...).let(t)
		if got := count[ubl.CheckServiceToken](w.tenants) - before; got != 1 {
			t.Errorf("asked %d times, want once", got)
		}
	})
	t.Run("is out while nobody can be asked", func(t *testing.T) {
		w.tenants.set(func(f *tenants) { f.down = ubl.Errorf(ubl.CodeUnavailable, "no leader") })
		w.get(headers...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
		w.tenants.set(func(f *tenants) { f.down = nil })
		if err := w.get(headers...).let(t).Holds(t.Context()); err != nil {
			t.Errorf("asked anew: %v", err)
		}
	})
	t.Run("is out once revoked", func(t *testing.T) {
		w.tenants.set(func(f *tenants) { f.secret = nil })
		w.get(headers...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		if !closed(caller.Revoked) {
			t.Error("its streams were not told")
		}
		if err := caller.Holds(t.Context()); ubl.CodeOf(err) != ubl.CodeUnauthorized {
			t.Errorf("asked anew, it holds: %v", err)
		}
	})
}

// A stream of a service token ends when its tenant's ledger tells of the
// revocation, and the tenant is listened to no longer than that.
func TestServiceTokenRevokedByFeed(t *testing.T) {
	w := newWorld(t)
	clientID, secret := w.serviceToken(t, "t:corp.example")
	caller := w.get("CF-Access-Client-Id", clientID, "CF-Access-Client-Secret", secret).let(t)

	w.feed.revoke("t:other.example", clientID)
	w.feed.revoke(ubl.CoreTenant, clientID)
	w.feed.revoke("t:corp.example", "another")
	if closed(caller.Revoked) {
		t.Fatal("ended by a revocation of something else")
	}
	w.feed.revoke("t:corp.example", clientID)
	if !closed(caller.Revoked) {
		t.Error("not ended by its revocation")
	}
	poll.Until(t, "only the core ledger is listened to", func() bool {
		on := w.feed.listening()
		return len(on) == 1 && on[0] == ubl.LedgerName(ubl.CoreTenant)
	})
}

func TestBadServiceTokens(t *testing.T) {
	w := newWorld(t)
	clientID, secret := w.serviceToken(t, "t:corp.example")
	digits, _, _ := strings.Cut(clientID, ".")
	other := strings.Repeat("0", 64)
	asksTenant := map[string]bool{"wrong secret": true, "unknown client": true, "another tenant": true}
	message := ""
	for name, c := range map[string][2]string{
		"wrong secret":             {clientID, other},
		"unknown client":           {strings.Repeat("0", 32) + ".t:corp.example", secret},
		"another tenant":           {digits + ".t:other.example", secret},
		"no tenant":                {digits, secret},
		"empty tenant":             {digits + ".", secret},
		"tenant without prefix":    {digits + ".corp.example", secret},
		"an actor's name":          {digits + ".t:corp.example|ledger|0", secret},
		"capital hex":              {strings.ToUpper(digits) + ".t:corp.example", secret},
		"short id":                 {digits[1:] + ".t:corp.example", secret},
		"id not hex":               {strings.Repeat("x", 32) + ".t:corp.example", secret},
		"secret short":             {clientID, secret[1:]},
		"secret long":              {clientID, secret + "0"},
		"secret in capitals":       {clientID, strings.ToUpper("abcdef") + secret[6:]},
		"the hash for the secret":  {clientID, hashSecret(secret)},
		"both empty":               {"", ""},
		"huge tenant":              {digits + ".t:" + strings.Repeat("a", 129), secret},
		"Cloudflare's own form":    {digits + ".access", secret},
		"a line break in the name": {digits + ".t:corp\n.example", secret},
	} {
		if name == "the hash for the secret" {
			asksTenant[name] = true
		}
		t.Run(name, func(t *testing.T) {
			w.tenants.set(func(f *tenants) { f.log = nil })
			a := w.get("CF-Access-Client-Id", c[0], "CF-Access-Client-Secret", c[1]).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			if message == "" {
				message = a.message
			}
			if a.message != message {
				t.Errorf("tells itself apart: %q and %q", a.message, message)
			}
			if !asksTenant[name] {
				w.tenants.silent(t)
			}
		})
	}
	if on := w.feed.listening(); len(on) != 1 {
		t.Errorf("guesses left us listening to %v", on)
	}
	for _, half := range [][]string{{"CF-Access-Client-Id", clientID}, {"CF-Access-Client-Secret", secret}} {
		w.get(half...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	}
}
