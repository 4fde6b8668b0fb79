package ubl

import (
	"maps"
	"slices"
)

// Role is what an Agreement's entry lets a member do.
type Role string

// Roles. Owners change membership, policy and the Agreement itself.
const (
	RoleOwner  Role = "owner"
	RoleMember Role = "member"
)

// Valid reports whether the role is one of the two.
func (r Role) Valid() bool { return r == RoleOwner || r == RoleMember }

// Agreement types of this version.
const (
	TenantLicense  = "tenant_license"
	RoomGovernance = "room_governance"
	// ContainerGovernance and its two best known kinds.
	ContainerGovernance    = "container_governance"
	WorkspaceAgreementType = "workspace_agreement"
	WalletAgreementType    = "wallet_agreement"
	ToolAccessType         = "tool_access"
)

// Agreement statuses. Ended is final; the record and its history stay readable.
const (
	AgreementInForce = "in_force"
	AgreementEnded   = "ended"
)

// Member is an entry of an Agreement.
type Member struct {
	UserID UserID `json:"user_id"`
	// Name is what to call them, "" for none: see [CheckMemberName]. Two may have the
	// same, and it decides nothing. Only a tenant's entries keep it; those of rooms and
	// containers have none.
	Name string `json:"name,omitempty"`
	// Alike, in lists, says that what they are called looks like what another member of
	// the tenant is called: show their id as well. It is never stored.
	Alike     bool   `json:"alike,omitempty"`
	Email     string `json:"email,omitempty"`
	Role      Role   `json:"role"`
	IsService bool   `json:"is_service,omitempty"`
	// Unproven says that nobody has verified that Email is theirs: they came by an
	// invitation. Only a tenant's entries keep it.
	Unproven bool `json:"unproven,omitempty"`
	// InvitedBy is the owner whose invitation brought them, "" for nobody's. It stays when
	// that owner is removed. Only a tenant's entries keep it.
	InvitedBy UserID `json:"invited_by,omitempty"`
	Since     Time   `json:"since"`
}

// FormerMember is what the tenant's members are told of somebody who is one no more, so
// that what they have written keeps its author's name.
type FormerMember struct {
	UserID UserID `json:"user_id"`
	// Name is what it was when they left, "" for none.
	Name string `json:"name,omitempty"`
	// Alike says that Name looks like what a member, or another who has left, is called.
	Alike bool `json:"alike,omitempty"`
}

// Agreement is the record that authorises acts. It is changed only by
// receipted acts, and an action names the one its decision read.
type Agreement struct {
	ID        AgreementID `json:"id"`
	Type      string      `json:"type"`
	TenantID  TenantID    `json:"tenant_id"`
	CreatedAt Time        `json:"created_at"`
	CreatedBy UserID      `json:"created_by"`
	Status    string      `json:"status"`
	EndedAt   *Time       `json:"ended_at,omitempty"`
	// SealedAt is when the last person left what the Agreement governs, nil for what
	// is not sealed: nobody gets in until an heir is named, and what was there before
	// stays closed to them too.
	SealedAt *Time `json:"sealed_at,omitempty"`
	// NamedHeir is whom an owner has named to own what the Agreement governs once its
	// last owner is gone, "" for nobody. They count while they are in the tenant.
	NamedHeir UserID `json:"heir,omitempty"`
	// Physics of what the Agreement governs; nil for an Agreement about no
	// container, as ToolAccess is.
	Physics *Physics `json:"physics,omitempty"`
	// Members is keyed by user; on the wire it is the sorted list of [AgreementView].
	Members map[UserID]Member `json:"-"`
}

// Change is one step in an Agreement's history, with the receipt of the act
// that made it.
type Change struct {
	N       int64   `json:"n"`
	Did     Did     `json:"did"`
	At      Time    `json:"at"`
	By      UserID  `json:"by"`
	UserID  UserID  `json:"user_id,omitempty"`
	Role    Role    `json:"role,omitempty"`
	Receipt Receipt `json:"receipt"`
}

// AgreementView is an Agreement as it is served: entries as a sorted list, and
// its history where one was asked for.
type AgreementView struct {
	// Between nodes the record stays a field of its own: both have Members.
	Agreement `msgpack:",noinline"`

	Members []Member `json:"members"`
	History []Change `json:"history,omitempty"`
	// AsOf is the receipt of the newest act that this shows, where the past was asked for.
	AsOf *Receipt `json:"as_of,omitempty"`
}

// View is a copy, with the entries by user id.
func (a *Agreement) View(history []Change) *AgreementView {
	v := &AgreementView{Agreement: *a, Members: a.SortedMembers(), History: history}
	v.Agreement.Members = maps.Clone(a.Members)
	return v
}

// SortedMembers lists the entries by user id.
func (a *Agreement) SortedMembers() []Member {
	out := make([]Member, 0, len(a.Members))
	for _, id := range slices.Sorted(maps.Keys(a.Members)) {
		out = append(out, a.Members[id])
	}
	return out
}

// Entry is the caller's, or a refusal with the code.
func (a *Agreement) Entry(who Identity, refusal Code) (Member, error) {
	m, ok := a.Members[who.UserID]
	if !ok {
		return m, Errorf(refusal, "the caller has no part in %s", a.ID)
	}
	return m, nil
}

// OwnedBy refuses everyone but owners, and owners too once the Agreement has
// ended. The code is for those who have no part in it.
func (a *Agreement) OwnedBy(who Identity, refusal Code) error {
	m, err := a.Entry(who, refusal)
	if err != nil {
		return err
	}
	if m.Role != RoleOwner {
		return Errorf(CodeForbidden, "only an owner may do this")
	}
	return a.InForce()
}

// InForce refuses an act under an Agreement that has ended.
func (a *Agreement) InForce() error {
	if a.Status != AgreementInForce {
		return Errorf(CodeForbidden, "the Agreement %s has ended", a.ID)
	}
	return nil
}

// May refuses an operation on what the Agreement governs: because it has ended,
// or because its physics rule the operation out.
func (a *Agreement) May(op Operation) error {
	if err := a.InForce(); err != nil || a.Physics == nil {
		return err
	}
	return a.Physics.May(op)
}

// Owners counts the entries that are owners.
func (a *Agreement) Owners() int { return a.owners(true) }

// HumanOwners counts the owners that are people: a credential can be revoked or
// lost, and must not be all that is left of a tenant's ownership.
func (a *Agreement) HumanOwners() int { return a.owners(false) }

func (a *Agreement) owners(services bool) int {
	n := 0
	for _, m := range a.Members {
		if m.Role == RoleOwner && (services || !m.IsService) {
			n++
		}
	}
	return n
}

// The decisions about who belongs to what an Agreement governs. Rooms and
// containers share them; each reads the Agreement and changes nothing.

// Admit is the entry of someone new.
func (a *Agreement) Admit(m Member, now Time) (Member, error) {
	if !m.Role.Valid() {
		return m, errRole()
	}
	if _, ok := a.Members[m.UserID]; ok {
		return m, Errorf(CodeConflict, "the user is a member already")
	}
	m.Since, m.Name, m.Unproven, m.InvitedBy = now, "", false, ""
	return m, nil
}

// Reassign is a member's entry in another role. The last owner stays one.
func (a *Agreement) Reassign(user UserID, role Role) (Member, error) {
	m, ok := a.Members[user]
	switch {
	case !role.Valid():
		return m, errRole()
	case !ok:
		return m, errNoMember()
	case role != RoleOwner && a.lastOwner(m):
		return m, Errorf(CodeConflict, "the last owner stays an owner")
	}
	m.Role = role
	return m, nil
}

// Removal is the entry that goes, and who owns what the Agreement governs after
// that, where the last owner or the last person is shut out: see [Agreement.successor]. With seal it has to
// be sealed, and an heir beside that has it from now on. The code is for callers who
// have no part in it.
func (a *Agreement) Removal(c RemoveMember, now Time, refusal Code, private bool) (gone Member, heir *Member, seal bool, err error) {
	if err := a.mayRemove(c, refusal); err != nil {
		return gone, nil, false, err
	}
	gone, ok := a.Members[c.UserID]
	switch last := a.lastOwner(gone); {
	case !ok:
		return gone, nil, false, errNoMember()
	case last && !c.Expel:
		return gone, nil, false, Errorf(CodeConflict, "the last owner can't go before making another one")
	case last || c.Expel && a.lastPerson(gone):
		heir, seal = a.successor(c, now, private)
	}
	return gone, heir, seal, nil
}

// successor is the new owner: who was named, if they are inside; else the person who
// has been for longest. Where no person is left inside, that is who was named from
// outside, or for what others could enter whom the Tenant names. What is private is
// sealed then, so that nobody from outside reads what was there before.
func (a *Agreement) successor(c RemoveMember, now Time, private bool) (heir *Member, seal bool) {
	if m, in := a.Members[a.NamedHeir]; in && !m.IsService && m.UserID != c.UserID {
		m.Role = RoleOwner
		return &m, false
	}
	if m, left := a.Heir(c.UserID); left {
		m.Role = RoleOwner
		return &m, false
	}
	from := c.Named
	if from == nil || from.UserID != a.NamedHeir || from.UserID == c.UserID || from.IsService {
		from = nil
		if !private {
			from = c.Heir
		}
	}
	if from == nil {
		return nil, private
	}
	m := *from
	m.Role, m.Since, m.Name, m.Unproven, m.InvitedBy = RoleOwner, now, "", false, ""
	return &m, private
}

// NameHeir checks whom an owner names to follow them; the empty id takes the name back.
// The code is for those who have no part in it.
func (a *Agreement) NameHeir(c SetHeir, refusal Code) error {
	if err := a.OwnedBy(c.Who, refusal); err != nil {
		return err
	}
	switch {
	case c.Who.IsService:
		return Errorf(CodeForbidden, "a service can't name an heir")
	case c.Heir.IsService:
		return Errorf(CodeValidation, "the heir is a service; name a person")
	case c.Heir.UserID == a.NamedHeir && c.Heir.UserID == "":
		return Errorf(CodeConflict, "no heir is named")
	case c.Heir.UserID == a.NamedHeir:
		return Errorf(CodeConflict, "they are named already")
	case c.Heir.UserID == c.Who.UserID && a.Owners() == 1:
		return Errorf(CodeValidation, "the heir follows you: name somebody else")
	}
	return nil
}

// Inherit is the entry of who is named to have what is sealed.
func (a *Agreement) Inherit(m Member, now Time) (Member, error) {
	switch {
	case a.InForce() != nil:
		return m, a.InForce()
	case a.SealedAt == nil:
		return m, Errorf(CodeConflict, "only what is sealed takes an heir: its owners add members")
	case m.IsService:
		return m, Errorf(CodeValidation, "the heir is a service; name a person")
	}
	m.Role, m.Since, m.Name, m.Unproven, m.InvitedBy = RoleOwner, now, "", false, ""
	return m, nil
}

// mayRemove lets the Tenant, which has decided under its own Agreement, members
// leave, and owners remove others.
func (a *Agreement) mayRemove(c RemoveMember, refusal Code) error {
	switch {
	case c.UserID == Platform().UserID:
		return Errorf(CodeConflict, "the platform can't be removed")
	case c.Expel:
		return nil
	case c.UserID == c.Who.UserID:
		if _, err := a.Entry(c.Who, refusal); err != nil {
			return err
		}
		return a.InForce()
	}
	return a.OwnedBy(c.Who, refusal)
}

// Heir is the person who has been an owner for longest, but for one, or else an
// entry: who answers for what the Agreement governs when others are gone.
func (a *Agreement) Heir(but UserID) (heir Member, ok bool) {
	for _, m := range a.SortedMembers() {
		if m.UserID == but || m.IsService {
			continue
		}
		older := m.Role == heir.Role && m.Since < heir.Since
		if !ok || older || m.Role == RoleOwner && heir.Role != RoleOwner {
			heir, ok = m, true
		}
	}
	return heir, ok
}

func (a *Agreement) lastOwner(m Member) bool { return m.Role == RoleOwner && a.Owners() == 1 }

// lastPerson reports whether all others are services: nobody would be left.
func (a *Agreement) lastPerson(m Member) bool {
	_, others := a.Heir(m.UserID)
	return !m.IsService && !others
}

func errRole() error { return Errorf(CodeValidation, "the role is neither owner nor member") }

func errNoMember() error { return Errorf(CodeNotFound, "the user is not a member") }
