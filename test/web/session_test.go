package web

import (
	"testing"

	"github.com/chromedp/cdproto/webauthn"
)

// sessions are the client's own living sessions.
func (c *client) sessions() (ids []string) {
	c.t.Helper()
	var list struct {
		Tokens []struct{ JTI, Kind string }
	}
	c.ask("GET", "/api/tokens", nil, &list)
	for _, token := range list.Tokens {
		if token.Kind == "session" {
			ids = append(ids, token.JTI)
		}
	}
	return ids
}

// authenticator gives the browser a device that keeps passkeys and asks nobody.
func (p *person) authenticator() {
	p.t.Helper()
	call(p, webauthn.Enable, webauthn.EnableParams{})
	call(p, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
}

// TestSessionEnds: when a session is revoked the app asks to sign in, at the same
// address; what wasn't sent yet goes out after that.
func TestSessionEnds(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.enter("general")
		p.say("general", "before")
		p.hears("before")
		c := s.client(owner)
		for _, id := range c.sessions() {
			c.ask("DELETE", "/api/tokens/"+id, nil, nil)
		}
		p.find("heading", "Sign in to UBL")
		if at := p.at(); at != "/ui/rooms/r:general" {
			t.Errorf("the address is %s now", at)
		}
		p.misses("before")
		p.reload()
		p.find("heading", "Sign in to UBL")
	})
}
