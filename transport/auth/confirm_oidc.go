package auth

import (
	"net/http"

	"golang.org/x/oauth2"

	"ubl"
)

// confirmAt has a provider ask its user once more who they are, whatever session they
// have there, and seals whom that must be.
func (a *Authenticator) confirmAt(r *http.Request, p *provider, flow *oidcFlow) ([]oauth2.AuthCodeOption, error) {
	e, err := a.shownSession(r)
	if err != nil {
		return nil, err
	}
	if e.session.IdentityIssuer != p.URL {
		return nil, ubl.Errorf(ubl.CodeForbidden, "you came by another way: confirm by that")
	}
	whom := confirmingOf(e.session)
	flow.Confirm, flow.Asked = &whom, ubl.TimeOf(a.now())
	return []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0")}, nil
}

// confirms refuses another person than the one that a confirmation is for, and one of
// whom the provider doesn't say that it asked them since: max_age obliges it to.
func (a *Authenticator) confirms(flow *oidcFlow, who ubl.Identity, c *claims) error {
	switch {
	case flow.Confirm == nil:
		return nil
	case who.TenantID != flow.Confirm.TenantID || who.UserID != flow.Confirm.UserID:
		return ubl.Errorf(ubl.CodeForbidden, "the identity provider names somebody else than who is signed in here")
	case c.provedAt().IsZero() || c.provedAt().Add(leeway).Before(flow.Asked.Std()):
		return ubl.Errorf(ubl.CodeForbidden, "the identity provider didn't ask who you are: sign out here, and sign in again")
	}
	return nil
}
