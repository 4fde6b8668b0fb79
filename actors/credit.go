package actors

import "ubl"

// Credit puts issued credits into a Container. It makes credits out of nothing, so
// only the Tenant sends it, which has asked who may; being no command of the list
// in [ubl.Commands], it comes from no other node. Answers *ubl.Balance.
type Credit struct {
	ubl.Request
	Amount int64
}

// Cost is that of one act.
func (Credit) Cost() int { return ubl.ActCost }

// Inherit has a sealed Room or Container take an heir, whom the Tenant has found
// among its members. Only the Tenant sends it, for one of its owners. Answers
// *ubl.Member.
type Inherit struct {
	ubl.Request
	Heir ubl.Member
}

// Cost is that of one act.
func (Inherit) Cost() int { return ubl.ActCost }
