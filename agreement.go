package ubl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Role is what an Agreement's entry lets a member do.
type Role string

// Roles. Owners change membership, policy and the Agreement itself. Rooms have moderators
// besides, who may what [moderation] says.
const (
	RoleOwner     Role = "owner"
	RoleModerator Role = "moderator"
	RoleMember    Role = "member"
)

// rank orders roles by what they may do.
func (r Role) rank() int { return slices.Index([]Role{RoleMember, RoleModerator, RoleOwner}, r) }

// Takes reports whether entries of the Agreement can have the role.
func (a *Agreement) Takes(r Role) bool {
	return r.Valid() || r == RoleModerator && a.Type == RoomGovernance
}

// Valid reports whether the role is one of the two that every Agreement has.
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
	AgentMandateType       = "agent_mandate"
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
	// Agents, in the answer to a removal from a room or container, are the agents of theirs
	// that left with them. It is never stored.
	Agents []UserID `json:"agents,omitempty"`
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
	// Terms say what the Agreement permits, and to whom: those that its parties accepted
	// last, else the usual ones of its type. They are never changed in place. Amended is
	// the step of the history that brought them, 0 for the usual ones.
	Terms   *Terms `json:"terms,omitempty"`
	Amended int64  `json:"amended,omitempty"`
	// Mandate is what an agent's Agreement says; nil for every other.
	Mandate *Mandate `json:"mandate,omitempty"`
	// Salt is of the commitment to Mandate (see [ServiceToken]). Without it, Hash would let a mandate
	// be guessed.
	Salt Salt `json:"salt,omitzero"`
	// Proposal is of other terms, while not all have accepted who must; nil for none.
	Proposal *Proposal `json:"proposal,omitempty"`
	// Members is keyed by user; on the wire it is the sorted list of [AgreementView].
	Members map[UserID]Member `json:"-"`
}

// Change is one step in an Agreement's history, with the receipt of the act
// that made it.
type Change struct {
	N      int64  `json:"n"`
	Did    Did    `json:"did"`
	At     Time   `json:"at"`
	By     UserID `json:"by"`
	UserID UserID `json:"user_id,omitempty"`
	Role   Role   `json:"role,omitempty"`
	// Hash is that of the Agreement after the step, "" for a step from before that was kept.
	Hash    string  `json:"hash,omitempty"`
	Receipt Receipt `json:"receipt"`
}

// AgreementView is an Agreement as it is served: entries as a sorted list, and
// its history where one was asked for.
type AgreementView struct {
	// Between nodes the record stays a field of its own: both have Members.
	Agreement `msgpack:",noinline"`

	Members []Member `json:"members"`
	// Hash is [Agreement.Hash]; "" from a node of a version before it.
	Hash    string   `json:"hash,omitempty"`
	History []Change `json:"history,omitempty"`
	// AsOf is the receipt of the newest act that this shows, where the past was asked for.
	AsOf *Receipt `json:"as_of,omitempty"`
}

// View is a copy, with the entries by user id.
func (a *Agreement) View(history []Change) *AgreementView {
	v := &AgreementView{Agreement: *a, Members: a.SortedMembers(), Hash: a.Hash(), History: history}
	v.Agreement.Members = maps.Clone(a.Members)
	if a.Proposal != nil {
		p := *a.Proposal
		p.Waiting = a.Waiting()
		v.Proposal = &p
	}
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

// Hash commits to the record: "g:" and the hex SHA-256 of canonical JSON with these members
// of it, as [AgreementView] is served: created_at, created_by, ended_at, heir, id, mandate, physics, salt,
// sealed_at, status, tenant_id, terms, type, each left out where it is absent there, and
// members, the entries by user id, each with is_service (where true), role, since and
// user_id. Names, addresses and what lists add are for reading only, and an open proposal
// binds nobody: none of them is hashed.
func (a *Agreement) Hash() string {
	b := make([]byte, 0, 1024+128*len(a.Members))
	b = a.CreatedAt.append(append(b, `{"created_at":"`...))
	b = appendString(append(b, `","created_by":`...), string(a.CreatedBy))
	if a.EndedAt != nil {
		b = append(a.EndedAt.append(append(b, `,"ended_at":"`...)), '"')
	}
	if a.NamedHeir != "" {
		b = appendString(append(b, `,"heir":`...), string(a.NamedHeir))
	}
	b = appendString(append(b, `,"id":`...), string(a.ID))
	if a.Mandate != nil {
		b = append(append(b, `,"mandate":`...), canonical(a.Mandate)...)
	}
	b = append(b, `,"members":[`...)
	for i, id := range slices.Sorted(maps.Keys(a.Members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.Members[id].appendHashed(b)
	}
	b = append(b, ']')
	if a.Physics != nil {
		b = append(append(b, `,"physics":`...), canonical(a.Physics)...)
	}
	if !a.Salt.IsZero() {
		b = append(append(append(b, `,"salt":"`...), a.Salt.String()...), '"')
	}
	if a.SealedAt != nil {
		b = append(a.SealedAt.append(append(b, `,"sealed_at":"`...)), '"')
	}
	b = appendString(append(b, `,"status":`...), a.Status)
	b = appendString(append(b, `,"tenant_id":`...), string(a.TenantID))
	if a.Terms != nil {
		b = append(append(b, `,"terms":`...), canonical(a.Terms)...)
	}
	b = appendString(append(b, `,"type":`...), a.Type)
	return prefixedHash("g:", append(b, '}'))
}

// appendHashed writes what [Agreement.Hash] covers of an entry.
func (m Member) appendHashed(b []byte) []byte {
	b = append(b, '{')
	if m.IsService {
		b = append(b, `"is_service":true,`...)
	}
	b = appendString(append(b, `"role":`...), string(m.Role))
	b = m.Since.append(append(b, `,"since":"`...))
	b = appendString(append(b, `","user_id":`...), string(m.UserID))
	return append(b, '}')
}

// canonical is the canonical JSON of what always has one: strings, small numbers and times,
// and JSON that was checked at the border.
func canonical(record any) []byte {
	b, err := json.Marshal(record)
	if err == nil {
		b, err = Canonical(b)
	}
	if err != nil {
		panic(fmt.Sprintf("ubl: couldn't write a record: %v", err))
	}
	return b
}

// Stance is what somebody is to an Agreement.
type Stance struct {
	// Who is zero for a caller without an identity.
	Who Identity
	// Role is that of their entry, "" for none.
	Role Role
	// Inside says that they are of the tenant that the Agreement is of.
	Inside bool
}

// Standing of somebody. User ids are unique within a tenant only, so an entry is of who is
// inside. The zero Identity, who is anonymous, stands where anyone does.
func (a *Agreement) Standing(who Identity) Stance {
	s := Stance{Who: who, Inside: who.UserID != "" && who.TenantID == a.TenantID}
	if s.Inside {
		s.Role = a.Members[who.UserID].Role
	}
	return s
}

// Permits refuses an act that the terms don't permit to somebody, and every act after the
// end but a redaction, which only takes away. The code is for those who have no part in the Agreement.
func (a *Agreement) Permits(did Did, who Identity, refusal Code) error {
	return a.PermitsTo(did, a.Standing(who), refusal)
}

// PermitsTo is Permits for a standing that the record alone doesn't tell.
func (a *Agreement) PermitsTo(did Did, s Stance, refusal Code) error {
	if err := a.Shows(did, s, refusal); err != nil || did == DidRedact {
		return err
	}
	return a.InForce()
}

// Shows is PermitsTo for what is possible after the end too, as reading is.
func (a *Agreement) Shows(did Did, s Stance, refusal Code) error {
	switch {
	case a.Terms.Permit(did, s), s.Role != "" && slices.Contains(rights, did), s.Role == RoleModerator && slices.Contains(moderation, did):
		return nil
	case s.Role == "":
		return Errorf(refusal, "the caller has no part in %s", a.ID)
	case a.Type == RoomGovernance && slices.Contains(moderation, did):
		return Errorf(CodeForbidden, "only an owner or a moderator may do this")
	case a.Terms.Permit(did, Stance{Role: RoleOwner, Inside: true}):
		return Errorf(CodeForbidden, "only an owner may do this")
	}
	return Errorf(CodeForbidden, "the Agreement's terms don't permit this to the caller")
}

// Heir is the person of the highest role who has had an entry for longest, but for one: who
// answers for what the Agreement governs when others are gone.
func (a *Agreement) Heir(but UserID) (heir Member, ok bool) {
	for _, m := range a.SortedMembers() {
		if m.UserID == but || m.IsService {
			continue
		}
		older := m.Role == heir.Role && m.Since < heir.Since
		if !ok || older || m.Role.rank() > heir.Role.rank() {
			heir, ok = m, true
		}
	}
	return heir, ok
}

// Proposal is other terms that somebody has put before those who have to accept them.
type Proposal struct {
	Terms     Terms  `json:"terms"`
	TermsHash string `json:"terms_hash"` // of [Terms.Hash]
	By        UserID `json:"by"`
	At        Time   `json:"at"`
	// EntryID is the entry that tells of it in the room's timeline; "" for what governs no
	// room, and for one from before such entries.
	EntryID MessageID `json:"entry_id,omitempty"`
	// Accepted are who has, the proposer first.
	Accepted []UserID `json:"accepted"`
	// Waiting, in answers, are who still has to: who has left has not. It is never stored.
	Waiting []UserID `json:"waiting,omitempty"`
}

// RecordVersion names what a record is now, for those who change it (see [Expects]), by its hash
// and by the open proposal, which the hash leaves out.
func RecordVersion(hash string, open *Proposal) string {
	if open != nil {
		hash += open.TermsHash
	}
	return VersionOf(hash)
}

// Waiting are the people who have to accept the open proposal and have not yet, by user
// id. The terms in force say who must; services don't.
func (a *Agreement) Waiting() []UserID {
	var left []UserID
	for _, m := range a.SortedMembers() {
		must := a.Terms.Accept == AcceptEntries || a.Terms.Accept == AcceptOwners && m.Role == RoleOwner
		if must && !m.IsService && !slices.Contains(a.Proposal.Accepted, m.UserID) {
			left = append(left, m.UserID)
		}
	}
	return left
}

// Commands about the terms of an Agreement, which Rooms, Tenants and Containers answer for
// those that they keep.
type (
	// ProposeTerms puts other terms before those who have to accept them, in place of a
	// proposal that is open. Where nobody else has to, they are in force at once. Whom the
	// terms in force permit it. Answers *AgreementView.
	ProposeTerms struct {
		Request
		Expects
		Agreement AgreementID // "" for the actor's own
		Terms     Terms
	}
	// AcceptTerms accepts the open proposal, which TermsHash names; the last one who has to
	// brings it into force. The people whom the terms in force say. Answers
	// *AgreementView.
	AcceptTerms struct {
		Request
		Expects
		Agreement AgreementID
		TermsHash string
	}
	// WithdrawTerms takes the open proposal away. Who made it, who has to accept it, and whom
	// the terms in force permit it. Answers *AgreementView.
	WithdrawTerms struct {
		Request
		Expects
		Agreement AgreementID
	}
)

// Cost is that of the record.
func (c ProposeTerms) Cost() int { return 2*writeCost + 2*c.Terms.size() }

// Cost is one act.
func (AcceptTerms) Cost() int { return 2 * writeCost }

// Cost is one act.
func (WithdrawTerms) Cost() int { return writeCost }
