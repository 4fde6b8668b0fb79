package auth

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ubl"
)

// ask sends a request with a credential, as a command on the server's machine does.
func (d *desk) ask(method, path, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, d.origin+path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	d.Browsers().ServeHTTP(w, r)
	return w
}

// voucher is one of the key's for a path and an address.
func (d *desk) voucher(t testing.TB, path, email string) string {
	t.Helper()
	v, err := d.key.Voucher(path, email, d.house.Clock.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestKeyholderAsksWhereSomebodyBelongs and nothing is put on record by it.
func TestKeyholderAsksWhereSomebodyBelongs(t *testing.T) {
	d := openDesk(t)
	d.person("ann@corp.example")
	before := d.head()
	for email, want := range map[string]HomeAnswer{
		"ann@corp.example":  {TenantID: "t:corp.example", Member: true, Claimed: true},
		"bob@corp.example":  {TenantID: "t:corp.example", Claimed: true},
		"eve@stranger.test": {TenantID: ubl.PersonalTenant(localPerson("", "eve@stranger.test").UserID)},
	} {
		w := d.ask(http.MethodGet, HomePath, d.voucher(t, HomePath, email))
		var got HomeAnswer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %+v", email, w.Code, w.Body, want)
		}
	}
	if d.head() != before {
		t.Error("a question was put on record")
	}
}

// TestKeyholderGetsALink that begins one session, as the one that serve prints.
func TestKeyholderGetsALink(t *testing.T) {
	d := openDesk(t)
	w := d.ask(http.MethodPost, LinkPath, d.voucher(t, LinkPath, "ann@corp.example"))
	var link LinkAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &link); err != nil || w.Code != http.StatusCreated || link.Seconds != 600 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for n, want := range []int{http.StatusSeeOther, http.StatusNotFound} {
		if w := d.visitor(t).post(link.Path, "", asForm); w.Code != want {
			t.Errorf("use %d of the link: %d, want %d", n+1, w.Code, want)
		}
	}
}

// TestOnlyVouchersVouch: no other token does, and a voucher is good for nothing else.
func TestOnlyVouchersVouch(t *testing.T) {
	d := openDesk(t)
	d.person("ann@corp.example")
	now := d.house.Clock.Now()
	bearer, _, err := d.key.Sign(TokenSpec{Email: "ann@corp.example", TTL: time.Hour, Now: now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := stranger.Voucher(HomePath, "ann@corp.example", now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	late, err := d.key.Voucher(HomePath, "ann@corp.example", now.Add(-2*voucherTTL), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	early, err := d.key.Voucher(HomePath, "ann@corp.example", now.Add(time.Hour), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{"a bearer token": bearer, "another key's": forged, "one of before": late, "one to come": early, "nothing": "a.b.c"} {
		for _, ask := range [][2]string{{http.MethodGet, HomePath}, {http.MethodPost, LinkPath}} {
			if w := d.ask(ask[0], ask[1], token); w.Code != http.StatusUnauthorized {
				t.Errorf("%s: %s is answered %d %s", name, ask[1], w.Code, w.Body)
			}
		}
	}
	if w := d.ask(http.MethodPost, LinkPath, d.voucher(t, HomePath, "ann@corp.example")); w.Code != http.StatusUnauthorized {
		t.Errorf("a voucher for the other question: %d %s", w.Code, w.Body)
	}
	r := httptest.NewRequest(http.MethodGet, d.origin+"/api/whoami", nil)
	r.Header.Set("Authorization", "Bearer "+d.voucher(t, HomePath, "ann@corp.example"))
	if _, err := d.Authenticate(r.Context(), r); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("a voucher signs in: %v", err)
	}
}
