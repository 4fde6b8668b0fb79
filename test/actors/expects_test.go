package actors_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestExpects: a command that expects a version is carried out where what it changes has that
// one, and refused otherwise, having changed nothing. Its key stays free. Who may not change it
// learns nothing of the version.
func TestExpects(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	home, general := ubl.TenantName(ana.TenantID), ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	shelf := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	portal := ubl.PortalName(ana.TenantID)
	made := harness.Must[*ubl.DocumentResult](h, shelf, ubl.CreateDocument{Request: h.Request(ana), Title: "Plan", Content: "one"})
	record := func(to ubl.Name, id ubl.AgreementID) string {
		v := harness.Must[*ubl.AgreementView](h, to, ubl.GetAgreement{Who: ana, Agreement: id})
		return ubl.RecordVersion(v.Hash, v.Proposal)
	}
	days, content, tool := new(30), new("two"), ubl.ToolAgreement("messenger.send")
	harness.Must[*ubl.ToolAccess](h, home, ubl.SetToolAccess{Request: h.Request(ana), Tool: "messenger.send", Allowed: true})
	for name, c := range map[string]struct {
		to      ubl.Name
		version string
		command func(who ubl.Identity, e ubl.Expects) ubl.Command
	}{
		"a room's policy": {general, ubl.VersionOf(harness.Must[*ubl.Room](h, general, ubl.GetRoom{Who: ana}).Policy),
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				return ubl.SetRoomPolicy{Request: h.Request(who), Expects: e, Patch: ubl.RoomPolicyPatch{RetentionDays: days}}
			}},
		"the tenant's defaults": {home, ubl.VersionOf(harness.Must[*ubl.Tenant](h, home, ubl.GetTenant{Who: ana}).Defaults),
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				return ubl.SetDefaults{Request: h.Request(who), Expects: e, Patch: ubl.TenantDefaultsPatch{RetentionDays: days}}
			}},
		"who may use a tool": {home, record(home, tool),
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				return ubl.SetToolAccess{Request: h.Request(who), Expects: e, Tool: "messenger.send", Allowed: true, PerMinute: 9}
			}},
		"a tool without a record": {home, "",
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				return ubl.SetToolAccess{Request: h.Request(who), Expects: e, Tool: "messenger.edit", Allowed: true, PerMinute: 9}
			}},
		"a room's terms": {general, record(general, ubl.RoomAgreement(ubl.GeneralRoom)),
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				terms := *harness.Must[*ubl.AgreementView](h, general, ubl.GetAgreement{Who: ana}).Terms
				terms.Obligations = append(terms.Obligations, "be kind")
				return ubl.ProposeTerms{Request: h.Request(who), Expects: e, Agreement: ubl.RoomAgreement(ubl.GeneralRoom), Terms: terms}
			}},
		"the budget": {portal, harness.Must[*ubl.Budget](h, portal, ubl.GetBudget{Who: ana}).Version(),
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				return ubl.SetBudget{Request: h.Request(who), Expects: e, Owner: who.UserID == ana.UserID, TokensPerDay: 5}
			}},
		"a document": {shelf, "1",
			func(who ubl.Identity, e ubl.Expects) ubl.Command {
				return ubl.UpdateDocument{Request: h.Request(who), Expects: e, DocumentID: made.Document.DocumentID, Content: content}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			other := ubl.Expects{IfMatch: []string{"another"}}
			if name != "a document" { // which bob may write
				if _, err := h.Ask(t.Context(), c.to, c.command(bob, other)); ubl.CodeOf(err) != ubl.CodeForbidden {
					t.Errorf("who may not change it gets %v", err)
				}
			}
			if _, err := h.Ask(t.Context(), c.to, c.command(ana, other)); ubl.CodeOf(err) != ubl.CodePrecondition {
				t.Errorf("another version gets %v", err)
			}
			right := c.command(ana, ubl.Expects{IfMatch: []string{"another", c.version}})
			for range 2 { // a retry gets the same, though the version is another one by now
				if _, err := h.Ask(t.Context(), c.to, right); err != nil {
					t.Errorf("this version gets %v", err)
				}
			}
			if _, err := h.Ask(t.Context(), c.to, c.command(ana, ubl.Expects{IfMatch: []string{c.version}})); ubl.CodeOf(err) != ubl.CodePrecondition {
				t.Errorf("the version before gets %v", err)
			}
		})
	}
}
