package actors

import "ubl"

// Proposal is an act before it is carried out: somebody has decided what it would be, and
// nothing has changed. Every act comes by the seat as one, between being decided and being
// applied.
type Proposal struct {
	At  ubl.Time
	Who ubl.Identity
	Did ubl.Did
	// Agreement is the record that the act names as what authorises it.
	Agreement ubl.AgreementID
	This      ubl.Fields
	// Frees says that the act takes power or data away, Looks that it changes nothing.
	Frees, Looks bool
	// Mends says that the act is about a dead letter. Who asks has seen that its author is an owner
	// of the tenant or an operator, whom the family doesn't know; what a letter leads to, which may
	// make room, is judged by itself.
	Mends bool
	// Uses says that Did is a tool that somebody is about to use, which the Tenant is asked
	// before the tool's own act is proposed to another actor. External says that the tool is
	// another server's, Still that it is only looked at and doesn't count, Acts that what it is
	// used for changes something.
	Uses, External, Still, Acts bool
	// Licensed says that the tool is an act which a family brings along, and which stands under the
	// terms of the TenantLicense.
	Licensed bool
	// Role is what who asks is about to be in the Tenant, where the Enter that names the tool is to
	// let them in, or to make them more; "" for what they are.
	Role ubl.Role
	// Destroys says that such a tool replaces or takes away something, or may; Unconfirmed that an
	// agent uses it, and that no person has confirmed that.
	Destroys, Unconfirmed bool
}

// Verdict is what the seat says of a proposal; nil allows it, and counts it against the limits
// that its author has. Nothing has changed before.
func (x *Entity[S, E]) Verdict(p Proposal) error {
	err := x.May(p)
	if err == nil {
		x.Count(p)
	}
	return err
}

// May is Verdict for who asks the seat more than once before anything changes: what is allowed
// still is to be counted. Its inputs are, in this order:
//
//   - the mandate of an agent, which may be to read alone, and never is to decide who else is
//     in a place;
//   - the family's ([Kind].Stands): standing under the Agreement that the act names, and at the
//     Tenant who may use a tool, and how often; not of what mends;
//   - limits: how much the tenant stores.
//
// What may hold an act, or forbid it for another reason, is to be an input here.
func (x *Entity[S, E]) May(p Proposal) error {
	if p.Who.Mandate.Reads() && !p.Looks && !p.Uses {
		return ubl.Errorf(ubl.CodeForbidden, "the agent's mandate is to read alone")
	}
	if err := p.Who.Mandate.Governs(p.Did); err != nil && !p.Uses { // a tool's refusal is the Tenant's, on record
		return err
	}
	if x.kind.Stands != nil && !p.Mends {
		if err := x.kind.Stands(&x.State, p); err != nil {
			return err
		}
	}
	switch {
	case p.Uses, p.Frees, p.Mends:
		return nil
	case p.Looks:
		return x.Usage.MayLook(p.Who)
	}
	return x.Usage.May(p.Who)
}

// Count counts what May has allowed.
func (x *Entity[S, E]) Count(p Proposal) {
	if x.kind.Counts != nil && !p.Mends {
		x.kind.Counts(&x.State, p)
	}
}

// Allowed is a plan that may be carried out, by [Entity.Enact] or [Entity.Pass].
type Allowed[E Event] struct {
	did  ubl.Did
	req  ubl.Request
	plan *Plan[E]
}

// Decide puts a plan before the seat.
func (x *Entity[S, E]) Decide(t *Turn, did ubl.Did, req ubl.Request, p *Plan[E]) (Allowed[E], error) {
	return Allowed[E]{did, req, p}, x.Verdict(x.proposal(t.Now(), did, req, &p.Act, p.Frees))
}

func (x *Entity[S, E]) proposal(now ubl.Time, did ubl.Did, req ubl.Request, act *Act, frees bool) Proposal {
	under := act.Agreement
	if under == "" {
		under = x.kind.Under(&x.State, req.Who)
	}
	return Proposal{At: now, Who: req.Who, Did: did, Agreement: under, This: act.This, Frees: frees}
}

// Following is a plan of what follows from an act that the seat has allowed: the effect of an
// intent, the arrival of what has left, an entry that is made by touching. To refuse it would
// leave that act half done.
func (x *Entity[S, E]) Following(did ubl.Did, req ubl.Request, p *Plan[E]) Allowed[E] {
	return Allowed[E]{did, req, p}
}

// Look puts on record that somebody looked at something, behind the seat. The receipt is there
// behind the gate.
func (x *Entity[S, E]) Look(t *Turn, did ubl.Did, req ubl.Request, act Act) (*Act, error) {
	p := x.proposal(t.Now(), did, req, &act, false)
	p.Looks = true
	if err := x.Verdict(p); err != nil {
		return nil, err
	}
	return x.note(t, did, req, act, nil), nil
}

// Refuse puts a refusal on record. Its key, if it has one, is known from then on.
func (x *Entity[S, E]) Refuse(t *Turn, did ubl.Did, req ubl.Request, act Act, key *Key) {
	act.Status = ubl.StatusDenied
	x.note(t, did, req, act, key)
}

// note puts an act on record that changes nothing.
func (x *Entity[S, E]) note(t *Turn, did ubl.Did, req ubl.Request, act Act, key *Key) *Act {
	a := t.append()
	x.passes(t, a, key, Ref{})
	return x.act(a, did, req, t.Now(), &act)
}
