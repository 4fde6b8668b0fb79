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
	held := x.state.Holders[c.Who.EmailDomain]
	claimed, kept, ctx := cmp.Or(c.Configured, held.Now), x.state.Homes[*voucherOf(c.Who)], t.Context()
	known := slices.Concat([]ubl.TenantID{claimed, held.Now}, held.Former)
	t.Later(func() (any, error) {
		for _, at := range slices.Backward(kept) {
			proven := c.Who
			proven.UserID = at.UserID
			if s, err := x.knownIn(ctx, proven, at.TenantID); err != nil || s.Member {
				return &at, err
			}
		}
		return x.home(ctx, c.Who, claimed, known)
	})
}

// home is the first of these that the person is a member of: the tenant that has
// claimed their domain, those that have claimed it before, the one named after it (from
// when domains made tenants), and their own. Where they are in none, the claiming tenant
// takes them in, and without a claim they found their own.
func (x *Tenant) home(ctx context.Context, who ubl.Identity, claimed ubl.TenantID, known []ubl.TenantID) (*ubl.Home, error) {
	own := ubl.PersonalTenant(who.UserID)
	at := &ubl.Home{TenantID: cmp.Or(claimed, own), UserID: who.UserID}
	known = append(known, ubl.DomainTenant(who.EmailDomain), own)
	for n, tenant := range known {
		if slices.Contains(known[:n], tenant) {
			continue
		}
		if s, err := x.knownIn(ctx, who, tenant); err != nil || s.Member {
			at.TenantID, at.Unproven = tenant, s.Unproven
			return at, err
		}
	}
	return at, nil
}

// knownIn is what somebody is in a tenant, if it is one.
func (x *Tenant) knownIn(ctx context.Context, who ubl.Identity, tenant ubl.TenantID) (ubl.Standing, error) {
	if tenant == "" {
		return ubl.Standing{}, nil
	}
	s, err := ubl.Ask[*ubl.Standing](ctx, x.env.Ask, ubl.TenantName(tenant), ubl.FindStanding{Who: who})
	if err != nil {
		return ubl.Standing{}, err
	}
	return *s, nil
}

// standing is what somebody is here, as the same issuer vouches for them.
func (x *Tenant) standing(who ubl.Identity) *ubl.Standing {
	m, ok := x.state.License.Members[who.UserID]
	return &ubl.Standing{Member: ok && x.state.Vouched[who.UserID] == *voucherOf(who), Unproven: m.Unproven}
}
