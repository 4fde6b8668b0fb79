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
	claimed, ctx := c.Configured, t.Context()
	t.Later(func() (any, error) { return x.home(ctx, c.Who, claimed) })
}

// home is the first of these that the person is a member of: the tenant that has
// claimed their domain, the one named after it (from when domains made tenants), and
// their own. Where they are in none, the claiming tenant takes them in, and without a
// claim they found their own.
func (x *Tenant) home(ctx context.Context, who ubl.Identity, claimed ubl.TenantID) (*ubl.Home, error) {
	own := ubl.PersonalTenant(who.UserID)
	at := &ubl.Home{TenantID: cmp.Or(claimed, own), UserID: who.UserID}
	for _, tenant := range slices.Compact([]ubl.TenantID{claimed, ubl.DomainTenant(who.EmailDomain), own}) {
		if in, err := x.knownIn(ctx, who, tenant); err != nil || in {
			at.TenantID = tenant
			return at, err
		}
	}
	return at, nil
}

// knownIn reports whether somebody is a member of a tenant.
func (x *Tenant) knownIn(ctx context.Context, who ubl.Identity, tenant ubl.TenantID) (bool, error) {
	if tenant == "" {
		return false, nil
	}
	s, err := ubl.Ask[*ubl.Standing](ctx, x.env.Ask, ubl.TenantName(tenant), ubl.FindStanding{Who: who})
	if err != nil {
		return false, err
	}
	return s.Member, nil
}

// standing is what somebody is here, as the same issuer vouches for them.
func (x *Tenant) standing(who ubl.Identity) *ubl.Standing {
	_, ok := x.state.License.Members[who.UserID]
	return &ubl.Standing{Member: ok && x.state.Vouched[who.UserID] == *voucherOf(who)}
}
