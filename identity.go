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

	// TenantID is the tenant that the identity acts in.
	TenantID TenantID `json:"-"`
	// Issuer and Subject are the pair that owns UserID; a tenant refuses the
	// same id from another pair.
	Issuer  string `json:"-"`
	Subject string `json:"-"`
}

// Author is the identity as it is written into atoms.
func (id Identity) Author() Who {
	return Who{UserID: id.UserID, Email: id.Email, IsService: id.IsService}
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

// publicMail lists providers whose domain says nothing about who belongs
// together. Their users get a tenant each; otherwise strangers would share one.
var publicMail = map[string]bool{
	"gmail.com": true, "googlemail.com": true, "outlook.com": true, "hotmail.com": true,
	"live.com": true, "msn.com": true, "yahoo.com": true, "ymail.com": true, "aol.com": true,
	"icloud.com": true, "me.com": true, "mac.com": true, "proton.me": true, "protonmail.com": true,
	"pm.me": true, "gmx.com": true, "gmx.de": true, "gmx.net": true, "web.de": true, "t-online.de": true,
	"mail.com": true, "mail.ru": true, "yandex.com": true, "yandex.ru": true, "zoho.com": true,
	"fastmail.com": true, "hey.com": true, "tutanota.com": true, "tuta.io": true, "qq.com": true,
	"163.com": true, "126.com": true, "naver.com": true, "uol.com.br": true, "bol.com.br": true,
	"terra.com.br": true, "libero.it": true, "orange.fr": true, "laposte.net": true, "free.fr": true,
}

// TenantFor maps a verified address to its tenant: operators to tenant 0, a
// public provider's users to one each, everyone else to their domain's. It is
// "" where the address names no tenant.
func TenantFor(user UserID, email string, operators []string) TenantID {
	domain := EmailDomain(email)
	if domain == "" {
		return ""
	}
	for _, op := range operators {
		if SameEmail(op, email) {
			return CoreTenant
		}
	}
	switch {
	case publicMail[domain]:
		return PersonalTenant(user)
	case TenantID("t:"+domain) == CoreTenant:
		return "" // nobody becomes an operator by naming a mail domain after tenant 0
	case isPersonal(domain):
		return "" // nor another by naming one after a personal tenant
	}
	return TenantID("t:" + domain)
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
