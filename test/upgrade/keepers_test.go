package upgrade

import (
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// beforeKeepers opens what the version wrote in which services could keep themselves and
// each other, and stayed owners without their keepers. Ana owns the tenant. Bob was an
// owner and was removed; his are the agents alone, one and two. Dora was an owner and is
// a member; hers is doras. Each of the three has claimed a domain.
func beforeKeepers(t *testing.T) (*harness.House, ubl.Identity, map[string]ubl.Identity) {
	t.Helper()
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-keepers/data.tar.gz"), From: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
	ana, bots := local("ana@keepers.example"), map[string]ubl.Identity{}
	for _, id := range []string{"alone", "one", "two", "anas", "doras"} {
		bots[id] = ubl.Identity{UserID: ubl.UserIDFor("urn:ubl:service", id, false), IsService: true, TenantID: ana.TenantID, Issuer: "urn:ubl:service", Subject: id}
	}
	return h, ana, bots
}

// swept waits until the tenant has finished what versions without alarms may have left,
// although nobody asks for it.
func swept(t *testing.T, h *harness.House, tenant ubl.TenantID) {
	t.Helper()
	poll.Until(t, "the tenant has its alarm", func() (armed bool) {
		err := h.Engine.View(t.Context(), ubl.TenantName(tenant).Group(), func(snap ubl.Snapshot) error {
			mark, err := snap.Get([]byte("s\x01"))
			armed = mark != nil
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return armed
	})
	h.Alarms()
}

// TestDomainsFromBefore: nobody new joins by the domains that bob and dora had claimed,
// until ana confirms them.
func TestDomainsFromBefore(t *testing.T) {
	h, ana, _ := beforeKeepers(t)
	tenant := ubl.TenantName(ana.TenantID)
	newcomer := func(email string) ubl.Enter {
		who := local(email)
		who.TenantID = ana.TenantID
		return ubl.Enter{Request: h.Request(who), Act: true}
	}
	for range 2 {
		for _, c := range harness.Must[[]ubl.DomainClaim](h, tenant, ubl.ListDomains{Who: ana}) {
			if c.Unconfirmed != (c.Domain != "anas.example") {
				t.Errorf("%s is to be confirmed: %v", c.Domain, c.Unconfirmed)
			}
		}
		h.Refused(ubl.CodeForbidden, tenant, newcomer("new@bobs.example"))
		h.Refused(ubl.CodeForbidden, tenant, newcomer("new@doras.example"))
		harness.Must[*ubl.Entered](h, tenant, newcomer("new@anas.example"))
		swept(t, h, ana.TenantID)
	}
	harness.Must[*ubl.DomainClaim](h, tenant, ubl.VerifyDomain{Request: h.Request(ana), Domain: "bobs.example"})
	h.Reload()
	harness.Must[*ubl.Entered](h, tenant, newcomer("new@bobs.example"))
	h.VerifyLedger(ana.TenantID)
}

// TestKeepersFromBefore: services that only kept each other or themselves are their
// makers', so that those of who was removed are refused at once and gone with the first
// sweep. One that is above its keeper is a member at once, and the sweep says so.
func TestKeepersFromBefore(t *testing.T) {
	h, ana, bots := beforeKeepers(t)
	tenant := ubl.TenantName(ana.TenantID)
	bobs := ubl.RoomName(ana.TenantID, "r:bobs")
	for n := range 3 {
		for _, id := range []string{"alone", "one", "two"} {
			h.Refused(ubl.CodeUnauthorized, tenant, ubl.CheckServiceToken{ClientID: id, SecretHash: id})
			h.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: h.Request(bots[id])})
			h.Refused(ubl.CodeForbidden, tenant, ubl.SetTenantMember{Request: h.Request(bots[id]), UserID: local("bob@keepers.example").UserID, Role: ubl.RoleOwner})
		}
		for id, want := range map[string]ubl.Role{"anas": ubl.RoleOwner, "doras": ubl.RoleMember} {
			if got := h.Enter(bots[id]); got.Role != want {
				t.Errorf("%s is %s", id, got.Role)
			}
			m := harness.Must[*ubl.Member](h, tenant, ubl.FindMember{Who: ana, UserID: bots[id].UserID})
			if n > 0 && m.Role != want {
				t.Errorf("after the sweep %s is listed as %s", id, m.Role)
			}
		}
		h.Refused(ubl.CodeForbidden, tenant, ubl.SetTenantMember{Request: h.Request(bots["doras"]), UserID: bots["doras"].UserID, Role: ubl.RoleOwner})
		for _, token := range harness.Must[[]ubl.ServiceToken](h, tenant, ubl.ListServiceTokens{Who: ana}) {
			if token.ClientID == "anas" && token.KeptBy != ana.UserID {
				t.Errorf("%s keeps ana's agent", token.KeptBy)
			}
		}
		before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
		swept(t, h, ana.TenantID)
		if after := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}); n > 0 && after != before {
			t.Errorf("start %d brings the ledger from %d to %d", n+1, before.Seq, after.Seq)
		}
		sealed := harness.Must[[]ubl.SealedPlace](h, tenant, ubl.ListSealed{Who: ana})
		if len(sealed) != 1 || sealed[0].ID != "r:bobs" {
			t.Errorf("sealed are %+v", sealed)
		}
		h.Refused(ubl.CodeNotAMember, bobs, ubl.ReadHistory{Who: bots["alone"], Limit: 1})
		h.Restart()
	}
	h.VerifyLedger(ana.TenantID)
}
