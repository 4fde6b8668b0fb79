package room

import (
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Direct messages: a room whose members are a set of people that never changes. All of them are
// plain members, so under the usual terms nobody invites, renames or ends it. Who leaves only
// hides it from their list: Away has how far the timeline was then, and the next entry, or they
// themselves, show it again. So whether it is hidden follows from the events and the newest
// number.

// hidden reports whether a member doesn't see these direct messages in their list.
func (s *State) hidden(user ubl.UserID) bool {
	seq, away := s.Away[user]
	return away && seq == s.Head.LastSeq
}

// showing has the next entry show direct messages to all who have hidden them.
func (s *State) showing(p *plan) {
	for _, user := range slices.Sorted(maps.Keys(s.Away)) {
		if m, in := s.Agreement.Members[user]; in && s.hidden(user) {
			p.Records = append(p.Records, memberIndex(s.Summary, m))
		}
	}
}

// hides reports whether somebody leaves direct messages by themselves.
func (s *State) hides(c ubl.RemoveMember) bool {
	return s.Summary.Direct != nil && c.UserID == c.Who.UserID && !c.Expel
}

// decideHide hides direct messages from somebody's own list, which is how they leave.
func (s *State) decideHide(c ubl.RemoveMember) (*plan, error) {
	m, err := s.member(c.Who)
	switch {
	case err != nil:
		return nil, err
	case s.hidden(m.UserID):
		return nil, ubl.Errorf(ubl.CodeConflict, "these direct messages are hidden until the next one")
	}
	p := s.veiling(m, true)
	p.Frees = true
	return p, nil
}

// decideShow shows them again to who opens them, or lets in again who had left the tenant.
func (s *State) decideShow(c agreement.ShowDirect, at actors.Moment) (*plan, error) {
	m, in := s.Agreement.Members[c.Who.UserID]
	switch {
	case s.Summary.Direct == nil || !slices.Contains(s.Summary.Direct.Members, c.Who.UserID):
		return nil, ubl.Errorf(ubl.CodeNotAMember, "these direct messages are between others")
	case s.Agreement.SealedAt != nil:
		return nil, ubl.Errorf(ubl.CodeConflict, "all who wrote these direct messages have left, and they stay closed")
	case in && s.hidden(m.UserID):
		return s.veiling(m, false), nil
	case in:
		return nil, ubl.Errorf(ubl.CodeConflict, "these direct messages are shown already")
	}
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	p, err := s.joining(ubl.MemberJoined, agreement.EntryOf(c.Who, ubl.RoleMember, at.Now), c.Who, at)
	if err == nil {
		p.Agreement = ubl.TenantAgreement(s.Agreement.TenantID)
	}
	return p, err
}

// veiling is the plan of an act that hides or shows direct messages to one of their members.
func (s *State) veiling(m ubl.Member, hides bool) *plan {
	id, op, record := s.Summary.RoomID, "room.show", memberIndex(s.Summary, m)
	if hides {
		op, record.Value = "room.hide", agreement.RoomIndex{Room: s.Summary, Role: m.Role, Hidden: true}.Encode()
	}
	return &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("room_id", id), ubl.Str("user_id", m.UserID)},
			Effects: []ubl.Fields{{ubl.Str("op", op), ubl.Str("room_id", id), ubl.Str("user_id", m.UserID)}},
		},
		Event:   event{Member: &m, Hides: &hides, LastSeq: s.Head.LastSeq},
		Records: []actors.Record{record},
	}
}

// veil takes over that direct messages were hidden or shown.
func (s *State) veil(e event) {
	if *e.Hides {
		if s.Away == nil {
			s.Away = make(map[ubl.UserID]int64)
		}
		s.Away[e.Member.UserID] = e.LastSeq
	} else {
		delete(s.Away, e.Member.UserID)
	}
}

// errDirect refuses what direct messages don't have.
func errDirect() error {
	return ubl.Errorf(ubl.CodeForbidden, "direct messages have no name and no description, and nobody else comes in")
}
