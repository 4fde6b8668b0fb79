package portal_test

import (
	"testing"

	"ubl"
	"ubl/actors/portal"
	"ubl/test/harness"
)

// TestAnsweredAgain: each command of the family's table is answered from memory as a
// retry is, while the portal is in memory and after it was loaded.
func TestAnsweredAgain(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	again := &harness.Again{House: h, Alike: map[string]string{
		"AddServer.Owner":     "what the Tenant says of who asks",
		"RecordSync.Owner":    "as AddServer.Owner",
		"ApproveTool.Owner":   "as AddServer.Owner",
		"SetBudget.Owner":     "as AddServer.Owner",
		"UpdateServer.Owner":  "as AddServer.Owner",
		"RemoveServer.Owner":  "as AddServer.Owner",
		"AddServer.Secret":    "its MAC stands for it",
		"SaveGrant.Renews":    "what was sealed tells",
		"RecordSync.ServerID": "a sync that finds nothing new leaves no key",
		"RecordSync.Problem":  "as RecordSync.ServerID", "RecordSync.Tools": "as RecordSync.ServerID",
	}}
	ask := func(cmd ubl.Command) any {
		t.Helper()
		return again.Ask(ubl.PortalName(ana.TenantID), cmd)
	}
	made := ask(ubl.AddServer{Request: h.Request(ana), Owner: true, Secret: []byte("sealed"), Server: ubl.Server{
		ServerID: "files", Name: "Files & <more>", URL: "https://files.example/mcp?a=1&b=2", Auth: ubl.AuthUser,
	}}).(*ubl.Server)
	if made.Name != "Files & <more>" || made.Status != ubl.ServerNew || made.Receipt.Seq == 0 {
		t.Errorf("the server is answered %+v", made)
	}
	sync := func(definition string) {
		ask(ubl.RecordSync{Request: h.Request(ubl.Platform()), ServerID: "files", Tools: []ubl.ToolDefinition{
			{Name: "read", Definition: []byte(definition)},
		}})
	}
	sync(`{"d":"<1>&"}`)
	sync(`{"d":"<2>&"}`)
	sync(`{"d":"<2>&"}`) // nothing new: its key leads nowhere, and it is decided again
	held := ubl.BodyHash([]byte(`{"d":"<2>&"}`))
	tool := ask(ubl.ApproveTool{Request: h.Request(ana), Owner: true, Tool: "files.read", Hash: held}).(*ubl.PortalTool)
	if string(tool.Definition) != `{"d":"<2>&"}` || tool.Hash != held {
		t.Errorf("the tool is answered %+v", tool)
	}
	ask(ubl.SaveGrant{Request: h.Request(ana), ServerID: "files", Sealed: []byte("mine")})
	ask(ubl.SaveGrant{Request: h.Request(ana), ServerID: "files"})
	ask(ubl.SetBudget{Request: h.Request(ana), Owner: true, TokensPerDay: 100, RequestsPerMinute: 5})
	yes := true
	ask(ubl.UpdateServer{Request: h.Request(ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Disabled: &yes}})
	ask(ubl.RemoveServer{Request: h.Request(ana), Owner: true, ServerID: "files"})
	again.End(portal.Changing())
	h.VerifyLedger(ana.TenantID)
}
