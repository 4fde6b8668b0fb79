package tenant

import (
	"cmp"
	"context"
	"slices"

	"ubl"
	"ubl/actors"
)

// findHome says where a person belongs. Tenants are asked beside the mailbox: none
// of their answers changes anything here.
func (x *Tenant) findHome(t *actors.Turn, c ubl.FindHome) {
	if x.id != ubl.CoreTenant {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only tenant 0 knows where people belong"))
		return
	}
	held := x.State.Holders[c.Who.EmailDomain]
	claimed, kept := cmp.Or(c.Configured, held.Now), x.State.Homes[*voucherOf(c.Who)]
	var known []ubl.Home
	for _, tenant := range slices.Concat([]ubl.TenantID{claimed, held.Now}, held.Former, []ubl.TenantID{ubl.DomainTenant(c.Who.EmailDomain)}) {
		known = append(known, ubl.Home{TenantID: tenant, UserID: c.Who.UserID})
	}
	for _, at := range slices.Backward(kept) {
		known = append(known, at)
	}
	t.Read(nil, func(ctx context.Context) (any, error) { return x.home(ctx, c.Who, claimed, known) })
}

// home is the first of these that the person is a member of: the tenant that has
// claimed their domain, those that have claimed it before, the one named after it (from
// when domains made tenants), those where they proved an invitation's address, and their
// own. So nobody who invites them draws them away from their domain's tenant. Where they
// are in none, the claiming tenant takes them in, and without a claim they found their own.
func (x *Tenant) home(ctx context.Context, who ubl.Identity, claimed ubl.TenantID, known []ubl.Home) (*ubl.Home, error) {
	own := ubl.Home{TenantID: ubl.PersonalTenant(who.UserID), UserID: who.UserID}
	known = append(known, own)
	for n, at := range known {
		if slices.Contains(known[:n], at) {
			continue
		}
		as := who
		as.UserID = at.UserID
		if s, err := x.knownIn(ctx, as, at.TenantID); err != nil || s.Member {
			at.Unproven, at.Member, at.Claimed = s.Unproven, s.Member, claimed
			return &at, err
		}
	}
	return &ubl.Home{TenantID: cmp.Or(claimed, own.TenantID), UserID: who.UserID, Claimed: claimed}, nil
}

// knownIn is what somebody is in a tenant, if it is one.
func (x *Tenant) knownIn(ctx context.Context, who ubl.Identity, tenant ubl.TenantID) (ubl.Standing, error) {
	if tenant == "" {
		return ubl.Standing{}, nil
	}
	s, err := ubl.Ask[*ubl.Standing](ctx, x.Ask, ubl.TenantName(tenant), ubl.FindStanding{Who: who})
	if err != nil {
		return ubl.Standing{}, err
	}
	return *s, nil
}

// standing is what somebody is here, as the same issuer vouches for them.
func (s *State) standing(who ubl.Identity) *ubl.Standing {
	m, ok := s.License.Members[who.UserID]
	return &ubl.Standing{Member: ok && s.Vouched[who.UserID] == *voucherOf(who), Unproven: m.Unproven}
}
