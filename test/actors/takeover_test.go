package actors_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestOnlyTheMakerGetsASecret: another owner may keep an agent, but never learns a
// secret of it: not at once, not after keeping it, not when its maker has left.
func TestOnlyTheMakerGetsASecret(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	p.token(p.bob, "scout")
	scout := p.agent("scout")
	steal := func() {
		t.Helper()
		p.Refused(ubl.CodeForbidden, p.tenant, ubl.RenewServiceToken{
			Request: p.Request(p.ana), ClientID: "scout", SecretHash: "stolen", Grace: time.Hour})
		p.Refused(ubl.CodeUnauthorized, p.tenant, ubl.CheckServiceToken{ClientID: "scout", SecretHash: "stolen"})
		p.agent("scout")
	}
	steal()
	before := harness.Must[ubl.LedgerHead](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetLedgerHead{}).Seq
	kept := harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.ana), ClientID: "scout"})
	if kept.Token.Keeper() != p.ana.UserID || kept.Token.CreatedBy != p.bob.UserID {
		t.Errorf("kept as %+v", kept.Token)
	}
	act := string(harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(p.ana.TenantID), ubl.ReadAtoms{From: before + 1, Limit: 1}).Atoms[0])
	if !strings.Contains(act, `"kept_before_by":"`+string(p.bob.UserID)) || !strings.Contains(act, `"kept_by":"`+string(p.ana.UserID)) {
		t.Errorf("the receipt doesn't name both keepers: %s", act)
	}
	steal()
	p.Reload()
	steal()
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	p.Refused(ubl.CodeConflict, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.ana), ClientID: "scout", SecretHash: "stolen"})
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(scout)})
	p.VerifyLedger(p.ana.TenantID)
}

// TestTheMakerRenewsTheSecret also while another owner keeps the agent.
func TestTheMakerRenewsTheSecret(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	p.token(p.bob, "scout")
	harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.ana), ClientID: "scout"})
	harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.bob), ClientID: "scout", SecretHash: "next"})
	harness.Must[*ubl.ServiceCaller](p.House, p.tenant, ubl.CheckServiceToken{ClientID: "scout", SecretHash: "next"})
	p.Refused(ubl.CodeUnauthorized, p.tenant, ubl.CheckServiceToken{ClientID: "scout", SecretHash: "scout"})
	p.role(p.bob, ubl.RoleMember)
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.bob), ClientID: "scout", SecretHash: "third"})
}

// TestSecretsEndWithTheirMaker: another owner's renewal leaves the maker the secret, so their
// leaving ends the agent, and those that were made with that secret. The list says so before.
func TestSecretsEndWithTheirMaker(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	p.token(p.bob, "scout")
	scout := p.agent("scout")
	harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, p.renew(p.ana, "scout"))
	p.role(scout, ubl.RoleOwner)
	p.token(scout, "scouts-own")
	p.token(p.ana, "anas")
	for _, id := range []string{"scout", "scouts-own"} {
		if got := p.endsWith(id); !slices.Equal(got, []string{"ana", "bob"}) {
			t.Errorf("%s ends with %v", id, got)
		}
	}
	if got := p.endsWith("anas"); !slices.Equal(got, []string{"ana"}) {
		t.Errorf("ana's own ends with %v", got)
	}
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	for range 2 {
		for _, id := range []string{"scout", "scouts-own"} {
			p.Refused(ubl.CodeUnauthorized, p.tenant, ubl.CheckServiceToken{ClientID: id, SecretHash: id})
			if got := p.endsWith(id); !slices.Equal(got, []string{"bob"}) {
				t.Errorf("%s ended with %v", id, got)
			}
		}
		p.agent("anas")
		p.Reload()
	}
}

// TestOwnersAgentsFollowTheirMaker: who is an owner no longer doesn't stay one by the secret
// of an agent that another owner keeps.
func TestOwnersAgentsFollowTheirMaker(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	p.token(p.bob, "scout")
	scout := p.agent("scout")
	harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, p.renew(p.ana, "scout"))
	p.role(scout, ubl.RoleOwner)
	p.role(p.bob, ubl.RoleMember)
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.ListServiceTokens{Who: scout})
	p.Refused(ubl.CodeConflict, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: scout.UserID, Role: ubl.RoleOwner})
}
