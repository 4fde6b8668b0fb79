package tenant

import "testing"

// TestUsualTermsStay: tenants without terms of their own have the usual ones, and so do their
// Agreements' hashes. What other tenants are to have from now on stands in a form of its own.
func TestUsualTermsStay(t *testing.T) {
	if got := usual.Hash(); got != "b:e2855ff577a5a4a0f02ac5774511210694ed1bbd20187de49fe6750731afedbd" {
		t.Errorf("the usual terms are now %s", got)
	}
	if err := usual.Check(); err != nil {
		t.Error(err)
	}
}
