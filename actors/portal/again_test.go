package portal_test

import (
	"fmt"
	"reflect"
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
	kinds := map[string]bool{}
	ask := func(cmd ubl.Command) any {
		t.Helper()
		at := ubl.PortalName(ana.TenantID)
		first, err := h.Ask(t.Context(), at, cmd)
		for range 2 {
			if again, err := h.Ask(t.Context(), at, cmd); err != nil || !reflect.DeepEqual(again, first) {
				t.Errorf("%T is answered again with\n%+v, %v, first with\n%+v", cmd, again, err, first)
			}
			h.Reload()
		}
		if err != nil {
			t.Fatalf("%T: %v", cmd, err)
		}
		kinds[fmt.Sprintf("%T", cmd)] = true
		return first
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
	if len(kinds) != portal.Changing() {
		t.Errorf("%d commands were asked, %d change a portal", len(kinds), portal.Changing())
	}
	h.VerifyLedger(ana.TenantID)
}
