package portal_test

import (
	"crypto/rand"
	"fmt"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/actors/portal"
	"ubl/test/harness"
)

// snapshotKey is where the head of a Portal's snapshot is.
var snapshotKey = []byte("i\x04portal")

func TestSnapshotHasEveryField(t *testing.T) {
	state, stored, besides := portal.SnapshotFields()
	harness.EveryField(t, state, stored, besides)
}

// TestHistoryOfApprovals: owners approve a tool's new definition again and again. A load reads the
// newest snapshot and what came after it, and knows what all events lead to.
func TestHistoryOfApprovals(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	at := ubl.PortalName(ana.TenantID)
	for _, id := range []string{"files", "gone"} {
		harness.Must[*ubl.Server](h, at, ubl.AddServer{Request: h.Request(ana), Owner: true, Server: ubl.Server{
			ServerID: id, Name: "Server", URL: "https://" + id + ".example/mcp", Auth: ubl.AuthNone,
		}})
	}
	approve := func(n int) {
		t.Helper()
		said := ubl.RecordSync{Request: h.Request(ana), Owner: true, ServerID: "files", Tools: []ubl.ToolDefinition{
			{Name: "read", Definition: fmt.Appendf(nil, `{"n":%d}`, n)},
		}}
		harness.Must[*ubl.Server](h, at, said)
		for _, tool := range harness.Must[[]*ubl.PortalTool](h, at, ubl.ListPortalTools{Who: ana}) {
			if tool.HeldHash != "" {
				harness.Must[*ubl.PortalTool](h, at, ubl.ApproveTool{Request: h.Request(ana), Owner: true, Tool: tool.Tool, Hash: tool.HeldHash})
			}
		}
	}
	for n := range 130 {
		approve(n)
	}
	harness.Must[*ubl.Server](h, at, ubl.RemoveServer{Request: h.Request(ana), Owner: true, ServerID: "gone"})
	harness.Must[*ubl.Budget](h, at, ubl.SetBudget{Request: h.Request(ana), Owner: true, TokensPerDay: 77, RequestsPerMinute: 7})
	name := "files, renamed"
	harness.Must[*ubl.Server](h, at, ubl.UpdateServer{Request: h.Request(ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Name: &name}})
	if saved := harness.Saved(t, h.Engine, at, snapshotKey); saved < 100 {
		t.Errorf("after 134 events the newest snapshot is of %d", saved)
	}
	told := func() string {
		t.Helper()
		return fmt.Sprintf("%+v\n%+v\n%+v", *harness.Must[[]*ubl.Server](h, at, ubl.ListServers{Who: ana})[0],
			*harness.Must[[]*ubl.PortalTool](h, at, ubl.ListPortalTools{Who: ana})[0], *harness.Must[*ubl.Budget](h, at, ubl.GetBudget{Who: ana}))
	}
	live := told()
	h.Restart()
	if loaded := told(); loaded != live {
		t.Errorf("loaded are\n%s\nlive were\n%s", loaded, live)
	}
	env := actors.Env{Name: at, Now: h.Clock.Now, Random: rand.Reader}
	all, err := portal.Replay(t.Context(), h.Engine, env)
	if err != nil {
		t.Fatal(err)
	}
	short, err := portal.Open(t.Context(), h.Engine, env)
	if err != nil || short.Snapshot() != all.Snapshot() {
		t.Errorf("the snapshot leads to\n%s, %v, all events lead to\n%s", short.Snapshot(), err, all.Snapshot())
	}
}
