package auth

import (
	"context"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

const (
	// askEvery is how long an admitted token is believed without asking again.
	askEvery = 30 * time.Second
	// askSooner is how soon to ask again when there was no answer.
	askSooner = 5 * time.Second
	// askGrace is how long a token stays good without an answer.
	askGrace = 5 * time.Minute
)

// checkFunc asks a tenant whether a credential still holds, and answers the mandate that its
// agent has now.
type checkFunc func(ctx context.Context) (*ubl.Mandate, error)

// asymmetric are the algorithms a token may be signed with: never none, never
// one whose key we would have to share.
func asymmetric() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.EdDSA, jose.ES256, jose.ES384, jose.ES512,
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	}
}

// resolve is the entry of a credential and the identity of its holder: from the cache, asked
// about again where that is due, or verified once for all who wait. An agent's mandate is the
// one that this request's own question was answered with, never one that another's brought.
func (a *Authenticator) resolve(ctx context.Context, c credential) (*entry, ubl.Identity, error) {
	e, f, first := a.cache.find(c.key(), ubl.TimeOf(a.now()))
	if first {
		a.lead(ctx, f, c)
		if f.err != nil {
			return nil, ubl.Identity{}, f.err
		}
		return f.entry, f.entry.identity, nil
	}
	if f != nil {
		select {
		case <-f.done:
			if f.err != nil {
				return nil, ubl.Identity{}, f.err
			}
			e = f.entry
		case <-ctx.Done():
			return nil, ubl.Identity{}, ctx.Err()
		}
	}
	mandate, err := a.recheck(ctx, e)
	if err != nil {
		return nil, ubl.Identity{}, err
	}
	who := e.identity
	who.Mandate = mandate
	return e, who, nil
}

// lead verifies a credential for everyone in the flight. It does not end with
// the request that happened to be first.
func (a *Authenticator) lead(ctx context.Context, f *flight, c credential) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	err := errors.New("verification did not end")
	defer func() { a.cache.settle(f, err) }() // after a panic, too
	err = a.verify(ctx, f, c)
}

func (a *Authenticator) verify(ctx context.Context, f *flight, c credential) error {
	e, err := a.identify(ctx, c)
	if err != nil {
		return err
	}
	e.revoked = make(chan struct{})
	a.cache.expect(f, e)
	a.cache.also(e, a.homes.follow(e.identity.TenantID))
	if e.ask == nil {
		return nil
	}
	now := ubl.TimeOf(a.now())
	if e.identity.Mandate, err = e.ask(ctx); err != nil {
		return refusal(err)
	}
	e.answered(now)
	return nil
}

// identify makes the entry of a credential, not yet admitted.
func (a *Authenticator) identify(ctx context.Context, c credential) (*entry, error) {
	switch {
	case c.session:
		return a.identifySession(ctx, c)
	case c.token == "":
		return a.identifyService(ctx, c)
	}
	token, err := jwt.ParseSigned(c.token, asymmetric())
	if err != nil {
		return nil, notValid(err)
	}
	var unverified jwt.Claims // says only who should verify
	if err := token.UnsafeClaimsWithoutVerification(&unverified); err != nil || logoutToken(token) {
		return nil, notValid(err)
	}
	if unverified.Issuer == LocalIssuer && unverified.Audience.Contains(cliAudience) {
		return a.identifyCLI(ctx, c)
	}
	if unverified.Issuer == LocalIssuer {
		return a.identifyLocal(ctx, token)
	}
	if p := a.providers[unverified.Issuer]; p != nil {
		return a.identifyOIDC(ctx, p, c.token, token)
	}
	if isAgentToken(token) {
		return a.identifyAgent(ctx, token)
	}
	return nil, badToken("the token comes from an issuer that is not known here")
}

func (a *Authenticator) identifyLocal(ctx context.Context, token *jwt.JSONWebToken) (*entry, error) {
	c, err := a.key().verifyLocal(token, a.now())
	if err != nil {
		return nil, err
	}
	id, err := a.localAtHome(ctx, c)
	if err != nil {
		return nil, err
	}
	e := a.admitted(id, platformToken(c, id))
	e.name = serviceName(c)
	e.signedBy(c.signer)
	return e, nil
}

// identifySession makes the entry of a cookie.
func (a *Authenticator) identifySession(ctx context.Context, c credential) (*entry, error) {
	s, err := a.key().verifySession(c.token, a.now())
	if err != nil {
		return nil, err
	}
	e, err := a.wholeEntry(ctx, s, s.known())
	if err != nil {
		return nil, err
	}
	e.session = s
	return e, nil
}

// identifyCLI makes the entry of a command line's token. It is no session: its requests come
// from no browser, and confirm nothing.
func (a *Authenticator) identifyCLI(ctx context.Context, c credential) (*entry, error) {
	s, err := a.key().verifyWhole(c.token, cliAudience, a.now())
	if err != nil {
		return nil, err
	}
	return a.wholeEntry(ctx, s, s.bearer())
}

// wholeEntry makes the entry of a token that carries the whole identity.
func (a *Authenticator) wholeEntry(ctx context.Context, s *sessionClaims, known ubl.PlatformToken) (*entry, error) {
	if err := a.mayHaveSession(s.identity()); err != nil {
		return nil, notValid(err)
	}
	who, err := a.proof(ctx, s.identity())
	if err != nil {
		return nil, err
	}
	e := a.admitted(who, known)
	e.signedBy(s.signer)
	return e, nil
}

// admitted is the entry of a token that tenant 0 is asked about.
func (a *Authenticator) admitted(id ubl.Identity, known ubl.PlatformToken) *entry {
	return &entry{
		identity: id, expires: known.ExpiresAt,
		id: known.JTI, home: ubl.CoreTenant, every: askEvery,
		ask: func(ctx context.Context) (*ubl.Mandate, error) { return nil, a.admit(ctx, known, "") },
	}
}

func (a *Authenticator) identifyOIDC(ctx context.Context, p *provider, raw string, token *jwt.JSONWebToken) (*entry, error) {
	c, err := p.verify(ctx, raw, token)
	if err != nil {
		return nil, err
	}
	id, err := a.identified(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return &entry{identity: id, name: c.called(), expires: ubl.TimeOf(c.Expiry.Time())}, nil
}

// identifyService asks the tenant in the client id. Only after a first good
// answer is the tenant's ledger listened to, so that guesses cost one question.
func (a *Authenticator) identifyService(ctx context.Context, c credential) (*entry, error) {
	return a.serviceEntry(ctx, c.tenant, c.clientID, ubl.CheckServiceToken{ClientID: c.clientID, SecretHash: hashSecret(c.secret)})
}

// serviceEntry makes the entry of a service whose tenant says yes to a question.
func (a *Authenticator) serviceEntry(ctx context.Context, tenant ubl.TenantID, clientID string, check ubl.Command) (*entry, error) {
	home := ubl.TenantName(tenant)
	caller, err := ubl.Ask[*ubl.ServiceCaller](ctx, a.asker, home, check)
	if err != nil {
		return nil, refusal(err)
	}
	e := &entry{identity: caller.Identity, expires: caller.ExpiresAt, id: clientID, home: tenant, resource: caller.Resource}
	e.identity.TenantID = tenant // the tenant speaks for itself only
	e.identity.Groups = append([]string{}, e.identity.Groups...)
	e.ask = func(ctx context.Context) (*ubl.Mandate, error) {
		now, err := ubl.Ask[*ubl.ServiceCaller](ctx, a.asker, home, check)
		if err != nil {
			return nil, err
		}
		return now.Identity.Mandate, nil
	}
	return e, nil
}

// refusal turns a tenant's no into the 401 that looks like any other, and lets
// a failure through as it is. Who shows a token that was good is told that it was
// revoked.
func refusal(err error) error {
	if err == nil || !refused(err) {
		return err
	}
	no := notValid(err)
	if said := ubl.AsError(err); said.Code == ubl.CodeUnauthorized {
		no.Details = said.Details
	}
	return no
}

// refused tells a no from no answer.
func refused(err error) bool {
	code := ubl.CodeOf(err)
	return code.Status() < 500 && code != ubl.CodeRateLimited
}
