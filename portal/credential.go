package portal

import (
	"context"
	"net/http"

	"ubl"
)

// credential proves to a server who is calling. Safe for concurrent use.
type credential interface {
	// authorize adds the proof to the header of a request. It may ask an
	// authorization server for it, within ctx.
	authorize(ctx context.Context, h http.Header) error
	// renew forgets a proof that the server refused, and reports whether there can
	// be another.
	renew(ctx context.Context) bool
	// refused is why a call fails whose proof was refused for good.
	refused() error
}

// credentialOf is what a server wants to be shown.
func (p *Portal) credentialOf(a *ubl.ServerAccess, who ubl.Identity) (credential, error) {
	switch a.Server.Auth {
	case ubl.AuthNone, ubl.AuthEnvironment: // a program was started with it
		return noCredential{}, nil
	case ubl.AuthUser:
		return p.newUserCredential(a, who)
	}
	secret, err := p.sealer.open(secretOf(who.TenantID, &a.Server), a.Secret)
	if err != nil || len(secret) == 0 {
		return nil, errSecret.Because(err)
	}
	if a.Server.Auth == ubl.AuthHeader {
		return headerCredential{a.Server.Header, string(secret)}, nil
	}
	return p.newClientCredential(who.TenantID, a.Server, string(secret)), nil
}

var errSecret = ubl.Errorf(ubl.CodeForbidden, "the portal has no secret for the server's present address: an owner must set it again")

// secretOf is the purpose of a server's secret.
func secretOf(t ubl.TenantID, s *ubl.Server) purpose {
	origin := originOf(s.URL)
	if s.Kind == ubl.ServerStdio {
		origin = "command:" + s.Command
	}
	return purpose{kind: "secret", tenant: t, server: s.ServerID, origin: origin}
}

type noCredential struct{}

func (noCredential) authorize(context.Context, http.Header) error { return nil }
func (noCredential) renew(context.Context) bool                   { return false }
func (noCredential) refused() error                               { return errRefused }

// headerCredential is a fixed header.
type headerCredential struct{ name, value string }

func (c headerCredential) authorize(_ context.Context, h http.Header) error {
	h.Set(c.name, c.value)
	return nil
}
func (headerCredential) renew(context.Context) bool { return false }
func (headerCredential) refused() error             { return errRefused }
