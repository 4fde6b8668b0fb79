package auth

import (
	"context"
	"maps"

	"ubl"
)

// ownDomains are the domains that this node's operator gave to tenants, and
// [ubl.LocalDomain], which a fresh server's owner belongs to.
func ownDomains(given map[string]ubl.TenantID) map[string]ubl.TenantID {
	out := map[string]ubl.TenantID{ubl.LocalDomain: ubl.DomainTenant(ubl.LocalDomain)}
	maps.Copy(out, given)
	return out
}

// atHome is somebody with a verified address where they belong: operators in tenant
// 0, others where tenant 0 says. Nobody is let in on a guess while it can't be
// reached.
func (a *Authenticator) atHome(ctx context.Context, who ubl.Identity) (ubl.Identity, error) {
	home, err := a.homeOf(ctx, who)
	if err != nil {
		return who, err
	}
	who.TenantID, who.UserID, who.Unproven = home.TenantID, home.UserID, home.Unproven
	return who, nil
}

// homeOf is where somebody with a verified address belongs, and whether they are there.
func (a *Authenticator) homeOf(ctx context.Context, who ubl.Identity) (*ubl.Home, error) {
	if a.operator(who.Email) {
		return &ubl.Home{TenantID: ubl.CoreTenant, UserID: who.UserID, Member: true, Claimed: ubl.CoreTenant}, nil
	}
	return ubl.Ask[*ubl.Home](ctx, a.asker, ubl.TenantName(ubl.CoreTenant), ubl.FindHome{Who: who, Configured: a.domains[who.EmailDomain]})
}

// proof says of somebody whom an earlier sign-in named whether their address is
// proven. Who comes by an invitation now has another issuer than those of before: of
// the latter their tenant knows it.
func (a *Authenticator) proof(ctx context.Context, who ubl.Identity) (ubl.Identity, error) {
	switch who.Issuer {
	case ubl.InvitationIssuer:
		who.Unproven = true
	case LocalIssuer:
		s, err := ubl.Ask[*ubl.Standing](ctx, a.asker, ubl.TenantName(who.TenantID), ubl.FindStanding{Who: who})
		if err != nil {
			return who, err
		}
		who.Unproven = s.Unproven
	}
	return who, nil
}
