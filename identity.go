package ubl

import (
	"slices"
	"strings"
)

// Identity is who a caller is, as an issuer vouched for it.
type Identity struct {
	UserID      UserID   `json:"user_id"`
	Email       string   `json:"email"` // empty only for a service
	EmailDomain string   `json:"email_domain"`
	Groups      []string `json:"groups"`
	IsService   bool     `json:"is_service"`
	// Unproven says that nobody has verified that Email is theirs: they came by an
	// invitation.
	Unproven bool `json:"-"`

	// TenantID is the tenant that the identity acts in.
	TenantID TenantID `json:"-"`
	// Issuer and Subject are the pair that owns UserID; a tenant refuses the
	// same id from another pair.
	Issuer  string `json:"-"`
	Subject string `json:"-"`
}

// Author is the identity as it is written into atoms.
func (id Identity) Author() Who {
	return Who{UserID: id.UserID, Email: id.Email, IsService: id.IsService, Unproven: id.Unproven}
}

// EmailDomain is the lower-case domain of an address, "" where it has none
// that could name a tenant.
func EmailDomain(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 1 || at == len(email)-1 {
		return ""
	}
	domain := lowerASCII(email[at+1:])
	if !TenantID("t:"+domain).Valid() || slices.Contains(strings.Split(domain, "."), "") {
		return ""
	}
	return domain
}

// SameEmail reports whether two addresses are one, but for the case of ASCII
// letters.
func SameEmail(a, b string) bool { return lowerASCII(a) == lowerASCII(b) }

// lowerASCII leaves other letters alone: Unicode would fold the Kelvin sign to
// k, and a look-alike address would pass for another's.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// PlatformIssuer vouches for the platform's own identity. No token carries it:
// only code inside the server acts as the platform.
const PlatformIssuer = "urn:ubl:platform"

// Platform is who starts, stops and trims: a service of tenant 0.
func Platform() Identity {
	return Identity{
		UserID: UserIDFor(PlatformIssuer, "platform", false), IsService: true,
		TenantID: CoreTenant, Issuer: PlatformIssuer, Subject: "platform",
	}
}

// IsPlatform reports whether the identity is [Platform]'s.
func (id Identity) IsPlatform() bool { return id.Issuer == PlatformIssuer }
