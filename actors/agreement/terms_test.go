package agreement_test

import (
	"fmt"
	"testing"

	"ubl"
	"ubl/actors/agreement"
)

// step is an act about terms, and what the record is after it.
type step struct {
	what string
	act  func(agreement.Drafting) (*agreement.TermsChange, error)
	want ubl.Code
	left string // what is open, and whether others are in force
}

func propose(by ubl.Identity, accept ubl.Acceptance) func(agreement.Drafting) (*agreement.TermsChange, error) {
	return func(d agreement.Drafting) (*agreement.TermsChange, error) {
		return d.Propose(ubl.ProposeTerms{Request: ubl.Request{Who: by}, Terms: terms(accept)})
	}
}

func accept(by ubl.Identity, of ubl.Acceptance) func(agreement.Drafting) (*agreement.TermsChange, error) {
	return func(d agreement.Drafting) (*agreement.TermsChange, error) {
		t := terms(of)
		return d.Accept(ubl.AcceptTerms{Request: ubl.Request{Who: by}, TermsHash: t.Hash()})
	}
}

func withdraw(by ubl.Identity) func(agreement.Drafting) (*agreement.TermsChange, error) {
	return func(d agreement.Drafting) (*agreement.TermsChange, error) {
		return d.Withdraw(ubl.WithdrawTerms{Request: ubl.Request{Who: by}})
	}
}

func terms(accept ubl.Acceptance) ubl.Terms {
	return ubl.Terms{Form: ubl.TermsForm, Permits: everyday, Accept: accept}
}

// TestTermsAreAgreed follows proposals to their ends.
func TestTermsAreAgreed(t *testing.T) {
	dora := who("u:dora", "t:acme.com")
	in := plans(terms(ubl.AcceptProposer))
	delete(in.Members, "u:guest")
	in.Set(ubl.Member{UserID: "u:dora", Role: ubl.RoleOwner})
	in.Set(ubl.Member{UserID: "u:bot", Role: ubl.RoleOwner, IsService: true})
	n := int64(1)
	for _, s := range []step{
		{"a member proposes", propose(bob, ubl.AcceptOwners), ubl.CodeForbidden, "proposer"},
		{"a neighbour proposes", propose(cem, ubl.AcceptOwners), ubl.CodeNotAMember, "proposer"},
		{"nothing is open", accept(bob, ubl.AcceptOwners), ubl.CodeConflict, "proposer"},
		{"an owner, whom nobody has to agree with", propose(ana, ubl.AcceptOwners), "", "owners"},
		{"the other owner has to by now", propose(ana, ubl.AcceptEntries), "", "owners, open [u:dora]"},
		{"the proposer accepts", accept(ana, ubl.AcceptEntries), ubl.CodeConflict, "owners, open [u:dora]"},
		{"a member isn't asked", accept(bob, ubl.AcceptEntries), ubl.CodeForbidden, "owners, open [u:dora]"},
		{"others than those that are open", accept(dora, ubl.AcceptOwners), ubl.CodeConflict, "owners, open [u:dora]"},
		{"a member takes it back", withdraw(bob), ubl.CodeForbidden, "owners, open [u:dora]"},
		{"who has to accept declines", withdraw(dora), "", "owners"},
		{"once more", propose(dora, ubl.AcceptEntries), "", "owners, open [u:ana]"},
		{"it is amended", propose(ana, ubl.AcceptEntries), "", "owners, open [u:dora]"},
		{"accepted by all", accept(dora, ubl.AcceptEntries), "", "entries"},
		{"all entries have to", propose(ana, ubl.AcceptProposer), "", "entries, open [u:bob u:dora]"},
		{"one of two", accept(bob, ubl.AcceptProposer), "", "entries, open [u:dora]"},
		{"and the other", accept(dora, ubl.AcceptProposer), "", "proposer"},
		{"nothing to take back", withdraw(ana), ubl.CodeConflict, "proposer"},
	} {
		before := in.Hash()
		c, err := s.act(agreement.Drafting{In: in, N: n, Now: 5000, Reach: agreement.Reach{Joins: []ubl.Did{ubl.DidRoomJoin}}, Refusal: ubl.CodeNotAMember})
		if ubl.CodeOf(err) != s.want {
			t.Errorf("%s: %v, want %q", s.what, err, s.want)
		}
		if err == nil {
			in.Amend(n, &c.Amendment)
			n++
			if c.After.Hash != in.Hash() || (c.Amendment.Terms != nil) != (before != in.Hash()) || len(c.Effects) > 1 != (c.Amendment.Terms != nil) {
				t.Errorf("%s: the hash is told as %s and is %s, before %s; the effects are %v", s.what, c.After.Hash, in.Hash(), before, c.Effects)
			}
		}
		left := string(in.Terms.Accept)
		if in.Proposal != nil {
			left += fmt.Sprintf(", open %v", in.Waiting())
		}
		if left != s.left {
			t.Errorf("%s: %s, want %s", s.what, left, s.left)
		}
	}
}

// TestWhoLeavesIsNotAwaited: who had to accept and is gone holds nothing up.
func TestWhoLeavesIsNotAwaited(t *testing.T) {
	in := plans(terms(ubl.AcceptOwners))
	in.Set(ubl.Member{UserID: "u:dora", Role: ubl.RoleOwner})
	d := agreement.Drafting{In: in, N: 1, Now: 5000, Reach: agreement.Reach{Joins: []ubl.Did{ubl.DidRoomJoin}}, Refusal: ubl.CodeNotAMember}
	c, err := propose(ana, ubl.AcceptProposer)(d)
	if err != nil {
		t.Fatal(err)
	}
	in.Amend(1, &c.Amendment)
	in.Remove("u:dora")
	if c, err = accept(ana, ubl.AcceptProposer)(d); err != nil || c.Amendment.Terms == nil {
		t.Errorf("who proposed accepts, as the only owner: %v", err)
	}
}
