package auth

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// signInPath is where sign-in links lead; their code follows.
	signInPath = "/signin/"
	// linkBytes is how much of a code is drawn.
	linkBytes = 16
)

// OfferLink makes a link for an address that begins one session within ttl, and
// has tenant 0 record it, so that any node takes it. The path is all of the link
// but the server. Only a hash of its code is kept.
func (a *Authenticator) OfferLink(ctx context.Context, email string, ttl time.Duration) (path string, err error) {
	who, err := a.localWho(ctx, email)
	if err != nil {
		return "", err
	}
	secret, err := a.draw(linkBytes)
	if err != nil {
		return "", err
	}
	code := hex.EncodeToString(secret)
	_, err = a.asker.Ask(ctx, ubl.TenantName(ubl.CoreTenant), ubl.OfferLink{
		Request: a.request(ctx, ubl.Platform()),
		Link: ubl.OneTimeLink{
			Hash: hashSecret(code), UserID: who.UserID, TenantID: who.TenantID, Email: who.Email,
			ExpiresAt: ubl.TimeOf(a.now().Add(ttl)),
		},
	})
	if err != nil {
		return "", fmt.Errorf("couldn't record a sign-in link: %w", err)
	}
	return signInPath + code, nil
}

// localWho is who an address is to us, where they belong.
func (a *Authenticator) localWho(ctx context.Context, email string) (ubl.Identity, error) {
	email = lowerEmail(email)
	if !validEmail(email) {
		return ubl.Identity{}, ubl.Errorf(ubl.CodeValidation, "the email address is not one that can be used")
	}
	return a.atHome(ctx, localPerson("", email))
}

// localPerson is who an address is to us where the operator vouches for it, in a tenant.
func localPerson(tenant ubl.TenantID, email string) ubl.Identity {
	return ubl.Identity{
		UserID: ubl.UserIDFor(LocalIssuer, email, false), Email: email, EmailDomain: ubl.EmailDomain(email), Groups: []string{},
		TenantID: tenant, Issuer: LocalIssuer, Subject: email,
	}
}

// byLink finds the sign-in link. A look changes nothing, so that a mail scanner or the
// preview of a link doesn't use it up; confirming begins a session.
func (a *Authenticator) byLink(h func(http.ResponseWriter, *http.Request, *ubl.OneTimeLink) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		l, err := a.findLink(r.Context(), r.PathValue("code"))
		if err != nil {
			return err
		}
		return h(w, r, l)
	}
}

func (a *Authenticator) findLink(ctx context.Context, code string) (*ubl.OneTimeLink, error) {
	if !lowerHex(code, linkBytes) { // tenant 0 needn't be asked
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such sign-in link")
	}
	return ubl.Ask[*ubl.OneTimeLink](ctx, a.asker, ubl.TenantName(ubl.CoreTenant), ubl.FindLink{Who: ubl.Platform(), Hash: hashSecret(code)})
}

func (a *Authenticator) showLink(w http.ResponseWriter, _ *http.Request, l *ubl.OneTimeLink) error {
	envelope.WritePage(w, http.StatusOK, linkTemplate, linkPage{Email: l.Email})
	return nil
}

// takeLink begins the session, once their tenant lets them in. One commit of tenant
// 0 admits it and uses up the link: of two who confirm at once one gets in.
func (a *Authenticator) takeLink(w http.ResponseWriter, r *http.Request, l *ubl.OneTimeLink) error {
	who, err := a.localWho(r.Context(), l.Email)
	if err == nil {
		err = a.letIn(r, who, ubl.Enter{})
	}
	if err == nil {
		err = a.beginSession(w, r, who, beginning{method: ubl.SignInLink, link: l.Hash})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, home, http.StatusSeeOther)
	return nil
}

// noLink says why not: a used link looks like one that never was.
func (a *Authenticator) noLink(w http.ResponseWriter, r *http.Request, err error) {
	e := ubl.AsError(err)
	page := linkPage{}
	if e.Code != ubl.CodeNotFound {
		a.log.WarnContext(r.Context(), "couldn't sign in by link", "error", err)
		page.Problem = e.Message
	}
	envelope.SetHints(w.Header(), e.Code.Status(), e.RetryAfter())
	envelope.WritePage(w, e.Code.Status(), linkTemplate, page)
}

// linkPage is what the page shows: no address where the link is over.
type linkPage struct{ Email, Problem string }

var linkTemplate = envelope.NewPage("Sign in to UBL", `<h1>Sign in to UBL</h1>
{{if .Email}}<p>Sign in as <b>{{.Email}}</b>? The link works once.</p>
<form method="post"><button>Sign in</button></form>
{{else if .Problem}}<p>That didn't work: {{.Problem}}. Reload this page to try again.</p>
{{else}}<p>This sign-in link is not valid, was used already, or is too old. The server prints a new one when it starts.</p>
<a class="button" href="/ui/">To UBL</a>
{{end}}`)
