package portal

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"ubl"
)

// early is how long before its end a token is not used any more.
const early = 15 * time.Second

// errToken hides what an authorization server answered: it may quote secrets.
var errToken = ubl.Errorf(ubl.CodeForbidden, "the authorization server gives the portal no token: an owner must check client_id, secret and token_url")

// clientCredential is a token for the portal itself (client credentials grant).
type clientCredential struct {
	p      *Portal
	tenant ubl.TenantID
	server ubl.Server
	secret string

	turn  // of whoever fetches a token: others wait for it
	token *oauth2.Token
}

func (p *Portal) newClientCredential(t ubl.TenantID, s ubl.Server, secret string) *clientCredential {
	return &clientCredential{p: p, tenant: t, server: s, secret: secret, turn: newTurn()}
}

func (c *clientCredential) authorize(ctx context.Context, h http.Header) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	if !c.p.fresh(c.token) {
		token, err := c.fetch(ctx)
		if err != nil {
			return err
		}
		c.token = token
	}
	setBearer(h, c.token)
	return nil
}

func (c *clientCredential) fetch(ctx context.Context) (*oauth2.Token, error) {
	cfg := clientcredentials.Config{
		ClientID: c.server.ClientID, ClientSecret: c.secret, TokenURL: c.server.TokenURL, Scopes: c.server.Scopes,
		EndpointParams: map[string][]string{"resource": {c.server.URL}},
	}
	token, err := cfg.Token(context.WithValue(ctx, oauth2.HTTPClient, c.p.plainClient(c.tenant)))
	if err != nil {
		return nil, tokenError(err)
	}
	token.Expiry = c.p.endOf(token)
	return token, nil
}

func (c *clientCredential) renew(ctx context.Context) bool {
	if c.take(ctx) != nil {
		return false
	}
	defer c.give()
	had := c.token != nil
	c.token = nil
	return had
}

func (*clientCredential) refused() error { return errRefused }

// tokenError tells a refusal from an authorization server that can't be reached.
func tokenError(err error) error {
	var refusal *oauth2.RetrieveError
	if errors.As(err, &refusal) && refusal.Response != nil && refusal.Response.StatusCode < 500 {
		return errToken.Because(err)
	}
	return ubl.Errorf(ubl.CodeUnavailable, "couldn't reach the authorization server").Because(err)
}

// fresh reports whether a token can still be used.
func (p *Portal) fresh(t *oauth2.Token) bool {
	return t != nil && t.AccessToken != "" && (t.Expiry.IsZero() || p.now().Add(early).Before(t.Expiry))
}

// longest is how long a token is believed to live at most.
const longest = 365 * 24 * time.Hour

// endOf is when a token that has just come ends, by the portal's clock; zero for
// never. The library counts from the time of this machine.
func (p *Portal) endOf(t *oauth2.Token) time.Time {
	if t.Expiry.IsZero() {
		return time.Time{}
	}
	return p.now().Add(min(time.Until(t.Expiry), longest))
}

// setBearer ignores the token's type: MCP knows only bearer tokens.
func setBearer(h http.Header, t *oauth2.Token) { h.Set("Authorization", "Bearer "+t.AccessToken) }
