package room

import (
	"slices"

	"ubl"
	"ubl/actors"
)

// The decisions about a room itself. Each reads the state, changes nothing,
// and returns a plan or a refusal.

func (s *State) decideAdd(c ubl.AddMember, at actors.Moment) (*plan, error) {
	if err := s.owner(c.Who); err != nil {
		return nil, err
	}
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	m, err := s.Agreement.Admit(c.Member, at.Now)
	if err != nil {
		return nil, err
	}
	return s.joining(m, c.Who, at)
}

func (s *State) decideJoin(c ubl.JoinRoom, at actors.Moment) (*plan, error) {
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	if _, ok := s.Agreement.Members[c.Who.UserID]; ok {
		return nil, ubl.Errorf(ubl.CodeConflict, "the caller is a member of this room already")
	}
	if s.Policy.Join != ubl.JoinTenant {
		return nil, ubl.Errorf(ubl.CodeNotAMember, "this room is joined by invitation")
	}
	return s.joining(memberOf(c.Who, ubl.RoleMember, at.Now), c.Who, at)
}

// welcome adds a newcomer of the tenant once, and otherwise answers what is.
func (r *Room) welcome(t *actors.Turn, c ubl.Welcome) {
	if m, ok := r.State.Agreement.Members[c.Who.UserID]; ok {
		t.Reply(&m)
		return
	}
	if r.State.Past[c.Who.UserID] || r.State.Agreement.May(ubl.OpWrite) != nil {
		t.Reply((*ubl.Member)(nil))
		return
	}
	err := t.Reserve(ubl.JoinCost)
	var p *plan
	if err == nil {
		p, err = r.State.joining(memberOf(c.Who, c.Role, t.Now()), c.Who, r.Moment(t))
	}
	if err != nil {
		t.Fail(err)
		return
	}
	p.Agreement = ubl.TenantAgreement(r.tenant)
	t.Later(r.Enact(t, ubl.DidRoomJoin, c.Request, p, nil))
}

func memberOf(who ubl.Identity, role ubl.Role, now ubl.Time) ubl.Member {
	return ubl.Member{UserID: who.UserID, Email: who.Email, Role: role, IsService: who.IsService, Since: now}
}

// joining adds a member, and greets them in the name of who lets them in.
func (s *State) joining(m ubl.Member, by ubl.Identity, at actors.Moment) (*plan, error) {
	p := s.setting(m)
	return p, s.greeting(p, m, by, at)
}

// greeting adds the message that tells of a new member.
func (s *State) greeting(p *plan, m ubl.Member, by ubl.Identity, at actors.Moment) (err error) {
	p.Also, err = s.posting(by, at, ubl.TypeSystem, string(m.UserID)+" joined", "")
	return err
}

// setting writes a member's entry.
func (s *State) setting(m ubl.Member) *plan {
	id := s.Summary.RoomID
	return &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("role", m.Role), ubl.Str("room_id", id), ubl.Str("user_id", m.UserID)},
			Effects: []ubl.Fields{setEffect(id, m)},
		},
		Event:   event{Member: &m, LastSeq: s.Head.LastSeq},
		Records: []actors.Record{memberIndex(s.Summary, m)},
	}
}

func memberIndex(in ubl.RoomSummary, m ubl.Member) actors.Record {
	return actors.Record{Key: actors.MemberIndex(m.UserID, in.RoomID), Value: actors.RoomIndex{Room: in, Role: m.Role}.Encode()}
}

func setEffect(id ubl.RoomID, m ubl.Member) ubl.Fields {
	return ubl.Fields{
		ubl.Str("agreement_id", ubl.RoomAgreement(id)), ubl.Str("op", "agreement.set"),
		ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID),
	}
}

func (s *State) decideRole(c ubl.SetMember, _ actors.Moment) (*plan, error) {
	if err := s.owner(c.Who); err != nil {
		return nil, err
	}
	was := s.Agreement.Members[c.UserID].Role
	m, err := s.Agreement.Reassign(c.UserID, c.Role)
	if err != nil {
		return nil, err
	}
	p := s.setting(m)
	p.Frees = was == ubl.RoleOwner && m.Role != was
	return p, nil
}

func (s *State) decideRemove(c ubl.RemoveMember, at actors.Moment) (*plan, error) {
	m, heir, seal, err := s.Agreement.Removal(c, at.Now, ubl.CodeNotAMember, s.private())
	if err != nil {
		return nil, err
	}
	p := s.removing(m)
	if c.Expel {
		p.Agreement, p.Event.Expelled = ubl.TenantAgreement(s.Agreement.TenantID), true
	}
	if seal {
		s.sealing(p)
	}
	if heir != nil {
		p.Event.Heir = heir
		p.Effects = append(p.Effects, setEffect(s.Summary.RoomID, *heir))
		p.Records = append(p.Records, memberIndex(s.Summary, *heir))
	}
	if heir != nil && seal {
		err = s.greeting(p, *heir, c.Who, at)
	}
	return p, err
}

// decideSetHeir names who follows the room's owners.
func (s *State) decideSetHeir(c ubl.SetHeir, _ actors.Moment) (*plan, error) {
	err := s.Agreement.NameHeir(c, ubl.CodeNotAMember)
	if err == nil {
		err = s.own(c.Agreement)
	}
	if err != nil {
		return nil, err
	}
	named := actors.HeirFields(s.Agreement.ID, c.Heir.UserID)
	return &plan{
		Act: actors.Act{
			This:    named,
			Effects: []ubl.Fields{append(ubl.Fields{named[0], ubl.Str("op", ubl.DidHeirSet)}, named[1:]...)},
		},
		Event: event{Member: &ubl.Member{UserID: c.Heir.UserID}, LastSeq: s.Head.LastSeq},
	}, nil
}

// sealing closes the room: entries that are left are services, which go too.
func (s *State) sealing(p *plan) {
	p.Event.Sealed = true
	for _, m := range s.Agreement.SortedMembers() {
		if m.UserID != p.Event.Member.UserID {
			rest := s.removing(m)
			p.Effects, p.Records = append(p.Effects, rest.Effects...), append(p.Records, rest.Records...)
		}
	}
	p.Effects = append(p.Effects, ubl.Fields{ubl.Str("agreement_id", s.Agreement.ID), ubl.Str("op", "agreement.seal")})
}

// decideHeir opens a sealed room to an heir, from the next message on.
func (s *State) decideHeir(c actors.Inherit, at actors.Moment) (*plan, error) {
	m, err := s.Agreement.Inherit(c.Heir, at.Now)
	if err != nil {
		return nil, err
	}
	p, err := s.joining(m, c.Who, at)
	if err != nil {
		return nil, err
	}
	p.Agreement = ubl.TenantAgreement(s.Agreement.TenantID)
	p.This = ubl.Fields{ubl.Str("agreement_id", s.Agreement.ID), ubl.Str("user_id", m.UserID)}
	return p, nil
}

// removing takes a member's entry away.
func (s *State) removing(m ubl.Member) *plan {
	id := s.Summary.RoomID
	return &plan{
		Act: actors.Act{
			This: ubl.Fields{ubl.Str("room_id", id), ubl.Str("user_id", m.UserID)},
			Effects: []ubl.Fields{{
				ubl.Str("agreement_id", s.Agreement.ID), ubl.Str("op", "agreement.remove"), ubl.Str("user_id", m.UserID),
			}},
		},
		Event:   event{Member: &m, LastSeq: s.Head.LastSeq},
		Records: []actors.Record{{Key: actors.MemberIndex(m.UserID, id)}},
	}
}

func (s *State) decidePolicy(c ubl.SetRoomPolicy, _ actors.Moment) (*plan, error) {
	if err := s.owner(c.Who); err != nil {
		return nil, err
	}
	policy, err := s.Policy.Apply(c.Patch)
	if err != nil {
		return nil, err
	}
	if policy.RetentionDays > 0 && s.Agreement.TenantID == ubl.CoreTenant && s.Summary.RoomID == ubl.CeremonyRoom {
		return nil, ubl.Errorf(ubl.CodeConflict, "key ceremonies are kept for ever")
	}
	id, was, set := s.Summary.RoomID, s.Policy.RetentionDays, s.room()
	set.Policy = policy
	return &plan{
		Act: actors.Act{
			This: ubl.Fields{
				ubl.Str("join", policy.Join), ubl.Int("max_message_bytes", int64(policy.MaxMessageBytes)),
				ubl.Int("retention_days", int64(policy.RetentionDays)), ubl.Str("room_id", id),
			},
			Effects: []ubl.Fields{{ubl.Str("op", "policy.set"), ubl.Str("room_id", id)}},
		},
		Event:   event{Policy: &policy, LastSeq: s.Head.LastSeq},
		Records: policyIndexes(s.Summary, policy),
		Frees:   policy.RetentionDays > 0 && (was == 0 || policy.RetentionDays < was),
		Answer:  func(ubl.Receipt) any { return set },
	}, nil
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

func (s *State) decideEnd(c ubl.EndAgreement, at actors.Moment) (*plan, error) {
	if err := s.owner(c.Who); err != nil {
		return nil, err
	}
	if err := s.own(c.Agreement); err != nil {
		return nil, err
	}
	if s.Agreement.TenantID == ubl.CoreTenant && slices.Contains(ubl.PlatformRooms(), s.Summary.RoomID) {
		return nil, ubl.Errorf(ubl.CodeConflict, "the platform's own rooms can't be ended")
	}
	ended, id := s.Agreement, s.Agreement.ID
	ended.Status, ended.EndedAt = ubl.AgreementEnded, &at.Now
	view := ended.View(nil)
	return &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("agreement_id", id)},
			Effects: []ubl.Fields{{ubl.Str("agreement_id", id), ubl.Str("op", "agreement.end")}},
		},
		Event:  event{LastSeq: s.Head.LastSeq},
		Answer: func(ubl.Receipt) any { return view },
	}, nil
}
