package tenant

import (
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

// alsoUsual are permits that a tenant without terms of its own has besides: for acts that others
// decide and that came under the TenantLicense after the usual terms had their form. Terms that
// owners set say of these acts, too, to whom they are permitted; what they leave out, nobody may.
// Acts that families bring along are permitted to entries in the same way.
var alsoUsual = &ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{
	{Did: string(ubl.DidPortalCall), To: []string{ubl.ToEntries}},
	{Did: string(ubl.DidServerConnect), To: []string{ubl.ToEntries}},
	{Did: string(ubl.DidToolCall), To: []string{ubl.ToEntries}},
	{Did: "portal.*", To: []string{ubl.ToOwners}},
}}

// decidedElsewhere is the act under the TenantLicense that the use of a tool leads to, where the
// Portal or another family decides it, "" for any other: they know no terms, so the Tenant says before.
func decidedElsewhere(p actors.Proposal) ubl.Did {
	switch {
	case p.External:
		return ubl.DidPortalCall
	case p.Licensed:
		return p.Did
	case p.Did == "portal.server.disconnect":
		return ubl.DidServerConnect
	case slices.Contains([]ubl.Did{
		ubl.DidToolCall, ubl.DidServerAdd, ubl.DidServerUpdate, ubl.DidServerRemove, ubl.DidServerSync, ubl.DidServerConnect, ubl.DidToolApprove, ubl.DidBudgetUpdate,
	}, p.Did):
		return p.Did
	}
	return ""
}

// licensed holds the use of a tool against the terms of the TenantLicense, where it leads to such an
// act, and against their limits.
func (s *State) licensed(p actors.Proposal) error {
	did := decidedElsewhere(p)
	if did == "" || p.Who.IsPlatform() {
		return nil
	}
	stance := s.stanceFor(p)
	switch {
	case s.License.Terms.Permit(did, stance):
	case s.License.Amended == 0 && (alsoUsual.Permit(did, stance) || p.Licensed && stance.Role != ""):
	case s.License.Amended != 0 && !s.License.Terms.Permit(did, ubl.Stance{Role: ubl.RoleOwner, Inside: true}):
		beginning, _, _ := strings.Cut(string(did), ".")
		return ubl.Errorf(ubl.CodeForbidden, "the terms of the tenant's Agreement permit %[1]s to nobody: terms that owners set have to list %[1]s or %[2]s.* themselves", did, beginning)
	default:
		return ubl.Errorf(ubl.CodeForbidden, "the terms of the tenant's Agreement don't permit %s to the caller", did)
	}
	if p.Still {
		return nil
	}
	p.Did = did
	return s.License.Bounds(p)
}

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

// stanceFor is the stance of who proposes something, as it will be where they are about to be let in.
func (s *State) stanceFor(p actors.Proposal) ubl.Stance {
	stance := s.stance(p.Who)
	if p.Role != "" {
		stance.Role, stance.Inside = p.Role, true
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
		return s.mayUse(p)
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
		In: &s.License, N: s.Events + 1, Now: at.Now, Brought: actors.Named(at.Acts), Reach: agreement.Reach{Tenant: true}, Refusal: ubl.CodeForbidden,
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
