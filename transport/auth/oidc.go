package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
}

// provider verifies the tokens of one issuer.
type provider struct {
	Issuer
	first  bool // of those configured
	now    func() time.Time
	pages  *fetcher
	client *http.Client

	turn     chan struct{} // holds one token: the right to discover
	verifier atomic.Pointer[oidc.IDTokenVerifier]
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
	domains := make([]string, len(i.TrustedDomains))
	for n, d := range i.TrustedDomains {
		domains[n] = lowerEmail(d)
	}
	i.TrustedDomains = domains
	p := &provider{Issuer: i, first: first, now: o.Now, turn: make(chan struct{}, 1)}
	p.pages, p.client = newFetcher(o.HTTPClient, o.Now)
	return p, nil
}

// verify checks a token's signature and claims. go-oidc checks signature,
// algorithm (those the provider says it uses, symmetric ones never), issuer,
// audience and exp; claims.check repeats what go-oidc reads leniently and adds
// the rest.
func (p *provider) verify(ctx context.Context, raw string, token *jwt.JSONWebToken) (*claims, error) {
	verifier, err := p.discover(ctx)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the identity provider cannot be reached").Because(err)
	}
	c := &claims{}
	if err := token.UnsafeClaimsWithoutVerification(c); err != nil {
		return nil, notValid(err)
	}
	_, err = verifier.Verify(ctx, raw)
	var expired *oidc.TokenExpiredError
	if err == nil || errors.As(err, &expired) { // the signature holds
		if bad := c.check(p.URL, p.Audience, p.now()); bad != nil {
			return nil, bad
		}
	}
	switch {
	case err == nil:
		return c, nil
	case p.pages.failing() || ctx.Err() != nil: // the keys may be stale
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the identity provider cannot be reached").Because(err)
	}
	return nil, notValid(err)
}

// discover asks the provider where its keys are, once it is first needed, and
// again after a failure.
func (p *provider) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	if v := p.verifier.Load(); v != nil {
		return v, nil
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if v := p.verifier.Load(); v != nil {
		return v, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.URL)
	if err != nil {
		return nil, fmt.Errorf("couldn't discover the issuer: %w", err)
	}
	v := found.Verifier(&oidc.Config{ClientID: p.Audience, Now: p.now})
	p.verifier.Store(v)
	return v, nil
}

// identity is who a token of these claims is about. Nobody but this node makes
// services, so is_service counts for nothing here.
func (p *provider) identity(c *claims, operators []string) (ubl.Identity, error) {
	c.Email = lowerEmail(c.Email)
	if err := c.checkAddress(p.TrustedDomains); err != nil {
		return ubl.Identity{}, err
	}
	user := ubl.UserIDFor(p.URL, c.Subject, p.first)
	id := ubl.Identity{
		UserID:      user,
		Email:       c.Email,
		EmailDomain: ubl.EmailDomain(c.Email),
		Groups:      append([]string{}, c.Groups...),
		TenantID:    ubl.TenantFor(user, c.Email, operators),
		Issuer:      p.URL,
		Subject:     c.Subject,
	}
	return id, needTenant(id)
}

// logoutToken reports a token that says in its header what it is for.
func logoutToken(token *jwt.JSONWebToken) bool {
	typ, _ := token.Headers[0].ExtraHeaders["typ"].(string)
	return strings.EqualFold(typ, "logout+jwt")
}
