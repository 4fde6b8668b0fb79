package tenant

import (
	"cmp"

	"ubl"
	"ubl/actors/agreement"
)

// State is what a Tenant decides by. It is the same after replaying the stored
// events as it was before a crash.
type State struct {
	Tenant  ubl.Tenant
	License agreement.Kept
	// Vouched holds which issuer and subject own each user id.
	Vouched map[ubl.UserID]voucher
	// Removed members are shut out until an owner sets them again.
	Removed map[ubl.UserID]ubl.Member
	Looks   *looks // of the members
	// Unproven are the members whose address nobody has verified: those who came by
	// invitation, also from before entries said so.
	Unproven map[ubl.UserID]bool
	Rooms    map[ubl.RoomID]ubl.RoomSummary
	// Kinds are the kinds of containers that the tenant has of its own, by name.
	Kinds map[string]ubl.Kind
	// Containers is the directory of workspaces, wallets and the like.
	Containers map[ubl.ContainerID]ubl.ContainerSummary
	// Tools holds the ToolAccess records by tool.
	Tools    map[string]tool
	Services map[string]service  // by client id
	Tokens   map[string]platform // by jti; tenant 0 only
	Links    map[string]link     // sign-in links by hash; tenant 0 only
	// Homes is where those belong who proved the address of an invitation, the newest
	// last; tenant 0 only.
	Homes map[voucher][]ubl.Home
	// Claims are the tenants' claims to mail domains. Tenant 0 decides and keeps all of
	// them; another tenant keeps its own, for its ledger. Holders is who has a domain.
	Claims  map[ubl.TenantID][]ubl.DomainClaim
	Holders map[string]holders
	// Invitations are those that are open and the newest that have ended, in the
	// order that they were made in.
	Invitations []invitation
	// Passkeys and whose they are; tenant 0 only.
	Passkeys map[ubl.PasskeyID]passkey
	Rings    map[person]ring
	// lastingTokens is how many of Tokens were left when expired ones were last
	// forgotten.
	lastingTokens int
	// tokensOf are the ids of each person's Tokens: a sign-in mustn't go through all.
	tokensOf map[person]map[string]struct{}
	Events   int64

	// meters count what callers use, and without a tool their refusals that are put on record: they
	// follow from no event.
	meters agreement.Meters
}

// id is the tenant's.
func (s *State) id() ubl.TenantID { return s.Tenant.TenantID }

type voucher struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

func (v voucher) compare(o voucher) int {
	return cmp.Or(cmp.Compare(v.Issuer, o.Issuer), cmp.Compare(v.Subject, o.Subject))
}

type service struct {
	ubl.ServiceToken
	SecretHash string `json:"secret_hash"`
	// FormerHash is that of the secret before the newest, which goes on until
	// FormerUntil.
	FormerHash  string   `json:"former_hash,omitempty"`
	FormerUntil ubl.Time `json:"former_until,omitzero"`
	// Grant is what an agent has that somebody connected, in place of a secret.
	Grant *grant `json:"grant,omitempty"`
}

// apply is the only place where events change the state.
func (s *State) apply(e event) {
	s.Events = e.N
	if e.licenses() {
		s.License.Changed()
	}
	switch {
	case e.Passkey != nil:
		s.passkey(e)
		return
	case e.Container != nil:
		c := *e.Container
		c.Name = cmp.Or(ubl.ShownName(c.Name), string(c.ContainerID))
		if e.Version == 1 {
			c.Physics = c.Physics.AsPromised(c.ContainerID)
		}
		s.Containers[c.ContainerID] = c
		return
	case e.Access != nil:
		s.setAccess(e)
		return
	case e.Invitation != nil:
		s.invite(e)
		return
	case e.Service != nil && e.Member == nil:
		s.Services[e.Service.ClientID] = *e.Service
		return
	}
	switch e.Did {
	case ubl.DidTenantCreate:
		s.create(e)
	case ubl.DidKindSet, ubl.DidKindRemove:
		s.keepKind(e)
	case ubl.DidTenantUpdate:
		s.Tenant.Defaults = *e.Defaults
	case ubl.DidTenantJoin, ubl.DidTenantMemberUpdate:
		s.set(e)
		for _, m := range e.Along {
			s.License.Set(s.marked(m))
		}
		s.withdraw(e)
	case ubl.DidTenantMemberProve:
		delete(s.Unproven, e.Member.UserID)
		s.set(e)
	case ubl.DidPlatformHomeSet:
		s.keepHome(e.Home)
	case ubl.DidDomainClaim, ubl.DidDomainVerify, ubl.DidDomainRelease:
		s.claim(e)
	case ubl.DidTenantMemberRemove:
		s.depart(e)
		s.withdraw(e)
	case ubl.DidRoomCreate:
		s.Rooms[e.Room.RoomID] = *e.Room
	case ubl.DidTokenCreate, ubl.DidAgentConnect:
		s.Services[e.Service.ClientID] = *e.Service
		s.set(e)
	case ubl.DidPlatformTokenCreate, ubl.DidPlatformTokenRenew, ubl.DidPlatformTokenRevoke:
		s.token(e)
	case ubl.DidPlatformTokenRevokeAll:
		s.revoked(e.Revoked)
		s.keyless(e.Keyless)
	case ubl.DidPlatformLinkCreate:
		s.link(e)
	case ubl.DidAgreementPropose, ubl.DidAgreementAccept, ubl.DidAgreementWithdraw:
		s.License.Amend(e.N, e.Amendment)
	case ubl.DidAgreementEnd:
		s.License.End(e.At)
	}
}

// empty makes what is empty at first.
func (s *State) empty() {
	s.Looks = newLooks()
	s.Vouched = make(map[ubl.UserID]voucher)
	s.Removed = make(map[ubl.UserID]ubl.Member)
	s.Unproven = make(map[ubl.UserID]bool)
	s.Rooms = make(map[ubl.RoomID]ubl.RoomSummary)
	s.Kinds = make(map[string]ubl.Kind)
	s.Containers = make(map[ubl.ContainerID]ubl.ContainerSummary)
	s.Tools = make(map[string]tool)
	s.Services = make(map[string]service)
	s.Tokens = make(map[string]platform)
	s.tokensOf = make(map[person]map[string]struct{})
	s.Links = make(map[string]link)
	s.Homes = make(map[voucher][]ubl.Home)
	s.Claims = make(map[ubl.TenantID][]ubl.DomainClaim)
	s.Holders = make(map[string]holders)
	s.Passkeys = make(map[ubl.PasskeyID]passkey)
	s.Rings = make(map[person]ring)
}

func (s *State) create(e event) {
	physics := ubl.TenantPhysics()
	if e.Physics != nil {
		physics = *e.Physics
	}
	s.Tenant = *e.Tenant
	s.License.Agreement = ubl.Agreement{
		ID: ubl.TenantAgreement(e.Tenant.TenantID), Type: ubl.TenantLicense, TenantID: e.Tenant.TenantID,
		CreatedAt: e.At, CreatedBy: e.By, Status: ubl.AgreementInForce,
		Physics: &physics, Terms: usual, Members: make(map[ubl.UserID]ubl.Member),
	}
	s.empty()
	s.set(e)
}

func (s *State) set(e event) {
	m := s.marked(*e.Member)
	m.InvitedBy = cmp.Or(m.InvitedBy, s.License.Members[m.UserID].InvitedBy, s.Removed[m.UserID].InvitedBy)
	m.Name = ubl.ShownName(m.Name)
	s.License.Set(m)
	s.Looks.set(m)
	delete(s.Removed, e.Member.UserID)
	if e.Voucher != nil {
		s.Vouched[e.Member.UserID] = *e.Voucher
	}
}

// marked is an entry that says whether its address is proven.
func (s *State) marked(m ubl.Member) ubl.Member {
	m.Unproven = s.Unproven[m.UserID]
	return m
}
