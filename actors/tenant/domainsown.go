package tenant

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Claims of domains, as the claiming tenant sees them: it says who may, has tenant 0
// decide, and puts what came of it on its own record. Where that second step is lost,
// a retry or tenant 0's alarm takes it.

// checksPerMinute is how often a tenant may ask DNS.
const checksPerMinute = 10

// followDomains is what a Tenant tells itself: what tenant 0 keeps of it by now. Domain
// is the one that Who changed; the platform sees to all.
type followDomains struct {
	ubl.Request
	Domain string
	Claims []ubl.DomainClaim
}

// Cost is one act: there is seldom more than one to follow.
func (followDomains) Cost() int { return ubl.ActCost }

func (x *Tenant) receiveDomain(t *actors.Turn, cmd ubl.Command) bool {
	switch c := cmd.(type) {
	case ubl.ClaimDomain:
		x.askOfDomain(t, ubl.KeepDomain{Request: c.Request, Did: ubl.DidDomainClaim, Domain: c.Domain, Value: c.Value}, c.Configured)
	case ubl.VerifyDomain:
		if x.State.unconfirmed(x.id, c.Domain) || x.Knows(t, c) {
			return x.Change(t, c)
		}
		x.askOfDomain(t, ubl.KeepDomain{Request: c.Request, Did: ubl.DidDomainVerify, Domain: c.Domain, Value: c.Value}, c.Configured)
	case ubl.ReleaseDomain:
		x.releaseDomain(t, c)
	case ubl.CheckDomain:
		x.checkDomain(t, c)
	case ubl.ListDomains:
		x.listDomains(t, c)
	case ubl.KeepDomain:
		x.keepDomain(t, c)
	case ubl.FindDomains:
		x.findDomains(t, c)
	case followDomains:
		x.followed(t, c)
	default:
		return false
	}
	return true
}

// unconfirmed reports whether a tenant has a verified claim of the domain, and who stands
// for it is no owner any more. It may be their own domain, so that people of their choice
// would join after them: newcomers wait until another owner confirms or releases it.
func (s *State) unconfirmed(tenant ubl.TenantID, domain string) bool {
	return slices.ContainsFunc(s.Claims[tenant], func(c ubl.DomainClaim) bool {
		return c.Domain == domain && c.Verified() && s.License.Members[c.Sponsor()].Role != ubl.RoleOwner
	})
}

// sponsored are the tenant's verified domains that a member stands for, by name.
func (s *State) sponsored(tenant ubl.TenantID, by ubl.UserID) (domains []string) {
	for _, c := range s.Claims[tenant] {
		if c.Verified() && c.Sponsor() == by {
			domains = append(domains, c.Domain)
		}
	}
	slices.Sort(domains)
	return domains
}

// forsaken are the effects of an owner's going on the domains that they stand for.
func (s *State) forsaken(m ubl.Member) (effects []ubl.Fields) {
	if m.Role != ubl.RoleOwner {
		return nil
	}
	for _, domain := range s.sponsored(s.id(), m.UserID) {
		effects = append(effects, ubl.Fields{ubl.Str("domain", domain), ubl.Str("op", "tenant.domain.unconfirm"), ubl.Str("tenant_id", s.id())})
	}
	return effects
}

// decideConfirm has another owner stand for a claim. Only this tenant keeps who does.
func (s *State) decideConfirm(c ubl.VerifyDomain, at actors.Moment) (*plan, error) {
	if err := s.maySponsor(ubl.DidDomainVerify, c.Who); err != nil {
		return nil, err
	}
	claim, ok := s.claimOf(s.id(), c.Domain, at.Now)
	if !ok {
		return nil, errNoClaim()
	}
	claim.ConfirmedBy = c.Who.UserID
	return domainPlan(ubl.DidDomainVerify, claim), nil
}

// maySponsor lets owners stand for a claim that are people and have proved their address.
func (s *State) maySponsor(did ubl.Did, who ubl.Identity) error {
	switch err := s.permits(did, who); {
	case err != nil:
		return err
	case who.IsService:
		return ubl.Errorf(ubl.CodeForbidden, "a service can't claim a domain")
	case s.Unproven[who.UserID]:
		return ubl.Errorf(ubl.CodeForbidden, "your address is unproven: prove it at a provider before you claim a domain")
	}
	return nil
}

// mayClaim lets them claim a domain that the operator has not given away.
func (s *State) mayClaim(did ubl.Did, who ubl.Identity, configured ubl.TenantID) error {
	switch err := s.maySponsor(did, who); {
	case err != nil:
		return err
	case s.id() == ubl.CoreTenant:
		return ubl.Errorf(ubl.CodeConflict, "tenant 0 has no domains: operators are named by --operator")
	case configured == s.id():
		return ubl.Errorf(ubl.CodeConflict, "the server's operator has given the tenant this domain already")
	case configured != "":
		return ubl.Errorf(ubl.CodeConflict, "the server's operator has given this domain to a tenant: ask the operator")
	}
	return nil
}

func (x *Tenant) askOfDomain(t *actors.Turn, c ubl.KeepDomain, configured ubl.TenantID) {
	domain, err := ubl.ClaimedDomain(c.Domain)
	if err == nil {
		err = cmp.Or(x.State.mayClaim(c.Did, c.Who, configured), x.Verdict(actors.Proposal{
			At: t.Now(), Who: c.Who, Did: c.Did, Agreement: ubl.TenantAgreement(x.id),
		}))
	}
	c.Domain = domain
	x.haveDecided(t, err, c)
}

// haveDecided asks tenant 0, and follows what it says.
func (x *Tenant) haveDecided(t *actors.Turn, refusal error, c ubl.KeepDomain) {
	req := c.Request
	c.By, c.Who = req.Who, ubl.Platform()
	c.By.TenantID = x.id
	t.Read(refusal, func(ctx context.Context) (any, error) {
		claim, err := ubl.Ask[*ubl.DomainClaim](ctx, x.Ask, ubl.TenantName(ubl.CoreTenant), c)
		if err == nil {
			err = x.follow(ctx, req, c.Domain)
		}
		if err != nil {
			return nil, err
		}
		return claim, nil
	})
}

// releaseDomain takes an owner's word after the TenantLicense has ended, too: newcomers
// of the domain would stand before a closed tenant else. Operators release any domain.
func (x *Tenant) releaseDomain(t *actors.Turn, c ubl.ReleaseDomain) {
	if x.id == ubl.CoreTenant {
		x.Change(t, c)
		return
	}
	x.haveDecided(t, x.State.shows(ubl.DidDomainRelease, c.Who), ubl.KeepDomain{
		Request: c.Request, Did: ubl.DidDomainRelease, Domain: c.Domain, Configured: c.Configured,
	})
}

func (s *State) decideReleased(c ubl.ReleaseDomain, at actors.Moment) (*plan, error) {
	if err := s.shows(ubl.DidDomainRelease, c.Who); err != nil {
		return nil, err
	}
	return s.release(s.Holders[c.Domain].Now, c.Domain, c.Configured, at)
}

// checkDomain counts by tenant: a check costs a question to name servers of the owner's
// choice.
func (x *Tenant) checkDomain(t *actors.Turn, c ubl.CheckDomain) {
	err := x.State.maySponsor(ubl.DidDomainVerify, c.Who)
	if err == nil && !x.State.unconfirmed(x.id, c.Domain) {
		err = x.State.mayClaim(ubl.DidDomainVerify, c.Who, c.Configured)
	}
	if err == nil {
		if wait := x.State.meters.Take(agreement.Use{Of: string(ubl.DidDomainVerify)}, t.Now(), checksPerMinute); wait > 0 {
			err = ubl.Errorf(ubl.CodeRateLimited, "the tenant has checked domains %d times within a minute: wait a little", checksPerMinute).Later(wait)
		}
	}
	own := x.State.stances()
	t.Read(err, func(ctx context.Context) (any, error) {
		list, err := x.claimed(ctx)
		if err != nil {
			return nil, err
		}
		own(list)
		at := slices.IndexFunc(list, func(d ubl.DomainClaim) bool { return d.Domain == c.Domain })
		if at < 0 {
			return nil, errNoClaim()
		}
		return &list[at], nil
	})
}

func (x *Tenant) listDomains(t *actors.Turn, c ubl.ListDomains) {
	err := x.State.shows("tenant.domain.list", c.Who)
	if x.id == ubl.CoreTenant {
		t.Answer(err, func() any { return x.State.allClaims(t.Now()) })
		return
	}
	own := x.State.stances()
	t.Read(err, func(ctx context.Context) (any, error) {
		list, err := x.claimed(ctx)
		own(list)
		return list, err
	})
}

// stances puts to claims what this tenant alone knows: who confirmed them, and whether
// somebody has to.
func (s *State) stances() func([]ubl.DomainClaim) {
	own := make(map[string]ubl.DomainClaim, len(s.Claims[s.id()]))
	for _, c := range s.Claims[s.id()] {
		c.Unconfirmed = s.unconfirmed(s.id(), c.Domain)
		own[c.Domain] = c
	}
	return func(list []ubl.DomainClaim) {
		for i, c := range list {
			list[i].ConfirmedBy, list[i].Unconfirmed = cmp.Or(own[c.Domain].ConfirmedBy, c.ConfirmedBy), own[c.Domain].Unconfirmed
		}
	}
}

func (x *Tenant) findDomains(t *actors.Turn, c ubl.FindDomains) {
	if x.id != ubl.CoreTenant || !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform reads claims, in tenant 0"))
		return
	}
	t.Reply(x.State.claims(c.Tenant, t.Now()))
}

// claimed is what tenant 0 keeps of this tenant.
func (x *Tenant) claimed(ctx context.Context) ([]ubl.DomainClaim, error) {
	return ubl.Ask[[]ubl.DomainClaim](ctx, x.Ask, ubl.TenantName(ubl.CoreTenant), ubl.FindDomains{Who: ubl.Platform(), Tenant: x.id})
}

// follow puts on this tenant's record what tenant 0 has decided about a domain, or about
// all that the record lacks where it is "". It may be repeated.
func (x *Tenant) follow(ctx context.Context, req ubl.Request, domain string) error {
	if x.id == ubl.CoreTenant {
		return nil
	}
	list, err := x.claimed(ctx)
	if err != nil {
		if ubl.CodeOf(err) == ubl.CodeNotFound { // tenant 0 was never founded: nobody has claimed anything
			return nil
		}
		return err
	}
	_, err = x.Ask.Ask(ctx, x.Name, followDomains{Request: req, Domain: domain, Claims: list})
	return err
}

// followed commits an act for each claim that is other than on record.
func (x *Tenant) followed(t *actors.Turn, c followDomains) {
	for _, p := range x.State.unfollowed(c, t.Now()) {
		if x.State.License.InForce() == nil {
			x.Enact(t, x.Following(p.Did, c.Request, p), nil)
		}
	}
	t.Reply(nil)
}

// settledAfter is how old a claim is before the platform takes it for released: it may
// be newer than the list that tenant 0 was asked for.
const settledAfter = time.Minute

// unfollowed compares. A pending claim that has lapsed needs no act.
func (s *State) unfollowed(c followDomains, now ubl.Time) (plans []*plan) {
	about := func(d ubl.DomainClaim) bool { return c.Domain == "" || c.Domain == d.Domain }
	same := func(a, b ubl.DomainClaim) bool { return a.Domain == b.Domain && a.Value == b.Value }
	mine := s.claims(s.id(), now)
	for _, m := range mine {
		young := c.Domain == "" && now < m.ClaimedAt.Add(settledAfter)
		if about(m) && !young && !slices.ContainsFunc(c.Claims, func(d ubl.DomainClaim) bool { return same(d, m) }) {
			plans = append(plans, domainPlan(ubl.DidDomainRelease, m))
		}
	}
	for _, d := range c.Claims {
		known := slices.IndexFunc(mine, func(m ubl.DomainClaim) bool { return same(d, m) })
		switch {
		case !about(d):
		case d.Verified() && (known < 0 || !mine[known].Verified()):
			plans = append(plans, domainPlan(ubl.DidDomainVerify, d))
		case known < 0:
			plans = append(plans, domainPlan(ubl.DidDomainClaim, d))
		}
	}
	return plans
}
