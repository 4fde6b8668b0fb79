package actors_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// connection is an agent of bob's, who is no owner, with its secrets in the clear.
type connection struct {
	*tools
	n int
}

const client = "https://client.example/metadata.json"

func (c *connection) connect(who ubl.Identity, id string) error {
	_, err := c.Ask(c.t.Context(), c.tenant, ubl.ConnectAgent{
		Request: c.Request(who), ClientID: id, Name: "helper", Client: client, Resource: "https://ubl.example/mcp", CodeHash: "code of " + id,
		Mandate: ubl.Mandate{Tools: []string{"messenger.*"}, Places: []string{"r:general"}},
	})
	return err
}

func (c *connection) redeem(id, code, first string) error {
	caller, err := ubl.Ask[*ubl.ServiceCaller](c.t.Context(), c, c.tenant, ubl.RedeemAgentCode{
		Request: c.Request(ubl.Platform()), ClientID: id, Client: client, CodeHash: code, FamilyHash: "family of " + id, RefreshHash: first})
	if err == nil && (caller.Identity.Subject != id || !caller.Identity.Mandate.Placed() || caller.Resource != "https://ubl.example/mcp" || caller.ExpiresAt == 0) {
		c.t.Errorf("the agent comes in as %+v", caller)
	}
	return err
}

func (c *connection) refresh(id, token, next string) error {
	_, err := c.Ask(c.t.Context(), c.tenant, ubl.RefreshAgent{
		Request: c.Request(ubl.Platform()), ClientID: id, Client: client, FamilyHash: "family of " + id, RefreshHash: token, NewHash: next})
	return err
}

func (c *connection) holds(id string) bool {
	_, err := c.Ask(c.t.Context(), c.tenant, ubl.CheckAgent{ClientID: id})
	return err == nil
}

// TestConnectingAnAgent: by whom, and what its code and its tokens lead to. Each history is
// of an agent of its own; a step is what is shown and whether it is taken.
func TestConnectingAnAgent(t *testing.T) {
	c := &connection{tools: openTools(t, harness.Options{})}
	wait := func(d time.Duration) string { return "wait " + d.String() }
	for name, test := range map[string]struct {
		steps []string // "shown → next", or a wait
		taken []bool
		ends  bool
	}{
		"nobody redeems it":             {[]string{}, nil, true},
		"redeemed":                      {[]string{"code→1"}, []bool{true}, false},
		"with another code":             {[]string{"guess→1", "code→1"}, []bool{false, true}, false},
		"too late":                      {[]string{wait(time.Minute), "code→1"}, []bool{true, false}, true},
		"redeemed twice":                {[]string{"code→1", "code→2"}, []bool{true, false}, true},
		"redeemed twice, and refreshed": {[]string{"code→1", "1→2", "code→9", "2→3"}, []bool{true, true, false, false}, true},
		"refreshed":                     {[]string{"code→1", "1→2", "2→3", "3→4"}, []bool{true, true, true, true}, false},
		"an answer was lost":            {[]string{"code→1", "1→2", "1→3", "3→4"}, []bool{true, true, true, true}, false},
		"several at once":               {[]string{"code→1", "1→2", "1→2", "1→2", "2→3", "2→3", "3→4"}, []bool{true, true, true, true, true, true, true}, false},
		"at once, and one comes late":   {[]string{"code→1", "1→2", "1→2", "2→3", "1→2"}, []bool{true, true, true, true, false}, true},
		"lost, and the next was used":   {[]string{"code→1", "1→2", "2→3", "1→9"}, []bool{true, true, true, false}, true},
		"lost, and both tokens live":    {[]string{"code→1", "1→2", "1→3", "2→4"}, []bool{true, true, true, false}, true},
		"lost, a minute ago":            {[]string{"code→1", "1→2", wait(time.Minute), "1→3"}, []bool{true, true, true, false}, true},
		"a token of long ago":           {[]string{"code→1", "1→2", "2→3", "3→4", "4→5", wait(240 * time.Hour), "1→9", "5→6"}, []bool{true, true, true, true, true, true, false, false}, true},
		"a token that never was":        {[]string{"code→1", "made up→9"}, []bool{true, false}, true}, // with the family's secret: a copy of some token
	} {
		t.Run(name, func(t *testing.T) {
			c.n++
			id := fmt.Sprintf("%032x.%s", c.n, c.bob.TenantID)
			if err := c.connect(c.bob, id); err != nil {
				t.Fatal(err)
			}
			for i, step := range test.steps {
				if d, ok := waited(step); ok {
					c.Clock.Add(d)
					continue
				}
				shown, next, _ := strings.Cut(step, "→")
				var err error
				switch shown {
				case "code":
					err = c.redeem(id, "code of "+id, next)
				case "guess":
					err = c.redeem(id, "guess", next)
				default:
					err = c.refresh(id, shown, next)
				}
				if (err == nil) != test.taken[i] || err != nil && ubl.CodeOf(err) != ubl.CodeUnauthorized {
					t.Errorf("step %d, %s: %v", i, step, err)
				}
			}
			if c.holds(id) == test.ends {
				t.Errorf("it holds: %t", !test.ends)
			}
			if c.Reload(); c.holds(id) == test.ends {
				t.Errorf("loaded anew it holds: %t", !test.ends)
			}
		})
	}
	c.VerifyLedger(c.bob.TenantID)
}

func waited(step string) (time.Duration, bool) {
	var text string
	if _, err := fmt.Sscanf(step, "wait %s", &text); err != nil {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// TestReuseIsOnRecord: what was shown twice leaves a refusal, and the end of the agent.
func TestReuseIsOnRecord(t *testing.T) {
	c := &connection{tools: openTools(t, harness.Options{})}
	id := "a." + string(c.bob.TenantID)
	for _, err := range []error{c.connect(c.bob, id), c.redeem(id, "code of "+id, "1"), c.refresh(id, "1", "2"), c.refresh(id, "2", "3")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	head := c.head()
	if err := c.refresh(id, "1", "9"); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Fatal(err)
	}
	var left []string
	for _, a := range c.since(head) {
		if a.Did != "" {
			left = append(left, a.Did+" "+a.Status)
		}
	}
	if want := []string{"tenant.agent.refresh denied", "token.revoke executed"}; !slices.Equal(left, want) {
		t.Errorf("on record are %q, want %q", left, want)
	}
}

// TestWhoConnectsAgents: proven people of the tenant, as far as the owners let them.
func TestWhoConnectsAgents(t *testing.T) {
	c := &connection{tools: openTools(t, harness.Options{})}
	bot := mandated(c.tools, "bot", ubl.Mandate{})
	stranger := c.eve
	for name, test := range map[string]struct {
		who  ubl.Identity
		want ubl.Code
	}{"an owner": {c.ana, ""}, "a member": {c.bob, ""}, "a service": {bot, ubl.CodeForbidden}, "a stranger": {stranger, ubl.CodeForbidden}} {
		c.n++
		if err := c.connect(test.who, fmt.Sprintf("%d.%s", c.n, c.bob.TenantID)); ubl.CodeOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.set(ubl.SetToolAccess{Tool: "tenant.agent.connect", Allowed: true, Users: []ubl.UserID{c.ana.UserID}})
	if err := c.connect(c.bob, "x."+string(c.bob.TenantID)); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a member, narrowed to an owner: %v", err)
	}
	for range ubl.MaxAgents {
		c.n++
		_ = c.connect(c.ana, fmt.Sprintf("%d.%s", c.n, c.bob.TenantID))
	}
	if err := c.connect(c.ana, "y."+string(c.bob.TenantID)); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("one too many: %v", err)
	}
	c.Clock.Add(time.Minute) // nobody has redeemed them
	if err := c.connect(c.ana, "z."+string(c.bob.TenantID)); err != nil {
		t.Errorf("codes that nobody redeemed count: %v", err)
	}
}

// TestAMandateIsAnAgreement: who reads it, how it is changed and ended, and its history.
func TestAMandateIsAnAgreement(t *testing.T) {
	c := &connection{tools: openTools(t, harness.Options{})}
	id := "a." + string(c.bob.TenantID)
	if err := c.connect(c.bob, id); err != nil {
		t.Fatal(err)
	}
	if err := c.redeem(id, "code of "+id, "1"); err != nil {
		t.Fatal(err)
	}
	agent := harness.Must[*ubl.ServiceCaller](c.House, c.tenant, ubl.CheckAgent{ClientID: id}).Identity
	c.Enter(agent)
	record := ubl.AgentAgreement(id)
	read := func(who ubl.Identity) *ubl.AgreementView {
		t.Helper()
		return harness.Must[*ubl.AgreementView](c.House, c.tenant, ubl.GetAgreement{Who: who, Agreement: record})
	}
	for _, who := range []ubl.Identity{c.ana, c.bob, agent} {
		if v := read(who); v.Type != ubl.AgentMandateType || v.Mandate == nil || len(v.Members) != 2 || v.Terms.Until == 0 || v.Hash != v.Agreement.Hash() {
			t.Errorf("%s reads %+v", who.UserID, v)
		}
	}
	c.Refused(ubl.CodeNotFound, c.tenant, ubl.GetAgreement{Who: c.cem, Agreement: record})

	narrow := ubl.Mandate{Tools: []string{"messenger.history"}, Places: []string{"r:general"}, ReadOnly: true}
	set := func(who ubl.Identity) ubl.SetMandate {
		return ubl.SetMandate{Request: c.Request(who), ClientID: id, Mandate: narrow}
	}
	c.Refused(ubl.CodeForbidden, c.tenant, set(c.cem))
	c.Refused(ubl.CodeForbidden, c.tenant, set(agent))
	harness.Must[*ubl.ServiceToken](c.House, c.tenant, set(c.bob))
	if code := c.use(agent, "messenger.send", false); code != ubl.CodeForbidden {
		t.Errorf("narrowed it sends: %q", code)
	}
	harness.Must[*ubl.ServiceToken](c.House, c.tenant, set(c.ana))

	if list := harness.Must[[]ubl.ServiceToken](c.House, c.tenant, ubl.ListServiceTokens{Who: c.bob}); len(list) != 1 || !list[0].Mandate.ReadOnly {
		t.Errorf("its keeper lists %+v", list)
	}
	if list := harness.Must[[]ubl.ServiceToken](c.House, c.tenant, ubl.ListServiceTokens{Who: c.cem}); len(list) != 0 {
		t.Errorf("somebody else lists %+v", list)
	}
	c.Refused(ubl.CodeForbidden, c.tenant, ubl.EndAgreement{Request: c.Request(c.cem), Agreement: record})
	ended := harness.Must[*ubl.AgreementView](c.House, c.tenant, ubl.EndAgreement{Request: c.Request(c.bob), Agreement: record})
	if ended.Status != ubl.AgreementEnded || c.holds(id) {
		t.Errorf("ended it is %s, and holds: %t", ended.Status, c.holds(id))
	}
	var steps []string
	history := read(c.bob)
	for _, change := range history.History {
		steps = append(steps, string(change.Did))
		if change.Hash == "" || change.Receipt.Seq == 0 {
			t.Errorf("the step %s has no hash or receipt", change.Did)
		}
	}
	if want := []string{"tenant.agent.connect", "token.mandate", "token.mandate", "agreement.end"}; !slices.Equal(steps, want) {
		t.Errorf("its history is %q, want %q", steps, want)
	}
	if last := history.History[len(steps)-1].Hash; last != history.Hash {
		t.Errorf("the last step has the hash %s, the record %s", last, history.Hash)
	}
	license := harness.Must[*ubl.AgreementView](c.House, c.tenant, ubl.GetAgreement{Who: c.ana})
	if license.Status != ubl.AgreementInForce {
		t.Error("the tenant's Agreement has ended with it")
	}
}

// TestAnAgentEndsWithWhoKeepsIt, and its keeper ends it too.
func TestAnAgentEndsWithWhoKeepsIt(t *testing.T) {
	c := &connection{tools: openTools(t, harness.Options{})}
	one, two := "1."+string(c.bob.TenantID), "2."+string(c.bob.TenantID)
	for _, id := range []string{one, two} {
		if err := c.connect(c.bob, id); err != nil {
			t.Fatal(err)
		}
		if err := c.redeem(id, "code of "+id, "1"); err != nil {
			t.Fatal(err)
		}
	}
	c.Refused(ubl.CodeForbidden, c.tenant, ubl.RevokeServiceToken{Request: c.Request(c.cem), ClientID: one})
	harness.Must[*ubl.ServiceToken](c.House, c.tenant, ubl.RevokeServiceToken{Request: c.Request(c.bob), ClientID: one})
	if c.holds(one) || !c.holds(two) {
		t.Error("its keeper has ended another agent, or none")
	}
	harness.Must[*ubl.Member](c.House, c.tenant, ubl.RemoveTenantMember{Request: c.Request(c.bob), UserID: c.bob.UserID})
	view := harness.Must[*ubl.AgreementView](c.House, c.tenant, ubl.GetAgreement{Who: c.ana, Agreement: ubl.AgentAgreement(two)})
	if c.holds(two) || view.Status != ubl.AgreementEnded || view.History[len(view.History)-1].Hash != view.Hash {
		t.Errorf("after its keeper has left it is %+v", view)
	}
	if err := c.refresh(two, "1", "2"); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("refreshed: %v", err)
	}
}

// TestNoWayRoundAMandate: an agent that may use every tool, and is an owner, makes itself no
// other credential and widens nothing.
func TestNoWayRoundAMandate(t *testing.T) {
	c := &connection{tools: openTools(t, harness.Options{})}
	agent := mandated(c.tools, "bot", ubl.Mandate{PerMinute: 1000})
	harness.Must[*ubl.Member](c.House, c.tenant, ubl.SetTenantMember{Request: c.Request(c.ana), UserID: agent.UserID, Role: ubl.RoleOwner})
	mandated(c.tools, "other", ubl.Mandate{})
	for _, cmd := range []ubl.Command{
		ubl.CreateServiceToken{Request: c.Request(agent), Name: "free", ClientID: "free", SecretHash: "free"},
		ubl.RenewServiceToken{Request: c.Request(agent), ClientID: "bot"},
		ubl.RevokeServiceToken{Request: c.Request(agent), ClientID: "other"},
		ubl.SetMandate{Request: c.Request(agent), ClientID: "bot"},
		ubl.SetMandate{Request: c.Request(agent), ClientID: "other"},
		ubl.EndAgreement{Request: c.Request(agent), Agreement: ubl.AgentAgreement("other")},
		ubl.CreateInvitation{Request: c.Request(agent), InvitationID: "i:1", Invitee: ubl.Invited(c.ana.TenantID, "i:1", "new@else.org"), SecretHash: "s", Role: ubl.RoleOwner, TTL: time.Hour},
		ubl.RemoveTenantMember{Request: c.Request(agent), UserID: agent.UserID},
	} {
		c.Refused(ubl.CodeForbidden, c.tenant, cmd)
	}
	for _, cmd := range []ubl.Command{
		ubl.RedeemAgentCode{Request: c.Request(c.ana), ClientID: "bot"}, ubl.RefreshAgent{Request: c.Request(c.ana), ClientID: "bot"}, ubl.RevokeAgent{Request: c.Request(c.ana), ClientID: "bot"},
	} {
		c.Refused(ubl.CodeForbidden, c.tenant, cmd)
	}
}
