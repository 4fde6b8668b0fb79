package harness

import (
	"pgregory.net/rapid"

	"ubl"
)

// DrawTerms draws terms by which owners may do everything, and entries the acts that did names, some
// of them limited. The acceptance may be one that there isn't.
func DrawTerms(rt *rapid.T, did string) ubl.Terms {
	terms := ubl.Terms{
		Form: ubl.TermsForm, Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners}}, {Did: did, To: []string{ubl.ToEntries}}},
		Accept: rapid.SampledFrom([]ubl.Acceptance{ubl.AcceptProposer, ubl.AcceptOwners, ubl.AcceptEntries, ubl.AcceptEntries, "king"}).Draw(rt, "accept"),
	}
	if rapid.Bool().Draw(rt, "limited") {
		terms.Limits = []ubl.Limit{{Did: did, PerMinute: 2, Together: true}}
	}
	return terms
}

// AskTerms has two owners of an Agreement propose, amend, accept and take back terms: each
// command once. Owners may do everything then, and entries what messages and documents need.
func AskTerms(h *House, ask func(ubl.Name, ubl.Command) any, at ubl.Name, owner, other ubl.Identity) {
	terms := ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptOwners, Permits: []ubl.Permit{
		{Did: "*", To: []string{ubl.ToOwners}}, {Did: "messenger.*", To: []string{ubl.ToEntries}}, {Did: "office.*", To: []string{ubl.ToEntries}},
	}}
	ask(at, ubl.ProposeTerms{Request: h.Request(owner), Terms: terms}) // the usual terms ask nobody else
	terms.Accept = ubl.AcceptProposer
	ask(at, ubl.ProposeTerms{Request: h.Request(owner), Terms: terms})
	ask(at, ubl.WithdrawTerms{Request: h.Request(other)})
	ask(at, ubl.ProposeTerms{Request: h.Request(owner), Terms: terms})
	ask(at, ubl.AcceptTerms{Request: h.Request(other), TermsHash: terms.Hash()})
}
