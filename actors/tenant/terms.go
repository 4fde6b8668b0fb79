package tenant

import (
	"cmp"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// usual are the terms of a tenant that has none of its own: everybody who comes with an address
// of its domain joins, members make rooms and containers, and owners do everything. They are
// never changed: those of another release get a form of their own.
var usual = func() *ubl.Terms {
	t := &ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer}
	permit := func(to string, dids ...string) {
		for _, did := range dids {
			t.Permits = append(t.Permits, ubl.Permit{Did: did, To: []string{to}})
		}
	}
	permit(ubl.ToTenant, string(ubl.DidTenantJoin))
	permit(ubl.ToEntries, string(ubl.DidRoomCreate), string(ubl.DidContainerCreate), "office.workspace.*")
	permit(ubl.ToOwners, "tenant.*", "agreement.*", "token.*", "tool.*", "kind.*", "credits.*", "platform.*", "passkey.*")
	return t
}()

// permits refuses an act that the TenantLicense doesn't permit to somebody.
func (s *State) permits(did ubl.Did, who ubl.Identity) error {
	return s.License.PermitsTo(did, s.stance(who), ubl.CodeForbidden)
}

// shows refuses a look that it doesn't permit, which is possible after its end too.
func (s *State) shows(look ubl.Did, who ubl.Identity) error {
	return s.License.Shows(look, s.stance(who), ubl.CodeForbidden)
}

// stance is what somebody is to the tenant's Agreements, in the role that counts.
func (s *State) stance(who ubl.Identity) ubl.Stance {
	stance := s.License.Standing(who)
	if m, ok := s.License.Members[who.UserID]; ok && stance.Role != "" {
		stance.Role = s.capped(m).Role
	}
	return stance
}

// ofTheirOwn are acts of people about themselves, or before they are inside. Whose they are the
// decisions know, and no terms permit them to anybody else.
var ofTheirOwn = []string{
	string(ubl.DidTenantCreate), string(ubl.DidTenantJoin), string(ubl.DidTenantMemberUpdate), string(ubl.DidTenantMemberRemove), string(ubl.DidTenantMemberProve),
	string(ubl.DidInvitationAccept), string(ubl.DidWorkspaceList), string(ubl.DidToolDeny), string(ubl.DidMessageSearch), string(ubl.DidAgentConnect), "passkey.", "platform.",
}

// stands says whether somebody may use a tool, as the tenant's Agreement about it says, and
// holds every other act against the terms of the TenantLicense, their time and their limits. It
// decides by memory alone, since every request passes here.
func (s *State) stands(p actors.Proposal) error {
	switch {
	case p.Uses:
		return cmp.Or(s.mandated(p), s.uses(p))
	case p.Who.IsPlatform() || p.Agreement != s.License.ID:
		return nil
	}
	own := p.Who.TenantID != s.id() || // in tenant 0: theirs has decided, or it is about themselves
		slices.ContainsFunc(ofTheirOwn, func(of string) bool { return strings.HasPrefix(string(p.Did), of) })
	if err := s.permits(p.Did, p.Who); err != nil && !own {
		return err
	}
	return s.License.Bounds(p)
}

func (s *State) decideProposeTerms(c ubl.ProposeTerms, at actors.Moment) (*plan, error) {
	if err := s.mayDraft(c.Agreement, c.Who); err != nil {
		return nil, err
	}
	if c.Terms.Until != 0 && s.id() == ubl.CoreTenant {
		return nil, errCoreLicense()
	}
	return amending(s.drafting(at).Propose(c))
}

func (s *State) decideAcceptTerms(c ubl.AcceptTerms, at actors.Moment) (*plan, error) {
	if err := s.mayDraft(c.Agreement, c.Who); err != nil {
		return nil, err
	}
	return amending(s.drafting(at).Accept(c))
}

func (s *State) decideWithdrawTerms(c ubl.WithdrawTerms, at actors.Moment) (*plan, error) {
	if err := s.mayDraft(c.Agreement, c.Who); err != nil {
		return nil, err
	}
	return amending(s.drafting(at).Withdraw(c))
}

// mayDraft leaves the TenantLicense to people, and the records about tools to tool.access.
func (s *State) mayDraft(id ubl.AgreementID, who ubl.Identity) error {
	if _, err := s.member(who); err != nil {
		return err
	}
	record, err := s.held(id)
	switch {
	case err != nil:
		return err
	case record.ID != s.License.ID:
		return ubl.Errorf(ubl.CodeConflict, "these terms follow from what tool.access or token.mandate sets")
	case who.IsService:
		return ubl.Errorf(ubl.CodeForbidden, "a service has no part in the terms of the tenant's Agreement")
	}
	return nil
}

func (s *State) drafting(at actors.Moment) agreement.Drafting {
	return agreement.Drafting{
		In: &s.License, N: s.Events + 1, Now: at.Now, Reach: agreement.Reach{Tenant: true}, Refusal: ubl.CodeForbidden,
	}
}

func amending(c *agreement.TermsChange, err error) (*plan, error) {
	if err != nil {
		return nil, err
	}
	return &plan{Act: c.Act, Alarms: c.Alarms, Event: event{Amendment: &c.Amendment}, Answer: func(ubl.Receipt) any { return c.After }}, nil
}

func errCoreLicense() error {
	return ubl.Errorf(ubl.CodeConflict, "the license of the platform's own tenant can't be ended")
}
