package agreement

import "ubl"

// ShowDirect has a Room of direct messages show them again to one of the people whom they are
// between, or let them in again after they had left the tenant. Only the Tenant sends it, which
// has found the caller to be a member. It is a conflict where they are shown already. Answers
// *ubl.Member.
type ShowDirect struct {
	ubl.Request
}

// Cost is one act.
func (ShowDirect) Cost() int { return ubl.ActCost }
