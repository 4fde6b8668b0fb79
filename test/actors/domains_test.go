package actors_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// registry is two tenants that want domains, on a platform with tenant 0.
type registry struct {
	*harness.House
	t        *testing.T
	ana, eve ubl.Identity // owners of t:acme and t:evil
	operator ubl.Identity
}

func openRegistry(t *testing.T, h *harness.House) *registry {
	t.Helper()
	g := &registry{House: h, t: t, ana: harness.User("ana@acme.example"), eve: harness.User("eve@evil.example"), operator: harness.User("op@platform.example")}
	g.ana.TenantID, g.eve.TenantID, g.operator.TenantID = "t:acme", "t:evil", ubl.CoreTenant
	for _, who := range []ubl.Identity{g.operator, g.ana, g.eve} {
		h.Enter(who)
	}
	return g
}

func (g *registry) claim(who ubl.Identity, domain string) ubl.ClaimDomain {
	g.t.Helper()
	value, err := ubl.DomainProof(who.TenantID, domain, rand.Reader)
	if err != nil {
		g.t.Fatal(err)
	}
	return ubl.ClaimDomain{Request: g.Request(who), Domain: domain, Value: value}
}

func (g *registry) claimed(who ubl.Identity, domain string) *ubl.DomainClaim {
	g.t.Helper()
	return harness.Must[*ubl.DomainClaim](g.House, ubl.TenantName(who.TenantID), g.claim(who, domain))
}

func (g *registry) verify(who ubl.Identity, c *ubl.DomainClaim) ubl.VerifyDomain {
	return ubl.VerifyDomain{Request: g.Request(who), Domain: c.Domain, Value: c.Value}
}

func (g *registry) verified(who ubl.Identity, domain string) *ubl.DomainClaim {
	g.t.Helper()
	return harness.Must[*ubl.DomainClaim](g.House, ubl.TenantName(who.TenantID), g.verify(who, g.claimed(who, domain)))
}

func (g *registry) release(who ubl.Identity, domain string) ubl.ReleaseDomain {
	return ubl.ReleaseDomain{Request: g.Request(who), Domain: domain}
}

// home is where somebody of an address belongs who comes now.
func (g *registry) home(email string, configured ubl.TenantID) ubl.TenantID {
	g.t.Helper()
	who := harness.User(email)
	who.TenantID = ""
	return harness.Must[*ubl.Home](g.House, ubl.TenantName(ubl.CoreTenant), ubl.FindHome{Who: who, Configured: configured}).TenantID
}

func own(email string) ubl.TenantID { return ubl.PersonalTenant(harness.User(email).UserID) }

// acts are the acts about domains in a tenant's ledger, with who did them.
func (g *registry) acts(tenant ubl.TenantID) string {
	g.t.Helper()
	page := harness.Must[*ubl.AtomPage](g.House, ubl.LedgerName(tenant), ubl.ReadAtoms{From: 1, Limit: 500})
	var said []string
	for _, raw := range page.Atoms {
		for _, did := range []ubl.Did{ubl.DidDomainClaim, ubl.DidDomainVerify, ubl.DidDomainRelease} {
			if bytes.Contains(raw, []byte(fmt.Sprintf(`"did":%q`, did))) {
				by := "somebody"
				for name, who := range map[string]ubl.Identity{"ana": g.ana, "eve": g.eve, "operator": g.operator, "platform": ubl.Platform()} {
					if bytes.Contains(raw, []byte(`"user_id":"`+string(who.UserID)+`"`)) {
						by = name
					}
				}
				said = append(said, by+" "+strings.TrimPrefix(string(did), "tenant.domain."))
			}
		}
	}
	return strings.Join(said, ", ")
}

// TestDomainClaimedByDNS follows a claim from its record to its release: only while it
// is verified do newcomers of that very domain join, and members stay where they are.
func TestDomainClaimedByDNS(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	early := harness.User("early@corp.example")
	early.TenantID = ubl.PersonalTenant(early.UserID)
	g.Enter(early)
	claim := g.claimed(g.ana, "corp.example")
	if claim.Record() != "_ubl-challenge.corp.example" || claim.Verified() || claim.ExpiresAt != claim.ClaimedAt.Add(7*24*time.Hour) {
		t.Errorf("the claim is %+v", claim)
	}
	if got := g.home("bob@corp.example", ""); got != own("bob@corp.example") {
		t.Errorf("a pending claim takes bob to %s", got)
	}
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.verify(g.ana, claim))
	for range 2 {
		for email, want := range map[string]ubl.TenantID{
			"bob@corp.example": "t:acme", "Bob@CORP.Example": "t:acme", "early@corp.example": early.TenantID,
			"bob@sub.corp.example": own("bob@sub.corp.example"), "bob@example": own("bob@example"), "bob@xcorp.example": own("bob@xcorp.example"),
		} {
			if got := g.home(email, ""); got != want {
				t.Errorf("%s belongs to %s, want %s", email, got, want)
			}
		}
		if got := g.home("bob@corp.example", "t:evil"); got != "t:evil" {
			t.Errorf("the operator's own setting comes second: %s", got)
		}
		g.Reload()
	}
	bob := harness.User("bob@corp.example")
	bob.TenantID = "t:acme"
	g.Enter(bob)
	g.Refused(ubl.CodeForbidden, "t:acme", g.release(bob, "corp.example"))
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.release(g.ana, "corp.example"))
	if got := g.home("bob@corp.example", ""); got != "t:acme" {
		t.Errorf("after the release a member belongs to %s", got)
	}
	if got := g.home("new@corp.example", ""); got != own("new@corp.example") {
		t.Errorf("after the release a newcomer belongs to %s", got)
	}
	g.verified(g.eve, "corp.example")
	g.Reload()
	if a, b := g.home("bob@corp.example", ""), g.home("new@corp.example", ""); a != "t:acme" || b != "t:evil" {
		t.Errorf("under another tenant a member belongs to %s, a newcomer to %s", a, b)
	}
	if got := g.acts("t:acme"); got != "ana claim, ana verify, ana release" {
		t.Errorf("the tenant's ledger has %s", got)
	}
	if got := g.acts(ubl.CoreTenant); got != "ana claim, ana verify, ana release, eve claim, eve verify" {
		t.Errorf("tenant 0's ledger has %s", got)
	}
	g.VerifyLedger("t:acme")
	g.VerifyLedger(ubl.CoreTenant)
}

// TestDomainAttacks: what another tenant's owner tries leads nowhere, and tells nothing.
func TestDomainAttacks(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	mine, theirs := g.claimed(g.ana, "corp.example"), g.claimed(g.eve, "corp.example")
	if mine.Value == theirs.Value || len(mine.Value) != len("ubl-domain-verification=")+64 {
		t.Errorf("the values are %s and %s", mine.Value, theirs.Value)
	}
	stolen := g.verify(g.eve, mine) // ana's value, in eve's name
	g.Refused(ubl.CodeNotFound, "t:evil", stolen)
	g.Refused(ubl.CodeForbidden, "t:acme", g.verify(g.eve, mine)) // in the name of her tenant
	g.Refused(ubl.CodeForbidden, "t:acme", g.release(g.eve, "corp.example"))
	g.Refused(ubl.CodeForbidden, "t:acme", ubl.ListDomains{Who: g.eve})
	g.Refused(ubl.CodeForbidden, "t:acme", ubl.CheckDomain{Request: g.Request(g.eve), Domain: "corp.example"})
	for _, cmd := range []ubl.Command{
		ubl.KeepDomain{Request: g.Request(g.eve), By: g.eve, Did: ubl.DidDomainVerify, Domain: "corp.example", Value: theirs.Value},
		ubl.FindDomains{Who: g.eve, Tenant: "t:acme"},
		ubl.ListDomains{Who: g.eve}, g.release(g.eve, "corp.example"),
	} {
		g.Refused(ubl.CodeForbidden, ubl.TenantName(ubl.CoreTenant), cmd)
	}
	service := g.eve
	service.IsService = true
	again := g.claim(g.eve, "other.example")
	again.Who = service
	g.Refused(ubl.CodeForbidden, "t:evil", again)

	// A verified domain is its tenant's: who can publish a record as well has to ask.
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.verify(g.ana, mine))
	g.Refused(ubl.CodeConflict, "t:evil", g.verify(g.eve, theirs))
	g.Refused(ubl.CodeNotFound, "t:evil", g.release(g.eve, "nobody.example"))
	harness.Must[*ubl.DomainClaim](g.House, "t:evil", g.release(g.eve, "corp.example")) // her own, which was pending
	if got := g.home("bob@corp.example", ""); got != "t:acme" {
		t.Errorf("another tenant's release takes bob to %s", got)
	}
	for _, c := range harness.Must[[]ubl.DomainClaim](g.House, "t:evil", ubl.ListDomains{Who: g.eve}) {
		t.Errorf("eve sees %+v", c)
	}

	// Released, neither the old value nor an old answer brings it back.
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.release(g.ana, "corp.example"))
	g.Refused(ubl.CodeNotFound, "t:acme", g.verify(g.ana, mine))
	if fresh := g.claimed(g.ana, "corp.example"); fresh.Value == mine.Value {
		t.Error("a new claim is proven by the old record")
	}
	g.Refused(ubl.CodeNotFound, "t:acme", g.verify(g.ana, mine))
	g.Reload()
	g.Refused(ubl.CodeNotFound, "t:acme", g.verify(g.ana, mine))
	if got := g.home("bob@corp.example", ""); got != own("bob@corp.example") {
		t.Errorf("a released domain takes bob to %s", got)
	}
}

// TestDomainNames: one domain has one spelling, and what can be no public mail domain,
// or is the operator's to give, can't be claimed.
func TestDomainNames(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	for said, want := range map[string]string{
		"corp.example": "corp.example", "Corp.EXAMPLE.": "corp.example", "xn--bcher-kva.example": "xn--bcher-kva.example", "a-1.b.corp.example": "a-1.b.corp.example",
		"bücher.example": "", "\uff43orp.example": "", "c\u043erp.example": "", "\u212a.example": "", "localhost": "", "corp": "", "": "", ".": "", ".corp.example": "", "corp..example": "",
		"corp.example..": "", "ann@corp.example": "", "https://corp.example": "", "corp.example/": "", "*.corp.example": "", "_dmarc.corp.example": "",
		"-corp.example": "", "corp-.example": "", "127.0.0.1": "", "corp.example\x00": "", "corp.example evil": "", "u.0123456789abcdef": "",
		strings.Repeat("a", 64) + ".example": "", strings.Repeat("a.", 120) + "example": "",
	} {
		got, err := ubl.ClaimedDomain(said)
		if got != want || (err == nil) != (want != "") || err != nil && ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%q is read as %q, %v", said, got, err)
		}
		if want == "" {
			g.Refused(ubl.CodeValidation, "t:acme", g.claim(g.ana, said))
		}
	}
	if c := g.claimed(g.ana, "Corp.Example."); c.Domain != "corp.example" {
		t.Errorf("the claim is of %s", c.Domain)
	}
	g.Refused(ubl.CodeConflict, "t:acme", g.claim(g.ana, "CORP.example"))
	for _, tenant := range []ubl.TenantID{"t:acme", "t:evil"} {
		c := g.claim(g.ana, "given.example")
		c.Configured = tenant
		g.Refused(ubl.CodeConflict, "t:acme", c)
	}
	given := g.verify(g.ana, g.claimed(g.ana, "given.example"))
	given.Configured = "t:evil"
	g.Refused(ubl.CodeConflict, "t:acme", given)
	g.Refused(ubl.CodeConflict, ubl.TenantName(ubl.CoreTenant), g.claim(g.operator, "platform.example"))
}

// TestDomainLimits: claims lapse, a tenant has few, and asks DNS seldom.
func TestDomainLimits(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	late := g.claimed(g.ana, "late.example")
	g.Clock.Add(ubl.DomainClaimTTL)
	g.Refused(ubl.CodeNotFound, "t:acme", g.verify(g.ana, late))
	g.Refused(ubl.CodeNotFound, "t:acme", ubl.CheckDomain{Request: g.Request(g.ana), Domain: "late.example"})
	if list := harness.Must[[]ubl.DomainClaim](g.House, "t:acme", ubl.ListDomains{Who: g.ana}); len(list) != 0 {
		t.Errorf("the list has %+v", list)
	}
	for n := range ubl.MaxDomains {
		g.claimed(g.ana, fmt.Sprintf("d%d.example", n))
	}
	g.Refused(ubl.CodeConflict, "t:acme", g.claim(g.ana, "more.example"))
	g.claimed(g.eve, "more.example") // others' don't count
	limited := false
	for range 20 {
		_, err := g.Ask(t.Context(), "t:acme", ubl.CheckDomain{Request: g.Request(g.ana), Domain: "d1.example"})
		limited = limited || ubl.CodeOf(err) == ubl.CodeRateLimited
	}
	if !limited {
		t.Error("a tenant checks as often as it likes")
	}
	harness.Must[*ubl.DomainClaim](g.House, "t:evil", ubl.CheckDomain{Request: g.Request(g.eve), Domain: "more.example"})
	g.Clock.Add(time.Minute)
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", ubl.CheckDomain{Request: g.Request(g.ana), Domain: "d1.example"})
}

// TestDomainRace: of many who publish a record at once one has the domain, and the
// others are told.
func TestDomainRace(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	const tenants = 8
	asks := make([]ubl.VerifyDomain, tenants)
	for i := range asks {
		who := harness.User(fmt.Sprintf("owner@race%d.example", i))
		g.Enter(who)
		asks[i] = g.verify(who, g.claimed(who, "corp.example"))
	}
	var all sync.WaitGroup
	codes := make([]ubl.Code, tenants)
	for i, ask := range asks {
		all.Go(func() {
			_, err := g.Ask(context.Background(), ubl.TenantName(ask.Who.TenantID), ask)
			codes[i] = ubl.CodeOf(err)
		})
	}
	all.Wait()
	var winner ubl.TenantID
	for i, code := range codes {
		switch {
		case code == "" && winner == "":
			winner = asks[i].Who.TenantID
		case code != ubl.CodeConflict:
			t.Errorf("%s is answered %q, after %s", asks[i].Who.TenantID, code, winner)
		}
	}
	if got := g.home("bob@corp.example", ""); winner == "" || got != winner {
		t.Errorf("bob belongs to %s, the first was %s", got, winner)
	}
}

// TestDomainRepetition: the same key has the same outcome, before and after a restart.
func TestDomainRepetition(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	first := g.claim(g.ana, "corp.example")
	claim := harness.Must[*ubl.DomainClaim](g.House, "t:acme", first)
	again := first
	again.Value, _ = ubl.DomainProof("t:acme", "corp.example", rand.Reader)
	verify := g.verify(g.ana, claim)
	for range 2 {
		if got := harness.Must[*ubl.DomainClaim](g.House, "t:acme", again); got.Value != claim.Value {
			t.Errorf("a repetition is answered with another record")
		}
		if got := harness.Must[*ubl.DomainClaim](g.House, "t:acme", verify); !got.Verified() {
			t.Errorf("the claim is %+v", got)
		}
		g.Reload()
	}
	if got := g.acts("t:acme"); got != "ana claim, ana verify" {
		t.Errorf("the ledger has %s", got)
	}
}

// TestDomainReleaseRefused: a refusal says what is the case and what to do, to an operator
// as to an owner.
func TestDomainReleaseRefused(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	g.claimed(g.ana, "pending.example")
	for _, c := range []struct {
		who        ubl.Identity
		domain     string
		configured ubl.TenantID
		code       ubl.Code
		says       string
	}{
		{g.operator, "pending.example", "", ubl.CodeNotFound, "a pending claim gives nothing and expires by itself"},
		{g.operator, "nobody.example", "", ubl.CodeNotFound, "no tenant has verified this domain"},
		{g.operator, "given.example", "t:acme", ubl.CodeConflict, "by the server's option --domain"},
		{g.ana, "given.example", "t:acme", ubl.CodeConflict, "the operator removes it there"},
		{g.ana, "nobody.example", "", ubl.CodeNotFound, "nothing to release"},
	} {
		cmd := g.release(c.who, c.domain)
		cmd.Configured = c.configured
		_, err := g.Ask(context.Background(), ubl.TenantName(c.who.TenantID), cmd)
		if ubl.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s releases %s: %v, want %s with %q", c.who.UserID, c.domain, err, c.code, c.says)
		}
	}
	cmd := g.release(g.ana, "pending.example") // a claim goes, whatever else is given
	cmd.Configured = "t:acme"
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", cmd)
}

// TestDomainFollowed: where the server died between tenant 0's commit and the tenant's
// own, a retry puts it on record. So does tenant 0's alarm what an operator did.
func TestDomainFollowed(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	g := openRegistry(t, h)
	core := ubl.TenantName(ubl.CoreTenant)
	v.setFault(func(b *ubl.Batch, settled func(error)) bool {
		if b.Group.Tenant != "t:acme" || !holds(b, `"did":"tenant.domain`) {
			return false
		}
		go settled(errors.New("the power went"))
		return true
	})
	first := g.claim(g.ana, "corp.example")
	g.Refused(ubl.CodeUnavailable, "t:acme", first)
	v.setFault(nil)
	h.Restart()
	if got := g.acts("t:acme"); got != "" {
		t.Fatalf("the ledger has %s", got)
	}
	claim := harness.Must[*ubl.DomainClaim](h, "t:acme", first)
	harness.Must[*ubl.DomainClaim](h, "t:acme", g.verify(g.ana, claim))
	g.Refused(ubl.CodeNotFound, core, g.release(g.operator, "other.example"))
	list := harness.Must[[]ubl.DomainClaim](h, core, ubl.ListDomains{Who: g.operator})
	if len(list) != 1 || list[0].TenantID != "t:acme" {
		t.Errorf("an operator sees %+v", list)
	}
	harness.Must[*ubl.DomainClaim](h, core, g.release(g.operator, "corp.example"))
	if got := g.home("bob@corp.example", ""); got != own("bob@corp.example") {
		t.Errorf("what the operator released takes bob to %s", got)
	}
	harness.Must[int](h, "t:acme", ubl.SweepRooms{Request: h.Request(ubl.Platform())}) // it may be newer than the list
	for range 2 {
		finished(h)
	}
	if got := g.acts("t:acme"); got != "ana claim, ana verify, platform release" {
		t.Errorf("the tenant's ledger has %s", got)
	}
	if got := g.acts(ubl.CoreTenant); got != "ana claim, ana verify, operator release" {
		t.Errorf("tenant 0's ledger has %s", got)
	}
	g.VerifyLedger("t:acme")
}

// TestDomainOfClosedTenant: an owner whose tenant has ended still lets newcomers of the
// domain go elsewhere.
func TestDomainOfClosedTenant(t *testing.T) {
	g := openRegistry(t, harness.Open(t, harness.Options{}))
	g.verified(g.ana, "corp.example")
	harness.Must[*ubl.AgreementView](g.House, "t:acme", ubl.EndAgreement{Request: g.Request(g.ana), Agreement: ubl.TenantAgreement("t:acme")})
	g.Refused(ubl.CodeForbidden, "t:acme", g.claim(g.ana, "more.example"))
	harness.Must[*ubl.DomainClaim](g.House, "t:acme", g.release(g.ana, "corp.example"))
	if got := g.home("bob@corp.example", ""); got != own("bob@corp.example") {
		t.Errorf("bob belongs to %s", got)
	}
}
