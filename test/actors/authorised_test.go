package actors_test

import (
	"encoding/json"
	"testing"

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
}
