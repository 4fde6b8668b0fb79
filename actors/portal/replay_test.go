package portal_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/actors/portal"
	"ubl/test/harness"
)

// TestStateIsDerived: over random histories, a Portal loaded from what is stored
// knows exactly what the live one knows.
func TestStateIsDerived(t *testing.T) {
	h := harness.OpenLive(t, "portal", func(local string) bool { return local == "portal" }, portal.Open)
	n, saved := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := newWorld(h.House, n)
		rt.Repeat(map[string]func(*rapid.T){
			"add":     w.add,
			"update":  w.update,
			"remove":  w.remove,
			"sync":    w.sync,
			"approve": w.approve,
			"grant":   w.grant,
			"forget":  w.forget,
			"budget":  w.budget,
			"begin":   w.begin,
			"retry":   w.retry,
			"end":     w.end,
			"cancel":  w.cancel,
			"sweep":   w.sweep,
			"log":     w.log,
			"time":    w.time,
			"": func(rt *rapid.T) {
				h.Alarms() // calls that end at their deadline meanwhile would be a difference
				live, loaded := h.Pair(rt, w.name)
				if got, want := loaded.Snapshot(), live.Snapshot(); got != want {
					rt.Fatalf("loaded state differs\n got %s\nwant %s", got, want)
				}
				replayed, err := portal.Replay(context.Background(), h.Engine, actors.Env{Name: w.name, Now: h.Clock.Now, Random: rand.Reader})
				if err != nil || replayed.Snapshot() != live.Snapshot() {
					rt.Fatalf("the state of all events differs, %v\n got %s\nwant %s", err, replayed.Snapshot(), live.Snapshot())
				}
				saved = saved || harness.Saved(t, h.Engine, w.name, snapshotKey) > 0
			},
		})
	})
	if !saved {
		t.Error("no history led to a snapshot")
	}
}

// world drives one portal with random commands. Refusals are part of a history.
type world struct {
	h      *harness.House
	name   ubl.Name
	users  []ubl.Identity
	begins []ubl.BeginCall
}

func newWorld(h *harness.House, n int) *world {
	w := &world{h: h}
	for i := range 2 {
		u := harness.User(fmt.Sprintf("user%d@example%d.com", i, n))
		h.Enter(u)
		w.users = append(w.users, u)
	}
	w.name = ubl.PortalName(w.users[0].TenantID)
	w.ask(ubl.GetBudget{Who: w.users[0]})
	return w
}

func (w *world) ask(cmd ubl.Command) any {
	answer, _ := w.h.Ask(context.Background(), w.name, cmd)
	return answer
}

func (w *world) request(rt *rapid.T) ubl.Request {
	return w.h.Request(rapid.SampledFrom(w.users).Draw(rt, "user"))
}

func owner(rt *rapid.T) bool { return rapid.IntRange(0, 9).Draw(rt, "owner") > 0 }

func server(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "ubl"}).Draw(rt, "server")
}

func url(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"https://one.example/mcp", "https://one.example/other", "https://two.example/mcp", "nowhere"}).Draw(rt, "url")
}

func (w *world) add(rt *rapid.T) {
	w.ask(ubl.AddServer{Request: w.request(rt), Owner: owner(rt), Secret: []byte("sealed"), Server: ubl.Server{
		ServerID: server(rt), Name: "Server", URL: url(rt), Auth: rapid.SampledFrom([]string{ubl.AuthNone, ubl.AuthUser}).Draw(rt, "auth"),
	}})
}

func (w *world) update(rt *rapid.T) {
	var p ubl.ServerPatch
	switch rapid.IntRange(0, 3).Draw(rt, "what") {
	case 0:
		u := url(rt)
		p.URL = &u
	case 1:
		d := rapid.Bool().Draw(rt, "disabled")
		p.Disabled = &d
	case 2:
		p.Secret = []byte(rapid.SampledFrom([]string{"", "new"}).Draw(rt, "secret"))
	}
	w.ask(ubl.UpdateServer{Request: w.request(rt), Owner: owner(rt), ServerID: server(rt), Patch: p})
}

func (w *world) remove(rt *rapid.T) {
	w.ask(ubl.RemoveServer{Request: w.request(rt), Owner: owner(rt), ServerID: server(rt)})
}

func (w *world) sync(rt *rapid.T) {
	c := ubl.RecordSync{Request: w.request(rt), Owner: owner(rt), ServerID: server(rt)}
	if rapid.IntRange(0, 4).Draw(rt, "down") == 0 {
		c.Problem = "no answer"
	}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z", "no name"}), 0, 4).Draw(rt, "names") {
		text := rapid.SampledFrom([]string{`{"d":"<1>"}`, `{"d":"2"}`, `{"d": 3}`, ``}).Draw(rt, "definition")
		c.Tools = append(c.Tools, ubl.ToolDefinition{Name: name, Definition: []byte(text)})
	}
	w.ask(c)
	if rapid.Bool().Draw(rt, "again") {
		w.ask(c)
	}
}

// tools lists what there is, so that what follows is seldom about nothing.
func (w *world) tools() []*ubl.PortalTool {
	list, _ := w.ask(ubl.ListPortalTools{Who: w.users[0]}).([]*ubl.PortalTool)
	return append(list, &ubl.PortalTool{Tool: "a.none", ServerID: "a"})
}

func (w *world) approve(rt *rapid.T) {
	tool := rapid.SampledFrom(w.tools()).Draw(rt, "tool")
	w.ask(ubl.ApproveTool{Request: w.request(rt), Owner: owner(rt), Tool: tool.Tool, Hash: tool.HeldHash})
}

func (w *world) grant(rt *rapid.T) {
	w.ask(ubl.SaveGrant{Request: w.request(rt), ServerID: server(rt), Sealed: []byte(rapid.SampledFrom([]string{"", "mine"}).Draw(rt, "grant"))})
}

func (w *world) forget(rt *rapid.T) {
	w.ask(ubl.ForgetGrants{Request: w.h.Request(ubl.Platform()), Users: []ubl.UserID{w.request(rt).Who.UserID}})
}

func (w *world) budget(rt *rapid.T) {
	w.ask(ubl.SetBudget{Request: w.request(rt), Owner: owner(rt), TokensPerDay: rapid.Int64Range(-1, 300).Draw(rt, "tokens")})
}

func (w *world) begin(rt *rapid.T) {
	c := ubl.BeginCall{
		Request: w.request(rt), Did: ubl.DidPortalCall, Agreement: "a:tool:x", InputHash: ubl.BodyHash(nil),
		Deadline: ubl.TimeOf(w.h.Clock.Now()).Add(time.Minute),
	}
	if rapid.Bool().Draw(rt, "model") {
		c.Did, c.Server, c.Capability, c.Model, c.Tokens = ubl.DidComplete, ubl.ModelServer, string(ubl.DidComplete), true, rapid.Int64Range(0, 90).Draw(rt, "tokens")
	} else {
		tool := rapid.SampledFrom(w.tools()).Draw(rt, "tool")
		c.Server, c.Capability = tool.ServerID, tool.Tool
		c.KeepMS = rapid.SampledFrom([]int64{0, 60_000, 3_600_000}).Draw(rt, "keep")
	}
	w.begins = append(w.begins, c)
	w.ask(c)
}

func (w *world) retry(rt *rapid.T) {
	if len(w.begins) > 0 {
		w.ask(rapid.SampledFrom(w.begins).Draw(rt, "begun"))
	}
}

func (w *world) end(rt *rapid.T) {
	c := ubl.EndCall{Request: w.request(rt), N: rapid.Int64Range(1, 12).Draw(rt, "n"), DurationMS: 5}
	if rapid.Bool().Draw(rt, "failed") {
		c.Code, c.Message = ubl.CodeUnavailable, "no answer"
	}
	if rapid.Bool().Draw(rt, "used") {
		c.Usage = &ubl.Usage{PromptTokens: 7, CompletionTokens: 11, Provider: "p", Model: "m", Cached: rapid.Bool().Draw(rt, "cached")}
	}
	if rapid.Bool().Draw(rt, "kept") {
		c.Kept, c.KeepMS = []byte("sealed"), 600_000
	}
	w.ask(c)
}

func (w *world) cancel(rt *rapid.T) {
	w.ask(ubl.CancelCall{Request: w.request(rt), N: rapid.Int64Range(1, 12).Draw(rt, "n")})
}

func (w *world) sweep(rt *rapid.T) {
	w.ask(ubl.CloseCalls{Request: w.h.Request(ubl.Platform()), All: rapid.Bool().Draw(rt, "all")})
}

func (w *world) log(rt *rapid.T) {
	c := ubl.LogCalls{Request: w.h.Request(ubl.Platform())}
	for range rapid.IntRange(0, 3).Draw(rt, "rows") {
		c.Calls = append(c.Calls, &ubl.Call{
			Did: ubl.DidSend, Capability: "messenger.send", UserID: w.users[0].UserID, Status: "ok", RequestID: "req:1234",
			At: ubl.TimeOf(w.h.Clock.Now()),
		})
	}
	w.ask(c)
}

func (w *world) time(rt *rapid.T) {
	w.h.Clock.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
}
