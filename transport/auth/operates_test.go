package auth

import (
	"crypto/rand"
	"testing"
	"time"

	"ubl"
)

// TestFirstOwnerOperates by the node's own word alone: no service of theirs does, nobody
// else, and nobody whom a provider or an invitation calls so.
func TestFirstOwnerOperates(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.FirstOwner = "Owner@localhost" })
	operates := func(email, service string) bool {
		t.Helper()
		token, _, err := w.key.Sign(TokenSpec{Email: email, Service: service, TTL: time.Hour, Now: w.clock.Now(), Random: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		return w.get(bearer(token)...).let(t).Operates
	}
	if !operates("owner@localhost", "") {
		t.Error("the first owner doesn't")
	}
	if operates("owner@localhost", "builder") || operates("eve@localhost", "") {
		t.Error("a service or another does")
	}
	for issuer, want := range map[string]bool{LocalIssuer: true, ubl.InvitationIssuer: false, "https://id.example": false} {
		if got := w.operates(ubl.Identity{Email: "owner@localhost", Issuer: issuer}); got != want {
			t.Errorf("by %s: %v", issuer, got)
		}
	}
	if w := newWorld(t); w.operates(ubl.Identity{Email: "", Issuer: LocalIssuer}) {
		t.Error("without a first owner somebody does")
	}
}
