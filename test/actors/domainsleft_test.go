package actors_test

import (
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// owner lets somebody into t:acme as an owner.
func (g *registry) owner(email string) ubl.Identity {
	g.t.Helper()
	who := harness.User(email)
	who.TenantID = g.ana.TenantID
	g.Enter(who)
	harness.Must[*ubl.Member](g.House, "t:acme", ubl.SetTenantMember{Request: g.Request(g.ana), UserID: who.UserID, Role: ubl.RoleOwner})
	return who
}

// newcomer tries to join t:acme by an address.
func (g *registry) newcomer(email string) ubl.Enter {
	who := harness.User(email)
	who.TenantID = g.ana.TenantID
	return ubl.Enter{Request: g.Request(who), Act: true}
}

// waiting are the domains in t:acme's list that an owner has to confirm.
func (g *registry) waiting() string {
	g.t.Helper()
	var domains []string
	for _, c := range harness.Must[[]ubl.DomainClaim](g.House, "t:acme", ubl.ListDomains{Who: g.ana}) {
		if c.Unconfirmed {
			domains = append(domains, c.Domain)
		}
	}
	return strings.Join(domains, " ")
}

// TestDomainOfWhoLeft: nobody new joins by a domain whose claimant was removed, or is no
// owner any more, until another owner confirms it. The receipt names it, members stay,
// and what others have claimed is as before.
func TestDomainOfWhoLeft(t *testing.T) {
	for name, end := range map[string]func(*registry, ubl.Identity) ubl.Command{
		"removed": func(g *registry, bob ubl.Identity) ubl.Command {
			return ubl.RemoveTenantMember{Request: g.Request(g.ana), UserID: bob.UserID}
		},
		"left": func(g *registry, bob ubl.Identity) ubl.Command {
			return ubl.RemoveTenantMember{Request: g.Request(bob), UserID: bob.UserID}
		},
		"demoted": func(g *registry, bob ubl.Identity) ubl.Command {
			return ubl.SetTenantMember{Request: g.Request(g.ana), UserID: bob.UserID, Role: ubl.RoleMember}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := openRegistry(t, harness.Open(t, harness.Options{}))
			bob, cem := g.owner("bob@acme.example"), g.owner("cem@acme.example")
			bobs := g.verified(bob, "bobs.example")
			g.claimed(bob, "pending.example")
			g.verified(g.ana, "anas.example")
			early := g.newcomer("early@bobs.example")
			harness.Must[*ubl.Entered](g.House, "t:acme", early)
			before := harness.Must[ubl.LedgerHead](g.House, ubl.LedgerName("t:acme"), ubl.GetLedgerHead{}).Seq
			harness.Must[*ubl.Member](g.House, "t:acme", end(g, bob))
			effect := string(harness.Must[*ubl.AtomPage](g.House, ubl.LedgerName("t:acme"), ubl.ReadAtoms{From: before + 2, Limit: 1}).Atoms[0])
			if n := strings.Count(effect, `"op":"tenant.domain.unconfirm"`); n != 1 || !strings.Contains(effect, `{"domain":"bobs.example","op":"tenant.domain.unconfirm"`) {
				t.Errorf("the receipt names %d domains: %s", n, effect)
			}
			for range 2 {
				if got := g.waiting(); got != "bobs.example" {
					t.Errorf("to be confirmed are %q", got)
				}
				g.Refused(ubl.CodeForbidden, "t:acme", g.newcomer("new@bobs.example"))
				g.Refused(ubl.CodeForbidden, "t:acme", g.newcomer("New@BOBS.example"))
				harness.Must[*ubl.Entered](g.House, "t:acme", early)
				g.Reload()
			}
			harness.Must[*ubl.Entered](g.House, "t:acme", g.newcomer("new@anas.example"))
			g.Refused(ubl.CodeForbidden, "t:evil", g.verify(g.ana, bobs))
			g.Refused(ubl.CodeForbidden, "t:acme", ubl.VerifyDomain{Request: early.Request, Domain: bobs.Domain, Value: bobs.Value})
			confirmed := harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.verify(cem, bobs))
			if confirmed.Sponsor() != cem.UserID || confirmed.ClaimedBy != bob.UserID || g.waiting() != "" {
				t.Errorf("confirmed as %+v", confirmed)
			}
			harness.Must[int](g.House, "t:acme", ubl.SweepRooms{Request: g.Request(ubl.Platform())})
			g.Reload()
			harness.Must[*ubl.Entered](g.House, "t:acme", g.newcomer("new@bobs.example"))
			harness.Must[*ubl.Member](g.House, "t:acme", ubl.RemoveTenantMember{Request: g.Request(g.ana), UserID: cem.UserID})
			g.Refused(ubl.CodeForbidden, "t:acme", g.newcomer("late@bobs.example"))
			harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.release(g.ana, "bobs.example"))
			if got := g.waiting(); got != "" {
				t.Errorf("after the release, to be confirmed are %q", got)
			}
			g.VerifyLedger("t:acme")
			g.VerifyLedger(ubl.CoreTenant)
		})
	}
}

// TestDomainVerifiedByAnother: who verifies another's claim stands for it, not who made it.
func TestDomainVerifiedByAnother(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	bob := g.owner("bob@acme.example")
	claim := g.claimed(bob, "bobs.example")
	if got := harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.verify(g.ana, claim)); got.Sponsor() != g.ana.UserID {
		t.Errorf("verified as %+v", got)
	}
	harness.Must[*ubl.Member](g.House, "t:acme", ubl.RemoveTenantMember{Request: g.Request(g.ana), UserID: bob.UserID})
	harness.Must[*ubl.Entered](g.House, "t:acme", g.newcomer("new@bobs.example"))
	domains := harness.Must[[]ubl.DomainClaim](g.House, "t:acme", ubl.ListDomains{Who: g.ana})
	if !slices.ContainsFunc(domains, func(c ubl.DomainClaim) bool { return c.Domain == "bobs.example" && !c.Unconfirmed }) {
		t.Errorf("the list is %+v", domains)
	}
}
