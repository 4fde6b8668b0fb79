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

// People come into a tenant by an invitation of one of its owners, or by a verified address
// of a domain that the tenant has claimed.

// InvitationID matches ^i:[A-Za-z0-9._-]{1,128}$.
type InvitationID string

// Valid reports whether the id has its pattern.
func (id InvitationID) Valid() bool { return validID(string(id), "i:", 128, "") }

// Limits of invitations.
const (
	// MaxInvitations is how many of a tenant may be open at a time.
	MaxInvitations = 200
	// MinInvitationTTL and MaxInvitationTTL bound how long one holds.
	MinInvitationTTL = time.Hour
	MaxInvitationTTL = 720 * time.Hour
)

// InvitationIssuer stands for those who came into a tenant by a link. It vouches for no
// address: who invited could open the link themselves.
const InvitationIssuer = "urn:ubl:invitation"

// Invited is who accepts an invitation: a person of that one tenant, with an id that no
// sign-in by the address leads to.
func Invited(tenant TenantID, id InvitationID, email string) Identity {
	subject := string(tenant) + "|" + string(id)
	return Identity{
		UserID: UserIDFor(InvitationIssuer, subject, false), Email: email, EmailDomain: EmailDomain(email), Groups: []string{},
		Unproven: true, TenantID: tenant, Issuer: InvitationIssuer, Subject: subject,
	}
}

// Invitation lets whoever has its link into a tenant, once. Its address is whom the
// link was meant for, and proves nothing. The link's secret is not in it: only a hash
// is kept, apart.
type Invitation struct {
	ID        InvitationID `json:"id"`
	Email     string       `json:"email"`
	Role      Role         `json:"role"`
	CreatedBy UserID       `json:"created_by"`
	CreatedAt Time         `json:"created_at"`
	ExpiresAt Time         `json:"expires_at"`
	// AcceptedAt and RevokedAt are set where it ended that way.
	AcceptedAt *Time `json:"accepted_at"`
	RevokedAt  *Time `json:"revoked_at"`
}

// Open reports whether it can be accepted at a moment.
func (i *Invitation) Open(now Time) bool {
	return i.AcceptedAt == nil && i.RevokedAt == nil && now < i.ExpiresAt
}

// Commands of the Tenant family about invitations.
type (
	// CreateInvitation records an invitation whose secret the caller has drawn and
	// hashed. Invitee's address is whom it is meant for, whatever its domain; who accepts
	// is as [Invited] makes them. Owners that are people. Answers *Invitation.
	CreateInvitation struct {
		Request
		InvitationID InvitationID
		Invitee      Identity
		Role         Role
		TTL          time.Duration
		SecretHash   string // hex SHA-256
	}
	// RevokeInvitation ends one that is open. Owners. Answers *Invitation.
	RevokeInvitation struct {
		Request
		InvitationID InvitationID
	}
	// ListInvitations lists those that are open, and the newest that have ended,
	// oldest first. Owners. Answers []*Invitation.
	ListInvitations struct{ Who Identity }
	// FindInvitation answers the open *Invitation behind the hash of a secret. One
	// that has ended is not_found, as one that never was; one whose address has
	// become a member's is a conflict. Asked by transport/auth only.
	FindInvitation struct{ SecretHash string }
	// AcceptInvitation makes the invitee an unproven member, once. It refuses as
	// FindInvitation does. A repetition under the same key is answered again for
	// [AcceptAgain], to whom the first answer didn't reach. The platform only, for
	// transport/auth. Answers *Identity, the invitee's without the tenant.
	AcceptInvitation struct {
		Request
		SecretHash string
	}
)

// Commands of the Tenant family that turn who came by an invitation into the person of
// its address. Both are the platform's, asked by transport/auth for somebody whose
// address a provider has just verified.
type (
	// KeepHome has tenant 0 remember where somebody belongs who is in no tenant by their
	// domain: it counts while that tenant knows the person under Home's user id. Of several
	// the newest counts.
	// Answers nil.
	KeepHome struct {
		Request
		Verified Identity
		Home     Home
	}
	// ProveMember makes an unproven member the person of their address: Verified's issuer
	// and subject own the id from then on, and what the link began no longer counts.
	// Member is as the link's session names them; the addresses must be one, and no other
	// member's. Answers *Member.
	ProveMember struct {
		Request
		Member   Identity
		Verified Identity
	}
)

// Cost is one act.
func (KeepHome) Cost() int { return writeCost }

// Cost is one act.
func (ProveMember) Cost() int { return writeCost }

// AcceptAgain is how long an acceptance may be repeated under its key: the key
// stands on a page that others may come to see later.
const AcceptAgain = time.Minute

// Cost is one act.
func (CreateInvitation) Cost() int { return writeCost }

// Cost is one act.
func (RevokeInvitation) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListInvitations) Cost() int { return 0 }

// Cost is 0: it reads.
func (FindInvitation) Cost() int { return 0 }

// Cost is one act; the rooms that welcome the newcomer are admitted on
// their own.
func (AcceptInvitation) Cost() int { return writeCost }

// A tenant is founded or claimed, never guessed. A person belongs to the tenant
// that has claimed the domain of their verified address, else to one of their own.

// LocalDomain is the mail domain of a fresh server's owner, which every server
// claims for the tenant of that name.
const LocalDomain = "localhost"

// Home is where a person belongs.
type Home struct {
	TenantID TenantID
	// UserID is who they are there: their own id unless they came by an invitation
	// and proved its address later.
	UserID UserID
	// Unproven is as in [Standing]; of somebody with a verified address it is only set
	// where they came by an invitation before those had ids of their own.
	Unproven bool
	// Member is set where they are in that tenant already, and Claimed is the tenant that
	// has claimed the domain of their address, "" for none. Both are FindHome's answer only.
	Member  bool
	Claimed TenantID
}

// Standing is what somebody is in a tenant that they haven't entered.
type Standing struct {
	Member bool
	// Unproven is set for a member whose address nobody has verified.
	Unproven bool
}

// Commands of the Tenant family about where people belong.
type (
	// FindHome says where a person belongs whose address is verified. Configured is
	// the tenant that the asking node's operator gave their domain to, "" for none:
	// it comes before what is claimed by DNS. Asked by transport/auth only, of tenant 0.
	// Answers *Home.
	FindHome struct {
		Who        Identity // without a tenant
		Configured TenantID
	}
	// FindStanding says what somebody is in a tenant; a tenant that doesn't exist has
	// no members. Asked by transport/auth and tenant 0 only. Answers *Standing.
	FindStanding struct{ Who Identity }
)

// Cost is 0: it reads.
func (FindHome) Cost() int { return 0 }

// Cost is 0: it reads.
func (FindStanding) Cost() int { return 0 }

// DomainTenant is the tenant that is named after a mail domain, "" where that would
// be tenant 0 or a [PersonalTenant]: nobody gets there by the name of a domain.
func DomainTenant(domain string) TenantID {
	id := TenantID("t:" + domain)
	if !validDomain(domain) || id == CoreTenant || isPersonal(domain) {
		return ""
	}
	return id
}

// validDomain reports whether an address can have the domain, in lower case.
func validDomain(domain string) bool { return domain != "" && EmailDomain("x@"+domain) == domain }

// ParseDomain reads what an operator gives to a tenant: a domain, for the tenant of
// that name, or DOMAIN=TENANT.
func ParseDomain(s string) (domain string, tenant TenantID, err error) {
	name, to, given := strings.Cut(s, "=")
	domain = lowerASCII(name)
	if tenant = DomainTenant(domain); given {
		tenant = TenantID(to)
	}
	if !validDomain(domain) || !tenant.Valid() || tenant == CoreTenant {
		return "", "", Errorf(CodeValidation, "a domain is given as example.com or example.com=t:acme, and never to tenant 0")
	}
	return domain, tenant, nil
}

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
