package tenant

import (
	"context"

	"ubl"
	"ubl/actors"
)

// enter says what a caller is in the tenant; the first one creates it, and a
// newcomer is added.
func (x *Tenant) enter(t *actors.Turn, c ubl.Enter) {
	if x.State.Events == 0 && c.NoFounding {
		t.Fail(ubl.ErrUnfounded())
		return
	}
	if x.State.Events == 0 {
		x.bootstrap(t, c)
		return
	}
	m, ok := x.State.License.Members[c.Who.UserID]
	if !ok {
		x.join(t, c)
		return
	}
	if x.State.Vouched[m.UserID] != (voucher{c.Who.Issuer, c.Who.Subject}) {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "the user id belongs to another issuer's subject"))
		return
	}
	if x.State.orphan(m) {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "who kept this service has left the tenant"))
		return
	}
	c.Who.Unproven, c.Who.Mandate = m.Unproven, x.State.mandateOf(m.UserID)
	if c.Act {
		if err := x.State.License.InForce(); err != nil {
			t.Fail(err)
			return
		}
	}
	role := ubl.Role("")
	if x.State.appoints(c, m) {
		role = ubl.RoleOwner
	}
	use, ok := x.passes(t, c, role)
	if !ok {
		return
	}
	wrote := x.appoint(t, c, &m) || x.adopt(t, c, m)
	x.letIn(t, c, m, use, wrote)
}

// appoints reports whether the node's word is to make an owner of tenant 0 of a member.
func (s *State) appoints(c ubl.Enter, m ubl.Member) bool {
	return m.Role != ubl.RoleOwner && s.operator(c, m) && s.License.InForce() == nil
}

// appoint makes an owner of tenant 0 of somebody whom the node's --operator names, and
// reports whether it does: the platform's act. Where there is no room for it now, their
// next request tries again.
func (x *Tenant) appoint(t *actors.Turn, c ubl.Enter, m *ubl.Member) bool {
	if !x.State.appoints(c, *m) || t.Reserve(ubl.JoinCost) != nil {
		return false
	}
	m.Role = ubl.RoleOwner
	req := c.Request
	req.Who = ubl.Platform()
	x.Enact(t, x.Following(ubl.DidTenantMemberUpdate, req, setting(x.id, *m)), nil)
	return true
}

// operator reports whether a member, or who is about to be one, is an owner of tenant 0 by
// the node's word.
func (s *State) operator(c ubl.Enter, m ubl.Member) bool {
	return c.Operator && s.id() == ubl.CoreTenant && !m.IsService && !m.Unproven
}

// adopt records what a credential calls a member who has no name, and reports whether it
// does. Where there is no room for it now, their next request tries again.
func (x *Tenant) adopt(t *actors.Turn, c ubl.Enter, m ubl.Member) bool {
	if m.Name != "" || x.State.nameIn(c) == "" || x.State.License.InForce() != nil {
		return false
	}
	m.Name = x.State.nameIn(c)
	allowed, err := x.Decide(t, ubl.DidTenantMemberUpdate, c.Request, naming(x.id, m))
	if err != nil || t.Reserve(ubl.JoinCost) != nil {
		return false
	}
	x.Enact(t, allowed, nil)
	return true
}

// nameIn is what the caller's credential calls them; "" for nothing that is a name.
// What a service token says of itself is kept here.
func (s *State) nameIn(c ubl.Enter) string {
	if c.Who.Issuer == ServiceIssuer {
		return ubl.FitMemberName(s.Services[c.Who.Subject].Name)
	}
	if c.Name == "" || ubl.CheckMemberName(c.Name) != nil {
		return ""
	}
	return c.Name
}

// letIn answers an Enter, which may have led to a commit: the tool that it names is open to the
// member, and counts now. A tenant from before there were workspaces gets its own with the first
// Enter that writes.
func (x *Tenant) letIn(t *actors.Turn, c ubl.Enter, m ubl.Member, use actors.Proposal, writes bool) {
	if _, ok := x.State.Containers[ubl.GeneralWorkspace]; !ok && (writes || c.Act) {
		if !writes {
			if err := t.Reserve(ubl.JoinCost); err != nil {
				t.Fail(err)
				return
			}
		}
		p := x.workspace(&x.State, c.Request, t.Now())
		x.Enact(t, x.Following(p.Did, c.Request, p), nil)
		writes = true
	}
	if use.Uses {
		x.Count(use)
	}
	x.welcome(t, c, m)
}

// welcome answers, after the tenant's rooms have greeted the member.
func (x *Tenant) welcome(t *actors.Turn, c ubl.Enter, m ubl.Member) {
	m = x.State.capped(m)
	entered := &ubl.Entered{TenantID: x.id, Role: m.Role, Under: x.State.decidedBy(c)}
	if _, done := x.greeted.Load(m.UserID); done || x.State.License.InForce() != nil {
		t.Reply(entered)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		if err := x.greet(ctx, c.Request, m); err != nil {
			return nil, err
		}
		return entered, nil
	})
}

// greet has the tenant's first rooms welcome a member, who asks. It may be
// repeated, and runs on any goroutine.
func (x *Tenant) greet(ctx context.Context, req ubl.Request, m ubl.Member) error {
	role := ubl.RoleMember
	if x.id == ubl.CoreTenant {
		role = m.Role // operators own the platform's rooms
	}
	for _, room := range x.bootRooms() {
		if who := req.Who.Mandate; who.Reads() || !who.Includes(string(room.RoomID)) {
			continue // people let the agent in, who may
		}
		if _, err := x.Ask.Ask(ctx, ubl.RoomName(x.id, room.RoomID), ubl.Welcome{Request: req, Role: role}); err != nil {
			return err
		}
	}
	x.greeted.Store(m.UserID, true)
	return nil
}

// bootRooms are the rooms that a tenant begins with.
func (x *Tenant) bootRooms() []ubl.RoomSummary {
	ids := []ubl.RoomID{ubl.GeneralRoom}
	if x.id == ubl.CoreTenant {
		ids = ubl.PlatformRooms()
	}
	rooms := make([]ubl.RoomSummary, len(ids))
	for i, id := range ids {
		rooms[i] = ubl.RoomSummary{RoomID: id, Name: string(id[len("r:"):]), Mode: ubl.ModeInternal}
	}
	return rooms
}

// bootstrap creates the tenant, its TenantLicense and its first rooms in one
// batch. Only a human may; tenant 0 is the platform's own.
func (x *Tenant) bootstrap(t *actors.Turn, c ubl.Enter) {
	if c.Who.TenantID != x.id || c.Who.Unproven || c.Who.IsService && !(c.Who.IsPlatform() && x.id == ubl.CoreTenant) {
		err := ubl.Errorf(ubl.CodeForbidden, "only a person with a verified address can be the first of a tenant")
		if c.Who.IsService {
			err = ubl.Errorf(ubl.CodeForbidden, "nobody has signed in to the tenant of this service yet: make its token for the address of a member, or sign in once as the person of its address")
		}
		t.Fail(err)
		return
	}
	now := t.Now()
	m := x.State.newcomer(c, now)
	use, ok := x.passes(t, c, m.Role)
	if !ok {
		return
	}
	if err := t.Reserve(ubl.JoinCost); err != nil {
		t.Fail(err)
		return
	}
	kind := ubl.TenantCustomer
	if x.id == ubl.CoreTenant {
		kind = ubl.TenantPlatform
	}
	tenant := ubl.Tenant{
		TenantID: x.id, Type: kind, CreatedAt: now,
		Defaults: ubl.TenantDefaults{RoomMode: ubl.ModeInternal, MaxMessageBytes: ubl.MaxMessageBytes},
	}
	rooms, err := x.firstRooms(c.Request, tenant)
	if err != nil {
		t.Fail(err)
		return
	}
	physics, license := ubl.TenantPhysics(), ubl.TenantAgreement(x.id)
	created := act(ubl.Fields{ubl.Str("tenant_id", x.id)}, ubl.Fields{ubl.Str("op", ubl.DidTenantCreate), ubl.Str("tenant_id", x.id)})
	created.Agreement, created.Pointers = license, pointers(license)
	allowed, err := x.Decide(t, ubl.DidTenantCreate, c.Request, &plan{
		Act: created, Event: event{Tenant: &tenant, Physics: &physics, Member: &m, Voucher: voucherOf(c.Who)}, Records: []actors.Record{armed()},
	})
	if err != nil {
		t.Fail(err)
		return
	}
	x.Enact(t, allowed, nil)
	for _, p := range rooms {
		x.Enact(t, x.Following(ubl.DidRoomCreate, c.Request, p), nil)
	}
	x.letIn(t, c, m, use, true)
}

// firstRooms plans those of a tenant that is about to be.
func (x *Tenant) firstRooms(req ubl.Request, tenant ubl.Tenant) (plans []*plan, err error) {
	for _, room := range x.bootRooms() {
		room.CreatedAt = tenant.CreatedAt
		p, err := x.room(tenant, req, room, ubl.RoomPhysics(), x.Random)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func voucherOf(who ubl.Identity) *voucher { return &voucher{who.Issuer, who.Subject} }

// newcomer is the entry of someone new: the first human owns the tenant, as all operators
// own tenant 0.
func (s *State) newcomer(c ubl.Enter, now ubl.Time) ubl.Member {
	m := ubl.Member{UserID: c.Who.UserID, Name: s.nameIn(c), Email: c.Who.Email, Role: ubl.RoleMember, IsService: c.Who.IsService, Since: now}
	if !m.IsService && !s.hadOwner() || s.operator(c, m) {
		m.Role = ubl.RoleOwner
	}
	return m
}

func (s *State) hadOwner() bool {
	for _, m := range s.Removed {
		if m.Role == ubl.RoleOwner && !m.IsService {
			return true
		}
	}
	return s.License.HumanOwners() > 0
}

// join adds a newcomer of the domain: nobody who was removed, neither by their id nor by
// their address, and nobody of a domain that no owner stands for.
func (x *Tenant) join(t *actors.Turn, c ubl.Enter) {
	err := x.State.License.May(ubl.OpCreate)
	if _, removed := x.State.Removed[c.Who.UserID]; removed || c.Who.TenantID != x.id || c.Who.Unproven {
		err = ubl.Errorf(ubl.CodeForbidden, "the caller is not a member of this tenant")
	}
	if err == nil && !c.Who.IsService && x.State.addressLeft(c.Who.Email) {
		err = ubl.Errorf(ubl.CodeForbidden, "who had this address was removed from the tenant: ask an owner to let you in again")
	}
	if err == nil && x.State.unconfirmed(x.id, c.Who.EmailDomain) {
		err = ubl.Errorf(ubl.CodeForbidden, "nobody new of your mail domain can join now, because the owner who claimed it for the tenant is none any more: ask an owner to verify the domain again")
	}
	if err == nil && !x.State.License.Terms.Permit(ubl.DidTenantJoin, ubl.Stance{Who: c.Who, Inside: true}) {
		err = ubl.Errorf(ubl.CodeForbidden, "nobody joins this tenant by themselves, as its Agreement says: ask an owner to invite you")
	}
	if err == nil && c.Who.IsService {
		err = x.State.answeredFor(*voucherOf(c.Who))
	}
	if err != nil {
		t.Fail(err)
		return
	}
	m := x.State.newcomer(c, t.Now())
	use, ok := x.passes(t, c, m.Role)
	if !ok {
		return
	}
	if err := t.Reserve(ubl.JoinCost); err != nil {
		t.Fail(err)
		return
	}
	p := setting(x.id, m)
	if m.Name != "" {
		p = naming(x.id, m)
	}
	p.Event.Voucher = voucherOf(c.Who)
	allowed, err := x.Decide(t, ubl.DidTenantJoin, c.Request, p)
	if err != nil {
		t.Fail(err)
		return
	}
	x.Enact(t, allowed, nil)
	x.letIn(t, c, m, use, true)
}
