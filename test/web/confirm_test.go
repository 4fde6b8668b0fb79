package web

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"ubl/test/poll"
)

// ages makes the browser's session one in which nobody has proved for an hour who they
// are, as it will be by itself: the node's key signs its cookie once more.
func (p *person) ages() {
	p.t.Helper()
	n := p.server.nodes[0]
	data, err := os.ReadFile(filepath.Join(n.dir, "identity.key"))
	must(p.t, err)
	block, _ := pem.Decode(data)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	must(p.t, err)
	for _, cookie := range call(p, network.GetCookies, network.GetCookiesParams{}).Cookies {
		if cookie.Name != "ubl" {
			continue
		}
		token, err := jose.ParseSignedCompact(cookie.Value, []jose.SignatureAlgorithm{jose.EdDSA})
		must(p.t, err)
		claims := map[string]any{}
		must(p.t, json.Unmarshal(token.UnsafePayloadWithoutVerification(), &claims))
		claims["proved_at"] = time.Now().Add(-time.Hour).Unix()
		payload, err := json.Marshal(claims)
		must(p.t, err)
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key.(ed25519.PrivateKey)},
			(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", token.Signatures[0].Header.KeyID))
		must(p.t, err)
		signed, err := signer.Sign(payload)
		must(p.t, err)
		value, err := signed.CompactSerialize()
		must(p.t, err)
		call(p, network.SetCookie, network.SetCookieParams{
			Name: cookie.Name, Value: value, Domain: cookie.Domain, Path: cookie.Path, HTTPOnly: new(true), SameSite: network.CookieSameSiteLax,
		})
		return
	}
	p.fail("the browser has no session")
}

// wantsToInvite asks for an invitation, which is sensitive.
func (p *person) wantsToInvite(email string) {
	p.t.Helper()
	p.visit("/ui/members")
	p.press("button", "Invite somebody")
	p.fill("Their mail address", email)
	p.press("button", "Make the link")
}

// isAskedToConfirm wants to invite somebody an hour after proving who they are.
func (p *person) isAskedToConfirm() {
	p.t.Helper()
	p.watch.expect(`^/api/invitations is answered 403`)
	p.ages()
	p.wantsToInvite("eve@else.example")
	p.find("heading", "Confirm it…")
}

// TestConfirmByPasskey: who signed in a while ago is asked to use their passkey before
// somebody is invited, and then the invitation is made. Who cancels has done nothing.
func TestConfirmByPasskey(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.authenticator()
		p.visit("/ui/settings")
		p.press("button", "Add")
		p.press("button", "Continue")
		p.sees("The passkey was added")
		p.isAskedToConfirm()
		p.find("button", "Use your passkey")
		p.examine("confirm-passkey")
		p.press("button", "Cancel")
		p.sees("This needs a recent sign-in: confirm that it is you")
		if open := s.client(owner).invitations(); open > 0 {
			t.Errorf("%d invitations were made", open)
		}
		before := s.client(owner).sessions()
		p.press("button", "Make the link")
		p.press("button", "Use your passkey")
		p.find("heading", "The invitation is ready")
		if open := s.client(owner).invitations(); open != 1 {
			t.Errorf("%d invitations were made", open)
		}
		if after := s.client(owner).sessions(); len(after) != 1 || after[0] == before[0] {
			t.Errorf("the sessions are %q, and were %q", after, before)
		}
		p.press("button", "Done")
		p.enter("general")
		p.say("general", "still here")
		p.hears("still here")
	})
}

// TestConfirmByLink is for who has no passkey: the server prints a link, which is opened
// beside the page that waits.
func TestConfirmByLink(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.isAskedToConfirm()
		p.press("button", "Print a link")
		p.sees("The server has printed a link")
		p.examine("confirm-link")
		other := p.anotherTab()
		other.visit(s.confirmationLink())
		other.examine("confirm-link-page")
		other.press("button", "Yes, it…")
		other.sees("Thank you")
		p.find("heading", "The invitation is ready")
	})
}

// TestConfirmByProvider is for who came by an identity provider: its page opens beside the
// one that waits, asks once more, and says that it did.
func TestConfirmByProvider(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		at := oidcProvider(t, &fresh{&mockoidc.MockUser{Subject: "bob", Email: "bob@corp.example", EmailVerified: true}})
		s := oneNode(t, atProvider(t, at)...)
		p := newPerson(t, s, v, "Bob")
		p.watch.expect("a request to another host: " + at.Addr())
		p.visit("/ui/rooms/r:general")
		p.press("link", "Continue with "+at.Server.Addr)
		p.press("button", "I am bob@corp.example")
		p.arrives("/ui/rooms/r:general")
		p.skipsWelcome()
		p.find("log", "Messages in general")
		p.isAskedToConfirm()
		p.find("link", "Confirm at "+at.Server.Addr)
		p.examine("confirm-provider")
		other := p.anotherTab()
		other.watch.expect("a request to another host: " + at.Addr())
		other.visit(eval[string](p, `document.querySelector('a[href*="confirm=1"]').href`))
		other.press("button", "I am bob@corp.example")
		other.sees("Thank you")
		p.find("heading", "The invitation is ready")
	})
}

// fresh is a user of a provider that says when it asked who they are: now.
type fresh struct{ *mockoidc.MockUser }

// Claims implements [mockoidc.User].
func (f *fresh) Claims(scope []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	return &freshClaims{base, f.Email, f.EmailVerified, time.Now().Unix()}, nil
}

type freshClaims struct {
	*mockoidc.IDTokenClaims
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	AuthTime      int64  `json:"auth_time"`
}

var confirmationForm = regexp.MustCompile(`/auth/confirm/link/[0-9a-f]{32}`)

// confirmationLink is what the server has printed for a person, without its address.
func (s *server) confirmationLink() (link string) {
	s.t.Helper()
	poll.Until(s.t, "the server prints a link", func() bool {
		link = confirmationForm.FindString(s.nodes[0].log.String())
		return link != ""
	})
	return link
}

// invitations counts those that are open.
func (c *client) invitations() int {
	c.t.Helper()
	var list struct{ Invitations []struct{ ID string } }
	c.ask("GET", "/api/invitations", nil, &list)
	return len(list.Invitations)
}
