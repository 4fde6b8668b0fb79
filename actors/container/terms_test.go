package container

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"ubl"
	"ubl/actors/agreement"
)

// TestUsualTermsStay: records without terms of their own have the usual ones, and so do their
// hashes. What other containers are to have from now on stands in a form of its own. They go no
// further than the physics.
func TestUsualTermsStay(t *testing.T) {
	var all string
	for _, p := range []ubl.Permeability{ubl.Sealed, ubl.Gated, ubl.Collaborative, ubl.Open, ubl.Public} {
		for _, values := range []bool{false, true} {
			for _, general := range []bool{false, true} {
				terms := usual[usualFor{p, values, general}]
				all += terms.Hash()
				err := terms.Check()
				if err == nil {
					err = agreement.ContainerReach(ubl.Physics{Permeability: p}).Check(terms)
				}
				if err != nil {
					t.Errorf("%s, values %t, general %t: %v", p, values, general, err)
				}
			}
		}
	}
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(all))); got != "7e554dd135bfd417a7f6e3b7bdd65ca16c9d521e1b06bc927fc034ea479be143" {
		t.Errorf("the usual terms are now %s", got)
	}
}
