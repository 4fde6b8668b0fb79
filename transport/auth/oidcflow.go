package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"ubl"
)

// oidcSignIn is signing in at an OpenID Connect provider, by authorization code
// with PKCE. What comes back with the browser is the state.
const oidcSignIn ceremony = "oidc"

const (
	// oidcTime is how long somebody may take at the provider.
	oidcTime = 10 * time.Minute
	// oidcBack is where providers send browsers back to, exactly.
	oidcBack = "/auth/oidc/callback"
	// maxReturn bounds where to go afterwards, in bytes.
	maxReturn = 512
)

// oidcFlow is what the answer of a provider is held against.
type oidcFlow struct {
	Issuer   string `json:"issuer"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of PKCE
	Return   string `json:"return"`
	// Member is who proves their address by this sign-in; nil for an ordinary one.
	Member *sealedPerson `json:"member,omitempty"`
	// Confirm is the session whose person proves once more who they are, from the moment
	// on that is Asked; nil for an ordinary sign-in.
	Confirm *confirming `json:"confirm,omitempty"`
	Asked   ubl.Time    `json:"asked,omitzero"`
}

// startOIDC sends a browser to the provider, from a page of this server or none:
// another site's could have its visitor signed in as somebody else. The way back is
// another site's to begin.
func (a *Authenticator) startOIDC(w http.ResponseWriter, r *http.Request) error {
	if from := fetchSite(r); from == "cross-site" || from == "same-site" {
		return ubl.Errorf(ubl.CodeOriginNotAllowed, "signing in begins at a page of this server")
	}
	n := slices.IndexFunc(a.clients, func(p *provider) bool { return p.id() == r.PathValue("id") })
	if n < 0 {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such provider")
	}
	p := a.clients[n]
	found, err := p.discoverNow(r.Context())
	if err != nil {
		return err
	}
	config, err := p.config(found, a.oidcBack)
	if err != nil {
		return err
	}
	state, err := DrawText(a.random)
	if err != nil {
		return err
	}
	flow := oidcFlow{Issuer: p.URL, Return: localPath(r.URL.Query().Get("return"))}
	if r.URL.Query().Get("prove") != "" {
		if flow.Member, err = a.proving(r); err != nil {
			return err
		}
	}
	// max_age obliges a provider to say when it asked; this one has none ask again.
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(sessionMost/time.Second)))}
	if r.URL.Query().Get("confirm") != "" {
		if options, err = a.confirmAt(r, p, &flow); err != nil {
			return err
		}
	}
	if flow.Nonce, err = DrawText(a.random); err != nil {
		return err
	}
	if flow.Verifier, err = DrawText(a.random); err != nil {
		return err
	}
	if err := a.beginCeremony(w, r, oidcSignIn, oidcTime, state, flow); err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	options = append(options, oidc.Nonce(flow.Nonce), oauth2.S256ChallengeOption(flow.Verifier))
	http.Redirect(w, r, config.AuthCodeURL(state, options...), http.StatusFound)
	return nil
}

// localPath is where to go after signing in: a page of the app, else its first.
// Nothing else of this server is a page, and nobody must be led elsewhere.
func localPath(s string) string {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxReturn || !strings.HasPrefix(s, home) || strings.Contains(u.Path, `\`) ||
		!strings.HasPrefix(path.Clean(u.Path)+"/", home) {
		return home
	}
	return s
}

// id names the provider in addresses, the same on every node.
func (p *provider) id() string {
	sum := sha256.Sum256([]byte(p.URL))
	return hex.EncodeToString(sum[:8])
}

// host is how people know the provider.
func (p *provider) host() string {
	u, err := url.Parse(p.URL)
	if err != nil { // it was parsed when we began
		return p.URL
	}
	return u.Host
}

// discoverNow is discover for somebody who waits.
func (p *provider) discoverNow(ctx context.Context) (*discovered, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	return p.discover(ctx)
}

// config is what the provider is asked with. Its pages are reached as its keys are:
// over TLS, but for this machine.
func (p *provider) config(found *discovered, back string) (*oauth2.Config, error) {
	c := &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: back, Scopes: []string{oidc.ScopeOpenID, "email"},
	}
	for _, page := range []string{c.Endpoint.AuthURL, c.Endpoint.TokenURL} {
		u, err := url.Parse(page)
		if err == nil {
			err = checkURL(u)
		}
		if err != nil {
			return nil, ubl.Errorf(ubl.CodeUnavailable, "the identity provider is not set up for signing in").Because(err)
		}
	}
	for _, more := range []string{"profile", "groups"} { // some refuse what they don't list
		if slices.Contains(found.Scopes, more) {
			c.Scopes = append(c.Scopes, more)
		}
	}
	// In the form, where the provider says it takes a secret there: in the header
	// the two sides often disagree about escaping.
	c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if p.ClientSecret == "" || slices.Contains(found.TokenAuth, "client_secret_post") {
		c.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return c, nil
}
