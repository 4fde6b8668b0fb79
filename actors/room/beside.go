package room

import (
	"cmp"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Entries that acts leave in the timeline beside what they change: who came and went, and what
// became of the room's terms. Such an entry has the receipt of its act. It says nothing that
// the act's atoms don't, so nobody redacts it. Founding a room leaves none: the system message
// that begins the timeline is by its founder, who is its first member.

// noting adds the entry about an act to its plan.
func (s *State) noting(p *plan, kind ubl.EntryType, body ubl.TypedBody, by ubl.Identity, at actors.Moment) (*ubl.Entry, error) {
	next, err := s.next(at, body.Hashed())
	if err != nil {
		return nil, err
	}
	e := s.entryIn(next, kind, body, by, at)
	// The action tells what was asked for, and the entry came of it: so the effect has what
	// the action of a posted entry has.
	p.Effects = append(p.Effects, ubl.Fields{
		next.commit, ubl.Str("content_type", body.Type), ubl.Str("msg_id", next.id), ubl.Str("op", "room.append"),
		ubl.Str("room_id", s.Summary.RoomID), ubl.Int("room_seq", next.seq),
	})
	p.Records = append(p.Records, s.counting())
	s.news(p, next.post, nil, nil)
	p.Beside, p.Event.RoomSeq = e, next.seq
	s.oldestOf(p, at)
	return e.Entry, nil
}

// behind is the room as it is once a plan's entry is in the timeline, for what the plan puts
// behind it.
func (s *State) behind(p *plan, at actors.Moment) *State {
	next := *s
	next.Head.LastSeq, next.oldest = p.Event.newest(), cmp.Or(s.oldest, at.Now)
	return &next
}

// becoming tells all that an act on entries changes, of which the first is called change.
func (s *State) becoming(change ubl.Changed, c *agreement.EntryChange) ubl.TypedBody {
	tell := func(change ubl.Changed, m ubl.Member) ubl.MemberChange {
		if change == ubl.MemberLeft || change == ubl.MemberRemoved {
			m.Role = ""
		}
		return ubl.MemberChange{Change: change, Role: m.Role, UserID: m.UserID}
	}
	all := []ubl.MemberChange{tell(change, c.Member)}
	for _, m := range c.Swept {
		all = append(all, tell(ubl.MemberRemoved, m))
	}
	if c.Heir != nil {
		how := ubl.MemberAdded
		if _, inside := s.Agreement.Members[c.Heir.UserID]; inside {
			how = ubl.MemberRole
		}
		all = append(all, tell(how, *c.Heir))
	}
	return ubl.MembershipContent(all...)
}

// stateOf is what an act makes of the proposal that it is about.
func stateOf(m agreement.Amendment) ubl.ProposalState {
	switch {
	case m.Terms != nil:
		return ubl.ProposalInForce
	case m.Withdrawn:
		return ubl.ProposalWithdrawn
	case m.Proposed != nil:
		return ubl.ProposalProposed
	}
	return ubl.ProposalAccepted
}

// notingTerms adds the entry about an act on terms. The one that tells of a proposal first is
// what those behind it are about: the proposal keeps its id.
func (s *State) notingTerms(p *plan, c *agreement.TermsChange, by ubl.Identity, at actors.Moment) error {
	of := cmp.Or(c.Amendment.Proposed, s.Agreement.Proposal)
	e, err := s.noting(p, ubl.EntryProposal, ubl.ProposalContent(ubl.ProposalBody{
		AgreementID: s.Agreement.ID, State: stateOf(c.Amendment), TermsHash: of.TermsHash,
	}), by, at)
	switch {
	case err != nil:
		return err
	case c.Amendment.Proposed != nil:
		of.EntryID = e.ID
		if c.After.Proposal != nil {
			c.After.Proposal.EntryID = e.ID
		}
	case of.EntryID != "":
		e.Target = &of.EntryID
	}
	return nil
}
