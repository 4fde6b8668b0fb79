package container

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// usualFor is what the usual terms of a container follow from.
type usualFor struct {
	permeability    ubl.Permeability
	values, general bool
}

// usual are the terms of containers whose kind brings none. They are never changed: those of
// another release get a form of their own.
var usual = func() map[usualFor]*ubl.Terms {
	all := map[usualFor]*ubl.Terms{}
	for _, p := range []ubl.Permeability{ubl.Sealed, ubl.Gated, ubl.Collaborative, ubl.Open, ubl.Public} {
		for _, values := range []bool{false, true} {
			all[usualFor{p, values, false}] = usualTerms(p, values)
			all[usualFor{p, values, true}] = usualTerms(p, values, ubl.Permit{Did: string(ubl.DidContainerJoin), To: []string{ubl.ToTenant}})
		}
	}
	return all
}()

// usualTerms are for whom the physics let in: collaborative the entries, open the tenant,
// public anyone, who looks. Out of what is gated only owners carry; anyone of the tenant gives
// credits.
func usualTerms(p ubl.Permeability, values bool, more ...ubl.Permit) *ubl.Terms {
	inside, carries, brings := ubl.ToEntries, ubl.ToEntries, ubl.ToEntries
	switch p {
	case ubl.Open, ubl.Public:
		inside, carries, brings = ubl.ToTenant, ubl.ToTenant, ubl.ToTenant
	case ubl.Gated:
		carries = ubl.ToOwners
	}
	if values {
		brings = ubl.ToTenant
	}
	permit := func(to string, dids ...ubl.Did) {
		for _, did := range dids {
			more = append(more, ubl.Permit{Did: string(did), To: []string{to}})
		}
	}
	if p == ubl.Public {
		permit(ubl.ToAnyone, "container.get", ubl.DidDocumentGet, ubl.DidDocumentList, ubl.DidDocumentVersions, ubl.DidDocumentSearch)
	}
	permit(inside, "container.get", "office.*")
	permit(carries, ubl.DidTransfer)
	permit(brings, ubl.DidReceive)
	permit(ubl.ToOwners, "container.*", "agreement.*")
	return &ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: more}
}

// usual are the container's, where its kind brought none.
func (s *State) usual() *ubl.Terms {
	p := s.Summary.Physics
	return usual[usualFor{p.Permeability, p.Topology == ubl.Values, s.general()}]
}

func (s *State) decidePropose(c ubl.ProposeTerms, at actors.Moment) (*plan, error) {
	change, err := s.drafting(at).Propose(c)
	return s.amending(c.Who, c.Agreement, change, err)
}

func (s *State) decideAccept(c ubl.AcceptTerms, at actors.Moment) (*plan, error) {
	change, err := s.drafting(at).Accept(c)
	return s.amending(c.Who, c.Agreement, change, err)
}

func (s *State) decideWithdraw(c ubl.WithdrawTerms, at actors.Moment) (*plan, error) {
	change, err := s.drafting(at).Withdraw(c)
	return s.amending(c.Who, c.Agreement, change, err)
}

// drafting writes the acts about the container's terms.
func (s *State) drafting(at actors.Moment) agreement.Drafting {
	return agreement.Drafting{
		In: &s.Agreement, N: s.Events + 1, Now: at.Now, Brought: actors.Named(at.Acts), Reach: agreement.ContainerReach(s.Summary.Physics), Refusal: ubl.CodeForbidden,
	}
}

// amending is the plan of a change of terms, as far as they let the caller know of the
// container at all.
func (s *State) amending(who ubl.Identity, named ubl.AgreementID, c *agreement.TermsChange, err error) (*plan, error) {
	if unknown := s.look(who); unknown != nil {
		return nil, unknown
	}
	if err == nil {
		err = s.governs(named)
	}
	if err != nil {
		return nil, err
	}
	return &plan{
		Act: c.Act, Alarms: c.Alarms, Event: event{Amendment: &c.Amendment},
		Answer: func(ubl.Receipt) any { return c.After },
	}, nil
}
