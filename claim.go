package ubl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
)

// Limits of claims by DNS.
const (
	// MaxDomains is how many a tenant may claim at a time, verified ones included.
	MaxDomains = 20
	// DomainClaimTTL is how long a claim waits for its DNS record.
	DomainClaimTTL = 7 * 24 * time.Hour
)

// domainRecord is the label under a domain where the record of a claim stands. A name
// that begins with an underscore is no host: nobody gets it by renting a subdomain.
const domainRecord = "_ubl-challenge."

// DomainClaim is a tenant's claim of a mail domain. While it is pending it gives
// nothing. Verified, it lets people with verified addresses of the domain into the
// tenant, until it is released.
type DomainClaim struct {
	Domain   string   `json:"domain"` // as [EmailDomain] has it
	TenantID TenantID `json:"tenant_id"`
	// Value is what the TXT record at [DomainClaim.Record] must say: see [DomainProof].
	Value     string `json:"value"`
	ClaimedBy UserID `json:"claimed_by"`
	ClaimedAt Time   `json:"claimed_at"`
	// ExpiresAt is when a pending claim ends; 0 for a verified one.
	ExpiresAt Time `json:"expires_at,omitzero"`
	// VerifiedAt is when the record was seen; 0 for a pending claim.
	VerifiedAt Time `json:"verified_at,omitzero"`
	// ConfirmedBy is the owner who verified another's claim, or confirmed it after the one
	// who stood for it was no owner any more; "" for nobody.
	ConfirmedBy UserID `json:"confirmed_by,omitempty"`
	// Unconfirmed, in a tenant's own lists, says that who stands for a verified claim is no
	// owner any more: new people of the domain can't join. It is never stored.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// Sponsor is the owner who stands for the claim.
func (c *DomainClaim) Sponsor() UserID { return cmp.Or(c.ConfirmedBy, c.ClaimedBy) }

// Record is the DNS name where the claim's TXT record stands.
func (c *DomainClaim) Record() string { return domainRecord + c.Domain }

// Verified reports whether the record was seen.
func (c *DomainClaim) Verified() bool { return c.VerifiedAt != 0 }

// Lapsed reports whether the claim waited too long for its record.
func (c *DomainClaim) Lapsed(now Time) bool { return !c.Verified() && c.ExpiresAt <= now }

// DomainProof draws what the TXT record of a claim says. It can't be guessed, and
// counts for this claim of this tenant and domain alone.
func DomainProof(tenant TenantID, domain string, random io.Reader) (string, error) {
	var secret [32]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", fmt.Errorf("couldn't draw a domain's proof: %w", err)
	}
	sum := sha256.Sum256([]byte("ubl domain claim\x00" + string(tenant) + "\x00" + domain + "\x00" + string(secret[:])))
	return "ubl-domain-verification=" + hex.EncodeToString(sum[:]), nil
}

// ClaimedDomain reads a domain that somebody wants to claim by DNS: its final dot goes,
// and its letters become small ones. A name without a dot is no public domain.
func ClaimedDomain(s string) (string, error) {
	domain := lowerASCII(strings.TrimSuffix(s, "."))
	switch {
	case strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f }):
		return "", Errorf(CodeValidation, "an international domain is written in its ASCII form, as in xn--bcher-kva.example")
	case !validDomain(domain) || !hostName(domain) || !strings.Contains(domain, ".") || DomainTenant(domain) == "" || len(domainRecord+domain) > 253:
		return "", Errorf(CodeValidation, "a domain is written as in example.com, without an address or URL around it")
	}
	return domain, nil
}

// hostName reports whether every label could be one of a host, and the last is no number.
func hostName(domain string) bool {
	labels := strings.Split(domain, ".")
	for _, label := range labels {
		if len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.Contains(label, "_") {
			return false
		}
	}
	return strings.Trim(labels[len(labels)-1], "0123456789") != ""
}

// Commands of the Tenant family about claims by DNS. The tenant decides who may; tenant
// 0 keeps the claims, so that one tenant at a time has a domain.
type (
	// ClaimDomain makes a pending claim with a Value from [DomainProof]. Configured is
	// as in [FindHome]. A repetition under the same key is answered with the first
	// claim's value. Owners that are people. Answers *DomainClaim.
	ClaimDomain struct {
		Request
		Domain, Value string
		Configured    TenantID
	}
	// CheckDomain reads a claim that is about to be verified, and counts that: a
	// tenant may do so ten times a minute. Owners. Answers *DomainClaim.
	CheckDomain struct {
		Request
		Domain     string
		Configured TenantID
	}
	// VerifyDomain turns the pending claim with this Value into a verified one. Asked
	// by transport/api only, which has just read that value in DNS. It is a conflict
	// while another tenant has the domain. Where the claim is verified, but unconfirmed,
	// it confirms it, whatever DNS says by now. Owners that are people. Answers *DomainClaim.
	VerifyDomain struct {
		Request
		Domain, Value string
		Configured    TenantID
	}
	// ReleaseDomain ends the tenant's claim, pending or verified; members who came by
	// it stay. Owners, also where the TenantLicense has ended; owners of tenant 0 the
	// verified claim of any tenant. What --domain gives, in Configured, is no claim: a
	// conflict. Answers *DomainClaim as it was.
	ReleaseDomain struct {
		Request
		Domain     string
		Configured TenantID
	}
	// ListDomains lists the tenant's claims, by domain, but for those that have
	// expired. Owners; owners of tenant 0 those of all tenants. Answers []DomainClaim.
	ListDomains struct{ Who Identity }
	// KeepDomain has tenant 0 decide what an owner of a tenant asked for: Did is one
	// of the three acts. The platform only, sent by the owner's tenant. Answers
	// *DomainClaim.
	KeepDomain struct {
		Request
		By            Identity
		Did           Did
		Domain, Value string
		Configured    TenantID
	}
	// FindDomains reads the claims that tenant 0 keeps of a tenant. The platform only.
	// Answers []DomainClaim, by domain.
	FindDomains struct {
		Who    Identity
		Tenant TenantID
	}
)

// Cost is 0: the acts that follow are admitted on their own.
func (ClaimDomain) Cost() int { return 0 }

// Cost is 0: it reads.
func (CheckDomain) Cost() int { return 0 }

// Cost is 0: the acts that follow are admitted on their own.
func (VerifyDomain) Cost() int { return 0 }

// Cost is one act where the operator's tenant is asked directly.
func (ReleaseDomain) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListDomains) Cost() int { return 0 }

// Cost is one act.
func (KeepDomain) Cost() int { return writeCost }

// Cost is 0: it reads.
func (FindDomains) Cost() int { return 0 }
