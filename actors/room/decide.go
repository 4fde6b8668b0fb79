package room

import (
	"slices"

	"ubl"
	"ubl/actors"
)

// The decisions about a room itself. Each reads the state, changes nothing,
// and returns a plan or a refusal.

func (r *Room) decideAdd(c ubl.AddMember) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := r.owner(c.Who); err != nil {
			return nil, err
		}
		if err := r.state.Agreement.May(ubl.OpWrite); err != nil {
			return nil, err
		}
		m, err := r.state.Agreement.Admit(c.Member, now)
		if err != nil {
			return nil, err
		}
		return r.joining(m), nil
	}
}

func (r *Room) decideJoin(c ubl.JoinRoom) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := r.state.Agreement.May(ubl.OpWrite); err != nil {
			return nil, err
		}
		if _, ok := r.state.Agreement.Members[c.Who.UserID]; ok {
			return nil, ubl.Errorf(ubl.CodeConflict, "the caller is a member of this room already")
		}
		if r.state.Policy.Join != ubl.JoinTenant {
			return nil, ubl.Errorf(ubl.CodeNotAMember, "this room is joined by invitation")
		}
		return r.joining(memberOf(c.Who, ubl.RoleMember, now)), nil
	}
}

// welcome adds a newcomer of the tenant once, and otherwise answers what is.
func (r *Room) welcome(t *actors.Turn, c ubl.Welcome) {
	if m, ok := r.state.Agreement.Members[c.Who.UserID]; ok {
		t.Reply(&m)
		return
	}
	if r.state.Past[c.Who.UserID] || r.state.Agreement.May(ubl.OpWrite) != nil {
		t.Reply((*ubl.Member)(nil))
		return
	}
	if err := t.Reserve(ubl.JoinCost); err != nil {
		t.Fail(err)
		return
	}
	p := r.joining(memberOf(c.Who, c.Role, t.Now()))
	p.agreement = ubl.TenantAgreement(r.tenant)
	p.event.Did = ubl.DidRoomJoin
	r.commit(t, c.Request, p, nil)
}

func memberOf(who ubl.Identity, role ubl.Role, now ubl.Time) ubl.Member {
	return ubl.Member{UserID: who.UserID, Email: who.Email, Role: role, IsService: who.IsService, Since: now}
}

// joining adds a member and greets them.
func (r *Room) joining(m ubl.Member) *plan {
	p := r.setting(m)
	p.joined = &m
	return p
}

// setting writes a member's entry.
func (r *Room) setting(m ubl.Member) *plan {
	return settingIn(r.state.Summary, m)
}

func settingIn(room ubl.RoomSummary, m ubl.Member) *plan {
	id := room.RoomID
	return &plan{
		event:   event{Member: &m},
		this:    ubl.Fields{ubl.Str("role", m.Role), ubl.Str("room_id", id), ubl.Str("user_id", m.UserID)},
		effects: []ubl.Fields{setEffect(id, m)},
		records: []actors.Record{{Key: actors.MemberIndex(m.UserID, id), Value: actors.RoomIndex{Room: room, Role: m.Role}.Encode()}},
	}
}

func setEffect(id ubl.RoomID, m ubl.Member) ubl.Fields {
	return ubl.Fields{
		ubl.Str("agreement_id", ubl.RoomAgreement(id)), ubl.Str("op", "agreement.set"),
		ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID),
	}
}

func (r *Room) decideRole(c ubl.SetMember) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := r.owner(c.Who); err != nil {
			return nil, err
		}
		was := r.state.Agreement.Members[c.UserID].Role
		m, err := r.state.Agreement.Reassign(c.UserID, c.Role)
		if err != nil {
			return nil, err
		}
		p := r.setting(m)
		p.frees = was == ubl.RoleOwner && m.Role != was
		return p, nil
	}
}

// removal names the act: who removes themselves leaves.
func removal(c ubl.RemoveMember) ubl.Did {
	if c.UserID == c.Who.UserID {
		return ubl.DidRoomLeave
	}
	return ubl.DidRoomRemove
}

func (r *Room) decideRemove(c ubl.RemoveMember) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		m, heir, seal, err := r.state.Agreement.Removal(c, now, ubl.CodeNotAMember, r.state.private())
		if err != nil {
			return nil, err
		}
		p := r.removing(m)
		if c.Expel {
			p.agreement, p.event.Expelled = ubl.TenantAgreement(r.tenant), true
		}
		if seal {
			r.seal(p)
		}
		if heir != nil {
			p.event.Heir = heir
			p.effects = append(p.effects, setEffect(r.id, *heir))
			p.records = append(p.records, r.setting(*heir).records...)
		}
		if heir != nil && seal {
			p.joined = heir
		}
		return p, nil
	}
}

// decideSetHeir names who follows the room's owners.
func (r *Room) decideSetHeir(c ubl.SetHeir) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		err := r.state.Agreement.NameHeir(c, ubl.CodeNotAMember)
		if err == nil {
			err = r.own(c.Agreement)
		}
		if err != nil {
			return nil, err
		}
		named := actors.HeirFields(r.state.Agreement.ID, c.Heir.UserID)
		return &plan{
			event:   event{Member: &ubl.Member{UserID: c.Heir.UserID}},
			this:    named,
			effects: []ubl.Fields{append(ubl.Fields{named[0], ubl.Str("op", ubl.DidHeirSet)}, named[1:]...)},
		}, nil
	}
}

// seal closes the room: entries that are left are services, which go too.
func (r *Room) seal(p *plan) {
	p.event.Sealed = true
	for _, m := range r.state.Agreement.SortedMembers() {
		if m.UserID != p.left {
			rest := r.removing(m)
			p.effects, p.records = append(p.effects, rest.effects...), append(p.records, rest.records...)
		}
	}
	p.effects = append(p.effects, ubl.Fields{ubl.Str("agreement_id", r.state.Agreement.ID), ubl.Str("op", "agreement.seal")})
}

// decideHeir opens a sealed room to an heir, from the next message on.
func (r *Room) decideHeir(c actors.Inherit) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		m, err := r.state.Agreement.Inherit(c.Heir, now)
		if err != nil {
			return nil, err
		}
		p := r.joining(m)
		p.agreement = ubl.TenantAgreement(r.tenant)
		p.this = ubl.Fields{ubl.Str("agreement_id", r.state.Agreement.ID), ubl.Str("user_id", m.UserID)}
		return p, nil
	}
}

// removing takes a member's entry away.
func (r *Room) removing(m ubl.Member) *plan {
	return &plan{
		event: event{Member: &m},
		this:  ubl.Fields{ubl.Str("room_id", r.id), ubl.Str("user_id", m.UserID)},
		effects: []ubl.Fields{{
			ubl.Str("agreement_id", r.state.Agreement.ID), ubl.Str("op", "agreement.remove"), ubl.Str("user_id", m.UserID),
		}},
		records: []actors.Record{{Key: actors.MemberIndex(m.UserID, r.id)}},
		left:    m.UserID,
	}
}

func (r *Room) decidePolicy(c ubl.SetRoomPolicy) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := r.owner(c.Who); err != nil {
			return nil, err
		}
		policy, err := r.state.Policy.Apply(c.Patch)
		if err != nil {
			return nil, err
		}
		if policy.RetentionDays > 0 && r.tenant == ubl.CoreTenant && r.id == ubl.CeremonyRoom {
			return nil, ubl.Errorf(ubl.CodeConflict, "key ceremonies are kept for ever")
		}
		p := r.policyPlan(policy)
		was := r.state.Policy.RetentionDays
		p.frees = policy.RetentionDays > 0 && (was == 0 || policy.RetentionDays < was)
		return p, nil
	}
}

func (r *Room) policyPlan(policy ubl.RoomPolicy) *plan {
	return &plan{
		event: event{Policy: &policy},
		this: ubl.Fields{
			ubl.Str("join", policy.Join), ubl.Int("max_message_bytes", int64(policy.MaxMessageBytes)),
			ubl.Int("retention_days", int64(policy.RetentionDays)), ubl.Str("room_id", r.id),
		},
		effects: []ubl.Fields{{ubl.Str("op", "policy.set"), ubl.Str("room_id", r.id)}},
		records: policyIndexes(r.state.Summary, policy),
	}
}

// policyIndexes sets or clears the indexes that follow from a policy.
func policyIndexes(room ubl.RoomSummary, policy ubl.RoomPolicy) []actors.Record {
	joinable := actors.Record{Key: actors.JoinableIndex(room.RoomID)}
	if policy.Join == ubl.JoinTenant {
		joinable.Value = actors.RoomIndex{Room: room}.Encode()
	}
	retained := actors.Record{Key: actors.RetentionIndex(room.RoomID)}
	if policy.RetentionDays > 0 {
		retained.Value = actors.RoomIndex{Room: room}.Encode()
	}
	return []actors.Record{joinable, retained}
}

func (r *Room) decideEnd(c ubl.EndAgreement) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := r.owner(c.Who); err != nil {
			return nil, err
		}
		if err := r.own(c.Agreement); err != nil {
			return nil, err
		}
		if r.tenant == ubl.CoreTenant && slices.Contains(ubl.PlatformRooms(), r.id) {
			return nil, ubl.Errorf(ubl.CodeConflict, "the platform's own rooms can't be ended")
		}
		id := r.state.Agreement.ID
		return &plan{
			this:    ubl.Fields{ubl.Str("agreement_id", id)},
			effects: []ubl.Fields{{ubl.Str("agreement_id", id), ubl.Str("op", "agreement.end")}},
		}, nil
	}
}
