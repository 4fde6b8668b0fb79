package actors_test

import (
	"encoding/json"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestActsNameTheRecord: an action has the hash of the Agreement as its decision read it, so
// that nobody can say later that other terms or entries had authorised it.
func TestActsNameTheRecord(t *testing.T) {
	x := openTalk(t)
	general := ubl.ContainerName(x.ana.TenantID, ubl.GeneralWorkspace)
	record := func(at ubl.Name) string {
		return harness.Must[*ubl.AgreementView](x.House, at, ubl.GetAgreement{Who: x.ana, Brief: true}).Hash
	}
	last := func() (hash string) {
		head := harness.Must[ubl.LedgerHead](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetLedgerHead{})
		pair := harness.Must[*ubl.ReceiptPair](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetReceipt{Seq: head.Seq})
		var action struct {
			Hash string `json:"agreement_hash"`
		}
		if err := json.Unmarshal(pair.Atoms[0], &action); err != nil {
			t.Fatal(err)
		}
		return action.Hash
	}
	for _, step := range []struct {
		name string
		at   ubl.Name
		cmd  ubl.Command
	}{
		{"a message", x.room, ubl.SendMessage{Request: x.Request(x.bob), Text: "hello"}},
		{"a change of the record", x.room, ubl.SetMember{Request: x.Request(x.ana), UserID: x.bob.UserID, Role: ubl.RoleOwner}},
		{"a message after it", x.room, ubl.SendMessage{Request: x.Request(x.bob), Text: "hello again"}},
		{"a document", general, ubl.CreateDocument{Request: x.Request(x.ana), Title: "Plan", Content: "x"}},
		{"a setting of the tenant", ubl.TenantName(x.ana.TenantID), ubl.SetDefaults{Request: x.Request(x.ana), Patch: ubl.TenantDefaultsPatch{RetentionDays: new(int)}}},
	} {
		before := record(step.at)
		if _, err := x.Ask(t.Context(), step.at, step.cmd); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := last(); got != before || !ubl.ValidHash("g:", got) {
			t.Errorf("%s: the action has %q, the record was %q", step.name, got, before)
		}
	}

	// A record that another actor keeps comes with the request, from who has decided by it.
	tenant, portal := ubl.TenantName(x.ana.TenantID), ubl.PortalName(x.ana.TenantID)
	access := harness.Must[*ubl.ToolAccess](x.House, tenant, ubl.SetToolAccess{Request: x.Request(x.ana), Tool: "weather.get", Allowed: true})
	for _, step := range []struct {
		name, tool string
		external   bool
		record     ubl.AgreementID
		cmd        ubl.Command
	}{
		{"a setting of the Portal", "portal.budget.update", false, ubl.TenantAgreement(x.ana.TenantID), ubl.SetBudget{Request: x.Request(x.ana), Owner: true, TokensPerDay: 1000}},
		{"a server", "portal.server.add", false, ubl.TenantAgreement(x.ana.TenantID),
			ubl.AddServer{Request: x.Request(x.ana), Owner: true, Server: ubl.Server{ServerID: "weather", Name: "Weather", URL: "https://w.example/mcp", Auth: ubl.AuthNone}}},
		{"a refused call under the tool's own record", "weather.get", true, access.AgreementID, ubl.BeginCall{
			Request: x.Request(x.ana), Did: ubl.DidPortalCall, Agreement: access.AgreementID, Server: "weather", Capability: "weather.get", InputHash: ubl.BodyHash(nil), Deadline: ubl.TimeOf(x.Clock.Now().Add(time.Minute))}},
	} {
		want := harness.Must[*ubl.AgreementView](x.House, tenant, ubl.GetAgreement{Who: x.ana, Agreement: step.record, Brief: true}).Hash
		in := ubl.Enter{Request: x.Request(x.ana), Act: true, Tool: step.tool, External: step.external}
		if _, _, err := x.Visit(t.Context(), in, portal, step.cmd); err != nil && ubl.CodeOf(err) != ubl.CodeUnknownTool {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := last(); got != want || !ubl.ValidHash("g:", got) {
			t.Errorf("%s: the action has %q, the record was %q", step.name, got, want)
		}
	}
}
