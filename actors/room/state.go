package room

import (
	"cmp"

	"ubl"
	"ubl/actors/agreement"
)

// State is what a Room decides by. It is the same after replaying the stored
// events as it was before a crash.
type State struct {
	Summary ubl.RoomSummary
	Policy  ubl.RoomPolicy
	// Description is what the room is about.
	Description string
	Agreement   agreement.Kept
	// Past holds everyone who ever was a member and was not shut out of the
	// tenant, so that nobody is welcomed twice.
	Past map[ubl.UserID]bool
	// Hidden is the room_seq up to which the timeline stays closed, since the room was
	// sealed then.
	Hidden int64
	// Marks are how far members have read.
	Marks marks
	// FileBytes is how many bytes the files of all messages are.
	FileBytes int64
	// Away are the members who have hidden these direct messages, each with the room_seq of the
	// newest entry then.
	Away map[ubl.UserID]int64
	// Call is the one that is going on, the zero one for none.
	Call ubl.RoomCall
	// Events counts the events.
	Events int64
	Head   ubl.Head

	recent recent
	oldest ubl.Time // when the oldest message was sent, 0 where there is none
}

// apply is the only place where events change the state.
func (s *State) apply(e event) {
	if e.reads != nil {
		s.keep([]marked{*e.reads})
		return
	}
	s.Events = e.N
	if e.step() {
		s.Agreement.Changed()
	}
	if e.Hides != nil {
		s.veil(e)
		return
	}
	switch e.Did {
	case ubl.DidRoomCreate:
		s.Summary, s.Policy = *e.Room, *e.Policy
		s.Summary.Name = cmp.Or(ubl.ShownName(s.Summary.Name), string(s.Summary.RoomID))
		s.Head.AvailableFrom = 1
		s.Past, s.Marks = make(map[ubl.UserID]bool), make(marks)
		s.Agreement.Agreement = governance(e)
		for _, m := range e.founders() {
			s.set(m)
		}
	case ubl.DidRoomDescribe:
		s.describe(*e.About)
	case ubl.DidRoomJoin, ubl.DidRoomInvite, ubl.DidDirectOpen:
		s.set(*e.Member)
		s.arrive(e.Member.UserID, e)
	case ubl.DidRoomMemberUpdate:
		s.set(*e.Member)
	case ubl.DidRoomLeave, ubl.DidRoomRemove:
		s.remove(e)
	case ubl.DidAgreementHeir:
		s.open(*e.Member, e)
	case ubl.DidHeirSet:
		s.Agreement.NamedHeir = e.Member.UserID
	case ubl.DidRoomUpdate:
		s.Policy = *e.Policy
		if s.Agreement.Amended == 0 {
			s.Agreement.Terms = termsOf(s.Policy)
			s.Agreement.Changed()
		}
	case ubl.DidAgreementPropose, ubl.DidAgreementAccept, ubl.DidAgreementWithdraw:
		s.Agreement.Amend(e.N, e.Amendment)
		if e.Amendment.Terms != nil {
			s.Policy.Join = joinOf(e.Amendment.Terms)
		}
	case ubl.DidRoomTrim:
		s.trim(e)
	case ubl.DidCallBegin:
		s.Call = *e.Call
	case ubl.DidCallEnd:
		s.Call = ubl.RoomCall{}
	case ubl.DidAgreementEnd:
		s.Agreement.End(e.At)
	}
}

func (s *State) remove(e event) {
	if e.Expelled {
		delete(s.Past, e.Member.UserID)
	}
	s.Agreement.Remove(e.Member.UserID)
	delete(s.Marks, e.Member.UserID)
	delete(s.Away, e.Member.UserID)
	for _, m := range e.swept {
		delete(s.Marks, m.UserID)
		delete(s.Away, m.UserID)
	}
	if e.Sealed {
		s.Agreement.Seal(e.At)
		s.Hidden = e.newest()
	}
	if e.Heir != nil {
		s.open(*e.Heir, e)
	}
}

func (s *State) open(heir ubl.Member, e event) {
	s.Agreement.Open(heir)
	s.Past[heir.UserID] = true
	s.arrive(heir.UserID, e)
}

// trim forgets the messages before one.
func (s *State) trim(e event) {
	s.Head.AvailableFrom, s.oldest = e.AvailableFrom, e.oldest
	s.FileBytes -= e.freed
	s.recent.before(e.AvailableFrom)
}

// governance is the record that a founding event makes.
func governance(e event) ubl.Agreement {
	physics := ubl.RoomPhysics()
	if e.Physics != nil {
		physics = *e.Physics
	}
	return ubl.Agreement{
		ID: ubl.RoomAgreement(e.Room.RoomID), Type: ubl.RoomGovernance, TenantID: e.Tenant,
		CreatedAt: e.At, CreatedBy: e.By, Status: ubl.AgreementInForce,
		Physics: &physics, Terms: termsOf(*e.Policy), Members: make(map[ubl.UserID]ubl.Member),
	}
}

func (s *State) set(m ubl.Member) {
	s.Agreement.Set(m)
	s.Past[m.UserID] = true
}

// container is the room as a container of messages.
func (s *State) container(who ubl.Identity, asOf *ubl.Receipt) *ubl.Container {
	head := s.head()
	return &ubl.Container{
		ContainerSummary: ubl.ContainerSummary{
			ContainerID: ubl.ContainerID(s.Summary.RoomID), Kind: ubl.RoomKind, Name: s.Summary.Name, Physics: *s.Agreement.Physics, CreatedAt: s.Summary.CreatedAt,
		},
		TenantID: s.Agreement.TenantID, AgreementID: s.Agreement.ID, Heir: s.Agreement.NamedHeir,
		Messages: head.LastSeq + 1 - head.AvailableFrom, Member: s.Agreement.Standing(who).Role != "", AsOf: asOf,
	}
}

// room is the configuration as it is served.
func (s *State) room(asOf *ubl.Receipt) *ubl.Room {
	summary := s.Summary
	if s.Agreement.Status == ubl.AgreementEnded {
		summary.Status = ubl.AgreementEnded
	}
	physics := *s.Agreement.Physics
	return &ubl.Room{
		RoomSummary: summary, TenantID: s.Agreement.TenantID, Policy: s.Policy, Description: s.Description, Physics: &physics, Heir: s.Agreement.NamedHeir,
		LastSeq: s.Head.LastSeq, AvailableFrom: s.head().AvailableFrom, AsOf: asOf,
	}
}

// head is how far the room is for those who read it: what was there before it was
// sealed isn't available.
func (s *State) head() ubl.Head {
	head := s.Head
	head.AvailableFrom = max(head.AvailableFrom, s.Hidden+1)
	return head
}

// member is somebody's entry, or the refusal.
func (s *State) member(who ubl.Identity) (ubl.Member, error) {
	return s.Agreement.Entry(who, ubl.CodeNotAMember)
}

// own refuses an Agreement that is not the room's own.
func (s *State) own(id ubl.AgreementID) error {
	if id != "" && id != s.Agreement.ID {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
	}
	return nil
}

// private reports whether nobody but entries gets at the room. The rooms that a
// tenant begins with welcome everyone.
func (s *State) private() bool {
	boot := s.Summary.RoomID == ubl.GeneralRoom || s.platform()
	return s.Policy.Join != ubl.JoinTenant && !boot
}
