package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

// Issuer is an OpenID Connect provider whose tokens are accepted.
type Issuer struct {
	// URL is the issuer exactly as tokens name it. Its keys are found through
	// URL + "/.well-known/openid-configuration".
	URL string
	// Audience must be among a token's audiences: the client id, or for
	// Cloudflare Access the application's AUD tag.
	Audience string
	// TrustedDomains are the mail domains for which a token of this issuer needs
	// no email_verified. Cloudflare Access never writes it.
	TrustedDomains []string
	// Domains are the mail domains that the issuer is believed about; empty for all.
	// Of several issuers only those that list an operator's domain speak for them.
	Domains []string
	// ClientID is what the provider knows this server as, so that people can sign in
	// there from a browser; "" where they can't. ClientSecret goes with it, "" for a
	// client without one.
	ClientID     string
	ClientSecret string
}

// provider verifies the tokens of one issuer.
type provider struct {
	Issuer
	first   bool // of those configured
	several bool // are configured
	now     func() time.Time
	pages   *fetcher
	client  *http.Client

	turn  chan struct{} // holds one token: the right to discover
	codes chan struct{} // holds one for each code that is being exchanged
	found atomic.Pointer[discovered]
}

// discovered is what an issuer says of itself.
type discovered struct {
	*oidc.Provider
	metadata
}

// metadata is what go-oidc leaves to us of that page.
type metadata struct {
	Scopes      []string `json:"scopes_supported"`
	TokenAuth   []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
}

func newProvider(i Issuer, first bool, o *Options) (*provider, error) {
	u, err := url.Parse(i.URL)
	if err != nil {
		return nil, errors.New("the issuer is not a URL")
	}
	if err := checkURL(u); err != nil {
		return nil, err
	}
	if i.Audience == "" {
		return nil, errors.New("an issuer needs an audience")
	}
	if i.ClientSecret != "" && i.ClientID == "" {
		return nil, errors.New("a client secret needs a client id")
	}
	if i.ClientID != "" && o.PublicURL == "" {
		return nil, errors.New("signing in there needs the public URL, to come back to")
	}
	i.TrustedDomains, i.Domains = lowerEmails(i.TrustedDomains), lowerEmails(i.Domains)
	p := &provider{Issuer: i, first: first, several: len(o.Issuers) > 1, now: o.Now, turn: make(chan struct{}, 1), codes: make(chan struct{}, maxExchanges)}
	p.pages, p.client = newFetcher(o.HTTPClient, o.Now)
	return p, nil
}

// vouches reports whether the provider is believed about an address, which may be an
// operator's. Whoever runs a provider can have it say any address; tenant 0 isn't for
// the least careful of several.
func (p *provider) vouches(email string, operator bool) bool {
	listed := slices.Contains(p.Domains, ubl.EmailDomain(email))
	return listed || len(p.Domains) == 0 && !(p.several && operator)
}

// verify checks a token that a program sent.
func (p *provider) verify(ctx context.Context, raw string, token *jwt.JSONWebToken) (*claims, error) {
	return p.verifyFor(ctx, p.Audience, raw, token)
}

// verifyFor checks a token's signature and claims. go-oidc checks signature,
// algorithm (those the provider says it uses, symmetric ones never), issuer,
// audience and exp; claims.check repeats what go-oidc reads leniently and adds
// the rest.
func (p *provider) verifyFor(ctx context.Context, audience, raw string, token *jwt.JSONWebToken) (*claims, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	c := &claims{}
	if err := token.UnsafeClaimsWithoutVerification(c); err != nil {
		return nil, notValid(err)
	}
	_, err = found.Verifier(&oidc.Config{ClientID: audience, Now: p.now}).Verify(ctx, raw)
	var expired *oidc.TokenExpiredError
	if err == nil || errors.As(err, &expired) { // the signature holds
		if bad := c.check(p.URL, audience, p.now()); bad != nil {
			return nil, bad
		}
	}
	switch {
	case err == nil:
		return c, nil
	case p.pages.failing() || ctx.Err() != nil: // the keys may be stale
		return nil, unreachable(err)
	}
	return nil, notValid(err)
}

// discover asks the provider where its keys and its pages are, once it is first
// needed, and again after a failure.
func (p *provider) discover(ctx context.Context) (*discovered, error) {
	if d := p.found.Load(); d != nil {
		return d, nil
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, unreachable(ctx.Err())
	}
	if d := p.found.Load(); d != nil {
		return d, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.URL)
	if err != nil {
		return nil, unreachable(err)
	}
	d := &discovered{Provider: found}
	if err := found.Claims(&d.metadata); err != nil {
		return nil, unreachable(err)
	}
	p.found.Store(d)
	return d, nil
}

// unreachable says that it is worth trying again.
func unreachable(cause error) error {
	return ubl.Errorf(ubl.CodeUnavailable, "the identity provider cannot be reached").Because(cause)
}

// identified is who a token of these claims is about, where they belong. Nobody but
// this node makes services, so is_service counts for nothing here.
func (a *Authenticator) identified(ctx context.Context, p *provider, c *claims) (ubl.Identity, error) {
	id, err := a.verified(p, c)
	if err != nil {
		return ubl.Identity{}, err
	}
	return a.atHome(ctx, id)
}

// verified is who a token of these claims is about, without a tenant, where the
// provider is believed about their address.
func (a *Authenticator) verified(p *provider, c *claims) (ubl.Identity, error) {
	id, err := p.identity(c)
	if err == nil && !p.vouches(id.Email, a.operator(id.Email)) {
		err = badToken("the issuer is not trusted with addresses of that domain here")
	}
	return id, err
}

// identity is who a token of these claims is about, without a tenant.
func (p *provider) identity(c *claims) (ubl.Identity, error) {
	c.Email = lowerEmail(c.Email)
	if err := c.checkAddress(p.TrustedDomains); err != nil {
		return ubl.Identity{}, err
	}
	return ubl.Identity{
		UserID:      ubl.UserIDFor(p.URL, c.Subject, p.first),
		Email:       c.Email,
		EmailDomain: ubl.EmailDomain(c.Email),
		Groups:      append([]string{}, c.Groups...),
		Issuer:      p.URL,
		Subject:     c.Subject,
	}, nil
}

// logoutToken reports a token that says in its header what it is for.
func logoutToken(token *jwt.JSONWebToken) bool {
	typ, _ := token.Headers[0].ExtraHeaders["typ"].(string)
	return strings.EqualFold(typ, "logout+jwt")
}
