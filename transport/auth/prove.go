package auth

import (
	"context"
	"net/http"

	"ubl"
)

// provingMember is an unproven member as their session named them when they went to
// the provider. The session's cookie needn't come back: this is sealed in another.
type provingMember struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	UserID   ubl.UserID   `json:"user_id"`
	Email    string       `json:"email"`
	Issuer   string       `json:"issuer"`
	Subject  string       `json:"subject"`
}

func (m *provingMember) identity() ubl.Identity {
	return ubl.Identity{
		UserID: m.UserID, Email: m.Email, EmailDomain: ubl.EmailDomain(m.Email), Groups: []string{}, Unproven: true,
		TenantID: m.TenantID, Issuer: m.Issuer, Subject: m.Subject,
	}
}

// proving is who is signed in and wants to prove the address of their invitation.
func (a *Authenticator) proving(r *http.Request) (*provingMember, error) {
	who, err := a.whose(r)
	switch {
	case err != nil:
		return nil, err
	case !who.Unproven:
		return nil, ubl.Errorf(ubl.CodeConflict, "your address is proven already")
	}
	return &provingMember{TenantID: who.TenantID, UserID: who.UserID, Email: who.Email, Issuer: who.Issuer, Subject: who.Subject}, nil
}

// prove makes the member the person whom a provider has verified, and is who they are
// from then on. Tenant 0 hears of it first: where the tenant refuses, what it keeps
// leads nowhere. Whoever else had the link's session or made a passkey in it is out:
// the id is the provider's, and what is left of theirs is revoked.
func (a *Authenticator) prove(ctx context.Context, p *provider, flow *oidcFlow, c *claims) (ubl.Identity, error) {
	verified, err := a.verified(p, c)
	if err != nil {
		return verified, err
	}
	member := flow.Member.identity()
	proven := verified
	proven.TenantID, proven.UserID = member.TenantID, member.UserID
	keep, prove := a.request(ctx, ubl.Platform()), a.request(ctx, ubl.Platform())
	keep.Key, prove.Key = "home:"+flow.Nonce, "prove:"+flow.Nonce
	for _, ask := range []struct {
		of  ubl.TenantID
		cmd ubl.Command
	}{
		{ubl.CoreTenant, ubl.KeepHome{Request: keep, Verified: verified, Home: ubl.Home{TenantID: member.TenantID, UserID: member.UserID}}},
		{member.TenantID, ubl.ProveMember{Request: prove, Member: member, Verified: verified}},
		{ubl.CoreTenant, ubl.RevokeTokens{Request: a.request(ctx, member), Passkeys: true}},
	} {
		if _, err := a.asker.Ask(ctx, ubl.TenantName(ask.of), ask.cmd); err != nil {
			return proven, err
		}
	}
	return proven, nil
}
