package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/schemas"
	"ubl/test/harness"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// others is a portal with the tools of one server.
type others struct {
	mu      sync.Mutex
	tools   []*ubl.PortalTool
	log     []*ubl.Call
	changed func()
	down    error
	// resources are what its server lists, completed what was asked to be completed.
	resources []ubl.OfferedResource
	completed []ubl.Completing
	// told is whether the last call had somebody to tell its progress to.
	told bool
	// meanwhile happens while a call is made.
	meanwhile func()
}

func (o *others) Tools(context.Context, ubl.Identity) ([]*ubl.PortalTool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.tools), o.down
}

func (o *others) Servers(context.Context, ubl.Identity) (ids []string, _ error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.tools {
		if id, _, _ := strings.Cut(t.Tool, "."); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, o.down
}

// Call answers what it was called with.
func (o *others) Call(_ context.Context, req ubl.Request, tool string, args json.RawMessage, progress func(mcp.Progress)) (*mcp.Result, error) {
	if !slices.ContainsFunc(o.tools, func(t *ubl.PortalTool) bool { return t.Tool == tool }) {
		return nil, ubl.Errorf(ubl.CodeForbidden, "you may not use this tool")
	}
	if o.meanwhile != nil {
		o.meanwhile()
	}
	if o.told = progress != nil; o.told {
		progress(mcp.Progress{Progress: 1, Total: 2, Message: "half"})
	}
	receipt := &ubl.Receipt{Seq: 7, CID: "c:00112233445566778899"}
	switch {
	case strings.HasSuffix(tool, "."+ubl.ToolPrompts):
		said, _ := json.Marshal(string(args))
		message := `{"content":{"text":` + string(said) + `,"type":"text"},"role":"assistant"}`
		return &mcp.Result{Content: json.RawMessage(`[]`), Structured: json.RawMessage(`{"description":"written","messages":[` + message + `]}`), Receipt: receipt, Foreign: "git"}, nil
	case strings.HasSuffix(tool, "."+ubl.ToolResources) && strings.Contains(string(args), "missing"):
		return nil, ubl.Errorf(ubl.CodeNotFound, "the server has no such resource")
	case strings.HasSuffix(tool, "."+ubl.ToolResources):
		return &mcp.Result{Content: json.RawMessage(`[{"resource":{"mimeType":"text/plain","text":"read","uri":"repo://a b/c?d=1"},"type":"resource"},{"resource":{"blob":"AAAA","uri":"repo://more"},"type":"resource"}]`), Receipt: receipt, Foreign: "git"}, nil
	case strings.HasSuffix(tool, ".links"):
		return &mcp.Result{Content: json.RawMessage(`[{"type":"resource_link","uri":"repo://a/b","name":"b","size":9007199254740993},{"type":"resource_link","uri":"https://git.example/b","name":"b"}]`), Receipt: receipt, Foreign: "git"}, nil
	}
	said, _ := json.Marshal(map[string]any{"tool": tool, "args": args, "user": req.Who.Email, "key": req.Key})
	content, _ := json.Marshal([]any{map[string]any{"type": "text", "text": string(said)}, map[string]any{"type": "image", "data": "AAAA", "mimeType": "image/png"}})
	return &mcp.Result{Content: content, Structured: said, IsError: strings.HasSuffix(tool, "fails"), Receipt: &ubl.Receipt{Seq: 7, CID: "c:00112233445566778899"}, Foreign: "git"}, nil
}

func (o *others) Resources(context.Context, ubl.Identity, string) ([]ubl.OfferedResource, error) {
	return o.resources, o.down
}

func (o *others) Complete(_ context.Context, _ ubl.Identity, what ubl.Completing) ([]string, bool, error) {
	o.completed = append(o.completed, what)
	return []string{what.Value + "1", what.Value + "2"}, false, o.down
}

func (o *others) Log(_ ubl.TenantID, c *ubl.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, c)
}

func (o *others) Watch(_ ubl.TenantID, changed func()) func() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed = changed
	return func() {}
}

func (o *others) rows() []*ubl.Call {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

func tool(name, definition string) *ubl.PortalTool {
	return &ubl.PortalTool{Tool: name, Definition: json.RawMessage(definition)}
}

const objectTool = `{"name":"x","title":"X","description":"Does x.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`

func portalWorld(t *testing.T, tools ...*ubl.PortalTool) (*world, *others) {
	o := &others{tools: tools}
	return newWorld(t, quick, func(opts *mcp.Options) { opts.Portal, opts.Visible = o, onlyMessenger }), o
}

// names are those that a list has for a client.
func (w *world) names(t *testing.T, path, client string) []string {
	t.Helper()
	session := w.begin(t, w.url+path, "ana", client)
	a := w.do(t, "POST", w.url+path, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", session)
	var got struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	var out []string
	for _, tool := range got.Result.Tools {
		out = append(out, tool.Name)
	}
	return out
}

func TestThePortalJoinsTools(t *testing.T) {
	w, o := portalWorld(t, tool("git.a.b", objectTool), tool("git.a_b", objectTool), tool("git.broken", `{"inputSchema":{"type":"array"}}`),
		tool("git.nonsense", `[]`), tool("messenger.send", objectTool))
	own := []string{"messenger.history", "messenger.list_rooms", "messenger.send", "messenger.stream_room"}
	if got := w.names(t, "/mcp", "test"); !slices.Equal(got, own) {
		t.Errorf("/mcp has %q", got)
	}
	if got, want := w.names(t, "/portal/mcp", "test"), append([]string{"git.a.b", "git.a_b"}, own...); !slices.Equal(got, want) {
		t.Errorf("the portal has %q, want %q", got, want)
	}
	if got := w.names(t, "/portal/mcp", "claude-ai"); !slices.Equal(got[:2], []string{"git_a_b", "messenger_history"}) {
		t.Errorf("without dots it has %q", got)
	}
	o.down = ubl.Errorf(ubl.CodeUnavailable, "down")
	o.tools = nil
	if got := w.names(t, "/portal/mcp", "test"); !slices.Equal(got, own) {
		t.Errorf("a portal that is down has %q", got)
	}
}

// TestCallsOfOthersAreCounted as sends, since they don't go by the API's table.
func TestCallsOfOthersAreCounted(t *testing.T) {
	w, _ := portalWorld(t, tool("git.commit", objectTool))
	w.rate = func(rate ubl.Rate) error {
		return ubl.Errorf(ubl.CodeRateLimited, "too many %s", rate).Later(time.Second)
	}
	a := w.do(t, "POST", w.url+"/portal/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git.commit","arguments":{}}}`)
	if !strings.Contains(a.body, "too many sends") || strings.Contains(a.body, "ubl/receipt") {
		t.Errorf("a call too many = %s", a.body)
	}
}

func TestCallsThroughThePortal(t *testing.T) {
	w, o := portalWorld(t, tool("git.commit", objectTool), tool("git.fails", objectTool))
	call := func(path, name, more string) answer {
		return w.do(t, "POST", w.url+path, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{"x":1}`+more+`}}`)
	}
	for _, name := range []string{"git.commit", "git_commit"} {
		a := call("/portal/mcp", name, "")
		for _, want := range []string{`"structuredContent":{"args":{"x":1},"key":"req:`, `"tool":"git.commit"`, `"type":"image"`, `"ubl/receipt":{`, `"seq":7`, `ana@acme.com`} {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s = %d %s, without %s", name, a.status, a.body, want)
			}
		}
		if o.told {
			t.Errorf("the other server is asked for the progress of %s, which nobody wants to see", name)
		}
	}
	if a := call("/portal/mcp", "git.fails", ""); !strings.Contains(a.body, `"isError":true`) {
		t.Errorf("a tool that fails = %s", a.body)
	}
	if a := call("/portal/mcp", "git.commit", `,"_meta":{"progressToken":5}`); !hasAll(a.body, []string{`"progressToken":5`, `"message":"half"`, `"total":2`, `"ubl/receipt"`}) {
		t.Errorf("with progress = %s", a.body)
	}
	if a := call("/portal/mcp", "git.other", ""); !strings.Contains(a.body, `"code":"forbidden"`) {
		t.Errorf("a tool that isn't allowed = %s", a.body)
	}
	if a := call("/mcp", "git.commit", ""); !strings.Contains(a.body, "there is no such tool") {
		t.Errorf("round the portal = %s", a.body)
	}
	if got := o.rows(); len(got) != 0 {
		t.Errorf("calls of other servers are logged twice: %v", got)
	}
	o.tools, o.down = nil, ubl.Errorf(ubl.CodeUnavailable, "the list can't be read now")
	if a := call("/portal/mcp", "git_commit", ""); !strings.Contains(a.body, "can't be read now") {
		t.Errorf("a tool of which nobody knows now whether it is there = %s", a.body)
	}
}

func TestOwnToolsAreInThePortalsLog(t *testing.T) {
	w, o := portalWorld(t)
	w.setTool("messenger.history", false)
	for _, c := range []struct{ tool, args, status, code string }{
		{"messenger.send", `{"room_id":"r:general","type":"text","body":{"text":"hello"}}`, "ok", ""},
		{"messenger.send", `{"room_id":"r:nowhere","type":"text","body":{"text":"hello"}}`, "error", "not_found"},
		{"messenger_history", `{"room_id":"r:general"}`, "denied", "forbidden"},
	} {
		w.do(t, "POST", w.url+"/portal/mcp", "bob", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+c.tool+`","arguments":`+c.args+`}}`, "X-Request-Id", "req-logged")
		rows := o.rows()
		row := rows[len(rows)-1]
		if row.Status != c.status || string(row.Code) != c.code || row.Server != "ubl" || row.UserID != bob.UserID || row.RequestID != "req-logged" ||
			row.Capability != strings.Replace(c.tool, "messenger_", "messenger.", 1) || string(row.Did) != row.Capability {
			t.Errorf("%s is logged as %+v", c.tool, row)
		}
	}
	w.do(t, "POST", w.url+"/mcp", "bob", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+sendHello+`}}`)
	if n := len(o.rows()); n != 3 {
		t.Errorf("%d rows", n)
	}
}

// TestTheLogIsWhatItsSchemaSays: clients check what portal.log.list answers, in which
// calls of tools that only read stand beside acts.
func TestTheLogIsWhatItsSchemaSays(t *testing.T) {
	w, o := portalWorld(t)
	for _, name := range []string{"messenger.send", "messenger.history", "room.get", "portal.log.list", "no such name"} {
		w.do(t, "POST", w.url+"/portal/mcp", "bob", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{"room_id":"r:general"}}}`, "X-Request-Id", "req-logged")
	}
	const base = "https://ubl.invalid/"
	c := jsonschema.NewCompiler()
	for _, id := range schemas.List() {
		text, _ := schemas.Read(id)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = c.AddResource(base+id, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema := c.MustCompile(base + "ubl.call.v1")
	rows := o.rows()
	if len(rows) != 5 {
		t.Errorf("%d calls are in the log", len(rows))
	}
	for i, row := range rows {
		row.N = int64(i) + 1 // the Portal's actor counts
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestWhatGoesWrongInsideIsInThePortalsLog, and what isn't there.
func TestWhatGoesWrongInsideIsInThePortalsLog(t *testing.T) {
	o := &others{}
	w := newWorld(t, func(opts *mcp.Options) {
		opts.Portal = o
		opts.Acts = []envelope.Act{wrong(func() (json.RawMessage, error) { panic(canary) })}
	})
	for name, code := range map[string]ubl.Code{"test.wrong": ubl.CodeInternal, "nowhere": ubl.CodeUnknownTool, "no such name": ubl.CodeUnknownTool} {
		w.do(t, "POST", w.url+"/portal/mcp", "bob", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`"}}`)
		rows := o.rows()
		if len(rows) == 0 {
			t.Fatalf("%s isn't logged", name)
		}
		if row := rows[len(rows)-1]; row.Status != "error" || row.Code != code || ubl.ValidToolName(name) && row.Capability != name || !ubl.ValidToolName(row.Capability) {
			t.Errorf("%s is logged as %+v", name, row)
		}
		o.log = nil
	}
}

// TestStrangersWriteNoRow: whom the tenant doesn't let in can't fill its log, neither
// with names that are no tool's nor with refusals.
func TestStrangersWriteNoRow(t *testing.T) {
	w, o := portalWorld(t)
	call := func(name string) answer {
		return w.do(t, "POST", w.url+"/portal/mcp", "bob", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{"room_id":"r:general"}}}`)
	}
	names := []string{"nowhere", "no such name", "messenger.history"}
	for _, name := range names {
		call(name)
	}
	if n := len(o.rows()); n != len(names) {
		t.Fatalf("a member has %d rows", n)
	}
	harness.Must[*ubl.Member](w.House, ubl.TenantName(ana.TenantID), ubl.RemoveTenantMember{Request: w.Request(ana), UserID: bob.UserID})
	for _, name := range names {
		if a := call(name); !strings.Contains(a.body, `"error"`) && !strings.Contains(a.body, `"isError":true`) {
			t.Errorf("%s = %d %s", name, a.status, a.body)
		}
	}
	if rows := o.rows(); len(rows) != len(names) {
		t.Errorf("who was removed wrote %+v", rows[len(names):])
	}
}

func TestAServerThatIsAddedShowsUp(t *testing.T) {
	w, o := portalWorld(t)
	s := w.get(t, w.url+"/portal/mcp", "ana", w.begin(t, w.url+"/portal/mcp", "ana", "test"))
	o.mu.Lock()
	o.tools = append(o.tools, tool("git.commit", objectTool))
	changed := o.changed
	o.mu.Unlock()
	changed()
	s.wants(t, toolsChanged)
	s.wants(t, `"method":"notifications/prompts/list_changed"`) // which may stand behind a tool
	if got := w.names(t, "/portal/mcp", "test"); got[0] != "git.commit" {
		t.Errorf("the list is %q", got)
	}
}

// foreignMark is how what another server says begins.
var foreignMark = regexp.MustCompile(`\[foreign ([0-9a-f]{16}) begins: `)

// TestForeignWords: what another server says stands between our words, in results of
// both eras and in descriptions, and nothing of it is invisible.
func TestForeignWords(t *testing.T) {
	w, _ := portalWorld(t, tool("git.commit", `{"name":"x","title":"X\u202e","description":"Does\u200b x.","inputSchema":{"type":"object","properties":{"a":{"description":"b\u0007c"}}}}`))
	drawn := map[string]bool{}
	for _, client := range []string{"", "test"} {
		var headers []string
		path := w.url + "/portal/mcp"
		if client != "" {
			headers = []string{"Mcp-Session-Id", w.begin(t, path, "ana", client)}
		}
		list := w.do(t, "POST", path, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers...)
		for _, want := range []string{`"ubl/foreign":{"server":"git"}`, `not of UBL`, `Does x.`, `"title":"X"`, `"bc"`} {
			if !strings.Contains(list.body, want) {
				t.Errorf("the list has no %s: %.2000s", want, list.body)
			}
		}
		for _, progress := range []string{"", `,"_meta":{"progressToken":5}`} {
			a := w.do(t, "POST", path, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git.commit","arguments":{}`+progress+`}}`, headers...)
			number := foreignMark.FindStringSubmatch(a.body)
			if number == nil || strings.Contains(`c:00112233445566778899`, number[1]) || drawn[number[1]] {
				t.Fatalf("the number of the mark is %q: a server may know it, in %s", number, a.body)
			}
			drawn[number[1]] = true
			begins, ends := strings.Index(a.body, number[0]), strings.Index(a.body, "[foreign "+number[1]+" ends]")
			if said := strings.Index(a.body, `"type":"image"`); said < begins || ends < said || !strings.Contains(a.body, `"ubl/foreign":{"server":"git"}`) {
				t.Errorf("a result = %s", a.body)
			}
		}
	}
	if own := w.do(t, "POST", w.url+"/portal/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.list_rooms","arguments":{}}}`); strings.Contains(own.body, "foreign") {
		t.Errorf("our own words are marked as another's: %s", own.body)
	}
}

// TestForeignWordsInOurAnswers: an answer of ours that holds words of other servers is
// marked as theirs are, and is an error where their tool failed.
func TestForeignWordsInOurAnswers(t *testing.T) {
	server, failed := "", false
	act := wrong(func() (json.RawMessage, error) { return json.RawMessage(`{"said":"call token.create"}`), nil })
	act.Foreign = func(json.RawMessage) (string, bool) { return server, failed }
	w := newWorld(t, quick, func(o *mcp.Options) { o.Acts, o.Portal = []envelope.Act{act}, &others{} })
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	for _, server = range []string{"git", "git, mail", ""} {
		failed = server == "git"
		for _, way := range []string{"/mcp", "/portal/mcp"} {
			for _, headers := range [][]string{nil, {"Mcp-Session-Id", session}} {
				for _, progress := range []string{"", `,"_meta":{"progressToken":5}`} {
					a := w.do(t, "POST", w.url+way, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test.wrong","arguments":{}`+progress+`}}`, headers...)
					number := foreignMark.FindStringSubmatch(a.body)
					marked := number != nil && strings.Contains(a.body, `"ubl/foreign":{"server":"`+server+`"}`) &&
						strings.Index(a.body, `call token`) > strings.Index(a.body, number[0]) && strings.Contains(a.body, "[foreign "+number[1]+" ends]")
					if !strings.Contains(a.body, `"structuredContent":{"said":"call token.create"}`) || marked != (server != "") || strings.Contains(a.body, `"isError":true`) != failed {
						t.Errorf("an answer that holds words of %q = %s", server, a.body)
					}
				}
			}
		}
	}
}

// TestNoResultForWhoHasGone: who is removed while another server is at work gets neither its
// result nor its progress; nor does who has another credential that was ended.
func TestNoResultForWhoHasGone(t *testing.T) {
	for name, want := range map[string]string{"removed": "forbidden", "revoked": "unauthorized"} {
		for _, progress := range []string{"", `,"_meta":{"progressToken":5}`} {
			w, o := portalWorld(t, tool("git.commit", objectTool))
			w.holds = ubl.Errorf(ubl.CodeUnauthorized, "it has ended")
			o.meanwhile = func() {
				if name == "removed" {
					harness.Must[*ubl.Member](w.House, ubl.TenantName(ana.TenantID), ubl.RemoveTenantMember{Request: w.Request(ana), UserID: bob.UserID})
				}
				close(w.revoked)
			}
			session := w.begin(t, w.url+"/portal/mcp", "bob", "test")
			a := w.do(t, "POST", w.url+"/portal/mcp", "bob", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git.commit","arguments":{}`+progress+`}}`, "Mcp-Session-Id", session)
			if strings.Contains(a.body, "git.commit") || strings.Contains(a.body, "half") || !strings.Contains(a.body, want) {
				t.Errorf("%s: answered %d %s", name, a.status, a.body)
			}
		}
	}
}
