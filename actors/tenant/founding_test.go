package tenant_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestNoFounding: an Enter without founding leaves a tenant that doesn't exist as it
// was, and enters one that does.
func TestNoFounding(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@acme.com")
	tenant := ubl.TenantName(ana.TenantID)
	in := ubl.Enter{Request: h.Request(ana), NoFounding: true}
	if _, err := h.Ask(t.Context(), tenant, in); !ubl.IsUnfounded(err) {
		t.Fatalf("got %v", err)
	}
	if head := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}); head.Seq != 0 {
		t.Errorf("%d atoms are on record", head.Seq)
	}
	founding := in
	founding.NoFounding = false
	for _, in := range []ubl.Enter{founding, in} { // the same request, as [envelope.Entry] repeats it
		if e := harness.Must[*ubl.Entered](h, tenant, in); e.Role != ubl.RoleOwner {
			t.Errorf("entered as %s", e.Role)
		}
	}
}
