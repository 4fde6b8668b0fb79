package ubl

import "time"

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
	// AcceptInvitation makes the invitee an unproven member, once, and answers their
	// *Identity, without the tenant. It refuses as FindInvitation does. A repetition
	// under the same key is answered again for [AcceptAgain], to whom the first
	// answer didn't reach. The platform only, for transport/auth.
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
