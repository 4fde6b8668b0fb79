package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// exchangeTimeout bounds the turning of a code into tokens.
	exchangeTimeout = 10 * time.Second
	// maxExchanges is how many codes of a provider are exchanged at a time. Whoever
	// began a ceremony may end it again and again while its cookie lasts: that must
	// not become a flood of questions to the provider.
	maxExchanges = 4
	// maxOIDCPart bounds each thing that a provider sends along, in bytes.
	maxOIDCPart = 8 << 10
)

// finishOIDC begins the session of whom the provider sends back, once their tenant
// lets them in, and leads to where they wanted to go.
func (a *Authenticator) finishOIDC(w http.ResponseWriter, r *http.Request) error {
	back, err := readBack(r.URL.RawQuery)
	if err != nil {
		return err
	}
	var flow oidcFlow
	if err := a.endCeremony(w, r, oidcSignIn, back.state, &flow); err != nil {
		return err
	}
	p := a.providers[flow.Issuer]
	if p == nil || p.ClientID == "" { // no longer configured
		return errCeremony()
	}
	c, err := a.redeem(r.Context(), p, &flow, back)
	if err != nil {
		return err
	}
	if flow.Member != nil {
		return a.finishProof(w, r, p, &flow, c)
	}
	who, err := a.identified(r.Context(), p, c)
	if err != nil {
		return err
	}
	if err := a.confirms(&flow, who, c); err != nil {
		return err
	}
	return a.enterByOIDC(w, r, who, c.called(), c.provedAt(), flow.Return)
}

// enterByOIDC begins the session of somebody whom a provider has verified, and leads to
// where they wanted to go.
func (a *Authenticator) enterByOIDC(w http.ResponseWriter, r *http.Request, who ubl.Identity, name string, proved time.Time, to string) error {
	if err := a.letIn(r, who, ubl.Enter{Name: name}); err != nil {
		return err
	}
	if err := a.beginSession(w, r, who, beginning{method: ubl.SignInOIDC, proved: proved}); err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer") // the address holds the code
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// sentBack is what a provider sends a browser back with.
type sentBack struct{ state, code, issuer, failure string }

// readBack takes each parameter once: two readers might pick two.
func readBack(query string) (sentBack, error) {
	bad := ubl.Errorf(ubl.CodeValidation, "the identity provider's answer is not one: begin again")
	q, err := url.ParseQuery(query)
	if err != nil {
		return sentBack{}, bad
	}
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(q[name]) > 1 || len(q.Get(name)) > maxOIDCPart {
			return sentBack{}, bad
		}
	}
	b := sentBack{q.Get("state"), q.Get("code"), q.Get("iss"), q.Get("error")}
	if b.state == "" || (b.code == "") == (b.failure == "") {
		return sentBack{}, bad
	}
	return b, nil
}

// redeem turns what the provider sent back into what it says of that person, once it is
// sure that this is for this browser.
func (a *Authenticator) redeem(ctx context.Context, p *provider, flow *oidcFlow, back sentBack) (*claims, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.checkAnswer(found, back); err != nil {
		return nil, err
	}
	raw, err := p.exchange(ctx, found, a.oidcBack, back.code, flow.Verifier)
	if err != nil {
		return nil, err
	}
	return p.verifyIDToken(ctx, raw, flow.Nonce)
}

// checkAnswer refuses the answer of another provider than the one that was asked
// (RFC 9207): an evil one can send its visitors on to an honest one, to be brought
// the honest one's code.
func (p *provider) checkAnswer(found *discovered, back sentBack) error {
	switch {
	case back.issuer != "" && back.issuer != p.URL, back.issuer == "" && found.NamesItself:
		return ubl.Errorf(ubl.CodeUnauthorized, "another identity provider answered than was asked: begin again")
	case back.failure == "server_error" || back.failure == "temporarily_unavailable":
		return ubl.Errorf(ubl.CodeUnavailable, "the identity provider has a problem of its own")
	case back.failure != "":
		return ubl.Errorf(ubl.CodeForbidden, "the identity provider did not let you in")
	}
	return nil
}

// exchange brings the id token for a code. The provider's other tokens are of no
// use here and forgotten.
func (p *provider) exchange(ctx context.Context, found *discovered, back, code, verifier string) (string, error) {
	config, err := p.config(found, back)
	if err != nil {
		return "", err
	}
	select {
	case p.codes <- struct{}{}:
		defer func() { <-p.codes }()
	case <-ctx.Done():
		return "", ubl.Errorf(ubl.CodeOverloaded, "too many are signing in at the identity provider").Because(ctx.Err())
	}
	client := &http.Client{
		Transport: p.pages.next, Timeout: exchangeTimeout,
		// Elsewhere the code, verifier and secret would go along.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), code, oauth2.VerifierOption(verifier))
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.Response.StatusCode < http.StatusInternalServerError {
		return "", ubl.Errorf(ubl.CodeUnauthorized, "the identity provider doesn't take its code: begin again").Because(err)
	}
	if err != nil {
		return "", unreachable(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return "", ubl.Errorf(ubl.CodeUnauthorized, "the identity provider didn't say who you are")
	}
	return raw, nil
}

// forWhom is what an id token says of the sign-in that it is for.
type forWhom struct {
	Nonce string `json:"nonce"`
	Party string `json:"azp"`
}

// verifyIDToken checks what verifyFor checks of any token, that this one was asked
// for by the browser that brings it, and by us where it is for others, too.
func (p *provider) verifyIDToken(ctx context.Context, raw, nonce string) (*claims, error) {
	if _, err := tokenOf(raw); err != nil {
		return nil, err
	}
	token, err := jwt.ParseSigned(raw, asymmetric())
	if err != nil {
		return nil, notValid(err)
	}
	if logoutToken(token) {
		return nil, badToken("the token is not for signing in")
	}
	c, err := p.verifyFor(ctx, p.ClientID, raw, token)
	if err != nil {
		return nil, err
	}
	var of forWhom
	if err := token.UnsafeClaimsWithoutVerification(&of); err != nil {
		return nil, notValid(err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(of.Nonce), []byte(nonce)) != 1:
		return nil, badToken("the token is not for this sign-in: begin again")
	case of.Party != "" && of.Party != p.ClientID, of.Party == "" && len(c.Audience) > 1:
		return nil, badToken("the token was made for somebody else")
	}
	return c, nil
}

// noOIDC says why not. Nothing of what was sent is on the page: it was another's
// to choose.
func (a *Authenticator) noOIDC(w http.ResponseWriter, r *http.Request, err error) {
	e := ubl.AsError(err)
	if e.Code.Status() >= http.StatusInternalServerError {
		a.log.WarnContext(r.Context(), "couldn't sign in by a provider", "error", err)
	} else {
		a.log.DebugContext(r.Context(), "couldn't sign in by a provider", "error", err)
	}
	envelope.SetHints(w.Header(), e.Code.Status(), e.RetryAfter())
	envelope.WritePage(w, e.Code.Status(), oidcTemplate, e.Message)
}

var oidcTemplate = envelope.NewPage("Sign in to UBL", `<h1>Sign in to UBL</h1>
<p>You are not signed in: {{.}}.</p>
<a class="button" href="/ui/sign-in">Sign in another way, or again</a>
`)
