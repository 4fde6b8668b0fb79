package ubl

import "strings"

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
