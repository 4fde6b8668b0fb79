package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/mcp"
	"ubl/transport/mcp/script"
)

// withScripts gives a server a runner of programs.
func withScripts(o *mcp.Options) { o.Scripts = script.New(script.Options{}) }

// ran is what tool.run answers.
type ran struct {
	Result json.RawMessage
	Log    []string
	Calls  []struct {
		Tool, Code, Foreign string
		RequestID           string `json:"request_id"`
		Receipt             int64
	}
	Stopped string
	Error   *script.Failure
	isError bool
	foreign string
	raw     string
}

// program runs one at a path, for a person; more are arguments besides, as `"max_calls":3`.
func (w *world) program(t testing.TB, path, who, program string, more ...string) ran {
	t.Helper()
	text, _ := json.Marshal(program)
	args := strings.Join(append([]string{`"program":` + string(text)}, more...), ",")
	a := w.do(t, "POST", w.url+path, who, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool.run","arguments":{`+args+`}}}`)
	var got struct {
		Result struct {
			Meta              map[string]struct{ Server string } `json:"_meta"`
			StructuredContent *ran
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Result.StructuredContent == nil {
		return ran{raw: a.body}
	}
	out := *got.Result.StructuredContent
	out.isError, out.foreign, out.raw = got.Result.IsError, got.Result.Meta[ubl.MetaForeign].Server, a.body
	return out
}

// texts are the messages of a room that people wrote.
func (w *world) texts(t *testing.T, room string) (out []string) {
	t.Helper()
	var page struct {
		Messages []struct {
			Type string
			Body ubl.Body
		}
	}
	structured(t, w.use(t, "/mcp", "ana", "test", "messenger.history", `{"room_id":"`+room+`","limit":100}`), &page)
	for _, m := range page.Messages {
		if m.Type == "text" {
			out = append(out, m.Body.Text)
		}
	}
	return out
}

// TestAProgramsCallsAreItsCallers: each has a request of its own, whose parent is the run's, and a receipt.
func TestAProgramsCallsAreItsCallers(t *testing.T) {
	w := newWorld(t, withScripts)
	got := w.program(t, "/mcp", "bob", `
		const {rooms} = await tools.messenger.list_rooms({});
		for (const text of args.texts)
			await tool("messenger_send", {room_id: rooms[0].room_id, type: "text", body: {text}});
		log("sent", args.texts.length);
		return rooms.length`, `"arguments":{"texts":["one","two"]}`, `"client_request_id":"req:run-1"`)
	if got.isError || string(got.Result) != "1" || !slices.Equal(got.Log, []string{"sent 2"}) || len(got.Calls) != 3 {
		t.Fatalf("answered %s", got.raw)
	}
	if texts := w.texts(t, "r:general"); !slices.Equal(texts, []string{"one", "two"}) {
		t.Errorf("the room has %q", texts)
	}
	export, _, err := harness.Export(t.Context(), w.Runtime, ana.TenantID)
	if err != nil {
		t.Fatal(err)
	}
	for i, call := range got.Calls {
		if want := []string{"messenger.list_rooms", "messenger.send", "messenger.send"}[i]; call.Tool != want || !ubl.ValidRequestID(call.RequestID) || call.Code != "" {
			t.Errorf("call %d is %+v", i, call)
		}
		if i > 0 && (call.Receipt == 0 || !strings.Contains(export, `"parent":"req:run-1","request_id":"`+call.RequestID+`"`)) {
			t.Errorf("the ledger doesn't have %+v under the run", call)
		}
	}
	w.VerifyLedger(ana.TenantID)
}

// TestARepeatedRunWritesOnce, however much it reads in between.
func TestARepeatedRunWritesOnce(t *testing.T) {
	w := newWorld(t, withScripts)
	const program = `
		const {messages} = await tools.messenger.history({room_id: "r:general"});
		for (const m of messages) await tools.room.get({room_id: "r:general"});
		await tools.messenger.send({room_id: "r:general", type: "text", body: {text: "once"}});
		await tools.messenger.send({room_id: "r:general", type: "text", body: {text: "and once"}})`
	for _, key := range []string{"nightly", "nightly", "weekly"} {
		if got := w.program(t, "/mcp", "ana", program, `"client_request_id":"`+key+`"`); got.isError || got.raw == "" {
			t.Fatalf("%s answers %s", key, got.raw)
		}
	}
	if texts := w.texts(t, "r:general"); !slices.Equal(texts, []string{"once", "and once", "once", "and once"}) {
		t.Errorf("the room has %q", texts)
	}
	got := w.program(t, "/mcp", "ana", `await tools.messenger.send({room_id: "r:general", type: "text", body: {text: "another"}})`, `"client_request_id":"nightly"`)
	if got.Error == nil || got.Error.Code != string(ubl.CodeIdempotencyConflict) {
		t.Errorf("another program with the same key answers %s", got.raw)
	}
}

// TestAProgramMayWhatItsCallerMay, and nothing else.
func TestAProgramMayWhatItsCallerMay(t *testing.T) {
	w := newWorld(t, withScripts)
	const send = `await tools.messenger.send({room_id: "r:general", type: "text", body: {text: "hello"}})`
	secret := w.room(t, "Secret")
	w.setTool("room.create", false)
	for _, c := range []struct{ name, path, who, program, code string }{
		{"an address that only reads", "/mcp/readonly", "ana", send, "forbidden"},
		{"reads there", "/mcp/readonly", "ana", `await tools.messenger.list_rooms({})`, ""},
		{"a closed tool", "/mcp", "bob", `await tools.room.create({name: "Plans"})`, "forbidden"},
		{"an owner's tool", "/mcp", "bob", `await tools.tool.access({tool: "messenger.send", allowed: false})`, "forbidden"},
		{"no tool", "/mcp", "ana", `await tool("no.such")`, "unknown_tool"},
		{"itself", "/mcp", "ana", `await tools.tool.run({program: "return 1"})`, "forbidden"},
		{"itself by tool.call", "/mcp", "ana", `await tool("tool_call", {name: "tool_run", arguments: {program: "return 1"}})`, "forbidden"},
		{"another by tool.call", "/mcp", "ana", `await tools.tool.call({name: "messenger.list_rooms"})`, ""},
		{"wrong arguments", "/mcp", "ana", `await tools.messenger.history({room_id: 5})`, "validation_error"},
		{"another tenant's room", "/mcp", "eve", `await tools.room.get({room_id: args.room})`, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.program(t, c.path, c.who, c.program, `"arguments":{"room":"`+secret+`"}`)
			if len(got.Calls) != 1 || got.Calls[0].Code != c.code || got.isError != (c.code != "") || got.isError && got.Error.Code != c.code {
				t.Errorf("answered %s", got.raw)
			}
		})
	}
	if texts := w.texts(t, "r:general"); len(texts) != 0 {
		t.Errorf("the room has %q", texts)
	}
	w.setTool("tool.run", false)
	if got := w.program(t, "/mcp", "bob", `return 1`); !strings.Contains(got.raw, "forbidden") {
		t.Errorf("a closed tool.run answers %s", got.raw)
	}
}

// TestAMandateBoundsPrograms: an agent's Agreement is asked for each call.
func TestAMandateBoundsPrograms(t *testing.T) {
	w := newWorld(t, withScripts)
	w.mandate = &ubl.Mandate{Tools: []string{"messenger.list_rooms"}, ReadOnly: true}
	got := w.program(t, "/mcp", "ana", `await tools.messenger.list_rooms({}); try { await tools.room.get({room_id: "r:general"}) } catch (e) { return e.code }`)
	if string(got.Result) != `"forbidden"` || got.isError {
		t.Errorf("answered %s", got.raw)
	}
}

// TestAProgramsCallsAreCounted as its caller's, and the run as one besides.
func TestAProgramsCallsAreCounted(t *testing.T) {
	w := newWorld(t, withScripts)
	counted := 0
	w.rate = func(rate ubl.Rate) error {
		if counted++; counted > 3 {
			return ubl.Errorf(ubl.CodeRateLimited, "too many %s", rate).Later(time.Second)
		}
		return nil
	}
	got := w.program(t, "/mcp", "ana", `for (let i = 0; ; i++) await tools.messenger.send({room_id: "r:general", type: "text", body: {text: String(i)}})`)
	if len(got.Calls) != 3 || got.Error == nil || got.Error.Code != "rate_limited" || got.Error.Details["retry_after"] == "" {
		t.Errorf("answered %s", got.raw)
	}
}

// TestARunEndsWithItsCaller: whose credential ends while a program runs makes no more calls.
func TestARunEndsWithItsCaller(t *testing.T) {
	w := newWorld(t, withScripts)
	now := ubl.TimeOf(w.Clock.Now())
	w.ends.Store(int64(now.Add(time.Minute)))
	w.rate = func(ubl.Rate) error { w.Clock.Add(40 * time.Second); return nil }
	got := w.program(t, "/mcp", "ana", `for (let i = 0; ; i++) await tools.messenger.send({room_id: "r:general", type: "text", body: {text: String(i)}})`)
	if n := len(got.Calls); n == 0 || n > 2 || got.Calls[n-1].Code != "unauthorized" {
		t.Errorf("answered %s", got.raw)
	}
}

// keyed is a portal that notes under which requests it was called.
type keyed struct {
	*others
	mu   sync.Mutex
	reqs []ubl.Request
}

func (k *keyed) Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, progress func(mcp.Progress)) (*mcp.Result, error) {
	k.mu.Lock()
	k.reqs = append(k.reqs, req)
	k.mu.Unlock()
	out, err := k.others.Call(ctx, req, tool, args, progress)
	if err == nil {
		out.Foreign, _, _ = strings.Cut(tool, ".")
	}
	return out, err
}

// TestAProgramThroughThePortal: calls of other servers have the run as parent, and an answer that
// holds their words names them all. The log has the run and its own calls.
func TestAProgramThroughThePortal(t *testing.T) {
	o := &keyed{others: &others{tools: []*ubl.PortalTool{tool("git.commit", `{"inputSchema":{"type":"object"}}`), tool("git.log", objectTool), tool("mail.fails", objectTool)}}}
	w := newWorld(t, withScripts, func(opts *mcp.Options) { opts.Portal = o })
	got := w.program(t, "/portal/mcp", "ana", `
		await tools.messenger.list_rooms({});
		const made = await tools.git.commit({message: args.m});
		await tools.git.log({});
		try { await tools.mail.fails({}) } catch (e) { return [made.args.message, e.code, e.result.tool] }`, `"arguments":{"m":"fix"}`, `"client_request_id":"req:run-2"`)
	if got.isError || string(got.Result) != `["fix","tool_failed","mail.fails"]` || got.foreign != "git, mail" {
		t.Fatalf("answered %s", got.raw)
	}
	if !strings.Contains(got.raw, ubl.MetaForeign) || got.Calls[1].Receipt != 7 || got.Calls[1].Foreign != "git" {
		t.Errorf("answered %s", got.raw)
	}
	for i, req := range o.reqs {
		if req.Parent != "req:run-2" || req.ID != got.Calls[i+1].RequestID || (req.Key == req.ID) == (i == 0) {
			t.Errorf("call %d came under %+v", i, req)
		}
	}
	rows := o.rows()
	if len(rows) != 2 || rows[0].Capability != "messenger.list_rooms" || rows[0].Parent != "req:run-2" || rows[1].Capability != "tool.run" || rows[1].RequestID != "req:run-2" {
		t.Errorf("the log has %+v", rows)
	}
	again := w.program(t, "/portal/mcp", "ana", `await tools.git.commit({message: "fix"})`, `"client_request_id":"req:run-2"`)
	if o.reqs[0].Key != o.reqs[3].Key || again.Calls[0].RequestID == got.Calls[1].RequestID {
		t.Errorf("a repeated run calls under %+v, first %+v", o.reqs[3], o.reqs[0])
	}
}

// TestAProgramThatFails is told as a result that says so, so that a model can mend it.
func TestAProgramThatFails(t *testing.T) {
	w := newWorld(t, withScripts)
	for _, c := range []struct{ program, more, want string }{
		{"const a = ;", `"max_calls":3`, `"error":{"name":"SyntaxError","message":"Unexpected token ;","line":1,"column":11}`},
		{"return nothing", `"max_calls":3`, `"error":{"name":"ReferenceError","message":"nothing is not defined","line":1`},
		{"for (;;) await tools.messenger.list_rooms({})", `"max_calls":3`, `"stopped":"calls"`},
		{"await tools.messenger.stream_room({room_id: 'r:general', from_seq: 99, timeout_seconds: 60})", `"timeout_seconds":1`, `"error":{"name":`},
	} {
		got := w.program(t, "/mcp", "ana", c.program, c.more)
		if !got.isError || !strings.Contains(strings.ReplaceAll(got.raw, " ", ""), strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%s answers %s", c.program, got.raw)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	w := newWorld(t, withScripts)
	for args, place := range map[string]string{
		`{}`:              "program",
		`{"program":" "}`: "program",
		`{"program":"` + strings.Repeat("x", script.MaxProgram+1) + `"}`: "program",
		`{"program":1}`:                          "program",
		`{"program":"1","max_calls":0}`:          "max_calls",
		`{"program":"1","max_calls":201}`:        "max_calls",
		`{"program":"1","timeout_seconds":121}`:  "timeout_seconds",
		`{"program":"1","arguments":[]}`:         "arguments",
		`{"program":"1","client_request_id":""}`: "client_request_id",
		`{"program":"1","calls":5}`:              "calls",
		`{"program":"1","arguments":{"a":"` + strings.Repeat("x", script.MaxArguments) + `"}}`: "arguments",
	} {
		if a := w.use(t, "/mcp", "ana", "test", "tool.run", args); !strings.Contains(a.body, "validation_error") || !strings.Contains(a.body, place) {
			t.Errorf("%.60s is answered %.300s", args, a.body)
		}
	}
	if got := w.program(t, "/mcp", "ana", "return args", `"arguments":null`, `"max_calls":null`, `"timeout_seconds":null`, `"client_request_id":null`); string(got.Result) != "{}" {
		t.Errorf("null for each argument that may be left out answers %s", got.raw)
	}
}

// TestRunIsListed by default, where the server runs programs; at an address that only reads it
// does no more than that.
func TestRunIsListed(t *testing.T) {
	w := newWorld(t)
	if slices.Contains(w.listed(t, "/mcp", "ana"), "tool.run") {
		t.Error("a server that runs none lists tool.run")
	}
	w = newWorld(t, withScripts)
	for address, hints := range map[string]string{
		"/mcp": `"destructiveHint":true,"openWorldHint":true`, "/mcp/readonly": `"readOnlyHint":true,"destructiveHint":false,"openWorldHint":true`, "/mcp/tools": `"destructiveHint":true`,
	} {
		a := w.do(t, "POST", w.url+address, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var got struct {
			Result struct {
				Tools []struct {
					Name        string
					Annotations struct{ ReadOnlyHint, DestructiveHint, OpenWorldHint bool }
				}
			}
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(got.Result.Tools, func(l struct {
			Name        string
			Annotations struct{ ReadOnlyHint, DestructiveHint, OpenWorldHint bool }
		}) bool {
			return l.Name == "tool.run"
		})
		if i < 0 {
			t.Fatalf("%s doesn't list it", address)
		}
		if h := got.Result.Tools[i].Annotations; h.ReadOnlyHint != (address == "/mcp/readonly") || h.DestructiveHint == h.ReadOnlyHint || !h.OpenWorldHint {
			t.Errorf("%s lists it with %+v, want %s", address, h, hints)
		}
	}
}

// TestOthersGoOn: while programs turn round, requests of other callers are answered.
func TestOthersGoOn(t *testing.T) {
	w := newWorld(t, withScripts)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { w.program(t, "/mcp", "ana", `for (;;) {}`, `"timeout_seconds":3`) })
	}
	var slowest time.Duration
	for range 50 {
		start := time.Now()
		if a := w.use(t, "/mcp", "bob", "test", "messenger.list_rooms", `{}`); a.status != 200 {
			t.Errorf("another's call answers %d %s", a.status, a.body)
		}
		slowest = max(slowest, time.Since(start))
	}
	all.Wait()
	t.Logf("the slowest of 50 calls took %v", slowest)
}
