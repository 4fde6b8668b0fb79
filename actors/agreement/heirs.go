package agreement

import "ubl"

// Inherit has a sealed Room or Container take an heir, whom the Tenant has found
// among its members. Only the Tenant sends it, for one of its owners. Answers
// *ubl.Member.
type Inherit struct {
	ubl.Request
	Heir ubl.Member
}

// Cost is one act.
func (Inherit) Cost() int { return ubl.ActCost }

// GetSuccession asks a Room or Container who comes after its owners. Only the Tenant
// sends it. Answers *Succession.
type GetSuccession struct{}

// Succession is what the Tenant knows of a place that it isn't in.
type Succession struct {
	Agreement ubl.AgreementID
	Type      string     // of the Agreement
	Heir      ubl.UserID // whom an owner has named, "" for nobody
	SealedAt  *ubl.Time  // nil for what is not sealed
	Ended     bool
}

// SuccessionOf reads it from an Agreement.
func SuccessionOf(a *ubl.Agreement) *Succession {
	return &Succession{Agreement: a.ID, Type: a.Type, Heir: a.NamedHeir, SealedAt: a.SealedAt, Ended: a.InForce() != nil}
}

// Cost is 0: it reads.
func (GetSuccession) Cost() int { return 0 }

// CheckLicense asks a Tenant whether its license is in force: forbidden where it has ended,
// not_found where there is no such tenant. Only the tenant's own Rooms and Containers send it.
// Answers nil.
type CheckLicense struct{}

// Cost is 0: it reads.
func (CheckLicense) Cost() int { return 0 }

// HeirFields says whom an owner has named, or that it is nobody any more.
func HeirFields(id ubl.AgreementID, heir ubl.UserID) ubl.Fields {
	f := ubl.Fields{ubl.Str("agreement_id", id)}
	if heir != "" {
		f = append(f, ubl.Str("user_id", heir))
	}
	return f
}
