package tenant

import (
	"context"
	"errors"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// setting writes a member's entry.
func setting(tenant ubl.TenantID, m ubl.Member) *plan {
	return &plan{
		Act:   act(ubl.Fields{ubl.Str("role", m.Role), ubl.Str("tenant_id", tenant), ubl.Str("user_id", m.UserID)}, entryOf(tenant, m)),
		Event: event{Member: &m},
	}
}

func entryOf(tenant ubl.TenantID, m ubl.Member) ubl.Fields {
	return ubl.Fields{
		ubl.Str("agreement_id", ubl.TenantAgreement(tenant)), ubl.Str("op", "agreement.set"), ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID),
	}
}

// naming writes a member's entry with another name, which is on record.
func naming(tenant ubl.TenantID, m ubl.Member) *plan {
	p := setting(tenant, m)
	p.This = append(ubl.Fields{ubl.Str("name", m.Name)}, p.This...)
	return p
}

// decideMember changes a role or a name, or lets a removed member in again.
func (s *State) decideMember(c ubl.SetTenantMember, at actors.Moment) (*plan, error) {
	if err := s.maySet(c); err != nil {
		return nil, err
	}
	m, err := s.reassigned(c, at.Now)
	if err != nil {
		return nil, err
	}
	p := setting(s.id(), m)
	if c.Name != nil {
		if m.Name = *c.Name; m.Name != "" {
			err = ubl.CheckMemberName(m.Name)
		}
		p = naming(s.id(), m)
	}
	p.Alarms = []actors.Alarm{{Key: string(m.UserID)}} // that of their removal: they are in again
	p.Frees = c.Name == nil && s.License.Members[m.UserID].Role == ubl.RoleOwner && m.Role != ubl.RoleOwner
	s.lower(p)
	return p, err
}

// lower has the services of who is no owner any more stop being owners with them, and
// says which domains nobody stands for then.
func (s *State) lower(p *plan) {
	was, now := s.License.Members[p.Event.Member.UserID], *p.Event.Member
	if was.Role != ubl.RoleOwner || now.Role == ubl.RoleOwner {
		return
	}
	for _, service := range s.wards(was) {
		if service.Role == ubl.RoleOwner {
			service.Role = ubl.RoleMember
			p.Event.Along = append(p.Event.Along, service)
			p.Effects = append(p.Effects, entryOf(s.id(), service))
		}
	}
	p.Effects = append(p.Effects, s.forsaken(was)...)
}

// maySet lets owners change entries, all members their own name, and the platform lower
// services that are above their keepers.
func (s *State) maySet(c ubl.SetTenantMember) error {
	if m := s.License.Members[c.UserID]; c.Who.IsPlatform() && c.Role == ubl.RoleMember && s.capped(m).Role != m.Role {
		return s.License.InForce()
	}
	if c.Role != "" || c.UserID != c.Who.UserID {
		return s.permits(ubl.DidTenantMemberUpdate, c.Who)
	}
	if _, err := s.member(c.Who); err != nil {
		return err
	}
	return s.License.InForce()
}

// reassigned is the entry in the role that is asked for, if one is. Only a role
// lets a removed member in again.
func (s *State) reassigned(c ubl.SetTenantMember, now ubl.Time) (ubl.Member, error) {
	m, member := s.License.Members[c.UserID]
	ok := member
	if !ok && c.Role != "" {
		if m, ok = s.Removed[c.UserID]; ok {
			m.Since = now
		}
	}
	switch {
	case c.Role == "" && c.Name == nil:
		return m, ubl.Errorf(ubl.CodeValidation, "there is neither a role nor a name")
	case c.Role != "" && !c.Role.Valid():
		return m, ubl.Errorf(ubl.CodeValidation, "the role is neither owner nor member")
	case !ok:
		return m, ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant")
	case c.Role == ubl.RoleMember && s.lastOwner(c.UserID):
		return m, ubl.Errorf(ubl.CodeConflict, "the last owner of a tenant stays its owner")
	case m.IsService && !member && s.unkept(m):
		return m, ubl.Errorf(ubl.CodeConflict, "who kept this service has left the tenant: make another token")
	case c.Role == ubl.RoleOwner && m.IsService && !s.keptByOwner(m.UserID):
		return m, ubl.Errorf(ubl.CodeConflict, "a service can be an owner only while the persons who made and keep it are")
	case c.Role != "":
		m.Role = c.Role
	}
	return m, nil
}

func (s *State) lastOwner(u ubl.UserID) bool {
	m := s.License.Members[u]
	return m.Role == ubl.RoleOwner && !m.IsService && s.License.HumanOwners() == 1
}

// removeMember shuts a member out with what they keep, and then has others let go
// of them. A retry finishes what an earlier attempt left undone, but for those who were let
// in again, and so does an alarm.
func (x *Tenant) removeMember(t *actors.Turn, c ubl.RemoveTenantMember) {
	var after heirs // these are as they are behind the act
	var removed map[ubl.UserID]ubl.Member
	x.ChangeThen(t, c, func(ctx context.Context, answer any) (any, error) {
		e := answer.(event)
		gone := slices.DeleteFunc(e.gone(), func(u ubl.UserID) bool { _, out := removed[u]; return !out })
		return e.Member, x.letGo(ctx, c.Request, after, gone...)
	})
	after, removed = x.State.heirs(c.UserID), maps.Clone(x.State.Removed)
}

// gone are those whom a removal took out.
func (e event) gone() []ubl.UserID {
	users := []ubl.UserID{e.Member.UserID}
	for _, m := range e.Along {
		users = append(users, m.UserID)
	}
	return users
}

// expel takes a user who was shut out of the tenant out of their rooms and
// containers. It goes on past one that fails, and may be repeated.
func (x *Tenant) expel(ctx context.Context, req ubl.Request, user ubl.UserID, after heirs) error {
	places, err := x.placesOf(ctx, user)
	req.Key += "\n" + string(user) // several may go out of one place
	for _, place := range places {
		named, failed := x.named(ctx, place, after)
		if failed == nil {
			_, failed = x.Ask.Ask(ctx, place, ubl.RemoveMember{Request: req, UserID: user, Expel: true, Heir: after.oldest, Named: named})
		}
		if failed != nil && ubl.CodeOf(failed) != ubl.CodeNotFound {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// placesOf reads which rooms and containers a user belongs to.
func (x *Tenant) placesOf(ctx context.Context, user ubl.UserID) (places []ubl.Name, err error) {
	err = x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		from, to := agreement.MemberIndexOf(user)
		err := snap.Ascend(from, to, func(k, _ []byte) bool {
			places = append(places, ubl.RoomName(x.id, ubl.RoomID(k[len(from):])))
			return true
		})
		if err != nil {
			return err
		}
		from, to = agreement.ContainerMemberIndexOf(user)
		return snap.Ascend(from, to, func(k, _ []byte) bool {
			places = append(places, ubl.ContainerName(x.id, ubl.ContainerID(k[len(from):])))
			return true
		})
	})
	return places, err
}

func (s *State) decideRemove(c ubl.RemoveTenantMember, at actors.Moment) (*plan, error) {
	m, ok := s.License.Members[c.UserID]
	if err := s.mayRemove(c, m); err != nil {
		return nil, err
	}
	if !ok {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant")
	}
	if c.UserID == ubl.Platform().UserID {
		return nil, ubl.Errorf(ubl.CodeConflict, "the platform stays in its tenant")
	}
	if s.lastOwner(c.UserID) && s.License.InForce() == nil { // after its end nobody can make another
		return nil, ubl.Errorf(ubl.CodeConflict, "the last owner of a tenant can't go before making another one")
	}
	return s.removing(m, at.Now), nil
}

// mayRemove lets owners remove others, anyone leave, also after the license's end, and
// the platform see to services whose keeper has left.
func (s *State) mayRemove(c ubl.RemoveTenantMember, m ubl.Member) error {
	switch {
	case c.Who.IsPlatform() && s.unkept(m):
		return s.License.InForce()
	case c.UserID == c.Who.UserID && s.mandateOf(c.UserID) != nil:
		return ubl.Errorf(ubl.CodeForbidden, "who keeps an agent with a mandate ends it: it doesn't leave by itself")
	case c.UserID == c.Who.UserID:
		_, err := s.member(c.Who)
		return err
	}
	return s.permits(ubl.DidTenantMemberRemove, c.Who)
}

func (s *State) decideDefaults(c ubl.SetDefaults, _ actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidTenantUpdate, c.Who); err != nil {
		return nil, err
	}
	tenant := s.Tenant
	var err error
	if tenant.Defaults, err = tenant.Defaults.Apply(c.Patch); err != nil {
		return nil, err
	}
	now := tenant.Defaults
	return &plan{
		Act: act(ubl.Fields{
			ubl.Int("max_message_bytes", int64(now.MaxMessageBytes)), ubl.Int("retention_days", int64(now.RetentionDays)), ubl.Str("tenant_id", s.id()),
		}, ubl.Fields{ubl.Str("op", "policy.set"), ubl.Str("tenant_id", s.id())}),
		Event:  event{Defaults: &now},
		Answer: func(ubl.Receipt) any { return &tenant },
	}, nil
}
