package room

import (
	"cmp"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// plan is what a decision about a room leads to.
type plan = actors.Plan[event]

// kind is the family: all but what it reads.
func kind() *actors.Kind[State, event] {
	return &actors.Kind[State, event]{
		Spaces: "ADEgjmOPQRTuvVwz",
		Name:   "room", Version: eventVersion, Place: events, Items: messages,
		Unknown: func() error { return ubl.Errorf(ubl.CodeNotFound, "there is no such room") },
		Apply:   (*State).apply, Take: (*State).take, Tell: tell, Told: told, Snapshot: snapshots(), Beside: loadRecent, Adopt: (*State).adopt,
		Under:  func(s *State, _ ubl.Identity) ubl.AgreementID { return s.Agreement.ID },
		Record: func(s *State, id ubl.AgreementID) string { return s.Agreement.HashOf(id) },
		Newest: (*State).newest,
		Stands: func(s *State, p actors.Proposal) error { return s.Agreement.Stands(p) }, Counts: func(s *State, p actors.Proposal) { s.Agreement.Counts(p) },
		Hash: func(s *State, e event) string {
			if !e.step() {
				return ""
			}
			return s.Agreement.Hash()
		},
		Pointers: func(s *State) ubl.Fields { return pointers(s.Summary.RoomID) },
		Rules: []actors.Rule[State, event]{
			actors.On(ubl.DidSend, sendContent, (*State).decideSending),
			actors.OnNamed(postDid, postContent, (*State).decidePost),
			actors.OnNamed(announced, announceContent, (*State).decideAnnounce),
			actors.On(ubl.DidRoomInvite, agreement.AddContent, (*State).decideAdd),
			actors.On(ubl.DidRoomJoin, nil, (*State).decideJoin),
			actors.On(ubl.DidRoomMemberUpdate, agreement.RoleContent, (*State).decideRole),
			actors.OnNamed(removal, agreement.RemoveContent, (*State).decideRemove).Frees(),
			actors.On(ubl.DidHeirSet, agreement.SetHeirContent, (*State).decideSetHeir),
			actors.On(ubl.DidAgreementHeir, agreement.InheritContent, (*State).decideHeir).Frees(),
			actors.On(ubl.DidRoomUpdate, policyContent, (*State).decidePolicy),
			actors.On(ubl.DidRoomDescribe, aboutContent, (*State).decideDescribe),
			actors.On(ubl.DidDirectOpen, nil, (*State).decideShow),
			actors.On(ubl.DidCallBegin, nil, (*State).decideCallBegin),
			actors.On(ubl.DidCallEnd, endCallContent, (*State).decideCallEnd).Frees(),
			actors.On(ubl.DidAgreementPropose, agreement.ProposeContent, (*State).decidePropose),
			actors.On(ubl.DidAgreementAccept, agreement.AcceptContent, (*State).decideAccept),
			actors.On(ubl.DidAgreementWithdraw, agreement.WithdrawContent, (*State).decideWithdraw).Frees(),
			actors.On(ubl.DidAgreementEnd, nil, (*State).decideEnd).Frees(),
		},
	}
}

// newest is the version of what a command changes: the policy, or the Agreement.
func (s *State) newest(cmd ubl.Command) string {
	if _, ok := cmd.(ubl.SetRoomPolicy); ok {
		return ubl.VersionOf(s.Policy)
	}
	return s.Agreement.Version()
}

// events and messages tell where a room's are.

func events(name ubl.Name) actors.Place {
	id := ubl.RoomID(name.Local())
	return actors.Place{Key: func(n int64) []byte { return eventKey(id, n) }, Counter: eventCounter(id), Ref: refEvent}
}

func messages(name ubl.Name) actors.Place {
	id := ubl.RoomID(name.Local())
	return actors.Place{Key: func(n int64) []byte { return messageKey(id, n) }, Counter: messageCounter(id), Ref: refMessage}
}

// announced names the act that an announcement tells of, or its own.
func announced(c ubl.Announce) ubl.Did { return cmp.Or(c.Did, ubl.DidSend) }

// removal names the act: who removes themselves leaves.
func removal(c ubl.RemoveMember) ubl.Did {
	if c.UserID == c.Who.UserID {
		return ubl.DidRoomLeave
	}
	return ubl.DidRoomRemove
}

// What tells one command from another under the same key.

func sendContent(c *sending) []string {
	parts := withFiles(appended([]string{c.Text, string(c.ReplyTo)}, c.Thread, c.Mentions...), c.Attachments, nil)
	if f := c.Forward; f != nil { // what it says may have changed since
		parts = append(parts, "forward", string(f.RoomID), string(f.MsgID))
	}
	return parts
}

func announceContent(c ubl.Announce) []string    { return []string{c.Text} }
func policyContent(c ubl.SetRoomPolicy) []string { return []string{c.Patch.String()} }

// appended adds what a message of an earlier version didn't have, whose keys stay what they were.
func appended(parts []string, thread ubl.MessageID, mentions ...ubl.Mention) []string {
	if thread == "" && len(mentions) == 0 {
		return parts
	}
	parts = append(parts, string(thread))
	for _, m := range mentions {
		parts = append(parts, string(m))
	}
	return parts
}

// told is what a room tells by itself, and the effects that lead streams to it.
var told = []ubl.Told{
	{Op: "room.append", In: "room_id", Entry: "room_seq", Kinds: []string{ubl.EventMessageCreated, ubl.EventEntryCreated}},
	{Op: "room.create", In: "room_id", Kinds: []string{ubl.EventRoomCreated}, Payload: ubl.RoomCreatedPayload},
	{Kinds: []string{ubl.EventMemberJoined}},
	{Kinds: []string{ubl.EventRoomRead}, Own: true},
}

// pointers name the Agreement that governs the room, whatever an act was decided under.
func pointers(id ubl.RoomID) ubl.Fields {
	return ubl.Fields{ubl.Str("agreement_id", ubl.RoomAgreement(id)), ubl.Str("room_id", id)}
}

// tell publishes that the room was made, and who comes and goes.
func tell(s *State, e event) []ubl.Event {
	id := s.Summary.RoomID
	member := func(kind string, m *ubl.Member) ubl.Event {
		return ubl.Event{Kind: kind, RoomID: id, UserID: m.UserID, Payload: ubl.MemberPayload(m.UserID, m.Role)}
	}
	if e.Hides != nil { // they are a member still
		return nil
	}
	switch e.Did {
	case ubl.DidRoomCreate:
		events := []ubl.Event{{Kind: ubl.EventRoomCreated, RoomID: id, UserID: e.By, Payload: ubl.RoomCreatedPayload(*e.Room)}}
		for i := range e.Members {
			if m := &e.Members[i]; m.UserID != e.By {
				events = append(events, member(ubl.EventMemberJoined, m))
			}
		}
		return events
	case ubl.DidRoomJoin, ubl.DidRoomInvite, ubl.DidDirectOpen, ubl.DidAgreementHeir:
		return []ubl.Event{member(ubl.EventMemberJoined, e.Member)}
	case ubl.DidRoomLeave, ubl.DidRoomRemove:
		events := []ubl.Event{member(ubl.EventMemberLeft, e.Member)}
		for i := range e.swept {
			events = append(events, member(ubl.EventMemberLeft, &e.swept[i]))
		}
		if e.Sealed && e.Heir != nil {
			events = append(events, member(ubl.EventMemberJoined, e.Heir))
		}
		return events
	}
	return nil
}
