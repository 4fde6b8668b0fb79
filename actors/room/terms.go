package room

import (
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// usual are the terms of rooms that have none of their own, by who may join. They are never
// changed: those of another release get a form of their own.
var usual = map[bool]*ubl.Terms{false: usualTerms(), true: usualTerms(ubl.Permit{Did: string(ubl.DidRoomJoin), To: []string{ubl.ToTenant}})}

// usualTerms let members read and write, and owners do everything.
func usualTerms(more ...ubl.Permit) *ubl.Terms {
	return &ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: append(more,
		ubl.Permit{Did: "messenger.*", To: []string{ubl.ToEntries}},
		ubl.Permit{Did: "room.*", To: []string{ubl.ToOwners}},
		ubl.Permit{Did: "agreement.*", To: []string{ubl.ToOwners}},
	)}
}

// termsOf are the usual terms under a policy.
func termsOf(p ubl.RoomPolicy) *ubl.Terms { return usual[p.Join == ubl.JoinTenant] }

// joinOf is what terms say of who may join: the policy's rule shows it.
func joinOf(t *ubl.Terms) string {
	if t.Permit(ubl.DidRoomJoin, ubl.Stance{Inside: true}) {
		return ubl.JoinTenant
	}
	return ubl.JoinInvite
}

// permits refuses an act that the room's terms don't permit to somebody.
func (s *State) permits(did ubl.Did, who ubl.Identity) error {
	return s.Agreement.Permits(did, who, ubl.CodeNotAMember)
}

// shows refuses a look that they don't permit, which is possible after the end too.
func (s *State) shows(look ubl.Did, who ubl.Identity) error {
	return s.Agreement.Shows(look, s.Agreement.Standing(who), ubl.CodeNotAMember)
}

func (s *State) decidePropose(c ubl.ProposeTerms, at actors.Moment) (*plan, error) {
	if s.platform() && c.Terms.Until != 0 {
		return nil, errPlatformRoom()
	}
	change, err := s.drafting(at).Propose(c)
	return s.amending(c.Agreement, change, err, c.Who, at)
}

func (s *State) decideAccept(c ubl.AcceptTerms, at actors.Moment) (*plan, error) {
	change, err := s.drafting(at).Accept(c)
	return s.amending(c.Agreement, change, err, c.Who, at)
}

func (s *State) decideWithdraw(c ubl.WithdrawTerms, at actors.Moment) (*plan, error) {
	change, err := s.drafting(at).Withdraw(c)
	return s.amending(c.Agreement, change, err, c.Who, at)
}

// drafting writes the acts about the room's terms. Nobody but members sees a room, whoever
// may join.
func (s *State) drafting(at actors.Moment) agreement.Drafting {
	return agreement.Drafting{
		In: &s.Agreement, N: s.Events + 1, Now: at.Now, Brought: actors.Named(at.Acts), Reach: agreement.Reach{Joins: []ubl.Did{ubl.DidRoomJoin}}, Refusal: ubl.CodeNotAMember,
	}
}

// amending is the plan of a change of terms. Where they come into force, the index of rooms
// that may be joined follows.
func (s *State) amending(named ubl.AgreementID, c *agreement.TermsChange, err error, by ubl.Identity, at actors.Moment) (*plan, error) {
	if err == nil {
		err = s.own(named)
	}
	if err != nil {
		return nil, err
	}
	p := &plan{
		Act: c.Act, Alarms: c.Alarms, Event: event{Amendment: &c.Amendment, LastSeq: s.Head.LastSeq},
		Answer: func(ubl.Receipt) any { return c.After },
	}
	if t := c.Amendment.Terms; t != nil {
		p.Records = []actors.Record{joinable(s.Summary, ubl.RoomPolicy{Join: joinOf(t)})}
	}
	return p, s.notingTerms(p, c, by, at)
}

// platform reports whether the room is one of the platform's own, which stay.
func (s *State) platform() bool {
	return s.Agreement.TenantID == ubl.CoreTenant && slices.Contains(ubl.PlatformRooms(), s.Summary.RoomID)
}

func errPlatformRoom() error {
	return ubl.Errorf(ubl.CodeConflict, "the platform's own rooms can't be ended")
}
