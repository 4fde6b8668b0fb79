package tenant_test

import (
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// party is a tenant with an owner and a member, neither of whom has a name.
type party struct {
	*harness.House
	tenant   ubl.Name
	ana, bob ubl.Identity
}

func newParty(t *testing.T) *party {
	p := &party{House: harness.Open(t, harness.Options{}), ana: harness.User("ana@acme.com"), bob: harness.User("bob@acme.com")}
	p.tenant = ubl.TenantName(p.ana.TenantID)
	p.Enter(p.ana)
	p.Enter(p.bob)
	return p
}

// nameOf is what the tenant's record has.
func (p *party) nameOf(of ubl.UserID) string {
	return harness.Must[*ubl.Member](p.House, p.tenant, ubl.FindMember{Who: p.ana, UserID: of}).Name
}

// come is how somebody comes in whose credential has a name for them.
func (p *party) come(who ubl.Identity, name string) {
	harness.Must[*ubl.Entered](p.House, p.tenant, ubl.Enter{Request: p.Request(who), Name: name})
}

// seq is how many atoms the ledger has.
func (p *party) seq() int64 {
	return harness.Must[ubl.LedgerHead](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetLedgerHead{}).Seq
}

func (p *party) naming(by, of ubl.Identity, name string) ubl.SetTenantMember {
	return ubl.SetTenantMember{Request: p.Request(by), UserID: of.UserID, Name: &name}
}

// TestNaming: members name themselves and owners everyone, with a receipt; it
// changes no role, and outlives a restart.
func TestNaming(t *testing.T) {
	p := newParty(t)
	before := p.seq()
	if got := harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.bob, p.bob, "Bob")); got.Name != "Bob" || got.Role != ubl.RoleMember {
		t.Errorf("bob is now %+v", got)
	}
	if got := p.seq(); got != before+2 {
		t.Errorf("the act has taken %d atoms", got-before)
	}
	p.Refused(ubl.CodeForbidden, p.tenant, p.naming(p.bob, p.ana, "Boss"))
	again := p.naming(p.ana, p.bob, "Robert")
	harness.Must[*ubl.Member](p.House, p.tenant, again)
	p.Reload()
	if got := harness.Must[*ubl.Member](p.House, p.tenant, again); got.Name != "Robert" || p.nameOf(p.bob.UserID) != "Robert" {
		t.Errorf("a retry answers %+v", got)
	}
	other := "Rob"
	again.Name = &other
	p.Refused(ubl.CodeIdempotencyConflict, p.tenant, again)

	// A role leaves the name as it is; both may change at once.
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID, Role: ubl.RoleOwner})
	if got := p.nameOf(p.bob.UserID); got != "Robert" {
		t.Errorf("as an owner they are %q", got)
	}
	both := p.naming(p.ana, p.bob, "Bob")
	both.Role = ubl.RoleMember
	if got := harness.Must[*ubl.Member](p.House, p.tenant, both); got.Name != "Bob" || got.Role != ubl.RoleMember {
		t.Errorf("bob is now %+v", got)
	}
	if got := harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.bob, p.bob, "")); got.Name != "" {
		t.Errorf("the name is still %q", got.Name)
	}
	p.VerifyLedger(p.ana.TenantID)
}

func TestNamesThatAreRefused(t *testing.T) {
	p := newParty(t)
	for _, name := range []string{" ", "a\nb", "\u202enimda", string(make([]byte, 65))} {
		p.Refused(ubl.CodeValidation, p.tenant, p.naming(p.ana, p.ana, name))
	}
	p.Refused(ubl.CodeValidation, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	eve := harness.User("eve@acme.com")
	p.Refused(ubl.CodeForbidden, p.tenant, p.naming(eve, eve, "Eve"))
	p.Refused(ubl.CodeNotFound, p.tenant, p.naming(p.ana, eve, "Eve"))

	// Who was removed isn't let in again by a name.
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	p.Refused(ubl.CodeNotFound, p.tenant, p.naming(p.ana, p.bob, "Bob"))
	p.Refused(ubl.CodeForbidden, p.tenant, p.naming(p.bob, p.bob, "Bob"))
	harness.Must[*ubl.AgreementView](p.House, p.tenant, ubl.EndAgreement{Request: p.Request(p.ana)})
	p.Refused(ubl.CodeForbidden, p.tenant, p.naming(p.ana, p.ana, "Ana"))
}

// TestNamesOfCredentials: what a credential calls somebody is taken where they have
// no name, once, and never in place of one.
func TestNamesOfCredentials(t *testing.T) {
	p := newParty(t)
	eve := harness.User("eve@acme.com")
	p.come(eve, "Eve Newcomer")
	p.come(p.bob, "Bob of old")
	p.come(p.ana, "\u202e no name")
	before := p.seq()
	p.come(p.bob, "Somebody else")
	p.come(eve, "")
	if got := p.seq(); got != before {
		t.Errorf("coming again has taken %d atoms", got-before)
	}
	for who, want := range map[ubl.UserID]string{eve.UserID: "Eve Newcomer", p.bob.UserID: "Bob of old", p.ana.UserID: ""} {
		if got := p.nameOf(who); got != want {
			t.Errorf("%s is called %q, want %q", who, got, want)
		}
	}
	harness.Must[*ubl.AgreementView](p.House, p.tenant, ubl.EndAgreement{Request: p.Request(p.ana)})
	before = p.seq()
	p.come(p.ana, "Ana")
	if got := p.seq(); got != before {
		t.Errorf("under an ended license a name has taken %d atoms", got-before)
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestAgentsAreNamed after their tokens; a name that would be cut is refused.
func TestAgentsAreNamed(t *testing.T) {
	p := newParty(t)
	long := strings.Repeat("é", ubl.MaxMemberName)
	for clientID, name := range map[string]string{"c1": "Scout", "c2": long} {
		made := harness.Must[*ubl.ServiceToken](p.House, p.tenant, ubl.CreateServiceToken{Request: p.Request(p.ana), Name: name, ClientID: clientID, SecretHash: "00"})
		if got := p.nameOf(made.UserID); got != name || made.Name != name {
			t.Errorf("the agent of %q is called %q", made.Name, got)
		}
	}
	p.Refused(ubl.CodeValidation, p.tenant, ubl.CreateServiceToken{Request: p.Request(p.ana), Name: long + "s", ClientID: "c3", SecretHash: "00"})
}

// TestAgentsWithoutAName, as those are that were made before there were names, are
// named after their tokens when they next come.
func TestAgentsWithoutAName(t *testing.T) {
	p := newParty(t)
	made := harness.Must[*ubl.ServiceToken](p.House, p.tenant, ubl.CreateServiceToken{Request: p.Request(p.ana), Name: "Scout", ClientID: "c1", SecretHash: "00"})
	agent := harness.Must[*ubl.ServiceCaller](p.House, p.tenant, ubl.CheckServiceToken{ClientID: "c1", SecretHash: "00"}).Identity
	if harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.ana, agent, "")); p.nameOf(made.UserID) != "" {
		t.Fatal("the name was not taken away")
	}
	p.come(agent, "")
	if got := p.nameOf(made.UserID); got != "Scout" {
		t.Errorf("it is called %q", got)
	}
	harness.Must[*ubl.Member](p.House, p.tenant, p.naming(p.ana, agent, "Ranger"))
	if p.come(agent, ""); p.nameOf(made.UserID) != "Ranger" {
		t.Errorf("it is called %q, though an owner gave it another name", p.nameOf(made.UserID))
	}
}

// TestSomeMembers: those who are asked for and belong to the tenant, by id, once.
func TestSomeMembers(t *testing.T) {
	p := newParty(t)
	all := harness.Must[[]ubl.Member](p.House, p.tenant, ubl.ListMembers{Who: p.bob})
	some := harness.Must[[]ubl.Member](p.House, p.tenant, ubl.ListMembers{Who: p.bob, Only: []ubl.UserID{p.bob.UserID, "u:nobody", p.bob.UserID}})
	if len(all) != 2 || len(some) != 1 || some[0].UserID != p.bob.UserID {
		t.Errorf("all are %+v, some %+v", all, some)
	}
}

// TestNamesStayInTheTenant: rooms and containers would keep them when they change.
func TestNamesStayInTheTenant(t *testing.T) {
	p := newParty(t)
	p.come(p.bob, "Bob")
	harness.Must[*ubl.RoomSummary](p.House, p.tenant, ubl.CreateRoom{Request: p.Request(p.ana), Name: "plans"})
	room := ubl.RoomName(p.ana.TenantID, "r:plans")
	bob := *harness.Must[*ubl.Member](p.House, p.tenant, ubl.FindMember{Who: p.ana, UserID: p.bob.UserID})
	if got := harness.Must[*ubl.Member](p.House, room, ubl.AddMember{Request: p.Request(p.ana), Member: bob}); bob.Name != "Bob" || got.Name != "" {
		t.Errorf("%q came in, and the room keeps %q", bob.Name, got.Name)
	}
}
