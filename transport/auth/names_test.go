package auth

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// TestNameInToken: what a token calls its bearer goes with them into the tenant,
// as far as it can be a name; where it is nothing of the kind, they come in all the
// same.
func TestNameInToken(t *testing.T) {
	p := startIDP(t, nil)
	for _, tt := range []struct {
		claim any
		want  string
	}{
		{nil, ""}, {"Ann Müller", "Ann Müller"}, {" Ann\n", "Ann"}, {"\u202eevil", "evil"}, {strings.Repeat("n", 70), strings.Repeat("n", 64)},
		{7, ""}, {map[string]any{"given": "Ann"}, ""},
	} {
		w := newWorld(t, with(p.issuer()))
		claims := map[string]any{}
		if tt.claim != nil {
			claims["name"] = tt.claim
		}
		w.get(bearer(p.mill(t, w.clock.Now()).make(t, claims))...).let(t)
		if got := all[ubl.Enter](w.tenants)[0].Name; got != tt.want {
			t.Errorf("with the claim %v she comes in as %q, want %q", tt.claim, got, tt.want)
		}
	}
}

// TestNameOfOurTokens: a service is called what it was made as; an address is no
// name.
func TestNameOfOurTokens(t *testing.T) {
	for service, want := range map[string]string{"builder": "builder", "": ""} {
		w := newWorld(t)
		token, _, err := w.key.Sign(TokenSpec{Email: "ann@corp.example", Service: service, TTL: time.Hour, Now: w.clock.Now(), Random: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		w.get(bearer(token)...).let(t)
		if got := all[ubl.Enter](w.tenants)[0].Name; got != want {
			t.Errorf("the service %q comes in as %q", service, got)
		}
	}
}

// TestNameAtSigningIn: the provider's name for somebody is the member's from then on.
func TestNameAtSigningIn(t *testing.T) {
	p := startIDP(t, nil)
	d := openOIDC(t, p)
	v := d.visitor(t)
	way := v.start(p, "/ui/")
	if got := way.Query().Get("scope"); !strings.Contains(got, "profile") {
		t.Errorf("asks for %q, where the name isn't", got)
	}
	back := p.at(t, way, annAtProvider())
	token := p.mill(t, d.house.Clock.Now()).make(t, map[string]any{"nonce": way.Query().Get("nonce"), "name": "Ann Müller"})
	p.answers("token", func(w http.ResponseWriter, _ *http.Request) {
		envelope.Write(w, http.StatusOK, map[string]any{"access_token": "none", "token_type": "Bearer", "id_token": token})
	})
	if w := v.open(back.RequestURI()); w.Code != http.StatusSeeOther {
		t.Fatalf("came back: %d %s", w.Code, w.Body)
	}
	ann := v.session()
	m := harness.Must[*ubl.Member](d.house, ubl.TenantName(ann.TenantID), ubl.FindMember{Who: ann, UserID: ann.UserID})
	if m.Name != "Ann Müller" || m.Email != "ann@corp.example" {
		t.Errorf("the member is %+v", m)
	}
}
