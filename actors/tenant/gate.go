package tenant

import (
	"cmp"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/offer"
)

// using is what a request proposes by the tool that it names, before the act that it asks for.
func (x *Tenant) using(now ubl.Time, c ubl.Enter) actors.Proposal {
	return actors.Proposal{
		At: now, Who: c.Who, Did: ubl.Did(c.Tool), Agreement: ubl.ToolAgreement(c.Tool), Uses: c.Tool != "" || c.External, External: c.External, Still: c.Still, Acts: c.Act,
		Destroys: c.Destroys, Unconfirmed: c.Who.IsService && !c.Who.IsPlatform() && c.Confirmed != c.Tool,
		Licensed: slices.ContainsFunc(x.Acts, func(a offer.Act) bool { return string(a.Did) == c.Tool && !a.Own }),
	}
}

// mayUse says whether somebody may use a tool: by an agent's mandate, by the terms of the
// TenantLicense, and by the record about the tool.
func (s *State) mayUse(p actors.Proposal) error {
	for _, asks := range []func(actors.Proposal) error{s.mandated, s.licensed, s.uses} {
		if err := asks(p); err != nil {
			return err
		}
	}
	return nil
}

// counts counts what the seat has allowed: the use of a tool against the limits of all that mayUse
// asks, any other act against those of the TenantLicense.
func (s *State) counts(p actors.Proposal) {
	if !p.Uses {
		s.License.Counts(p)
		return
	}
	if p.Still {
		return
	}
	if m := s.mandateOf(p.Who.UserID); m != nil {
		s.meters.Take(ofAgent(p.Who.UserID), p.At, m.PerMinute)
	}
	if as := p; !p.Who.IsPlatform() {
		if as.Did = decidedElsewhere(p); as.Did != "" {
			s.License.Charge(as)
		}
	}
	for _, tool := range []string{ubl.ToolPart(string(p.Did)), string(p.Did)} {
		as := p
		as.Did = ubl.Did(tool)
		if record, known := s.Tools[tool]; known {
			s.meters.Charge(record.Agreement.Terms, as)
		}
	}
}

// decidedBy are the records by which an Enter was let in.
func (s *State) decidedBy(c ubl.Enter) []ubl.RecordHash {
	under := []ubl.RecordHash{{Agreement: s.License.ID, Hash: s.License.Hash()}}
	if record, ok := s.Tools[c.Tool]; ok {
		under = append(under, ubl.RecordHash{Agreement: record.Agreement.ID, Hash: record.Agreement.Hash()})
	}
	return under
}

// uses says whether somebody may use a tool. A tool of our own without a record is open,
// another server's closed.
func (s *State) uses(p actors.Proposal) error {
	if whole := ubl.ToolPart(string(p.Did)); whole != "" {
		if record, known := s.Tools[whole]; known {
			as := p
			as.Did = ubl.Did(whole)
			if err := s.ruling(record, as); err != nil {
				return err
			}
		}
	}
	record, known := s.Tools[string(p.Did)]
	switch {
	case known:
		return s.ruling(record, p)
	case !p.External:
		return nil
	case !ubl.ValidToolName(string(p.Did)):
		return ubl.NoTool()
	}
	return ubl.Errorf(ubl.CodeForbidden, "no Agreement of the tenant opens this tool")
}

// usable says which tools somebody may use: no record closes them, and the terms permit the act.
func (x *Tenant) usable(now ubl.Time, c ubl.FindUsable) *ubl.UsableTools {
	out := new(ubl.UsableTools)
	for _, tool := range c.Tools {
		if use := x.using(now, ubl.Enter{Request: ubl.Request{Who: c.Who}, Tool: tool, Still: true}); cmp.Or(x.State.licensed(use), x.State.uses(use)) == nil {
			out.Open = append(out.Open, tool)
		}
		if x.State.shows(ubl.Did(tool), c.Who) == nil {
			out.Permitted = append(out.Permitted, tool)
		}
	}
	return out
}

// ruling holds a caller against a record. One that has ended admits nobody.
func (s *State) ruling(record tool, p actors.Proposal) error {
	if !record.Agreement.Terms.Permit(p.Did, s.stanceFor(p)) {
		return ubl.Errorf(ubl.CodeForbidden, "the tenant's Agreement about this tool doesn't let the caller use it")
	}
	if p.Still {
		return nil
	}
	if p.Unconfirmed && record.Confirm.Asks(p.Destroys) {
		return ubl.ErrUnconfirmed()
	}
	return s.meters.May(record.Agreement.Terms, p)
}

// passes asks the seat about the tool that the Enter names: before the Enter leads to anything, in
// the role that it is about to give the caller, "" for the one they have. Where it reports false, it
// has refused the turn. The use counts once they are let in.
func (x *Tenant) passes(t *actors.Turn, c ubl.Enter, role ubl.Role) (use actors.Proposal, ok bool) {
	use = x.using(t.Now(), c)
	use.Role = role
	if !use.Uses {
		return use, true
	}
	err := x.May(use)
	if err != nil {
		x.turnAway(t, c, use, ubl.AsError(err))
	}
	return use, err == nil
}

// turnAway refuses the caller, and puts the refusal on record.
func (x *Tenant) turnAway(t *actors.Turn, c ubl.Enter, use actors.Proposal, r *ubl.Error) {
	key := denialKey(c, r)
	if x.tells(t, c, r, key) {
		if err := t.Reserve(ubl.JoinCost); err != nil {
			t.Fail(err)
			return
		}
		x.Refuse(t, ubl.DidToolDeny, c.Request, x.State.denial(use, r), &key)
	}
	t.Fail(r)
}

// toldPerMinute is how many of a caller's refusals are put on record. They would
// else fill the disk at the caller's speed, who may make up names of tools.
const toldPerMinute = 60

// tells whether a refusal is put on record: not before the tenant is founded or after the license's
// end, nor for a name that no atom could hold. A request that is sent again is on record once.
func (x *Tenant) tells(t *actors.Turn, c ubl.Enter, r *ubl.Error, key actors.Key) bool {
	if x.State.Events == 0 || r.Code == ubl.CodeUnknownTool || x.State.License.InForce() != nil ||
		x.State.meters.Take(agreement.Use{User: c.Who.UserID}, t.Now(), toldPerMinute) > 0 {
		return false
	}
	known, err := x.Keys.Find(t.Context(), key)
	return err != nil || known == nil // one that can't be looked up is told: better twice than never
}

// denialKey is a refusal's. One request may use several tools, and be refused
// for more than one reason.
func denialKey(c ubl.Enter, r *ubl.Error) actors.Key {
	req := c.Request
	req.Key = strings.Join([]string{req.Key, c.Tool, string(r.Code)}, "\n")
	return actors.NewKey(ubl.DidToolDeny, req)
}

// denial is the act of a refusal: under the agent's mandate or the TenantLicense where that refuses,
// else under the tool's record where one is in force.
func (s *State) denial(use actors.Proposal, r *ubl.Error) actors.Act {
	under := s.License.ID
	if record, ok := s.Tools[string(use.Did)]; ok && record.Agreement.InForce() == nil {
		under = record.Agreement.ID
	}
	switch use.Still = true; {
	case s.mandated(use) != nil:
		under = ubl.AgentAgreement(s.Vouched[use.Who.UserID].Subject)
	case s.licensed(use) != nil:
		under = s.License.ID
	}
	return actors.Act{
		Agreement: under,
		This:      ubl.Fields{ubl.Str("code", r.Code), ubl.Str("tool", use.Did), ubl.Str("user_id", use.Who.UserID)},
		Error:     &ubl.AtomError{Code: r.Code, Message: r.Message},
		Pointers:  pointers(under),
	}
}
