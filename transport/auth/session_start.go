package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

// startSession begins a session for somebody who has just proved who they are:
// tenant 0 receipts it, then the browser gets its cookie. The id is always a new
// one, so that nobody can have known it before; a session that the browser still
// had ends. Nothing may be written to w before.
func (a *Authenticator) startSession(w http.ResponseWriter, r *http.Request, who ubl.Identity, method ubl.SignInMethod) error {
	return a.beginSession(w, r, who, beginning{method: method})
}

// beginning is how a session begins.
type beginning struct {
	method ubl.SignInMethod
	link   string    // the hash of a sign-in link that it uses up, "" for none
	proved time.Time // when their provider had them prove who they are, zero where it doesn't say
}

// beginSession is startSession with all there is to say.
func (a *Authenticator) beginSession(w http.ResponseWriter, r *http.Request, who ubl.Identity, by beginning) error {
	if err := a.mayHaveSession(who); err != nil {
		return err
	}
	c, err := newSession(who, by.method, deviceOf(r.UserAgent()), a.now(), a.random)
	if err != nil {
		return err
	}
	if by.method == ubl.SignInOIDC {
		c.Proved = believable(by.proved, a.now())
	}
	if err := a.admit(r.Context(), c.known(), by.link); err != nil {
		return err
	}
	a.endSession(r)
	return a.giveCookie(w, c)
}

// believable is when somebody proved who they are, as their provider says. One that says
// nothing, or names a moment to come, may have let them in without asking: that proves
// nothing, since 1970.
func believable(said, now time.Time) *jwt.NumericDate {
	switch {
	case said.IsZero() || said.After(now.Add(leeway)):
		return jwt.NewNumericDate(time.Unix(0, 0))
	case said.After(now):
		return jwt.NewNumericDate(now)
	}
	return jwt.NewNumericDate(said)
}

// mayHaveSession refuses whom no cookie should stand for. Tenant 0 is for those
// whom the operator of the node names, however they sign in, and nobody is let in
// by the word of a provider that the operator trusts no longer.
func (a *Authenticator) mayHaveSession(who ubl.Identity) error {
	p := a.providers[who.Issuer]
	switch {
	case who.IsService || who.IsPlatform():
		return ubl.Errorf(ubl.CodeForbidden, "services have no sessions")
	case who.TenantID == ubl.CoreTenant && !a.operator(who.Email):
		return ubl.Errorf(ubl.CodeForbidden, "the email address belongs to no operator")
	case who.Issuer != LocalIssuer && who.Issuer != ubl.InvitationIssuer && (p == nil || !p.vouches(who.Email, who.TenantID == ubl.CoreTenant)):
		return ubl.Errorf(ubl.CodeForbidden, "who vouches for the email address is not trusted with it here")
	case !who.TenantID.Valid():
		return ubl.Errorf(ubl.CodeForbidden, "a session is for a person of a tenant")
	}
	return nil
}

// admit has tenant 0 receipt a token, or refuse a revoked one. The platform asks,
// not the bearer: tenant 0 hears of tokens from nobody else. link is as in
// [ubl.AdmitToken].
func (a *Authenticator) admit(ctx context.Context, known ubl.PlatformToken, link string) error {
	_, err := a.asker.Ask(ctx, ubl.TenantName(ubl.CoreTenant), ubl.AdmitToken{Request: a.request(ctx, ubl.Platform()), Token: known, Link: link})
	return err
}

// giveCookie signs a session into the answer.
func (a *Authenticator) giveCookie(w http.ResponseWriter, c *sessionClaims) error {
	raw, err := a.key().sign(c)
	if err != nil {
		return err
	}
	a.cookies.set(w, raw, c.Expiry.Time().Sub(a.now()))
	return nil
}

// endSession revokes the session that a browser sent, where it holds. It is for
// those who sign in anew: that they can is worth more than a tidy list.
func (a *Authenticator) endSession(r *http.Request) {
	c := a.sentSession(r)
	if c == nil {
		return
	}
	if err := a.revokeSession(r, c); err != nil {
		a.log.DebugContext(r.Context(), "couldn't end the session before", "error", err)
	}
}

// sentSession is the session that a browser sent, nil for none whose cookie holds.
func (a *Authenticator) sentSession(r *http.Request) *sessionClaims {
	sent, err := a.cookies.of(r)
	if err != nil {
		return nil
	}
	c, err := a.key().verifySession(sent.token, a.now())
	if err != nil {
		return nil
	}
	return c
}

// revokeSession ends a session, which may have ended.
func (a *Authenticator) revokeSession(r *http.Request, c *sessionClaims) error {
	ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
	defer cancel()
	_, err := a.asker.Ask(ctx, ubl.TenantName(ubl.CoreTenant),
		ubl.RevokeToken{Request: a.request(ctx, c.identity()), JTI: c.ID})
	if refused(err) { // revoked before, or forgotten
		return nil
	}
	return err
}
