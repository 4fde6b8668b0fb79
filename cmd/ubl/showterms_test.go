package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ubl"
)

// TestShowTellsTerms: "ubl show" tells all that terms can say, and those that are proposed.
func TestShowTellsTerms(t *testing.T) {
	terms := ubl.Terms{
		Form: ubl.TermsForm, Accept: ubl.AcceptOwners, From: 1_800_000_000_000, Until: 1_900_000_000_000, Obligations: []string{"Write plainly."},
		Permits: []ubl.Permit{{Did: "messenger.*", To: []string{ubl.ToEntries, "group:staff"}}},
		Limits:  []ubl.Limit{{Did: "messenger.send", PerMinute: 60, Together: true, Bytes: 2000}},
	}
	a := ubl.Agreement{ID: "a:room:r:plans", Status: ubl.AgreementInForce, Terms: &terms,
		Proposal: &ubl.Proposal{By: "u:ana", TermsHash: "b:1", Terms: ubl.Terms{Accept: ubl.AcceptEntries}}}
	view, err := json.Marshal(a.View(nil))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	is := shown{Agreement: view}
	if err := is.print(t.Context(), &program{out: &out}, nil, ""); err != nil {
		t.Fatal(err)
	}
	for _, told := range []string{"messenger.* to entries, group:staff", "messenger.send to 60 a minute of all together, 2000 bytes each", "2027-01-15T", "2030-03-17T",
		"Write plainly.", "all owners", "other terms, b:1, by u:ana", "all members", a.Hash()} {
		if !strings.Contains(out.String(), told) {
			t.Errorf("it doesn't tell %q:\n%s", told, out.String())
		}
	}
}
