package room

import "testing"

// TestUsualTermsStay: records without terms of their own have the usual ones, and so do their
// hashes. What other rooms are to have from now on stands in a form of its own.
func TestUsualTermsStay(t *testing.T) {
	got := usual[false].Hash() + usual[true].Hash()
	if got != "b:14b6a107e60e67cb176e24570e6f66f30caa2e2102624e69beac99814d1c498e"+"b:3f286b15ce5b146de31cc07ef1c71e0b9ed19ec2bacc46f6e7716a72b128928d" {
		t.Errorf("the usual terms are now %s", got)
	}
	for join, terms := range usual {
		if err := terms.Check(); err != nil {
			t.Errorf("joined by the tenant %t: %v", join, err)
		}
	}
}
