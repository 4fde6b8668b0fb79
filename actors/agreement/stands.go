package agreement

import (
	"ubl"
	"ubl/actors"
)

// Stands refuses an act that names a record under which its author has no standing. Under
// the record of what is governed its entries stand, and who becomes one by the act itself;
// under the TenantLicense everyone of the tenant. The platform stands everywhere.
func Stands(in *ubl.Agreement, p actors.Proposal, joining ubl.Did) error {
	_, entry := in.Members[p.Who.UserID]
	switch {
	case p.Who.IsPlatform():
		return nil
	case p.Agreement == in.ID && (entry || p.Did == joining):
		return nil
	case p.Agreement == ubl.TenantAgreement(in.TenantID) && p.Who.TenantID == in.TenantID:
		return nil
	}
	return ubl.Errorf(ubl.CodeForbidden, "the act names an Agreement under which the caller has no standing")
}
