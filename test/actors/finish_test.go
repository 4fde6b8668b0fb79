package actors_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// finished lets the time pass after which a tenant finishes what it has begun with other
// actors.
func finished(h *harness.House) {
	h.Clock.Add(2 * time.Minute)
	h.Alarms()
}

// alarmsOf counts the records of alarms that a group has.
func alarmsOf(h *harness.House, t *testing.T, of ubl.TenantID) (n int) {
	t.Helper()
	err := h.Engine.View(t.Context(), ubl.TenantName(of).Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("i"), []byte("i\x03"), func(_, _ []byte) bool { n++; return true })
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// acts counts the acts of a tenant's ledger that are called so.
func (p *party) acts(of ubl.TenantID, did ubl.Did) (n int) {
	p.t.Helper()
	for _, raw := range harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(of), ubl.ReadAtoms{From: 1, Limit: 500}).Atoms {
		n += bytes.Count(raw, fmt.Appendf(nil, `"did":%q`, did))
	}
	return n
}

// TestRemovalCrashes: a removal crashes at each of its commits, before and after that was
// durable. After a restart its alarm has rooms, the portal and tenant 0 let go, once, and is gone then.
// Where the removal itself was lost, nothing has happened.
func TestRemovalCrashes(t *testing.T) {
	for step := 1; step <= 5; step++ {
		for point, fault := range crashPoints() {
			t.Run(fmt.Sprintf("commit %d, %s", step, point), func(t *testing.T) {
				h, v := openWithValve(t, actors.Limits{})
				p := openParty(t, h)
				p.token(p.bob, "scout")
				p.agent("scout")
				portal := ubl.PortalName(p.ana.TenantID)
				harness.Must[*ubl.Server](h, portal, ubl.AddServer{Request: p.Request(p.ana), Owner: true, Server: ubl.Server{
					ServerID: "files", Name: "Files", URL: "https://files.example", Auth: ubl.AuthUser}})
				if _, err := p.Ask(t.Context(), portal, ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("sealed")}); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Ask(t.Context(), p.core, p.admit("bearer", p.bob, ubl.TokenBearer)); err != nil {
					t.Fatal(err)
				}
				crashAt(v, step, fault(v))
				remove := ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID}
				p.Refused(ubl.CodeUnavailable, p.tenant, remove)
				v.setFault(nil)
				h.Restart()
				removed, lasting := p.acts(p.ana.TenantID, ubl.DidTenantMemberRemove) > 0, step > 1 || point == "after persisting, before the answer"
				if removed != lasting {
					t.Fatalf("the removal is on record: %v", removed)
				}
				for range 2 {
					finished(h)
					want := 0
					if removed {
						want = 1
						p.Refused(ubl.CodeUnauthorized, p.core, p.admit("bearer", p.bob, ubl.TokenBearer))
						p.Refused(ubl.CodeNotAMember, p.general, ubl.ReadHistory{Who: p.bob, Limit: 1})
					}
					if n := p.acts(p.ana.TenantID, "room.remove"); n != 2*want {
						t.Errorf("r:general let go %d times of bob and his agent", n)
					}
					if n := p.acts(ubl.CoreTenant, ubl.DidPlatformTokenRevokeAll); n != want {
						t.Errorf("tenant 0 let go of bob %d times", n)
					}
					if n := p.acts(p.ana.TenantID, ubl.DidServerConnect); n != 1+want {
						t.Errorf("the portal let go of bob %d times", n-1)
					}
					h.Restart()
				}
				if n := alarmsOf(h, t, p.ana.TenantID); n > 0 {
					t.Errorf("%d records of alarms are left", n)
				}
				harness.Must[*ubl.Member](h, p.tenant, remove)
				p.VerifyLedger(p.ana.TenantID)
			})
		}
	}
}

// TestRemovalCatchesUp: somebody who gets into a room while the tenant removes them is taken
// out of it by the removal's alarm. Who was let in again meanwhile stays.
func TestRemovalCatchesUp(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	cem := harness.User("cem@example.com")
	p.Enter(cem)
	remove := func(who ubl.Identity) {
		harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: who.UserID})
	}
	add := func(who ubl.Identity) {
		harness.Must[*ubl.Member](p.House, p.general, ubl.AddMember{Request: p.Request(p.ana), Member: ubl.Member{UserID: who.UserID, Role: ubl.RoleMember}})
	}
	remove(p.bob)
	remove(cem)
	add(p.bob) // whose entry was read before
	p.role(cem, ubl.RoleMember)
	add(cem)
	finished(p.House)
	p.Refused(ubl.CodeNotAMember, p.general, ubl.ReadHistory{Who: p.bob, Limit: 1})
	harness.Must[*ubl.HistoryPage](p.House, p.general, ubl.ReadHistory{Who: cem, Limit: 1})
	if n := alarmsOf(p.House, t, p.ana.TenantID); n > 0 {
		t.Errorf("%d records of alarms are left", n)
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestUnkeptServiceStaysOut: an owner can't let a service in again whose keeper has left.
func TestUnkeptServiceStaysOut(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	p.token(p.bob, "scout")
	scout, cli := p.agent("scout"), p.local("cli", p.bob.Email)
	p.Enter(cli)
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	for _, service := range []ubl.Identity{scout, cli} {
		p.Refused(ubl.CodeConflict, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: service.UserID, Role: ubl.RoleMember})
	}
	p.role(p.bob, ubl.RoleMember)
	p.role(cli, ubl.RoleMember)
	p.Enter(cli)
}

// TestDomainFollowedAfterCrash: where the node died between tenant 0's commit about a domain
// and the tenant's own, nobody has to ask again: tenant 0's alarm has it put on record, once.
func TestDomainFollowedAfterCrash(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	g := openRegistry(t, h)
	v.setFault(func(b *ubl.Batch, settled func(error)) bool {
		if b.Group.Tenant != "t:acme" || !holds(b, `"did":"tenant.domain`) {
			return false
		}
		go settled(errors.New("the power went"))
		return true
	})
	g.Refused(ubl.CodeUnavailable, "t:acme", g.claim(g.ana, "corp.example"))
	v.setFault(nil)
	h.Restart()
	if got := g.acts("t:acme"); got != "" {
		t.Fatalf("the ledger has %s", got)
	}
	for range 2 {
		finished(h)
		if got := g.acts("t:acme"); got != "platform claim" {
			t.Errorf("the tenant's ledger has %s", got)
		}
		h.Restart()
	}
	if n := alarmsOf(h, t, ubl.CoreTenant) + alarmsOf(h, t, "t:acme"); n > 0 {
		t.Errorf("%d records of alarms are left", n)
	}
	g.VerifyLedger("t:acme")
}
