package api

import (
	"context"
	"crypto/subtle"
	"maps"
	"slices"

	"ubl"
	"ubl/transport/envelope"
)

// Resolver reads DNS.
type Resolver interface {
	// TXT is what the TXT records at a name say, none where nothing stands there. It
	// bounds its time and what it reads, and follows no alias.
	TXT(ctx context.Context, name string) ([]string, error)
}

// Ways of a domain.
const (
	domainConfigured = "configured" // by the server's operator
	domainVerified   = "verified"   // by DNS
	domainPending    = "pending"    // its record was not seen yet
	// domainUnconfirmed is verified, and who stands for it is no owner any more.
	domainUnconfirmed = "unconfirmed"
)

type domainView struct {
	Domain    string       `json:"domain"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	State     string       `json:"state"`
	Record    *recordView  `json:"record"` // null for a configured one
	ClaimedBy *ubl.UserID  `json:"claimed_by"`
	ClaimedAt *ubl.Time    `json:"claimed_at"`
	// ConfirmedBy is the owner who stands for it in place of who claimed it.
	ConfirmedBy ubl.UserID `json:"confirmed_by,omitempty"`
	ExpiresAt   *ubl.Time  `json:"expires_at"`
	VerifiedAt  *ubl.Time  `json:"verified_at"`
}

// recordView is what to publish.
type recordView struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

func viewDomain(c *ubl.DomainClaim) *domainView {
	v := &domainView{Domain: c.Domain, TenantID: c.TenantID, State: domainPending, ClaimedBy: &c.ClaimedBy, ClaimedAt: &c.ClaimedAt, ConfirmedBy: c.ConfirmedBy,
		Record: &recordView{Type: "TXT", Name: c.Record(), Value: c.Value}}
	if c.Verified() {
		v.State, v.VerifiedAt = domainVerified, &c.VerifiedAt
	} else {
		v.ExpiresAt = &c.ExpiresAt
	}
	if c.Unconfirmed {
		v.State = domainUnconfirmed
	}
	return v
}

type domainsAnswer struct {
	Domains []*domainView `json:"domains"`
	Paged
}

type domainAnswer struct {
	Domain *domainView `json:"domain"`
}

// listDomains puts what the operator gave before what was claimed.
func (a *API) listDomains(ctx context.Context, in *PageQuery) (any, error) {
	claims, err := ubl.Ask[[]ubl.DomainClaim](ctx, a.Asker, home(ctx), ubl.ListDomains{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	out := domainsAnswer{Domains: []*domainView{}}
	tenant := caller(ctx).TenantID
	for _, domain := range slices.Sorted(maps.Keys(a.Domains)) {
		if to := a.Domains[domain]; to == tenant || tenant == ubl.CoreTenant {
			out.Domains = append(out.Domains, &domainView{Domain: domain, TenantID: to, State: domainConfigured})
		}
	}
	for i := range claims {
		out.Domains = append(out.Domains, viewDomain(&claims[i]))
	}
	out.Domains, out.Paged, err = cut(*in, out.Domains, ascending, domainKey)
	return out, err
}

// domainKey has what the operator gave before what was claimed.
func domainKey(d *domainView) string {
	place := "1"
	if d.State == domainConfigured {
		place = "0"
	}
	return place + d.Domain + " " + string(d.TenantID)
}

type claimDomainInput struct {
	Body struct {
		Keyed
		Domain string `json:"domain" minLength:"3" maxLength:"254" example:"example.com" doc:"A mail domain, as in people's addresses; an international one in its ASCII form."`
	}
}

// claimDomain draws what the record has to say. A repetition is answered with what was
// drawn at first.
func (a *API) claimDomain(ctx context.Context, in *claimDomainInput) (any, error) {
	domain, err := ubl.ClaimedDomain(in.Body.Domain)
	if err != nil {
		return nil, err
	}
	value, err := ubl.DomainProof(caller(ctx).TenantID, domain, a.Random)
	if err != nil {
		return nil, err
	}
	return a.domainActed(ctx, ubl.ClaimDomain{Request: envelope.Command(ctx, in.Body.Key), Domain: domain, Value: value, Configured: a.Domains[domain]})
}

func (a *API) domainActed(ctx context.Context, cmd ubl.Command) (any, error) {
	c, err := ubl.Ask[*ubl.DomainClaim](ctx, a.Asker, home(ctx), cmd)
	if err != nil {
		return nil, err
	}
	return domainAnswer{viewDomain(c)}, nil
}

// DomainPath names a domain in a path.
type DomainPath struct {
	Domain string `path:"domain" pattern:"^[A-Za-z0-9.-]{3,254}$" example:"example.com" doc:"The mail domain, as in addresses."`
}

type verifyDomainInput struct {
	DomainPath
	KeyInput
}

// verifyDomain asks DNS between two questions to the tenant: what to look for, and
// whether what was seen is still what it waits for. A verified domain stays verified
// without its record, so that one to be confirmed needs none either.
func (a *API) verifyDomain(ctx context.Context, in *verifyDomainInput) (any, error) {
	domain, err := ubl.ClaimedDomain(in.Domain)
	if err != nil {
		return nil, err
	}
	req := envelope.Command(ctx, in.key())
	c, err := ubl.Ask[*ubl.DomainClaim](ctx, a.Asker, home(ctx), ubl.CheckDomain{Request: req, Domain: domain, Configured: a.Domains[domain]})
	if err != nil {
		return nil, err
	}
	switch {
	case c.Unconfirmed:
	case c.Verified():
		return domainAnswer{viewDomain(c)}, nil
	default:
		texts, err := a.DNS.TXT(ctx, c.Record())
		if err != nil {
			return nil, err
		}
		if err := published(texts, c.Value); err != nil {
			return nil, err
		}
	}
	return a.domainActed(ctx, ubl.VerifyDomain{Request: req, Domain: domain, Value: c.Value, Configured: a.Domains[domain]})
}

// published refuses where no record is exactly the value.
func published(texts []string, value string) error {
	for _, text := range texts {
		if subtle.ConstantTimeCompare([]byte(text), []byte(value)) == 1 {
			return nil
		}
	}
	if len(texts) > 0 {
		return ubl.Errorf(ubl.CodeConflict, "a TXT record stands there, but it says something else: compare its value")
	}
	return ubl.Errorf(ubl.CodeConflict, "the TXT record isn't there yet: DNS may take an hour to show a new one")
}

func (a *API) releaseDomain(ctx context.Context, in *DomainPath) (any, error) {
	domain, err := ubl.ClaimedDomain(in.Domain)
	if err != nil {
		return nil, err
	}
	return a.domainActed(ctx, ubl.ReleaseDomain{Request: envelope.Command(ctx, ""), Domain: domain, Configured: a.Domains[domain]})
}
