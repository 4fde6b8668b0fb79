package agreement

import (
	"strings"

	"ubl"
	"ubl/actors"
)

// Stands refuses an act that names a record under which its author has no standing. Under the
// record of what is governed its terms decide; the TenantLicense is named for what the Tenant
// has decided, and for reading after the record's end, by those of the tenant. The platform
// stands everywhere.
func (a *Kept) Stands(p actors.Proposal) error {
	switch {
	case p.Who.IsPlatform():
		return nil
	case p.Agreement == a.ID:
		if err := a.Permits(p.Did, p.Who, ubl.CodeForbidden); err != nil {
			return err
		}
		return a.Bounds(p)
	case p.Agreement == ubl.TenantAgreement(a.TenantID) && p.Who.TenantID == a.TenantID:
		return nil
	}
	return ubl.Errorf(ubl.CodeForbidden, "the act names an Agreement under which the caller has no standing")
}

// Counts counts an act that stands under the record against the limits of its terms.
func (a *Kept) Counts(p actors.Proposal) {
	if !p.Who.IsPlatform() && p.Agreement == a.ID {
		a.Charge(p)
	}
}

// Bounds refuses an act outside the terms' time, or more often than they let. What takes power
// or data away, and acts about the record itself, know neither: nobody is held by a limit. Looks
// know no time.
func (a *Kept) Bounds(p actors.Proposal) error {
	if unbound(p) {
		return nil
	}
	if !p.Looks {
		if err := a.Terms.Running(p.At); err != nil {
			return err
		}
	}
	return a.meters.May(a.Terms, p)
}

// Charge counts an act that the terms bound.
func (a *Kept) Charge(p actors.Proposal) {
	if !unbound(p) {
		a.meters.Charge(a.Terms, p)
	}
}

func unbound(p actors.Proposal) bool {
	return p.Frees || strings.HasPrefix(string(p.Did), "agreement.")
}
