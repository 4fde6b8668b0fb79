package agreement

import (
	"slices"

	"ubl"
	"ubl/actors"
)

// Amendment is what a family's event keeps of an act about terms (JSON).
type Amendment struct {
	// Proposed is a proposal that was made, Accepted who accepted the open one, and
	// Withdrawn says that it was taken away.
	Proposed  *ubl.Proposal `json:"proposed,omitempty"`
	Accepted  ubl.UserID    `json:"accepted,omitempty"`
	Withdrawn bool          `json:"withdrawn,omitempty"`
	// Terms came into force by the act.
	Terms *ubl.Terms `json:"terms,omitempty"`
}

// Amend takes over what an event says of terms, as step n of the history.
func (a *Kept) Amend(n int64, m *Amendment) {
	switch {
	case m.Terms != nil:
		a.Terms, a.Amended, a.Proposal = m.Terms, n, nil
	case m.Proposed != nil:
		a.Proposal = m.Proposed
	case m.Withdrawn:
		a.Proposal = nil
	default:
		p := *a.Proposal
		p.Accepted = append(slices.Clip(p.Accepted), m.Accepted)
		a.Proposal = &p
	}
	a.Changed()
}

// Reach is how far beyond its entries the terms of an Agreement may go. Physics decide it:
// collaborative are the entries, open the tenant, public anyone.
type Reach struct {
	Tenant, Anyone bool
	// Joins are acts that everybody of the tenant may be let do in any case.
	Joins []ubl.Did
}

// Check refuses terms that go further.
func (r Reach) Check(t *ubl.Terms) error {
	for _, p := range t.Permits {
		if slices.Contains(p.To, ubl.ToAnyone) && !r.Anyone || slices.Contains(p.To, ubl.ToTenant) && !r.Tenant && !slices.Contains(r.Joins, ubl.Did(p.Did)) {
			err := ubl.Errorf(ubl.CodeValidation, "the terms go beyond the physics of what they govern; see details")
			err.Details = map[string]string{"terms.permits.to": "tenant is for what is open, anyone for what is public"}
			return err
		}
	}
	return nil
}

// TermsChange is what becomes of terms: an act, the alarm that goes with it, what the
// family's event keeps, and the record after it.
type TermsChange struct {
	actors.Act
	Amendment Amendment
	Alarms    []actors.Alarm
	After     *ubl.AgreementView
}

// Drafting writes the acts about the terms of a record. Its methods change nothing.
type Drafting struct {
	In *Kept
	// N is the number of the event that the act would make.
	N     int64
	Now   ubl.Time
	Reach Reach
	// Brought are acts that families bring along, which terms may name, too.
	Brought []ubl.Did
	// Refusal is the code for those who have no part in the record.
	Refusal ubl.Code
}

// Propose puts other terms before those who have to accept them.
func (d Drafting) Propose(c ubl.ProposeTerms) (*TermsChange, error) {
	err := d.In.Permits(ubl.DidAgreementPropose, c.Who, d.Refusal)
	if err == nil {
		err = c.Terms.Check(d.Brought...)
	}
	if err == nil {
		err = d.Reach.Check(&c.Terms)
	}
	if err == nil && c.Terms.Until != 0 && c.Terms.Until <= d.Now {
		err = ubl.Errorf(ubl.CodeValidation, "the terms would have ended already")
	}
	if err != nil {
		return nil, err
	}
	return d.change(ubl.DidAgreementPropose, &ubl.Proposal{
		Terms: c.Terms, TermsHash: c.Terms.Hash(), By: c.Who.UserID, At: d.Now, Accepted: []ubl.UserID{c.Who.UserID},
	}, Amendment{}), nil
}

// Accept has somebody accept the open proposal. Who has accepted already may once more where
// nobody is left who has to: they have gone.
func (d Drafting) Accept(c ubl.AcceptTerms) (*TermsChange, error) {
	p, err := d.open(ubl.DidAgreementAccept, c.Who)
	if err != nil {
		return nil, err
	}
	waiting := d.In.Waiting()
	switch {
	case c.TermsHash != p.TermsHash:
		return nil, ubl.Errorf(ubl.CodeConflict, "the open proposal is another one: read it again")
	case p.Terms.Until != 0 && p.Terms.Until <= d.Now:
		return nil, ubl.Errorf(ubl.CodeConflict, "the time of the proposed terms is over: propose others")
	case slices.Contains(p.Accepted, c.Who.UserID) && len(waiting) > 0:
		return nil, ubl.Errorf(ubl.CodeConflict, "the caller has accepted, and others have to")
	case !slices.Contains(p.Accepted, c.Who.UserID) && !slices.Contains(waiting, c.Who.UserID):
		return nil, ubl.Errorf(ubl.CodeForbidden, "the terms in force don't ask the caller to accept others")
	}
	next := *p
	next.Accepted = append(slices.Clip(p.Accepted), c.Who.UserID)
	return d.change(ubl.DidAgreementAccept, &next, Amendment{Accepted: c.Who.UserID}), nil
}

// Withdraw takes the open proposal away.
func (d Drafting) Withdraw(c ubl.WithdrawTerms) (*TermsChange, error) {
	p, err := d.open(ubl.DidAgreementWithdraw, c.Who)
	if err != nil {
		return nil, err
	}
	own := p.By == c.Who.UserID || slices.Contains(d.In.Waiting(), c.Who.UserID)
	if !own && !d.In.Terms.Permit(ubl.DidAgreementWithdraw, d.In.Standing(c.Who)) {
		return nil, ubl.Errorf(ubl.CodeForbidden, "the proposal is neither the caller's, nor do they have to accept it")
	}
	return d.change(ubl.DidAgreementWithdraw, p, Amendment{Withdrawn: true}), nil
}

// open is the proposal that somebody may answer.
func (d Drafting) open(did ubl.Did, who ubl.Identity) (*ubl.Proposal, error) {
	if err := d.In.Permits(did, who, d.Refusal); err != nil {
		return nil, err
	}
	if d.In.Proposal == nil {
		return nil, ubl.Errorf(ubl.CodeConflict, "no terms are proposed")
	}
	return d.In.Proposal, nil
}

// change is the act, as it leaves a proposal: in force where nobody has to accept it any
// more.
func (d Drafting) change(did ubl.Did, p *ubl.Proposal, m Amendment) *TermsChange {
	if did == ubl.DidAgreementPropose {
		m.Proposed = p
	}
	this := ubl.Fields{ubl.Str("agreement_id", d.In.ID), ubl.Str("terms_hash", p.TermsHash)}
	effect := func(op ubl.Did) ubl.Fields { return append(ubl.Fields{ubl.Str("op", op)}, this...) }
	c := &TermsChange{Act: actors.Act{This: this, Effects: []ubl.Fields{effect(did)}}}
	after := Kept{Agreement: d.In.Agreement}
	after.Proposal = p
	if !m.Withdrawn && len(after.Waiting()) == 0 {
		m.Terms = &p.Terms
		c.Effects = append(c.Effects, effect("agreement.amend"))
		if p.Terms.Until != 0 || d.In.Terms.Until != 0 {
			c.Alarms = []actors.Alarm{{Key: TermAlarm, At: p.Terms.Until}}
		}
	}
	after.Proposal = d.In.Proposal
	after.Amend(d.N, &m)
	c.Amendment, c.After = m, after.View(nil)
	return c
}

// What tells one command about terms from another under the same key.

// ProposeContent tells proposals apart: by the terms.
func ProposeContent(c ubl.ProposeTerms) []string {
	return []string{string(c.Agreement), c.Terms.Hash()}
}

// AcceptContent tells acceptances apart: by what is accepted.
func AcceptContent(c ubl.AcceptTerms) []string { return []string{string(c.Agreement), c.TermsHash} }

// WithdrawContent tells withdrawals apart: by the record.
func WithdrawContent(c ubl.WithdrawTerms) []string { return []string{string(c.Agreement)} }
