package tenant_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestDeniedOnce: a node that hears no answer asks again, so that an Enter may
// come twice. It is refused again, and on record once; whatever is another
// refusal has a record of its own.
func TestDeniedOnce(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@acme.com")
	h.Enter(ana)
	first := ubl.Enter{Request: h.Request(ana), Act: true, Tool: "files.read", External: true}
	another, elsewhere := first, first
	another.Request = h.Request(ana)
	elsewhere.Tool = "files.write"
	head := func() int64 {
		return harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq
	}
	for _, step := range []struct {
		what  string
		cmd   ubl.Enter
		atoms int64
	}{
		{"a request", first, 2},
		{"the same again", first, 0},
		{"another request", another, 2},
		{"another tool of the first", elsewhere, 2},
		{"the first once more", first, 0},
	} {
		before := head()
		h.Refused(ubl.CodeForbidden, ubl.TenantName(ana.TenantID), step.cmd)
		if got := head() - before; got != step.atoms {
			t.Errorf("%s: %d atoms, want %d", step.what, got, step.atoms)
		}
		h.Reload()
		before = head()
		h.Refused(ubl.CodeForbidden, ubl.TenantName(ana.TenantID), step.cmd)
		if head() != before {
			t.Errorf("%s: on record twice when the tenant was loaded in between", step.what)
		}
	}
	h.VerifyLedger(ana.TenantID)
}
