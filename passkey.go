package ubl

import "strings"

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
