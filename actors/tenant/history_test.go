package tenant_test

import (
	"context"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/actors/tenant"
	"ubl/test/harness"
	"ubl/test/poll"
)

// TestLongHistory: with more events than one view of the store reads, a tenant is
// loaded whole, a retry is answered as its first attempt was, and the history of
// the Agreement has every step.
func TestLongHistory(t *testing.T) {
	views := new(atomic.Int64)
	h := harness.Open(t, harness.Options{Wrap: func(s ubl.Store) ubl.Store { return &counting{Store: s, views: views} }})
	ana, bob := harness.User("ana@acme.com"), harness.User("bob@acme.com")
	h.Enter(ana)
	h.Enter(bob)
	name := ubl.TenantName(ana.TenantID)
	const steps = tenant.EventPage + 10
	days := func(n int) ubl.SetDefaults {
		return ubl.SetDefaults{Request: h.Request(ana), Patch: ubl.TenantDefaultsPatch{RetentionDays: &n}}
	}
	early := days(7)
	harness.Must[*ubl.Tenant](h, name, early)
	room := ubl.CreateRoom{Request: h.Request(ana), Name: "plans"}
	harness.Must[*ubl.RoomSummary](h, name, room)
	for i := range steps {
		role := ubl.RoleMember
		if i%2 == 0 {
			role = ubl.RoleOwner
		}
		harness.Must[*ubl.Member](h, name, ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: role})
	}
	late := days(9)
	harness.Must[*ubl.Tenant](h, name, late)
	h.Reload()

	if got := harness.Must[*ubl.Tenant](h, name, ubl.GetTenant{Who: ana}); got.Defaults.RetentionDays != 9 {
		t.Errorf("loaded anew, messages are kept for %d days", got.Defaults.RetentionDays)
	}
	for _, again := range []ubl.SetDefaults{early, late} {
		if got := harness.Must[*ubl.Tenant](h, name, again); got.Defaults.RetentionDays != *again.Patch.RetentionDays {
			t.Errorf("the retry of %d days is answered %d", *again.Patch.RetentionDays, got.Defaults.RetentionDays)
		}
	}
	record := harness.Must[*ubl.AgreementView](h, name, ubl.GetAgreement{Who: ana})
	if want := steps + 2; len(record.History) != want { // both came in
		t.Errorf("the history has %d steps, want %d", len(record.History), want)
	}
	poll.Until(t, "the retry of a room is answered after one view, once what follows the ledger has seen it all", func() bool {
		views.Store(0)
		got := harness.Must[*ubl.RoomSummary](h, name, room)
		return got.Name == "plans" && views.Load() == 1
	})
}

// counting counts views of a store.
type counting struct {
	ubl.Store
	views *atomic.Int64
}

func (c *counting) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	c.views.Add(1)
	return c.Store.View(ctx, g, fn)
}
