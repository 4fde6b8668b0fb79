package tenant

import (
	"cmp"
	"crypto/subtle"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// Claims of domains, as tenant 0 decides and keeps them. What a tenant does before and
// after it is in domainsown.go.

// holders are the tenants of a verified domain: the one that has it, and the newest of
// those that had it, whose members may be in them still.
type holders struct {
	Now    ubl.TenantID   `json:"now,omitempty"`
	Former []ubl.TenantID `json:"former,omitempty"` // the newest first
}

// maxFormer is how many are remembered of a domain.
const maxFormer = 8

// claim takes over what an act did to a claim. Those that have lapsed by then go.
func (s *State) claim(e event) {
	c := *e.Domain
	list := slices.DeleteFunc(slices.Clone(s.Claims[c.TenantID]), func(o ubl.DomainClaim) bool {
		return o.Domain == c.Domain || o.Lapsed(e.At)
	})
	if e.Did != ubl.DidDomainRelease {
		list = append(list, c)
	}
	if s.Claims[c.TenantID] = list; len(list) == 0 {
		delete(s.Claims, c.TenantID)
	}
	held := s.Holders[c.Domain]
	switch {
	case e.Did == ubl.DidDomainVerify:
		s.Holders[c.Domain] = holders{Now: c.TenantID, Former: without(held.Former, c.TenantID)}
	case e.Did == ubl.DidDomainRelease && held.Now == c.TenantID:
		former := append([]ubl.TenantID{c.TenantID}, without(held.Former, c.TenantID)...)
		s.Holders[c.Domain] = holders{Former: former[:min(len(former), maxFormer)]}
	}
}

func without(list []ubl.TenantID, t ubl.TenantID) []ubl.TenantID {
	return slices.DeleteFunc(slices.Clone(list), func(o ubl.TenantID) bool { return o == t })
}

// claimOf is a tenant's claim of a domain that has not lapsed.
func (s *State) claimOf(t ubl.TenantID, domain string, now ubl.Time) (ubl.DomainClaim, bool) {
	for _, c := range s.Claims[t] {
		if c.Domain == domain && !c.Lapsed(now) {
			return c, true
		}
	}
	return ubl.DomainClaim{}, false
}

// claims lists those of a tenant that have not lapsed, by domain.
func (s *State) claims(t ubl.TenantID, now ubl.Time) []ubl.DomainClaim {
	list := slices.DeleteFunc(slices.Clone(s.Claims[t]), func(c ubl.DomainClaim) bool { return c.Lapsed(now) })
	slices.SortFunc(list, byDomain)
	return list
}

// allClaims lists those of all tenants.
func (s *State) allClaims(now ubl.Time) []ubl.DomainClaim {
	list := []ubl.DomainClaim{}
	for t := range maps.Keys(s.Claims) {
		list = append(list, s.claims(t, now)...)
	}
	slices.SortFunc(list, byDomain)
	return list
}

func byDomain(a, b ubl.DomainClaim) int {
	return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.TenantID, b.TenantID))
}

func errNoClaim() *ubl.Error {
	return ubl.Errorf(ubl.CodeNotFound, "the tenant has no claim of this domain, or it has expired: claim it first")
}

// keepDomain decides what an owner of a tenant asked for. Their tenant has made sure
// that they are one.
func (x *Tenant) keepDomain(t *actors.Turn, c ubl.KeepDomain) {
	if x.id != ubl.CoreTenant || !c.Who.IsPlatform() || c.By.TenantID == x.id {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform keeps claims, in tenant 0"))
		return
	}
	c.Who = c.By
	x.Change(t, c)
}

func (s *State) decideKeep(c ubl.KeepDomain, at actors.Moment) (*plan, error) {
	switch c.Did {
	case ubl.DidDomainClaim:
		return s.decideClaim(c, at)
	case ubl.DidDomainVerify:
		return s.decideVerify(c, at)
	case ubl.DidDomainRelease:
		return s.release(c.By.TenantID, c.Domain, c.Configured, at)
	}
	return nil, ubl.Errorf(ubl.CodeValidation, "there is no such act about a domain")
}

// decideClaim makes a pending claim. Others' claims of the domain don't matter, and
// aren't told of: who can't publish the record learns nothing here.
func (s *State) decideClaim(c ubl.KeepDomain, at actors.Moment) (*plan, error) {
	_, claimed := s.claimOf(c.By.TenantID, c.Domain, at.Now)
	switch {
	case claimed:
		return nil, ubl.Errorf(ubl.CodeConflict, "the tenant has claimed this domain already: its record is in the list of domains")
	case len(s.claims(c.By.TenantID, at.Now)) >= ubl.MaxDomains:
		return nil, ubl.Errorf(ubl.CodeConflict, "a tenant claims at most %d domains: release one first", ubl.MaxDomains)
	}
	return deciding(ubl.DidDomainClaim, ubl.DomainClaim{
		Domain: c.Domain, TenantID: c.By.TenantID, Value: c.Value, ClaimedBy: c.By.UserID,
		ClaimedAt: at.Now, ExpiresAt: at.Now.Add(ubl.DomainClaimTTL),
	}), nil
}

// decideVerify gives the domain to the first tenant whose record was seen. One without
// a claim of this value is told so before it could learn who has the domain.
func (s *State) decideVerify(c ubl.KeepDomain, at actors.Moment) (*plan, error) {
	claim, ok := s.claimOf(c.By.TenantID, c.Domain, at.Now)
	switch {
	case !ok || subtle.ConstantTimeCompare([]byte(claim.Value), []byte(c.Value)) == 0:
		return nil, errNoClaim()
	case claim.Verified():
		return nil, ubl.Errorf(ubl.CodeConflict, "the domain is verified already")
	case s.Holders[c.Domain].Now != "":
		return nil, ubl.Errorf(ubl.CodeConflict, "another tenant of this server has the domain: its owners or the server's operator release it")
	}
	claim.ExpiresAt, claim.VerifiedAt = 0, at.Now
	if c.By.UserID != claim.ClaimedBy {
		claim.ConfirmedBy = c.By.UserID
	}
	return deciding(ubl.DidDomainVerify, claim), nil
}

// release ends the claim of a tenant, which is "" where an operator names a domain
// that no tenant has verified.
func (s *State) release(tenant ubl.TenantID, domain string, configured ubl.TenantID, at actors.Moment) (*plan, error) {
	claim, ok := s.claimOf(tenant, domain, at.Now)
	switch {
	case ok:
		p := deciding(ubl.DidDomainRelease, claim)
		p.Frees = true
		return p, nil
	case configured != "":
		return nil, ubl.Errorf(ubl.CodeConflict, "the domain is given by the server's option --domain, not by a claim: the operator removes it there and restarts the server")
	case tenant == "":
		return nil, ubl.Errorf(ubl.CodeNotFound, "no tenant has verified this domain: an operator releases verified ones only, and a pending claim gives nothing and expires by itself")
	}
	return nil, ubl.Errorf(ubl.CodeNotFound, "the tenant has no claim of this domain, or it has expired: there is nothing to release")
}

// deciding is the plan of tenant 0, which the claiming tenant has to follow.
func deciding(did ubl.Did, c ubl.DomainClaim) *plan {
	p := domainPlan(did, c)
	p.Alarms = []actors.Alarm{finish(c.TenantID)}
	return p
}

// domainPlan names its act, and leaves a claim as c. The ledger has the hash of what DNS says, so that
// anyone can check it who sees the record.
func domainPlan(did ubl.Did, c ubl.DomainClaim) *plan {
	domain, in := ubl.Str("domain", c.Domain), ubl.Str("tenant_id", c.TenantID)
	p := &plan{
		Act:   act(ubl.Fields{domain, in, ubl.Str("value_hash", ubl.BodyHash([]byte(c.Value)))}, ubl.Fields{domain, ubl.Str("op", did), in}),
		Event: event{Domain: &c},
	}
	p.Did = did
	return p
}
