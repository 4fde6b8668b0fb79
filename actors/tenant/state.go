package tenant

import (
	"cmp"

	"ubl"
	"ubl/actors"
)

// State is what a Tenant decides by. It is the same after replaying the stored
// events as it was before a crash.
type State struct {
	Tenant  ubl.Tenant
	License actors.Agreement
	// Vouched holds which issuer and subject own each user id.
	Vouched map[ubl.UserID]voucher
	// Removed members are shut out until an owner sets them again.
	Removed map[ubl.UserID]ubl.Member
	Looks   *looks // of the members
	// Unproven are the members whose address nobody has verified: those who came by
	// invitation, also from before entries said so.
	Unproven map[ubl.UserID]bool
	Rooms    map[ubl.RoomID]ubl.RoomSummary
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
	Events        int64
}

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
}

// event is a stored fact of a tenant. The struct is the disk form: fields are
// only ever added, and a change of meaning raises version.
type event struct {
	Version   int                   `json:"v"`
	N         int64                 `json:"n"`
	Did       ubl.Did               `json:"did"`
	At        ubl.Time              `json:"at"`
	By        ubl.UserID            `json:"by"`
	Tenant    *ubl.Tenant           `json:"tenant,omitempty"`    // tenant.create
	Physics   *ubl.Physics          `json:"physics,omitempty"`   // tenant.create; before there were any, TenantPhysics
	Defaults  *ubl.TenantDefaults   `json:"defaults,omitempty"`  // tenant.update
	Member    *ubl.Member           `json:"member,omitempty"`    // whom a membership event is about
	Along     []ubl.Member          `json:"along,omitempty"`     // the services that Member keeps and that left with them, or stopped being owners
	Ended     []string              `json:"ended,omitempty"`     // their tokens, by client id
	Voucher   *voucher              `json:"voucher,omitempty"`   // with a new member; tenant.member.prove: who owns the id now
	Home      *home                 `json:"home,omitempty"`      // platform.home.set
	Domain    *ubl.DomainClaim      `json:"domain,omitempty"`    // tenant.domain.*: as the act left it, or found what it released
	Room      *ubl.RoomSummary      `json:"room,omitempty"`      // room.create
	Container *ubl.ContainerSummary `json:"container,omitempty"` // a container was made, by the act of its kind
	Passkey   *passkey              `json:"passkey,omitempty"`   // passkey.*: as the act left it, or found what it removed
	Access    *access               `json:"access,omitempty"`    // tool.access, and agreement.end of such a record
	Service   *service              `json:"service,omitempty"`   // token.create, token.revoke
	// Closed are the invitations of Member's address, which end with their removal.
	Closed []ubl.InvitationID `json:"closed,omitempty"`
	// Invitation is as tenant.invitation.* left it; with accept come Member and Voucher.
	Invitation *invitation `json:"invitation,omitempty"`
	Token      *platform   `json:"token,omitempty"` // platform.token.*
	// Revoked are the ids that platform.token.revoke_all ended.
	Revoked []string `json:"revoked,omitempty"`
	// Keyless is whose passkeys platform.token.revoke_all removed, too.
	Keyless *person     `json:"keyless,omitempty"`
	Link    *link       `json:"link,omitempty"` // platform.link.create; platform.token.create where a session used it up
	Receipt ubl.Receipt `json:"receipt"`
}

// eventVersion 2: the physics of containers mean what [ubl.Physics] says. In version
// 1 collaborative let in everyone of the tenant ([ubl.Physics.AsPromised]).
const eventVersion = 2

// FormatVersion implements [actors.Versioned].
func (e event) FormatVersion() int { return e.Version }

// apply is the only place where events change the state.
func (s *State) apply(e event) {
	s.Events = e.N
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
	}
	switch e.Did {
	case ubl.DidTenantCreate:
		s.create(e)
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
	case ubl.DidTokenCreate:
		s.Services[e.Service.ClientID] = *e.Service
		s.set(e)
	case ubl.DidTokenRenew, ubl.DidTokenRevoke:
		s.Services[e.Service.ClientID] = *e.Service
	case ubl.DidPlatformTokenCreate, ubl.DidPlatformTokenRenew, ubl.DidPlatformTokenRevoke:
		s.token(e)
	case ubl.DidPlatformTokenRevokeAll:
		s.revoked(e.Revoked)
		s.keyless(e.Keyless)
	case ubl.DidPlatformLinkCreate:
		s.link(e)
	case ubl.DidAgreementEnd:
		s.License.Status = ubl.AgreementEnded
		s.License.EndedAt = &e.At
	}
}

// empty makes what is empty at first.
func (s *State) empty() {
	s.Looks = newLooks()
	s.Vouched = make(map[ubl.UserID]voucher)
	s.Removed = make(map[ubl.UserID]ubl.Member)
	s.Unproven = make(map[ubl.UserID]bool)
	s.Rooms = make(map[ubl.RoomID]ubl.RoomSummary)
	s.Containers = make(map[ubl.ContainerID]ubl.ContainerSummary)
	s.Tools = make(map[string]tool)
	s.Services = make(map[string]service)
	s.Tokens = make(map[string]platform)
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
		Physics: &physics, Members: make(map[ubl.UserID]ubl.Member),
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

// change is the event as a step of the Agreement's history.
func (e event) change() ubl.Change {
	c := ubl.Change{N: e.N, Did: e.Did, At: e.At, By: e.By, Receipt: e.Receipt}
	if e.Member != nil {
		c.UserID, c.Role = e.Member.UserID, e.Member.Role
	}
	return c
}

// changes reports whether the event is a step of the history of a record that
// the Tenant holds.
func (e event) changes(id ubl.AgreementID) bool {
	if e.Access != nil {
		return id == ubl.ToolAgreement(e.Access.Tool)
	}
	if e.Member == nil && e.Did != ubl.DidAgreementEnd {
		return false
	}
	_, tool := toolOf(id)
	return !tool
}
