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

	// Mandate bounds what an agent may do, nil for who has none. It is as the tenant said
	// when it was last asked about the agent's credential.
	Mandate *Mandate `json:"-"`
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

// LocalIssuer vouches for the identities of tokens made with the nodes' own key.
const LocalIssuer = "urn:ubl:local"

// servicePrefix keeps the subjects of services apart from those of people, which
// are addresses and have no colon.
const servicePrefix = "service:"

// LocalSubject is the subject under which [LocalIssuer] knows a person or, where
// service isn't "", a service: it names the maker too, so that two makers' services
// of one name are two.
func LocalSubject(service, email string) string {
	if service == "" {
		return email
	}
	return servicePrefix + service + ":" + email
}

// LocalService is the name and the maker's address in such a subject; ok is false
// for a person's.
func LocalService(subject string) (name, maker string, ok bool) {
	rest, ok := strings.CutPrefix(subject, servicePrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// PasskeyID matches ^p:[0-9a-f]{32}$. It is made of the credential's id, which
// may be a kilobyte long.
type PasskeyID string

// PasskeyIDOf names the passkey with a credential id (WebAuthn's own).
func PasskeyIDOf(credentialID []byte) PasskeyID {
	return PasskeyID("p:" + hexHash("passkey|" + string(credentialID))[:32])
}

// Valid reports whether the id has its pattern.
func (id PasskeyID) Valid() bool {
	digits, ok := strings.CutPrefix(string(id), "p:")
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Limits of passkeys.
const (
	// MaxPasskeys is how many a person may have in a tenant.
	MaxPasskeys = 20
	// PasskeyHandle is how many bytes a user's handle has.
	PasskeyHandle = 32
	// MinCredentialID and MaxCredentialID bound a credential's id, in bytes: fewer
	// could be guessed, and WebAuthn has no longer ones.
	MinCredentialID = 16
	MaxCredentialID = 1023
	// MaxPasskeyKey bounds a public key in COSE form, in bytes.
	MaxPasskeyKey = 4096
)

// Passkey is what its owner is shown of one.
type Passkey struct {
	ID         PasskeyID `json:"id"`
	Name       string    `json:"name"`
	CreatedAt  Time      `json:"created_at"`
	LastUsedAt *Time     `json:"last_used_at"` // null until it has signed somebody in
}

// Authenticator is what is kept of the device or password manager that has a
// passkey's private key. Nothing of it is secret.
type Authenticator struct {
	CredentialID []byte `json:"credential_id"`
	// PublicKey is in COSE form.
	PublicKey []byte `json:"public_key"`
	// SignCount rises with each use; it stays 0 where the passkey is on several
	// devices.
	SignCount int64 `json:"sign_count"`
	// Transports are ways to reach it, for browsers: internal, hybrid, usb …
	Transports []string `json:"transports"`
	// BackupEligible says that the passkey may be on several devices, BackedUp that
	// it is.
	BackupEligible bool `json:"backup_eligible"`
	BackedUp       bool `json:"backed_up"`
}

// PasskeyRecord is all that tenant 0 keeps of a passkey.
type PasskeyRecord struct {
	Passkey
	Authenticator
	// Handle is how authenticators know the person: random, the same in all of
	// their passkeys of a tenant.
	Handle []byte `json:"handle"`
	// Who it signs in, as they were signed in when they registered it, without groups.
	Who Identity `json:"-"`
}

// Passkeys are a person's. Handle is nil for one who has never had any.
type Passkeys struct {
	Handle []byte
	List   []*PasskeyRecord // oldest first
}

// Commands of the Tenant family about passkeys. Only tenant 0 answers them.
type (
	// RegisterPasskey records a passkey of the caller, whose possession
	// transport/auth has verified. People of any tenant, who have been let into it.
	// Answers *Passkey.
	RegisterPasskey struct {
		Request
		Name          string
		Handle        []byte
		Authenticator Authenticator
	}
	// ListPasskeys answers the caller's *Passkeys.
	ListPasskeys struct{ Who Identity }
	// FindPasskey answers the *PasskeyRecord with a credential id, or not_found.
	// Asked by transport/auth only.
	FindPasskey struct{ CredentialID []byte }
	// UsePasskey receipts that a passkey signs its owner in. Its key is made of the
	// challenge that was signed, and Attempt tells one use of the challenge from
	// another: a second is an idempotency_conflict. A SignCount that doesn't rise is
	// a copied key's: that is forbidden, on record. The platform only, for
	// transport/auth. Answers *Passkey.
	UsePasskey struct {
		Request
		PasskeyID PasskeyID
		SignCount int64
		BackedUp  bool
		Attempt   string
	}
	// RemovePasskey forgets one. Anyone their own, and owners of tenant 0 any.
	// Answers *Passkey.
	RemovePasskey struct {
		Request
		PasskeyID PasskeyID
	}
)

// Cost is one act and the key.
func (RegisterPasskey) Cost() int { return writeCost + MaxPasskeyKey }

// Cost is 0: it reads.
func (ListPasskeys) Cost() int { return 0 }

// Cost is 0: it reads.
func (FindPasskey) Cost() int { return 0 }

// Cost is one act and the key.
func (UsePasskey) Cost() int { return writeCost + MaxPasskeyKey }

// Cost is one act and the key.
func (RemovePasskey) Cost() int { return writeCost + MaxPasskeyKey }
