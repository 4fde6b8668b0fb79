package ubl

import (
	"cmp"
	"fmt"
	"time"
)

// ModeInternal is the only room mode of this version: the server sees the text.
const ModeInternal = "internal"

// Join rules of a room.
const (
	// JoinInvite: an owner adds members.
	JoinInvite = "invite"
	// JoinTenant: every member of the tenant may join by themselves.
	JoinTenant = "tenant"
)

// RoomPolicy is what a room's owners decide for it.
type RoomPolicy struct {
	// MaxMessageBytes is 1 to [MaxMessageBytes].
	MaxMessageBytes int `json:"max_message_bytes"`
	// RetentionDays is how long messages are kept; 0 is for ever.
	RetentionDays int `json:"retention_days"`
	// Join is [JoinInvite] or [JoinTenant].
	Join string `json:"join"`
}

// RoomPolicyPatch changes the members that are set.
type RoomPolicyPatch struct {
	MaxMessageBytes *int    `json:"max_message_bytes,omitempty"`
	RetentionDays   *int    `json:"retention_days,omitempty"`
	Join            *string `json:"join,omitempty"`
}

// String tells one patch from another.
func (p RoomPolicyPatch) String() string {
	return patchText("max_message_bytes", p.MaxMessageBytes) + patchText("retention_days", p.RetentionDays) + patchText("join", p.Join)
}

func patchText[T any](name string, value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("%s=%v;", name, *value)
}

// Apply returns p with the patch's members, or what is wrong with one.
func (p RoomPolicy) Apply(patch RoomPolicyPatch) (RoomPolicy, error) {
	if v := patch.MaxMessageBytes; v != nil {
		if *v < 1 || *v > MaxMessageBytes {
			return p, Errorf(CodeValidation, "max_message_bytes is not between 1 and %d", MaxMessageBytes)
		}
		p.MaxMessageBytes = *v
	}
	if v := patch.RetentionDays; v != nil {
		if *v < 0 || *v > MaxRetentionDays {
			return p, Errorf(CodeValidation, "retention_days is not between 0 and %d", MaxRetentionDays)
		}
		p.RetentionDays = *v
	}
	if v := patch.Join; v != nil {
		if *v != JoinInvite && *v != JoinTenant {
			return p, Errorf(CodeValidation, "join is neither %q nor %q", JoinInvite, JoinTenant)
		}
		p.Join = *v
	}
	return p, nil
}

// MaxRetentionDays is a hundred years.
const MaxRetentionDays = 36500

// RoomSummary is an entry of a tenant's directory.
type RoomSummary struct {
	RoomID    RoomID `json:"room_id"`
	Name      string `json:"name"`
	Mode      string `json:"mode"`
	CreatedAt Time   `json:"created_at"`
}

// Room is a room's configuration.
type Room struct {
	RoomSummary
	TenantID      TenantID   `json:"tenant_id"`
	Policy        RoomPolicy `json:"policy"`
	Heir          UserID     `json:"heir,omitempty"` // see [Agreement.NamedHeir]
	LastSeq       int64      `json:"last_seq"`
	AvailableFrom int64      `json:"available_from"`
	// AsOf is the receipt of the newest act on the configuration that this shows, where
	// the past was asked for. LastSeq is then that of the moment; where retention has taken
	// the messages of then away, it is that of the act.
	AsOf *Receipt `json:"as_of,omitempty"`
}

// TenantDefaults apply to rooms made after they were set.
type TenantDefaults struct {
	RoomMode        string `json:"room_mode"`
	RetentionDays   int    `json:"retention_days"`
	MaxMessageBytes int    `json:"max_message_bytes"`
}

// TenantDefaultsPatch changes the members that are set.
type TenantDefaultsPatch struct {
	RetentionDays   *int `json:"retention_days,omitempty"`
	MaxMessageBytes *int `json:"max_message_bytes,omitempty"`
}

// String tells one patch from another.
func (p TenantDefaultsPatch) String() string {
	return patchText("max_message_bytes", p.MaxMessageBytes) + patchText("retention_days", p.RetentionDays)
}

// Apply returns d with the patch's members, or what is wrong with one.
func (d TenantDefaults) Apply(patch TenantDefaultsPatch) (TenantDefaults, error) {
	p := RoomPolicy{MaxMessageBytes: d.MaxMessageBytes, RetentionDays: d.RetentionDays}
	p, err := p.Apply(RoomPolicyPatch{MaxMessageBytes: patch.MaxMessageBytes, RetentionDays: patch.RetentionDays})
	d.MaxMessageBytes, d.RetentionDays = p.MaxMessageBytes, p.RetentionDays
	return d, err
}

// Tenant types.
const (
	TenantPlatform = "platform" // tenant 0
	TenantCustomer = "customer"
)

// Tenant is a tenant's record.
type Tenant struct {
	TenantID  TenantID       `json:"tenant_id"`
	Type      string         `json:"type"`
	CreatedAt Time           `json:"created_at"`
	Defaults  TenantDefaults `json:"defaults"`
}

// ServiceToken is a credential for an agent or a program, as it is listed. Its
// secret is shown once, when it is made, and stored hashed.
type ServiceToken struct {
	ClientID  string `json:"client_id"`
	Name      string `json:"name"`
	UserID    UserID `json:"user_id"`
	CreatedAt Time   `json:"created_at"`
	CreatedBy UserID `json:"created_by"`
	// KeptBy is the person who answers for the service: who made it or renewed it last, or
	// keeps the service that did. Lists name who that is now. "" for one from before that
	// was kept, which its maker keeps.
	KeptBy UserID `json:"kept_by,omitempty"`
	// EndsWith, in lists, are the people whose leaving the tenant ends the service: its keeper
	// and who drew its secret. Of a token that ended so it is who left.
	EndsWith []UserID `json:"ends_with,omitempty"`
	// ExpiresAt is nil only for one from before tokens had to expire, until the
	// tenant gives it an end, soon after the upgrade.
	ExpiresAt *Time `json:"expires_at"`
	RevokedAt *Time `json:"revoked_at"`
}

// Keeper is who answers for the service.
func (t *ServiceToken) Keeper() UserID { return cmp.Or(t.KeptBy, t.CreatedBy) }

const (
	// ServiceTokenTTL is how long a service token holds unless its maker says.
	ServiceTokenTTL = 90 * 24 * time.Hour
	// MaxServiceTokenTTL is the longest that it may hold, and a token that "ubl token" makes.
	MaxServiceTokenTTL = 366 * 24 * time.Hour
	// MaxRenewalGrace is how long the secret before a new one may go on.
	MaxRenewalGrace = 7 * 24 * time.Hour
)
