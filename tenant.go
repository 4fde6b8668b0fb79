package ubl

import (
	"encoding/json"
	"time"
)

// Commands of the Tenant family.
type (
	// Enter is asked before anything else a caller does: it bootstraps the
	// tenant, adds a new member of the domain, and says what the caller is.
	// Act tells that the request wants to change something, which an ended
	// TenantLicense refuses. Tool names what the request wants to use, "" for
	// nothing that ToolAccess could govern: the Tenant refuses who may not, on
	// record, and counts the call against the caller's limit. External says that
	// the tool is another server's, which without a record is open to nobody. Still
	// asks again about a use that goes on, which isn't counted. Name is what the
	// caller's credential calls them, "" for nothing: it is taken where the member has
	// no name yet. Destroys says that the tool replaces or takes away what was there, or may;
	// Confirmed names the tool, or the part of it, that a person lets the agent use. NoFounding refuses where the tenant doesn't exist yet, with
	// [ErrUnfounded]. Operator says that the node's --operator names the caller, whom
	// tenant 0 makes an owner. Answers *Entered.
	Enter struct {
		Request
		Name       string
		Act        bool
		Tool       string
		External   bool
		Still      bool
		Destroys   bool
		Confirmed  string
		NoFounding bool
		Operator   bool
	}
	// GetTenant reads the record. Members. Answers *Tenant.
	GetTenant struct{ Who Identity }
	// SetDefaults changes the defaults of rooms to come. Owners. Answers *Tenant.
	SetDefaults struct {
		Request
		Expects
		Patch TenantDefaultsPatch
	}
	// ListRooms lists the rooms that the caller is a member of or may join.
	// After and Limit cut a page out of the list: the rooms behind an id, 0 for no
	// limit. Details adds the last message and seq where the caller is a member and
	// the room can be asked. Answers []RoomEntry, by room id.
	ListRooms struct {
		Who     Identity
		Details bool
		After   RoomID
		Limit   int
		// Hidden lists direct messages too that the caller has hidden.
		Hidden bool
		// Directory lists only rooms that the caller may join and isn't in, whose name or
		// topic has all the words of Query, with their cards.
		Directory bool
		Query     string
	}
	// CreateRoom makes a room; its creator owns it. Physics are nil for [RoomPhysics], else of
	// those that [CheckRoomPhysics] knows. Members. Answers *RoomSummary.
	CreateRoom struct {
		Request
		Name    string
		Physics *Physics
	}
	// OpenDirect opens the direct messages between the caller and members of the tenant, up to
	// [MaxDirect] people together: it makes their room where there is none, and shows the caller
	// again what they have hidden. Members. Answers *RoomSummary.
	OpenDirect struct {
		Request
		With []UserID
	}
	// ListMembers lists the tenant's members, or of those whom Only names, if it
	// names any, the ones that are. Members. Answers []Member, by user id.
	ListMembers struct {
		Who  Identity
		Only []UserID
	}
	// ListFormer lists those who were members and have left or were removed. Members.
	// Answers []FormerMember, by user id.
	ListFormer struct{ Who Identity }
	// SetPresent says that the caller is there, for [PresentFor], or is not any more. It is not
	// kept: no receipt, no record. Members that are people. Answers *Presence.
	SetPresent struct {
		Who     Identity
		Present bool
	}
	// ListPresent lists who is there. Members. Answers []Presence, by user id.
	ListPresent struct{ Who Identity }
	// FindMember looks a member up by id or, where that is empty, by address; one whose
	// address is unproven is found by id only. Members. Answers *Member.
	FindMember struct {
		Who    Identity
		UserID UserID
		Email  string
	}
	// SetTenantMember changes a member's role unless it is "", and their name unless
	// it is nil; the name "" takes theirs away. Owners, and anyone their own name.
	// Answers *Member.
	SetTenantMember struct {
		Request
		UserID UserID
		Role   Role
		Name   *string
	}
	// RemoveTenantMember shuts a member out of the tenant, with the services they
	// keep. Owners; anyone themselves, which is leaving; the platform a service whose
	// keeper has left. Answers *Member.
	RemoveTenantMember struct {
		Request
		UserID UserID
	}
	// NameHeir makes a person of the tenant the owner of a sealed room or container,
	// from now on: what was there before stays closed. Owners. Answers *Member.
	NameHeir struct {
		Request
		Agreement AgreementID
		UserID    UserID
	}
	// ListSealed lists the sealed rooms and containers that can take an heir, by
	// Agreement, without what is inside. Owners. Answers []SealedPlace.
	ListSealed struct{ Who Identity }
	// CreateServiceToken records a token whose secret the caller has drawn and
	// hashed. It holds for [ServiceTokenTTL] where ExpiresAt is nil. Mandate, unless nil,
	// bounds what the service may do. Owners. Answers *ServiceToken.
	CreateServiceToken struct {
		Request
		Name       string
		ClientID   string
		SecretHash string // hex SHA-256
		ExpiresAt  *Time
		Mandate    *Mandate
	}
	// RenewServiceToken gives one another end, [ServiceTokenTTL] from now where
	// ExpiresAt is nil. A SecretHash that isn't "" replaces the secret, and the one
	// before goes on for Grace: only who made the token may. The caller keeps the
	// service from then on. Owners; the platform one without an end. Answers *ServiceRenewed.
	RenewServiceToken struct {
		Request
		ClientID   string
		ExpiresAt  *Time
		SecretHash string // hex SHA-256
		Grace      time.Duration
	}
	// RevokeServiceToken ends one. Owners, and who keeps an agent with a mandate. Answers
	// *ServiceToken.
	RevokeServiceToken struct {
		Request
		ClientID string
	}
	// ListServiceTokens lists them: all to owners, to any other person of the tenant the agents
	// that they keep. Answers []ServiceToken.
	ListServiceTokens struct{ Who Identity }
	// CheckServiceToken answers the *ServiceCaller behind a client id and the hash
	// of its secret, or unauthorized. Asked by transport/auth only.
	CheckServiceToken struct {
		ClientID   string
		SecretHash string
	}
	// AdmitToken receipts a platform token at its first use, before it is
	// accepted, and refuses a revoked one. Link is the hash of the [OneTimeLink]
	// that a session begins by and uses up, else "". Asked by transport/auth, of
	// tenant 0 only. Answers nil.
	AdmitToken struct {
		Request
		Token PlatformToken
		Link  string
	}
	// ListTokens lists the caller's own platform tokens that have been used, are
	// not revoked and have not expired, the newest first. A session is among them
	// for a day longer than its newest cookie that was used: one given since may
	// come yet. Anyone, of tenant 0 only. Answers []PlatformToken.
	ListTokens struct{ Who Identity }
	// RevokeTokens ends all of those, and removes the caller's passkeys where
	// Passkeys says so: for transport/auth, before an address is another person's.
	// Anyone, of tenant 0 only. Answers how many tokens they were.
	RevokeTokens struct {
		Request
		Passkeys bool
	}
	// EndSignIns ends the platform tokens and passkeys of one of the people who were
	// shut out of a tenant: of the first in the list who has any. The platform only,
	// of tenant 0. Answers how many tokens and passkeys they were, 0 when nobody has
	// any left.
	EndSignIns struct {
		Request
		Tenant TenantID
		Users  []UserID
	}
	// OfferLink records a sign-in link before somebody is told it. The platform
	// only, of tenant 0. Answers nil.
	OfferLink struct {
		Request
		Link OneTimeLink
	}
	// FindLink reads a link that may still be used. The platform only, of tenant
	// 0. Answers *OneTimeLink.
	FindLink struct {
		Who  Identity
		Hash string
	}
	// SweepRooms has a tenant finish what it has begun with other actors: members who
	// were shut out, and its domains. The platform only. Answers how many members have
	// been shut out.
	SweepRooms struct{ Request }
	// RevokeToken ends a platform token. Owners of tenant 0, and anyone their
	// own. Answers nil.
	RevokeToken struct {
		Request
		JTI string
	}
)

// Entered is what a caller is in their tenant.
type Entered struct {
	TenantID TenantID
	Role     Role
	// Under are the records by which the Tenant has let them in: the TenantLicense, and that about
	// the tool. Nodes of earlier versions don't say.
	Under []RecordHash `json:",omitempty"`
}

// ErrUnfounded answers an Enter without founding into a tenant that doesn't exist yet.
func ErrUnfounded() *Error {
	e := Errorf(CodeNotFound, "there is no such tenant yet")
	e.Details = map[string]string{"tenant": "unfounded"}
	return e
}

// IsUnfounded reports whether an error is [ErrUnfounded], of this node or another.
func IsUnfounded(err error) bool {
	return CodeOf(err) == CodeNotFound && AsError(err).Details["tenant"] == "unfounded"
}

// ServiceCaller is who calls with a service token, and when its secret ends: 0 for
// not yet known. Resource is that of [ConnectAgent], "" for a service token.
type ServiceCaller struct {
	Identity  Identity
	ExpiresAt Time
	Resource  string
}

// ServiceRenewed is a service token as its renewal left it, with the hash of its
// newest secret: a repetition so finds out whether its own was taken.
type ServiceRenewed struct {
	Token      ServiceToken
	SecretHash string
}

// RoomEntry is a room in a caller's list.
type RoomEntry struct {
	RoomSummary
	// Member is whether the caller is one.
	Member bool
	// Alike says that the name looks like another's in the whole list.
	Alike bool
	// LastSeq and LastMessage are set where details were asked for, the caller is
	// a member and the room answered: LastSeq is 0 else. LastMessage is nil for a
	// room of which retention keeps nothing.
	LastSeq     int64
	LastMessage json.RawMessage
	// Messages is that of [Head].
	Messages int64
	// Read is how far the caller has read, nil where they are no member.
	Read *ReadState
	// Card is set in the directory, where the room answered.
	Card *RoomCard
	// Failed and FailedWhy say why a member's room gave no details that were asked for.
	Failed    Code
	FailedWhy string
}

// SealedPlace is a sealed room or container as the tenant's owners see it.
type SealedPlace struct {
	AgreementID AgreementID `json:"agreement_id"`
	Type        string      `json:"type"` // of the Agreement
	ID          string      `json:"id"`   // of the room or container
	Name        string      `json:"name"`
	SealedAt    Time        `json:"sealed_at"`
}

// PlatformToken is what tenant 0 remembers of a token made with the node's key.
// Of a session there is one, however often its cookie is made anew.
type PlatformToken struct {
	JTI       string   `json:"jti"`
	UserID    UserID   `json:"user_id"`
	TenantID  TenantID `json:"tenant_id"`
	ExpiresAt Time     `json:"expires_at"`
	// CreatedAt is when it was made, or the session began; 0 for one from before
	// that was kept.
	CreatedAt Time `json:"created_at,omitzero"`
	// Kind is [TokenSession] or [TokenBearer]; "" for one of the latter from before
	// there were sessions.
	Kind TokenKind `json:"kind,omitempty"`
	// Label tells a person's sessions apart, as "Safari on iPhone", and their command
	// lines' tokens; Method says how a session's person signed in. Both are "" for other
	// bearer tokens.
	Label  string       `json:"label,omitempty"`
	Method SignInMethod `json:"method,omitempty"`
	// Turn counts how often the session's cookie was made anew.
	Turn int64 `json:"turn,omitempty"`
}

// OneTimeLink is a link that begins a session once, or gives a command line its token once.
type OneTimeLink struct {
	Hash      string   `json:"hash"` // of the code in it, hex SHA-256
	UserID    UserID   `json:"user_id"`
	TenantID  TenantID `json:"tenant_id"`
	Email     string   `json:"email"`
	ExpiresAt Time     `json:"expires_at"`
	// Sealed is what the node that offers the link keeps in it for whoever uses it, under a
	// key of the node's; "" for nothing.
	Sealed string `json:"sealed,omitempty"`
}

// TokenKind says what a platform token is for.
type TokenKind string

// The kinds of platform tokens.
const (
	TokenBearer  TokenKind = "token"   // sent by programs, in a header
	TokenSession TokenKind = "session" // kept by a browser, in a cookie
)

// SignInMethod is how somebody proved who they are when a session began.
type SignInMethod string

// The ways to sign in from a browser.
const (
	SignInLink       SignInMethod = "link"       // the link that a node prints
	SignInPasskey    SignInMethod = "passkey"    // WebAuthn
	SignInOIDC       SignInMethod = "oidc"       // an OpenID Connect provider
	SignInInvitation SignInMethod = "invitation" // an owner's link
)

// Cost is 0: nearly every Enter only reads, and the rare one that joins is
// small and must not be refused where a read would pass.
func (Enter) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetTenant) Cost() int { return 0 }

// Cost is one act.
func (SetDefaults) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListRooms) Cost() int { return 0 }

// Cost is that of the room, its Agreement and its system message.
func (CreateRoom) Cost() int { return 3 * writeCost }

// Cost is that of the room, its Agreement and its system message.
func (c OpenDirect) Cost() int { return (3 + len(c.With)) * writeCost }

// Cost is 0: it reads.
func (ListMembers) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListFormer) Cost() int { return 0 }

// Cost is 0: it writes nothing.
func (SetPresent) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListPresent) Cost() int { return 0 }

// Cost is 0: it reads.
func (FindMember) Cost() int { return 0 }

// Cost is one act.
func (SetTenantMember) Cost() int { return writeCost }

// Cost is one act.
func (RemoveTenantMember) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListSealed) Cost() int { return 0 }

// Cost is 0: the act of the room or container is admitted on its own.
func (NameHeir) Cost() int { return 0 }

// Cost is one act and the mandate.
func (c CreateServiceToken) Cost() int {
	if c.Mandate == nil {
		return writeCost
	}
	return 2*writeCost + c.Mandate.size()
}

// Cost is one act.
func (RenewServiceToken) Cost() int { return writeCost }

// Cost is one act.
func (RevokeServiceToken) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListServiceTokens) Cost() int { return 0 }

// Cost is 0: it reads.
func (CheckServiceToken) Cost() int { return 0 }

// Cost is one act.
func (AdmitToken) Cost() int { return writeCost }

// Cost is one act.
func (RevokeToken) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListTokens) Cost() int { return 0 }

// Cost is one act.
func (RevokeTokens) Cost() int { return writeCost }

// Cost is 0: it nearly always only reads.
func (EndSignIns) Cost() int { return 0 }

// Cost is one act.
func (OfferLink) Cost() int { return writeCost }

// Cost is 0: it reads.
func (FindLink) Cost() int { return 0 }

// Cost is 0: each Room is admitted on its own.
func (SweepRooms) Cost() int { return 0 }

// Quota refuses one more of what a limit counts in all, where there are as many as it
// lets there be. A nil one refuses nothing.
type Quota func(limit string, have int) error

// The limits that are counted where the things are. Bytes are counted by the tenant's LedgerShard,
// uploads by the node that has them, and the rest by the tenant.
const (
	QuotaBytes           = "bytes-tenant"
	QuotaRooms           = "rooms-tenant"
	QuotaContainers      = "containers-tenant"
	QuotaTokens          = "tokens-tenant"
	QuotaTools           = "tools-tenant"
	QuotaUploadsIdentity = "uploads-identity"
	QuotaUploadsTenant   = "uploads-tenant"
	QuotaRoomFiles       = "file-bytes-room"
)

// Rate is by which of a caller's rates a use of a tool is counted. The empty one is for
// reads, which count as requests alone.
type Rate string

// The rates of what writes. Sends are what people and agents do all day, and what takes
// away: messages, documents, calls, joining, leaving, removing, revoking. Creations make
// or change what stays: rooms, entries, roles, credentials, servers, who may use a tool. A
// look at the past counts as one of them.
const (
	Sends     Rate = "sends"
	Creations Rate = "creations"
)

// Within asks the quota.
func (q Quota) Within(limit string, have int) error {
	if q == nil {
		return nil
	}
	return q(limit, have)
}

// Content is what of a family's records counts as stored by the tenant: those in a key
// space, or the ones of them that Counts says. They are never overwritten.
type Content struct {
	Space  byte
	Counts func(key []byte) bool // nil for all
	// Weighs is how many bytes a record takes that stands for more than itself; nil for its
	// own length.
	Weighs func(value []byte) int64
}

// Weight is how many bytes a record of the content takes.
func (c Content) Weight(value []byte) int64 {
	if c.Weighs == nil {
		return int64(len(value))
	}
	return c.Weighs(value)
}

// Has reports whether a record of the key counts.
func (c Content) Has(key []byte) bool {
	return len(key) > 0 && key[0] == c.Space && (c.Counts == nil || c.Counts(key))
}

// What Tenants tell. These are internal: they steer streams and are not shown to clients.
const (
	// EventMemberDemoted ends the streams that show a member what owners see.
	EventMemberDemoted = "member.demoted"
	// EventTokenRevoked ends the streams and caches of a token.
	EventTokenRevoked = "token.revoked"
	// EventToolsChanged tells that which tools there are, or who may use them, has changed; its
	// payload is {"tool":…}, or {} for several. Portals tell it, too.
	EventToolsChanged = "tools.changed"
)

// PresentFor is how long somebody counts as present after they said so last. Who is there says
// so each minute.
const PresentFor = 150 * time.Second

// Presence is that a person of the tenant is there, until then. Before now says that they aren't.
type Presence struct {
	UserID UserID `json:"user_id"`
	Until  Time   `json:"until"`
}
