package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"ubl"
)

// grant is what a user's signing in to a server has led to. Sealed, it is kept by
// the Portal actor. It brings its own client, which may have been registered for it.
type grant struct {
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"` // a registered client's
	Style        oauth2.AuthStyle `json:"style,omitempty"`
	TokenURL     string           `json:"token_url"`
	Inside       bool             `json:"inside,omitempty"` // TokenURL may be (see namedClient)
	Access       string           `json:"access"`
	Refresh      string           `json:"refresh,omitempty"`
	Expiry       *time.Time       `json:"expiry,omitempty"`
}

// configOf is the client of a grant. The secret of one that an owner has set is the
// server's, and goes only where the owner has said: a grant from before that is not
// used any more.
func (p *Portal) configOf(t ubl.TenantID, a *ubl.ServerAccess, g *grant) (*oauth2.Config, error) {
	cfg := &oauth2.Config{ClientID: g.ClientID, ClientSecret: g.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.Style}}
	if g.ClientID == a.Server.ClientID {
		secret, err := p.sealer.open(secretOf(t, &a.Server), a.Secret)
		if err != nil {
			return nil, errSecret.Because(err)
		}
		if len(secret) > 0 && g.TokenURL != a.Server.TokenURL {
			return nil, signIn(a.Server.ServerID)
		}
		cfg.ClientSecret = string(secret)
	}
	return cfg, nil
}

func (g *grant) token() *oauth2.Token {
	t := &oauth2.Token{AccessToken: g.Access, RefreshToken: g.Refresh}
	if g.Expiry != nil {
		t.Expiry = *g.Expiry
	}
	return t
}

// take puts a new token into the grant. A server may keep its refresh token to
// itself: the old one goes on.
func (p *Portal) take(g *grant, t *oauth2.Token) {
	g.Access, g.Expiry = t.AccessToken, nil
	if t.RefreshToken != "" {
		g.Refresh = t.RefreshToken
	}
	if end := p.endOf(t); !end.IsZero() {
		end = end.UTC()
		g.Expiry = &end
	}
}

// grantOf is the purpose of a user's grant.
func grantOf(who ubl.Identity, s *ubl.Server) purpose {
	return purpose{kind: "grant", tenant: who.TenantID, server: s.ServerID, origin: originOf(s.URL), user: who.UserID}
}

// signIn refuses a call of a user who hasn't signed in to the server, and says where.
func signIn(serverID string) *ubl.Error {
	e := ubl.Errorf(ubl.CodeForbidden, "sign in to the server first: details.url tells where")
	e.Details = map[string]string{"url": "/api/portal/servers/" + serverID + "/connect"}
	return e
}

// userCredential is a token of a user, from their grant.
type userCredential struct {
	p      *Portal
	who    ubl.Identity
	server string // its id

	// sealed is the grant as it is kept.
	sealed atomic.Pointer[[]byte]

	turn  // of whoever refreshes the token: others wait for it
	grant grant
	// access is what the grant came with.
	access *ubl.ServerAccess
	// tried is the access token that was refused already.
	tried string
	// down is why the authorization server isn't asked until downUntil.
	down      error
	downUntil ubl.Time
}

func (p *Portal) newUserCredential(a *ubl.ServerAccess, who ubl.Identity) (*userCredential, error) {
	c := &userCredential{p: p, who: who, server: a.Server.ServerID, access: a, turn: newTurn()}
	c.sealed.Store(&a.Grant)
	plain, err := p.sealer.open(grantOf(who, &a.Server), a.Grant)
	if err != nil || len(plain) == 0 {
		return nil, signIn(a.Server.ServerID).Because(err)
	}
	if err := json.Unmarshal(plain, &c.grant); err != nil {
		return nil, signIn(a.Server.ServerID).Because(fmt.Errorf("couldn't read a grant: %w", err))
	}
	return c, nil
}

func (c *userCredential) authorize(ctx context.Context, h http.Header) error {
	t, err := c.token(ctx)
	if err == nil {
		setBearer(h, t)
	}
	return err
}

// token is one that can be used. Refreshing goes on when the caller has gone: a
// refresh token often works once, and nobody else could have what it brings.
func (c *userCredential) token(ctx context.Context) (*oauth2.Token, error) {
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	if t := c.grant.token(); c.p.fresh(t) && t.AccessToken != c.tried {
		c.give()
		return t, nil
	}
	type refreshed struct {
		token *oauth2.Token
		err   error
	}
	done := make(chan refreshed, 1)
	if !c.p.spawn(func() {
		defer c.give()
		err := c.refresh(context.WithoutCancel(ctx))
		done <- refreshed{c.grant.token(), err}
	}) {
		c.give()
		return nil, errClosed
	}
	select {
	case r := <-done:
		return r.token, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refresh gets a new token and keeps it. Another node may have been first: then its
// grant is the one to use. The turn is held.
func (c *userCredential) refresh(ctx context.Context) error {
	if c.grant.Refresh == "" {
		return c.refused()
	}
	if ubl.TimeOf(c.p.now()) < c.downUntil {
		return c.down
	}
	cfg, err := c.p.configOf(c.who.TenantID, c.access, &c.grant)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, c.p.namedClient(c.who.TenantID, c.grant.Inside))
	token, err := cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: c.grant.Refresh}).Token()
	if err != nil {
		if err = tokenError(err); ubl.CodeOf(err) == ubl.CodeForbidden {
			return c.reload(ctx, err)
		}
		c.down, c.downUntil = err, c.p.downUntil(err)
		return err
	}
	c.p.take(&c.grant, token)
	req, err := c.p.request(c.who)
	if err != nil {
		return err
	}
	sealed, err := c.p.saveGrant(ctx, req, &c.access.Server, &c.grant, true)
	if ubl.CodeOf(err) == ubl.CodeNotFound { // the user has disconnected meanwhile
		return c.refused()
	}
	if err != nil {
		c.p.log.Warn("couldn't keep a refreshed grant", "server", c.server, "error", err)
		return nil
	}
	c.sealed.Store(&sealed)
	return nil
}

// reload takes the stored grant where it is another than the one that was refused.
func (c *userCredential) reload(ctx context.Context, because error) error {
	refusal := signIn(c.server).Because(because)
	a, err := c.p.openServer(ctx, c.who, c.server)
	if err != nil {
		return err
	}
	other, err := c.p.newUserCredential(a, c.who)
	if err != nil {
		return err
	}
	if other.grant.Access == c.grant.Access || !c.p.fresh(other.grant.token()) {
		return refusal
	}
	c.access, c.grant = a, other.grant
	c.sealed.Store(&a.Grant)
	return nil
}

func (c *userCredential) renew(ctx context.Context) bool {
	if c.take(ctx) != nil {
		return false
	}
	defer c.give()
	if c.grant.Refresh == "" || c.grant.Access == c.tried {
		return false
	}
	c.tried = c.grant.Access
	return true
}

func (c *userCredential) refused() error { return signIn(c.server) }

// saveGrant seals a grant and has the Portal actor keep it as it answers it; one that
// renews another only where that is still there.
func (p *Portal) saveGrant(ctx context.Context, req ubl.Request, s *ubl.Server, g *grant, renews bool) (sealed []byte, err error) {
	who := req.Who
	plain, err := json.Marshal(g)
	if err != nil {
		return nil, fmt.Errorf("couldn't write a grant: %w", err)
	}
	sealed, err = p.sealer.seal(grantOf(who, s), plain)
	if err != nil {
		return nil, err
	}
	_, err = p.asker.Ask(ctx, ubl.PortalName(who.TenantID), ubl.SaveGrant{Request: req, ServerID: s.ServerID, Sealed: sealed, Renews: renews})
	return sealed, err
}
