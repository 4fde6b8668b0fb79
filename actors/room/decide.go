package room

import (
	"cmp"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// The decisions about a room itself. Each reads the state, changes nothing,
// and returns a plan or a refusal.

func (s *State) decideAdd(c ubl.AddMember, at actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidRoomInvite, c.Who); err != nil {
		return nil, err
	}
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	m, err := agreement.Admit(&s.Agreement.Agreement, c.Member, at.Now)
	if err != nil {
		return nil, err
	}
	return s.joining(ubl.MemberAdded, m, c.Who, at)
}

func (s *State) decideJoin(c ubl.JoinRoom, at actors.Moment) (*plan, error) {
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	if _, ok := s.Agreement.Members[c.Who.UserID]; ok {
		return nil, ubl.Errorf(ubl.CodeConflict, "the caller is a member of this room already")
	}
	if s.permits(ubl.DidRoomJoin, c.Who) != nil {
		return nil, ubl.Errorf(ubl.CodeNotAMember, "this room is joined by invitation")
	}
	return s.joining(ubl.MemberJoined, agreement.EntryOf(c.Who, ubl.RoleMember, at.Now), c.Who, at)
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
		p, err = r.State.joining(ubl.MemberJoined, agreement.EntryOf(c.Who, c.Role, t.Now()), c.Who, r.Moment(t))
	}
	if err != nil {
		t.Fail(err)
		return
	}
	p.Agreement = ubl.TenantAgreement(r.tenant)
	t.Later(r.Enact(t, r.Following(ubl.DidRoomJoin, c.Request, p), nil))
}

// decideSending holds a message against the terms before anything else about it.
func (s *State) decideSending(c *sending, at actors.Moment) (*plan, error) {
	if err := c.copied(); err != nil {
		return nil, err
	}
	if err := s.Agreement.Terms.Fits(ubl.DidSend, len(c.Text)); err != nil {
		return nil, err
	}
	return s.decideSend(c, at)
}

// joining adds a member, and greets them in the name of who lets them in.
func (s *State) joining(change ubl.Changed, m ubl.Member, by ubl.Identity, at actors.Moment) (*plan, error) {
	p, err := s.changing(change, s.entries().Set(m), by, at)
	if err == nil {
		s.coming(p, m.UserID)
		err = s.greeting(p, m, by, at)
	}
	return p, err
}

// greeting adds the message that tells of a new member to those who read only messages.
func (s *State) greeting(p *plan, m ubl.Member, by ubl.Identity, at actors.Moment) (err error) {
	p.Also, err = s.behind(p, at).posting(by, at, text{kind: ubl.TypeSystem, body: ubl.Body{Text: string(m.UserID) + " joined"}})
	return err
}

// entries writes the acts about who is in the room.
func (s *State) entries() agreement.Entries {
	return agreement.Entries{
		In: &s.Agreement.Agreement, Subject: ubl.Str("room_id", s.Summary.RoomID), Removes: ubl.DidRoomRemove,
		Index: func(m ubl.Member) actors.Record { return memberIndex(s.Summary, m) },
	}
}

// changing is the plan of a change of who is in the room, which is called change in the
// timeline.
func (s *State) changing(change ubl.Changed, c *agreement.EntryChange, by ubl.Identity, at actors.Moment) (*plan, error) {
	p := s.writing(c)
	_, err := s.noting(p, ubl.EntryMembership, s.becoming(change, c), by, at)
	return p, err
}

// writing is the plan of a change of entries.
func (s *State) writing(c *agreement.EntryChange) *plan {
	return &plan{
		Act: c.Act, Records: c.Records, Frees: c.Frees, Alarms: c.Alarms,
		Event: event{Member: &c.Member, Heir: c.Heir, Sealed: c.Sealed, Expelled: c.Expelled, LastSeq: s.Head.LastSeq, swept: c.Swept},
	}
}

func memberIndex(in ubl.RoomSummary, m ubl.Member) actors.Record {
	return actors.Record{Key: agreement.MemberIndex(m.UserID, in.RoomID), Value: agreement.RoomIndex{Room: in, Role: m.Role}.Encode()}
}

func (s *State) decideRole(c ubl.SetMember, at actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidRoomMemberUpdate, c.Who); err != nil {
		return nil, err
	}
	change, err := s.entries().SetRole(c)
	if err != nil {
		return nil, err
	}
	return s.changing(ubl.MemberRole, change, c.Who, at)
}

func (s *State) decideRemove(c ubl.RemoveMember, at actors.Moment) (*plan, error) {
	if s.hides(c) {
		return s.decideHide(c)
	}
	change, err := s.entries().Remove(c, at.Now, ubl.CodeNotAMember, s.private())
	if err != nil {
		return nil, err
	}
	how := ubl.MemberRemoved
	if c.UserID == c.Who.UserID {
		how = ubl.MemberLeft
	}
	p, err := s.changing(how, change, c.Who, at)
	if err == nil {
		s.leaving(p, change)
	}
	if err == nil && change.Heir != nil && change.Sealed {
		err = s.greeting(p, *change.Heir, c.Who, at)
	}
	return p, err
}

// leaving takes the marks of those away who go, and gives one to an heir who comes.
func (s *State) leaving(p *plan, c *agreement.EntryChange) {
	s.going(p, c.Member.UserID)
	for _, m := range c.Swept {
		s.going(p, m.UserID)
	}
	if c.Heir != nil {
		s.coming(p, c.Heir.UserID)
	}
}

// decideSetHeir names who follows the room's owners.
func (s *State) decideSetHeir(c ubl.SetHeir, _ actors.Moment) (*plan, error) {
	change, err := s.entries().NameHeir(c, ubl.CodeNotAMember)
	if err == nil {
		err = s.own(c.Agreement)
	}
	if err != nil {
		return nil, err
	}
	return s.writing(change), nil
}

// decideHeir opens a sealed room to an heir, from the next message on.
func (s *State) decideHeir(c agreement.Inherit, at actors.Moment) (*plan, error) {
	change, err := s.entries().Inherit(c, at.Now)
	if err != nil {
		return nil, err
	}
	p, err := s.changing(ubl.MemberAdded, change, c.Who, at)
	if err == nil {
		s.coming(p, change.Member.UserID)
		err = s.greeting(p, change.Member, c.Who, at)
	}
	return p, err
}

func (s *State) decidePolicy(c ubl.SetRoomPolicy, at actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidRoomUpdate, c.Who); err != nil {
		return nil, err
	}
	policy, err := s.Policy.Apply(c.Patch)
	if err != nil {
		return nil, err
	}
	if policy.Join != s.Policy.Join && s.Agreement.Amended != 0 {
		return nil, ubl.Errorf(ubl.CodeConflict, "the room's own terms say who may join: propose others")
	}
	if policy.Keeps() > 0 && s.Agreement.TenantID == ubl.CoreTenant && s.Summary.RoomID == ubl.CeremonyRoom {
		return nil, ubl.Errorf(ubl.CodeConflict, "key ceremonies are kept for ever")
	}
	id, was, set := s.Summary.RoomID, s.Policy.Keeps(), s.room(nil)
	set.Policy = policy
	p := &plan{
		Act: actors.Act{
			This: ubl.Fields{
				ubl.Str("join", policy.Join), ubl.Int("max_message_bytes", int64(policy.MaxMessageBytes)),
				ubl.Int("retention_days", int64(policy.RetentionDays)), ubl.Str("room_id", id),
			},
			Effects: []ubl.Fields{{ubl.Str("op", "policy.set"), ubl.Str("room_id", id)}},
		},
		Event:   event{Policy: &policy, Joins: policy.Join != s.Policy.Join, LastSeq: s.Head.LastSeq},
		Records: []actors.Record{joinable(s.Summary, policy)},
		Frees:   policy.Keeps() > 0 && (was == 0 || policy.Keeps() < was),
		Answer:  func(ubl.Receipt) any { return set },
	}
	if policy.Posting != "" || s.Policy.Posting != "" {
		p.This = append(p.This, ubl.Str("posting", cmp.Or(policy.Posting, ubl.PostingEveryone)))
	}
	if policy.RetentionHours != 0 || s.Policy.RetentionHours != 0 {
		p.This = append(p.This, ubl.Int("retention_hours", int64(policy.RetentionHours)))
	}
	return p, s.retaining(p, policy, c.Who, at)
}

// retaining has a plan of a policy's change arm what removes messages under it. Where they are
// kept for another time, an entry tells all who read the room.
func (s *State) retaining(p *plan, policy ubl.RoomPolicy, by ubl.Identity, at actors.Moment) error {
	next := *s
	next.Policy = policy
	if policy.Keeps() != s.Policy.Keeps() {
		if _, err := s.noting(p, ubl.EntryRoom, ubl.RetentionContent(policy), by, at); err != nil {
			return err
		}
		next.oldest = cmp.Or(s.oldest, at.Now)
	}
	p.Alarms = []actors.Alarm{next.expiry(next.oldest, 0)}
	return nil
}

// joinable sets or clears the index that follows from a policy.
func joinable(room ubl.RoomSummary, policy ubl.RoomPolicy) actors.Record {
	r := actors.Record{Key: agreement.JoinableIndex(room.RoomID)}
	if policy.Join == ubl.JoinTenant {
		r.Value = agreement.RoomIndex{Room: room}.Encode()
	}
	return r
}

func (s *State) decideEnd(c ubl.EndAgreement, at actors.Moment) (*plan, error) {
	if err := agreement.MayEnd(&s.Agreement.Agreement, c.Who, at.Now, ubl.CodeNotAMember); err != nil {
		return nil, err
	}
	if err := s.own(c.Agreement); err != nil {
		return nil, err
	}
	if s.platform() {
		return nil, errPlatformRoom()
	}
	act, alarms, ended := agreement.Ending(s.Agreement.Agreement, at.Now)
	p := &plan{
		Act: act, Alarms: alarms, Event: event{LastSeq: s.Head.LastSeq},
		Records: []actors.Record{{Key: agreement.EndedIndex(s.Summary.RoomID), Value: agreement.RoomIndex{Room: s.Summary}.Encode()}},
		Answer:  func(ubl.Receipt) any { return ended },
	}
	_, err := s.noting(p, ubl.EntryProposal, ubl.ProposalContent(ubl.ProposalBody{AgreementID: s.Agreement.ID, State: ubl.ProposalEnded}), c.Who, at)
	return p, err
}
