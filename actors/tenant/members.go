package tenant

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// setting writes a member's entry.
func setting(tenant ubl.TenantID, m ubl.Member) *plan {
	return &plan{
		event: event{Member: &m},
		this:  ubl.Fields{ubl.Str("role", m.Role), ubl.Str("tenant_id", tenant), ubl.Str("user_id", m.UserID)},
		effect: ubl.Fields{
			ubl.Str("agreement_id", ubl.TenantAgreement(tenant)), ubl.Str("op", "agreement.set"),
			ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID),
		},
	}
}

// naming writes a member's entry with another name, which is on record.
func naming(tenant ubl.TenantID, m ubl.Member) *plan {
	p := setting(tenant, m)
	p.this = append(ubl.Fields{ubl.Str("name", m.Name)}, p.this...)
	return p
}

// setMember changes a role or a name, or lets a removed member in again.
func (x *Tenant) setMember(t *actors.Turn, c ubl.SetTenantMember) {
	content := []string{string(c.UserID), string(c.Role)}
	if c.Name != nil {
		content = append(content, *c.Name)
	}
	x.change(t, c.Request, ubl.DidTenantMemberUpdate, x.decideMember(c), content...)
}

func (x *Tenant) decideMember(c ubl.SetTenantMember) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := x.maySet(c); err != nil {
			return nil, err
		}
		m, err := x.reassigned(c, now)
		if err != nil {
			return nil, err
		}
		p := setting(x.id, m)
		if c.Name != nil {
			if m.Name = *c.Name; m.Name != "" {
				err = ubl.CheckMemberName(m.Name)
			}
			p = naming(x.id, m)
		}
		p.frees = c.Name == nil && x.state.License.Members[m.UserID].Role == ubl.RoleOwner && m.Role != ubl.RoleOwner
		x.lower(p)
		return p, err
	}
}

// lower has the services of who is no owner any more stop being owners with them, and
// says which domains nobody stands for then.
func (x *Tenant) lower(p *plan) {
	was, now := x.state.License.Members[p.event.Member.UserID], *p.event.Member
	if was.Role != ubl.RoleOwner || now.Role == ubl.RoleOwner {
		return
	}
	for _, service := range x.state.wards(was) {
		if service.Role == ubl.RoleOwner {
			service.Role = ubl.RoleMember
			p.event.Along = append(p.event.Along, service)
			p.more = append(p.more, setting(x.id, service).effect)
		}
	}
	p.more = append(p.more, x.forsaken(was)...)
}

// maySet lets owners change entries, all members their own name, and the platform lower
// services that are above their keepers.
func (x *Tenant) maySet(c ubl.SetTenantMember) error {
	if m := x.state.License.Members[c.UserID]; c.Who.IsPlatform() && c.Role == ubl.RoleMember && x.state.capped(m).Role != m.Role {
		return x.state.License.InForce()
	}
	if c.Role != "" || c.UserID != c.Who.UserID {
		return x.owner(c.Who)
	}
	if _, err := x.member(c.Who); err != nil {
		return err
	}
	return x.state.License.InForce()
}

// reassigned is the entry in the role that is asked for, if one is. Only a role
// lets a removed member in again.
func (x *Tenant) reassigned(c ubl.SetTenantMember, now ubl.Time) (ubl.Member, error) {
	m, ok := x.state.License.Members[c.UserID]
	if !ok && c.Role != "" {
		if m, ok = x.state.Removed[c.UserID]; ok {
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
	case c.Role == ubl.RoleMember && x.lastOwner(c.UserID):
		return m, ubl.Errorf(ubl.CodeConflict, "the last owner of a tenant stays its owner")
	case c.Role == ubl.RoleOwner && m.IsService && !x.state.keptByOwner(m.UserID):
		return m, ubl.Errorf(ubl.CodeConflict, "a service can be an owner only while the person who keeps it is one")
	case c.Role != "":
		m.Role = c.Role
	}
	return m, nil
}

func (x *Tenant) lastOwner(u ubl.UserID) bool {
	m := x.state.License.Members[u]
	return m.Role == ubl.RoleOwner && !m.IsService && x.state.License.HumanOwners() == 1
}

// removeMember shuts a member out with what they keep, and then has others let go
// of them. A retry finishes what an earlier attempt left undone, and so does the
// sweep.
func (x *Tenant) removeMember(t *actors.Turn, c ubl.RemoveTenantMember) {
	key := actors.NewKey(ubl.DidTenantMemberRemove, c.Request, string(c.UserID))
	after, removed := x.heirs(c.UserID), maps.Clone(x.state.Removed)
	if x.keys.Seen(t, key, func(ctx context.Context, n int64) (any, error) {
		page, err := x.stored().Page(ctx, n, 1)
		if err != nil || len(page) == 0 {
			return nil, cmp.Or(err, errOutcome())
		}
		gone := slices.DeleteFunc(page[0].gone(), func(u ubl.UserID) bool { _, out := removed[u]; return !out }) // others were let in again
		return page[0].Member, x.letGo(ctx, c.Request, after, gone...)
	}) {
		return
	}
	e, _, ok := x.decided(t, c.Request, ubl.DidTenantMemberRemove, x.decideRemove(c), []string{string(c.UserID)})
	if !ok {
		return
	}
	for _, user := range e.gone() {
		x.greeted.Delete(user)
	}
	ctx := t.Context()
	t.Later(func() (any, error) { return e.Member, x.letGo(ctx, c.Request, after, e.gone()...) })
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
	req.Key += "\n" + string(user) // a sweep takes several out of one place
	for _, place := range places {
		named, failed := x.named(ctx, place, after)
		if failed == nil {
			_, failed = x.env.Ask.Ask(ctx, place, ubl.RemoveMember{Request: req, UserID: user, Expel: true, Heir: after.oldest, Named: named})
		}
		if failed != nil && ubl.CodeOf(failed) != ubl.CodeNotFound {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// placesOf reads which rooms and containers a user belongs to.
func (x *Tenant) placesOf(ctx context.Context, user ubl.UserID) (places []ubl.Name, err error) {
	err = x.read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		from, to := actors.MemberIndexOf(user)
		err := snap.Ascend(from, to, func(k, _ []byte) bool {
			places = append(places, ubl.RoomName(x.id, ubl.RoomID(k[len(from):])))
			return true
		})
		if err != nil {
			return err
		}
		from, to = actors.ContainerMemberIndexOf(user)
		return snap.Ascend(from, to, func(k, _ []byte) bool {
			places = append(places, ubl.ContainerName(x.id, ubl.ContainerID(k[len(from):])))
			return true
		})
	})
	return places, err
}

func (x *Tenant) decideRemove(c ubl.RemoveTenantMember) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		m, ok := x.state.License.Members[c.UserID]
		if err := x.mayRemove(c, m); err != nil {
			return nil, err
		}
		if !ok {
			return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant")
		}
		if c.UserID == ubl.Platform().UserID {
			return nil, ubl.Errorf(ubl.CodeConflict, "the platform stays in its tenant")
		}
		if x.lastOwner(c.UserID) && x.state.License.InForce() == nil { // after its end nobody can make another
			return nil, ubl.Errorf(ubl.CodeConflict, "the last owner of a tenant can't go before making another one")
		}
		return x.removing(m, now), nil
	}
}

// mayRemove lets owners remove others, anyone leave, also after the license's end, and
// the platform see to services whose keeper has left.
func (x *Tenant) mayRemove(c ubl.RemoveTenantMember, m ubl.Member) error {
	switch {
	case c.Who.IsPlatform() && m.IsService && (x.state.orphan(m) || x.state.makerLeft(x.state.Vouched[m.UserID])):
		return x.state.License.InForce()
	case c.UserID == c.Who.UserID:
		_, err := x.member(c.Who)
		return err
	}
	return x.owner(c.Who)
}

func (x *Tenant) decideDefaults(c ubl.SetDefaults) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := x.owner(c.Who); err != nil {
			return nil, err
		}
		defaults, err := x.state.Tenant.Defaults.Apply(c.Patch)
		if err != nil {
			return nil, err
		}
		return &plan{
			event: event{Defaults: &defaults},
			this: ubl.Fields{
				ubl.Int("max_message_bytes", int64(defaults.MaxMessageBytes)),
				ubl.Int("retention_days", int64(defaults.RetentionDays)), ubl.Str("tenant_id", x.id),
			},
			effect: ubl.Fields{ubl.Str("op", "policy.set"), ubl.Str("tenant_id", x.id)},
		}, nil
	}
}
