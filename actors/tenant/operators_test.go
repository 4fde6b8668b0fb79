package tenant_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// operator is somebody whose address transport/auth has found among --operator.
func operator(email string) ubl.Identity {
	who := harness.User(email)
	who.TenantID = ubl.CoreTenant
	return who
}

// TestOperators: all whom the node names own tenant 0, also those who were members before,
// with one receipt each. Who is named no more stays what they are.
func TestOperators(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	h.Enter(ubl.Platform())
	core := ubl.TenantName(ubl.CoreTenant)
	enter := func(who ubl.Identity, named bool) ubl.Role {
		t.Helper()
		return harness.Must[*ubl.Entered](h, core, ubl.Enter{Request: h.Request(who), Operator: named}).Role
	}
	seq := func() int64 {
		return harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{}).Seq
	}
	ann, bob, cat := operator("ann@ops.example"), operator("bob@ops.example"), operator("cat@ops.example")
	for _, who := range []ubl.Identity{ann, bob} {
		if role := enter(who, true); role != ubl.RoleOwner {
			t.Errorf("%s is %s", who.Email, role)
		}
	}
	if role := enter(cat, false); role != ubl.RoleMember { // as an earlier version let in the second one
		t.Fatalf("cat is %s", role)
	}
	h.Reload()
	if role := enter(cat, true); role != ubl.RoleOwner {
		t.Errorf("once named, cat is %s", role)
	}
	before := seq()
	h.Reload()
	for _, who := range []ubl.Identity{ann, bob, cat} {
		if role := enter(who, false); role != ubl.RoleOwner {
			t.Errorf("named no more, %s is %s", who.Email, role)
		}
	}
	enter(cat, true)
	if got := seq(); got != before {
		t.Errorf("%d more atoms for owners who come in", got-before)
	}
	h.VerifyLedger(ubl.CoreTenant)
}

// TestOperatorsElsewhere: the node's word makes no owner of another tenant's member, of a
// service, or of somebody who was removed.
func TestOperatorsElsewhere(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	h.Enter(ubl.Platform())
	core := ubl.TenantName(ubl.CoreTenant)
	ann, bob := operator("ann@ops.example"), operator("bob@ops.example")
	named := func(who ubl.Identity) ubl.Enter { return ubl.Enter{Request: h.Request(who), Operator: true} }
	harness.Must[*ubl.Entered](h, core, named(ann))
	harness.Must[*ubl.Entered](h, core, named(bob))
	harness.Must[*ubl.Member](h, core, ubl.RemoveTenantMember{Request: h.Request(ann), UserID: bob.UserID})
	h.Refused(ubl.CodeForbidden, core, named(bob))
	bot := operator("bot@ops.example")
	bot.IsService = true
	if e := harness.Must[*ubl.Entered](h, core, named(bot)); e.Role != ubl.RoleMember {
		t.Errorf("a service is %s", e.Role)
	}
	first, second := harness.User("ann@acme.com"), harness.User("bob@acme.com")
	h.Enter(first)
	if e := harness.Must[*ubl.Entered](h, ubl.TenantName(second.TenantID), named(second)); e.Role != ubl.RoleMember {
		t.Errorf("elsewhere they are %s", e.Role)
	}
}
