package actors_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
	"ubl/test/harness"
)

func (p *party) renew(who ubl.Identity, id string) ubl.RenewServiceToken {
	return ubl.RenewServiceToken{Request: p.Request(who), ClientID: id}
}

// ownerBot is an agent of bob's that he has made an owner.
func (p *party) ownerBot(id string) ubl.Identity {
	p.t.Helper()
	p.token(p.bob, id)
	bot := p.agent(id)
	p.role(bot, ubl.RoleOwner)
	return bot
}

// roleOf is what the list of members says, "" for who isn't in it.
func (p *party) roleOf(who ubl.Identity) ubl.Role {
	p.t.Helper()
	for _, m := range harness.Must[[]ubl.Member](p.House, p.tenant, ubl.ListMembers{Who: p.ana}) {
		if m.UserID == who.UserID {
			return m.Role
		}
	}
	return ""
}

// TestAgentsKeepNobody: an agent that renews itself, or another that renews it, keeps
// nothing by that. What it makes is its keeper's, and leaves with them.
func TestAgentsKeepNobody(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	one := p.ownerBot("one")
	if made := p.token(one, "two"); made.Keeper() != p.bob.UserID || made.CreatedBy != one.UserID {
		t.Errorf("an agent's token is made as %+v", made)
	}
	two := p.agent("two")
	p.role(two, ubl.RoleOwner)
	p.token(p.ana, "anas")
	for _, c := range []ubl.RenewServiceToken{p.renew(one, "one"), p.renew(two, "one"), p.renew(one, "two"), p.renew(one, "anas")} {
		before := p.keeperOf(c.ClientID)
		if got := harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, c).Token.Keeper(); got != before {
			t.Errorf("after %s was renewed by an agent, %s keeps it; before, %s did", c.ClientID, got, before)
		}
	}
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID})
	for range 2 {
		for _, bot := range []ubl.Identity{one, two} {
			p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(bot)})
			p.Refused(ubl.CodeForbidden, p.tenant, ubl.SetTenantMember{Request: p.Request(bot), UserID: p.bob.UserID, Role: ubl.RoleOwner})
		}
		p.agent("anas")
		p.Reload()
	}
	p.VerifyLedger(p.ana.TenantID)
}

func (p *party) keeperOf(id string) ubl.UserID {
	p.t.Helper()
	for _, s := range harness.Must[[]ubl.ServiceToken](p.House, p.tenant, ubl.ListServiceTokens{Who: p.ana}) {
		if s.ClientID == id {
			return s.KeptBy
		}
	}
	return ""
}

// TestAgentsGoDownWithTheirKeeper: whoever demotes an owner demotes the owner's agents in
// the same act, and no agent becomes an owner while its keeper or its maker isn't one.
func TestAgentsGoDownWithTheirKeeper(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	bot, cli := p.ownerBot("bot"), p.local("cli", p.bob.Email)
	p.Enter(cli)
	p.role(cli, ubl.RoleOwner)
	p.token(p.ana, "anas")
	anas := p.agent("anas")
	p.role(anas, ubl.RoleOwner)
	before := harness.Must[ubl.LedgerHead](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetLedgerHead{}).Seq
	p.role(p.bob, ubl.RoleMember)
	effect := string(harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(p.ana.TenantID), ubl.ReadAtoms{From: before + 2, Limit: 1}).Atoms[0])
	for _, who := range []ubl.Identity{p.bob, bot, cli} {
		if !strings.Contains(effect, fmt.Sprintf(`"op":"agreement.set","role":"member","user_id":%q`, who.UserID)) {
			t.Errorf("the receipt doesn't say that %s is a member: %s", who.UserID, effect)
		}
	}
	for range 2 {
		for who, want := range map[ubl.UserID]ubl.Role{bot.UserID: ubl.RoleMember, cli.UserID: ubl.RoleMember, anas.UserID: ubl.RoleOwner} {
			if got := p.roleOf(ubl.Identity{UserID: who}); got != want {
				t.Errorf("%s is %q, want %q", who, got, want)
			}
		}
		p.Refused(ubl.CodeForbidden, p.tenant, ubl.SetTenantMember{Request: p.Request(bot), UserID: p.bob.UserID, Role: ubl.RoleOwner})
		p.Refused(ubl.CodeConflict, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: bot.UserID, Role: ubl.RoleOwner})
		p.Reload()
	}
	harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, p.renew(p.ana, "bot"))
	p.Refused(ubl.CodeConflict, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: bot.UserID, Role: ubl.RoleOwner})
	p.Refused(ubl.CodeConflict, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: cli.UserID, Role: ubl.RoleOwner})
	p.VerifyLedger(p.ana.TenantID)
}

// TestOnlyAgentsLeftIsEmpty: a private room or container whose last person is removed is
// sealed, also where another's agent owns it too.
func TestOnlyAgentsLeftIsEmpty(t *testing.T) {
	e := openEstate(t)
	harness.Must[*ubl.ServiceToken](e.House, e.tenant, ubl.CreateServiceToken{Request: e.Request(e.ana), Name: "bot", ClientID: "bot", SecretHash: "bot"})
	bot := harness.Must[*ubl.ServiceCaller](e.House, e.tenant, ubl.CheckServiceToken{ClientID: "bot", SecretHash: "bot"}).Identity
	e.Enter(bot)
	for _, place := range []ubl.Name{e.plans, e.shelf} {
		harness.Must[*ubl.Member](e.House, place, ubl.AddMember{Request: e.Request(e.bob), Member: ubl.Member{UserID: bot.UserID, Role: ubl.RoleOwner, IsService: true}})
	}
	e.shutOut(e.bob)
	if got := e.sealed(); got != `a:room:r:plans "plans", a:workspace:w:shelf "shelf"` {
		t.Errorf("sealed are %s", got)
	}
	e.Refused(ubl.CodeNotAMember, e.plans, ubl.ReadHistory{Who: bot, Limit: 1})
	e.Refused(ubl.CodeNotAMember, e.plans, ubl.AddMember{Request: e.Request(bot), Member: ubl.Member{UserID: e.ana.UserID, Role: ubl.RoleOwner}})
	e.Enter(bot)
	e.VerifyLedger(e.ana.TenantID)
}

// TestEveryAgentHasAKeeper: after any history of tokens made, renewed, roles and
// removals, by people and agents alike, each good agent is kept by a person in the
// tenant, and is an owner only while they are.
func TestEveryAgentHasAKeeper(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		k := &keepers{House: h, tenant: ubl.TenantName(ubl.TenantID(fmt.Sprintf("t:keepers%d.example", runs)))}
		for _, name := range []string{"ana", "bob", "cem"} {
			who := harness.User(fmt.Sprintf("%s@keepers%d.example", name, runs))
			who.TenantID = k.tenant.Group().Tenant
			h.Enter(who)
			k.all = append(k.all, who)
			k.ask(ubl.SetTenantMember{Request: h.Request(k.all[0]), UserID: who.UserID, Role: ubl.RoleOwner})
		}
		local := ubl.Identity{IsService: true, TenantID: k.all[0].TenantID, Issuer: ubl.LocalIssuer, Subject: ubl.LocalSubject("cli", k.all[1].Email)}
		local.UserID = ubl.UserIDFor(ubl.LocalIssuer, local.Subject, false)
		h.Enter(local)
		k.all = append(k.all, local)
		who := func(name string) ubl.Identity { return rapid.SampledFrom(k.all).Draw(rt, name) }
		rt.Repeat(map[string]func(*rapid.T){
			"make":   func(*rapid.T) { k.make(who("maker")) },
			"renew":  func(*rapid.T) { k.ask(ubl.RenewServiceToken{Request: h.Request(who("by")), ClientID: k.client(rt)}) },
			"revoke": func(*rapid.T) { k.ask(ubl.RevokeServiceToken{Request: h.Request(who("by")), ClientID: k.client(rt)}) },
			"remove": func(*rapid.T) {
				k.ask(ubl.RemoveTenantMember{Request: h.Request(who("by")), UserID: who("user").UserID})
			},
			"role": func(*rapid.T) {
				role := rapid.SampledFrom([]ubl.Role{ubl.RoleOwner, ubl.RoleOwner, ubl.RoleMember}).Draw(rt, "role")
				k.ask(ubl.SetTenantMember{Request: h.Request(who("by")), UserID: who("user").UserID, Role: role})
			},
			"reload": func(*rapid.T) { h.Reload() },
			"":       k.check,
		})
	})
}

// keepers is a tenant of three people, a service of the nodes' key, and agents.
type keepers struct {
	*harness.House
	tenant ubl.Name
	all    []ubl.Identity
	tokens []string
}

func (k *keepers) ask(cmd ubl.Command) {
	_, _ = k.Ask(context.Background(), k.tenant, cmd)
}

func (k *keepers) client(rt *rapid.T) string {
	return rapid.SampledFrom(append([]string{"none"}, k.tokens...)).Draw(rt, "client")
}

func (k *keepers) make(by ubl.Identity) {
	id := fmt.Sprint("c", len(k.tokens))
	if _, err := k.Ask(context.Background(), k.tenant, ubl.CreateServiceToken{Request: k.Request(by), Name: id, ClientID: id, SecretHash: id}); err != nil {
		return
	}
	k.tokens = append(k.tokens, id)
	k.all = append(k.all, harness.Must[*ubl.ServiceCaller](k.House, k.tenant, ubl.CheckServiceToken{ClientID: id, SecretHash: id}).Identity)
}

func (k *keepers) check(rt *rapid.T) {
	var in map[ubl.UserID]ubl.Member
	var tokens []ubl.ServiceToken
	for _, who := range k.all[:3] { // one of them owns the tenant
		members, err := ubl.Ask[[]ubl.Member](context.Background(), k.House, k.tenant, ubl.ListMembers{Who: who})
		if err != nil {
			continue
		}
		in = map[ubl.UserID]ubl.Member{}
		for _, m := range members {
			in[m.UserID] = m
		}
		if tokens, err = ubl.Ask[[]ubl.ServiceToken](context.Background(), k.House, k.tenant, ubl.ListServiceTokens{Who: who}); err == nil && in[who.UserID].Role == ubl.RoleOwner {
			break
		}
	}
	if len(tokens) != len(k.tokens) {
		rt.Fatalf("%d tokens are listed of %d", len(tokens), len(k.tokens))
	}
	for _, token := range tokens {
		_, err := k.Ask(context.Background(), k.tenant, ubl.CheckServiceToken{ClientID: token.ClientID, SecretHash: token.ClientID})
		keeper, kept := in[token.KeptBy]
		if good := err == nil; good && (!kept || keeper.IsService) {
			rt.Fatalf("%s is good, and %q keeps it: %+v", token.ClientID, token.KeptBy, in)
		}
		if in[token.UserID].Role == ubl.RoleOwner && keeper.Role != ubl.RoleOwner {
			rt.Fatalf("%s is an owner, and its keeper is %+v", token.ClientID, keeper)
		}
	}
	if cli := in[k.all[3].UserID]; cli.Role == ubl.RoleOwner && in[k.all[1].UserID].Role != ubl.RoleOwner {
		rt.Fatalf("the service of the nodes' key is above its maker: %+v", slices.Collect(maps.Values(in)))
	}
}
