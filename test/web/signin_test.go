package web

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
)

// TestSignInByLink: the link that serve prints leads into the app, once.
func TestSignInByLink(t *testing.T) {
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			s := oneNode(t)
			link := s.link()
			p := newPerson(t, s, v, "Ana")
			p.visit("/")
			p.arrives("/ui/")
			p.sees("Sign in to UBL")
			p.shot("sign-in")
			p.follow(link, "Sign in")
			p.lacks("heading", "Sign in to UBL")
			p.find("navigation", "UBL")

			other := newPerson(t, s, v, "Eve")
			other.watch.expect(`^/signin/.* is answered 404`)
			other.visit(link)
			other.sees("not valid")
		})
	}
}

// firstMinute is how long a newcomer may take to a message that is sent and verified.
const firstMinute = time.Minute

// TestFirstMinute: whoever starts a server and does what the terminal and the screens
// offer has sent a message, and seen it verified, within a minute.
func TestFirstMinute(t *testing.T) {
	for _, v := range views { // not side by side: time is measured
		t.Run(v.name, func(t *testing.T) {
			p := newPerson(t, oneNode(t), v, "Ana")
			began := time.Now()
			p.server.nextLink() // what is measured begins with a server that starts
			p.visit(p.server.link())
			p.press("button", "Sign in")
			p.fill("Your name", "Ana")
			p.press("button", "Continue")
			p.press("button", "Later") // the passkey
			p.press("button", "Say hello")
			p.press("textbox", "Message to general")
			p.key("Hello, is anybody here?")
			p.press("button", "Send")
			p.press("button", "Receipt…")
			p.sees("Verified by this browser")
			took := time.Since(began)
			note("from serve to a verified message ("+v.name+")", "< 1 min", "%.1f s", took.Seconds())
			if took > firstMinute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// oidcProvider is an OpenID Connect provider at which one says with a button who one is.
func oidcProvider(t *testing.T, who mockoidc.User) *mockoidc.MockOIDC {
	t.Helper()
	m, err := mockoidc.NewServer(nil)
	must(t, err)
	must(t, m.AddMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != mockoidc.AuthorizationEndpoint || r.Method == http.MethodPost {
				next.ServeHTTP(w, r)
				return
			}
			m.QueueUser(who)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Harbour accounts</title><link rel="icon" href="data:,"><form method="post"><button>I am %s@corp.example</button></form></html>`, who.ID())
		})
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, m.Start(l, nil))
	t.Cleanup(func() { _ = m.Server.Close() })
	return m
}

// atProvider has a server know the provider, and corp.example as the domain where a token
// of ours and the provider's people are in one tenant.
func atProvider(t *testing.T, at *mockoidc.MockOIDC) []string {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte(at.ClientSecret), 0o600))
	return []string{"--oidc-issuer", at.Issuer(), "--oidc-client-id=" + at.ClientID, "--oidc-client-secret-file", secret, "--domain", "corp.example"}
}

// TestSignInByProvider: whoever has an account at a provider goes there, says who they
// are, and is led into the app, to the address where they wanted to go. What they write
// has a receipt.
func TestSignInByProvider(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		at := oidcProvider(t, &mockoidc.MockUser{Subject: "bob", Email: "bob@corp.example", EmailVerified: true})
		s := start(t, atProvider(t, at)...)
		p := newPerson(t, s, v, "Bob")
		p.watch.expect("a request to another host: " + at.Addr())
		p.visit("/ui/rooms/r:general")
		p.press("link", "Continue with "+at.Server.Addr)
		p.press("button", "I am bob@corp.example")
		p.arrives("/ui/rooms/r:general")
		p.skipsWelcome()
		p.find("log", "Messages in general")
		p.say("general", "hello from my provider")
		p.hears("hello from my provider")
		p.details(s.client("bob@corp.example").said(general, "hello from my provider"))
		p.visit("/ui/settings")
		p.sees("By your provider")
	})
}
