package upgrade

import (
	"fmt"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestPortalFromBeforeSnapshots: a version whose portals had no snapshots left a server. This one
// makes a snapshot in time, and knows the same server, with the same receipt, when it is loaded from that.
func TestPortalFromBeforeSnapshots(t *testing.T) {
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-calls/data.tar.gz")})
	ana := harness.User("ana@example.com")
	portal := ubl.PortalName(ana.TenantID)
	told := func() string {
		t.Helper()
		var out string
		for _, s := range harness.Must[[]*ubl.Server](h, portal, ubl.ListServers{Who: ana}) {
			out += fmt.Sprintf("%+v\n", *s)
		}
		return out
	}
	before := told()
	if before == "" || harness.Saved(t, h.Engine, portal, []byte("i\x04portal")) != 0 {
		t.Fatalf("the version before left the servers %q, and a snapshot", before)
	}
	for n := range int64(120) {
		harness.Must[*ubl.Budget](h, portal, ubl.SetBudget{Request: h.Request(ana), Owner: true, TokensPerDay: n})
	}
	if saved := harness.Saved(t, h.Engine, portal, []byte("i\x04portal")); saved < 100 {
		t.Errorf("after 120 events the newest snapshot is of %d", saved)
	}
	h.Restart()
	if after := told(); after != before {
		t.Errorf("from the snapshot the servers are\n%swant\n%s", after, before)
	}
	if budget := harness.Must[*ubl.Budget](h, portal, ubl.GetBudget{Who: ana}); budget.TokensPerDay != 119 {
		t.Errorf("the budget is %+v", budget)
	}
	h.VerifyLedger(ana.TenantID)
}
