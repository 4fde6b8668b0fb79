package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/api"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// TestNoToolIsInTwoSets, none twice in one, and none that there isn't. That each is in one cmd/ubl's
// test says, which has them all.
func TestNoToolIsInTwoSets(t *testing.T) {
	seen, there := map[string]string{}, append([]string{envelope.ToolStream, mcp.ToolReadFile}, mcp.LongTail...)
	for _, act := range api.New(api.Options{Version: "test"}).Acts() {
		there = append(there, act.Name)
	}
	for _, row := range mcp.Rows() {
		for tool := range strings.FieldsSeq(row[1]) {
			if before, ok := seen[tool]; ok {
				t.Errorf("%s is in %s and in %s", tool, before, row[0])
			}
			seen[tool] = row[0]
			if !slices.Contains(there, tool) {
				t.Errorf("the table has %s, which is no tool", tool)
			}
			if mcp.SetOf(tool) != row[0] {
				t.Errorf("SetOf(%s) = %s, want %s", tool, mcp.SetOf(tool), row[0])
			}
		}
	}
	for tool, set := range map[string]string{"git.commit": "git", "admin.reset": "server:admin", "readonly.x": "server:readonly", "counter.add": "counter", "odd": "odd"} {
		if got := mcp.SetOf(tool); got != set {
			t.Errorf("SetOf(%s) = %s, want %s", tool, got, set)
		}
	}
}

// listed are the names that tools/list has at an address, with headers, for a person.
func (w *world) listed(t testing.TB, address, who string, headers ...string) []string {
	t.Helper()
	a := w.do(t, "POST", w.url+address, who, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers...)
	var got struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Result.Tools == nil {
		t.Fatalf("%s answers %d %s", address, a.status, a.body)
	}
	var names []string
	for _, tool := range got.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// setsOf are the sets that some tools are of, sorted.
func setsOf(names []string) (sets []string) {
	for _, name := range names {
		if set := mcp.SetOf(name); !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	slices.Sort(sets)
	return sets
}

const writes = `{"name":"x","title":"X","description":"Does x.","inputSchema":{"type":"object"}}`

// finding are the tools that are listed at every address.
var finding = []string{"tool.search", "tool.describe", "tool.call"}

// TestKnowledgeIsWhole: who lists this set alone finds, reads and publishes documents.
func TestKnowledgeIsWhole(t *testing.T) {
	w := newWorld(t)
	for address, publishes := range map[string]bool{"/mcp/knowledge": true, "/mcp/knowledge/readonly": false} {
		names := w.listed(t, address, "ana")
		for _, name := range []string{"office.document.get", "office.document.list", "office.document.search", "office.workspace.list"} {
			if !slices.Contains(names, name) {
				t.Errorf("%s doesn't list %s", address, name)
			}
		}
		if slices.Contains(names, "office.document.publish") != publishes {
			t.Errorf("%s lists %v", address, names)
		}
	}
}

// TestChoosing: the path beats the query, and that the headers.
func TestChoosing(t *testing.T) {
	o := &others{tools: []*ubl.PortalTool{tool("git.log", objectTool), tool("git.commit", writes), tool("files.read", objectTool)}}
	w := newWorld(t, func(opts *mcp.Options) { opts.Portal = o })
	standard := w.listed(t, "/mcp", "ana")
	if len(standard) != 12 || !slices.Contains(standard, "tool.search") {
		t.Fatalf("by default there are %v", standard)
	}
	for _, tt := range []struct {
		address string
		headers []string
		sets    []string
	}{
		{"/mcp/messenger", nil, []string{"messenger"}},
		{"/mcp/messenger,files", nil, []string{"files", "messenger"}},
		{"/mcp/Messenger,%20messenger,", nil, []string{"messenger"}},
		{"/mcp?sets=agreements", nil, []string{"agreements"}},
		{"/mcp?sets=agreements&sets=files", nil, []string{"agreements", "files"}},
		{"/mcp", []string{"X-MCP-Toolsets", "portal, tenant"}, []string{"portal", "tenant"}},
		{"/mcp?sets=files", []string{"X-MCP-Toolsets", "portal"}, []string{"files"}},
		{"/mcp/messenger?sets=files", []string{"X-MCP-Toolsets", "portal"}, []string{"messenger"}},
		{"/mcp?sets=", []string{"X-MCP-Toolsets", "portal"}, []string{"messenger", "office", "tenant"}}, // said: none, so the default
		{"/mcp/default,files", nil, []string{"files", "messenger", "office", "tenant"}},
		{"/portal/mcp/git", nil, []string{"git"}},
		{"/portal/mcp/files", nil, []string{"files"}}, // ours
		{"/portal/mcp/server:files", nil, []string{"server:files"}},
		{"/portal/mcp/server:git,messenger", nil, []string{"git", "messenger"}},
	} {
		names := w.listed(t, tt.address, "ana", tt.headers...)
		for _, name := range finding { // no address is a dead end
			if !slices.Contains(names, name) {
				t.Errorf("%s %v doesn't list %s", tt.address, tt.headers, name)
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(finding, name) })
		if got := setsOf(names); !slices.Equal(got, tt.sets) {
			t.Errorf("%s %v lists %v, want %v", tt.address, tt.headers, got, tt.sets)
		}
	}
	all := w.listed(t, "/portal/mcp/all", "ana")
	for _, name := range []string{"git.commit", "files.read", "office.file.put", "tool.call", "portal.server.add"} {
		if !slices.Contains(all, name) {
			t.Errorf("all has no %s", name)
		}
	}
	if got := setsOf(w.listed(t, "/mcp/all", "ana")); slices.Contains(got, "git") {
		t.Errorf("/mcp lists servers' tools: %v", got)
	}
}

func TestChoosingRefuses(t *testing.T) {
	o := &others{tools: []*ubl.PortalTool{tool("git.log", objectTool), tool("files.read", objectTool)}}
	w := newWorld(t, func(opts *mcp.Options) { opts.Portal = o })
	for _, tt := range []struct {
		address string
		headers []string
		status  int
		says    string
	}{
		{"/mcp/nowhere", nil, 200, "expected some of default, all, messenger, office, files"},
		{"/mcp/git", nil, 200, "not a set of tools"},
		{"/portal/mcp/nowhere", nil, 200, "git"},
		{"/portal/mcp/nowhere", nil, 200, "server:files"},
		{"/mcp?sets=nowhere", nil, 200, "not a set of tools"},
		{"/mcp", []string{"X-MCP-Toolsets", "nowhere"}, 200, "not a set of tools"},
		{"/mcp?readonly=perhaps", nil, 400, "query.readonly"},
		{"/mcp", []string{"X-MCP-Readonly", "perhaps"}, 400, "header.X-Mcp-Readonly"},
		{"/mcp", []string{"X-MCP-Read-Only", "perhaps"}, 400, "header.X-Mcp-Read-Only"},
		{"/mcp?read_only=true", nil, 400, "query.read_only: expected some of sets, readonly, schemas: did you mean readonly?"},
		{"/mcp?readOnly=true", nil, 400, "did you mean readonly?"},
		{"/mcp/readonly?read-only=true", nil, 400, "did you mean readonly?"},
		{"/mcp?set=files", nil, 400, "did you mean sets?"},
		{"/mcp?toolsets=files", nil, 400, "expected some of sets, readonly, schemas"},
		{"/mcp?sets=files&x=%3Cb%3E", nil, 400, "query.x: expected"},
		{"/mcp?schemas=all", nil, 400, "query.schemas"},
		{"/mcp?sets=%zz", nil, 400, "query"},
		{"/mcp?sets=" + manySets(), nil, 400, "100"},
		{"/mcp/a/b", nil, 404, "there is nothing at this path"},
		{"/mcp/", nil, 404, "there is nothing at this path"},
		{"/mcp/messenger/", nil, 404, "there is nothing at this path"},
		{"/mcp/readonly/messenger", nil, 404, "there is nothing at this path"},
	} {
		for _, method := range []string{"initialize", "tools/list"} {
			params := ""
			if method == "initialize" {
				params = `,"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`
			}
			a := w.do(t, "POST", w.url+tt.address, "ana", `{"jsonrpc":"2.0","id":1,"method":"`+method+`"`+params+`}`, tt.headers...)
			if a.status != tt.status || !strings.Contains(a.body, tt.says) || !strings.Contains(a.body, `"error"`) {
				t.Errorf("%s at %.60s %v answers %d %s", method, tt.address, tt.headers, a.status, a.body)
			}
		}
	}
	// What isn't listed can be called all the same.
	if a := w.use(t, "/mcp/files", "ana", "test", "messenger.list_rooms", `{}`); !strings.Contains(a.body, `"result"`) {
		t.Errorf("a tool of another set answers %s", a.body)
	}
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta("") + `}}`
	if a := w.do(t, "POST", w.url+"/mcp/nowhere", "ana", discover, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"); !strings.Contains(a.body, "not a set of tools") {
		t.Errorf("discover answers %s", a.body)
	}
}

func manySets() string {
	var out strings.Builder
	for i := range 101 {
		fmt.Fprintf(&out, ",s%d", i)
	}
	return out.String()
}

// TestReadOnly: what may write is neither listed, nor found, nor called.
func TestReadOnly(t *testing.T) {
	held := tool("git.held", objectTool)
	held.HeldHash = "b:1" // an owner has yet to approve it
	o := &others{tools: []*ubl.PortalTool{tool("git.log", objectTool), tool("git.commit", writes), held}}
	w := newWorld(t, func(opts *mcp.Options) { opts.Portal = o })
	for _, tt := range []struct {
		address string
		headers []string
	}{
		{"/portal/mcp/all/readonly", nil},
		{"/portal/mcp/all?readonly=true", nil},
		{"/portal/mcp/all", []string{"X-MCP-Readonly", "true"}},
		{"/portal/mcp/all", []string{"X-MCP-Read-Only", "true"}},
		{"/portal/mcp/all", []string{"X-MCP-Read-Only", "true", "X-MCP-Readonly", "false"}},
		{"/portal/mcp/all/readonly?readonly=false", nil},
		{"/portal/mcp/all?readonly=1", []string{"X-MCP-Readonly", "false"}},
	} {
		names := w.listed(t, tt.address, "ana", tt.headers...)
		for name, want := range map[string]bool{
			"messenger.history": true, "messenger.send": false, "git.log": true, "git.commit": false, "git.held": false, "tool.call": true,
		} {
			if slices.Contains(names, name) != want {
				t.Errorf("%s %v lists %s: %v", tt.address, tt.headers, name, !want)
			}
		}
	}
	if names := w.listed(t, "/mcp/readonly", "ana"); slices.Contains(names, "messenger.send") || !slices.Contains(names, "messenger.history") {
		t.Errorf("/mcp/readonly lists %v", names)
	}
	if names := w.listed(t, "/mcp?readonly=false", "ana", "X-MCP-Readonly", "true"); !slices.Contains(names, "messenger.send") {
		t.Errorf("the query doesn't beat the header: %v", names)
	}
	const at = "/portal/mcp/readonly"
	if names, _, _ := w.search(t, at, "ana", `{"query":"send a message, commit","limit":20}`); slices.Contains(names, "messenger.send") || slices.Contains(names, "git.commit") {
		t.Errorf("the search finds %v", names)
	}
	for tool, want := range map[string]string{
		"messenger.list_rooms": `"result"`, "messenger.send": "forbidden", "git.log": `"result"`, "git.commit": "forbidden", "git.held": "forbidden", "git.unknown": "forbidden",
	} {
		for _, a := range []answer{
			w.use(t, at, "ana", "test", tool, `{}`),
			w.use(t, at, "ana", "test", "tool.call", `{"name":"`+tool+`"}`),
		} {
			if !strings.Contains(a.body, want) || want == "forbidden" && !strings.Contains(a.body, "read-only") {
				t.Errorf("%s answers %s", tool, a.body)
			}
		}
	}
	a := w.do(t, "POST", w.url+at, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if i := strings.Index(a.body, `"name":"tool.call"`); i < 0 || !strings.Contains(a.body[max(0, i-900):i], `"readOnlyHint":true`) {
		t.Errorf("tool.call isn't said to read only, where it does: %s", a.body)
	}
}

func TestSchemasOnDemand(t *testing.T) {
	w := newWorld(t)
	for address, want := range map[string]bool{"/mcp": false, "/mcp?schemas=output": true, "/mcp?schemas=input": false} {
		a := w.do(t, "POST", w.url+address, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if strings.Contains(a.body, `"outputSchema"`) != want {
			t.Errorf("%s has schemas of answers: %v", address, !want)
		}
	}
	a := w.do(t, "POST", w.url+"/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "X-MCP-Schemas", "output")
	if !strings.Contains(a.body, `"outputSchema"`) {
		t.Error("the header brings no schemas")
	}
}

// TestForWhom: who can't use a tool by their role isn't shown it, and is refused as before when
// they use it anyway.
func TestForWhom(t *testing.T) {
	w := newWorld(t)
	anas, bobs := w.listed(t, "/mcp/all", "ana"), w.listed(t, "/mcp/all", "bob") // an owner, and a member
	for _, tt := range []struct {
		tool, args string
		owner      bool // whether owners of a tenant have it
	}{
		{"tool.access", `{"tool":"messenger.send","allowed":true}`, true},
		{"deadletter.list", `{}`, true},
		{"tenant.domain.list", `{}`, true},
		{"token.renew", `{"client_id":"cl:none"}`, true},
		{"tenant.update", `{"retention_days":7}`, true},
		{"tenant.invitation.list", `{}`, true},
		{"tenant.sealed.list", `{}`, true},
		{"kind.remove", `{"kind":"none"}`, true},
		{"platform.cluster.get", `{}`, false},
		{"platform.node.remove", `{"node_id":"n3"}`, false},
	} {
		if got := slices.Contains(anas, tt.tool); got != tt.owner {
			t.Errorf("an owner is shown %s: %v", tt.tool, got)
		}
		if slices.Contains(bobs, tt.tool) {
			t.Errorf("a member is shown %s", tt.tool)
		}
		if a := w.use(t, "/mcp", "bob", "test", tt.tool, tt.args); !strings.Contains(a.body, `"code":"forbidden"`) {
			t.Errorf("a member who uses %s is answered %s", tt.tool, a.body)
		}
	}
	for _, name := range []string{"messenger.send", "room.create", "tenant.member.remove", "platform.token.revoke", "agreement.end"} {
		if !slices.Contains(bobs, name) {
			t.Errorf("a member isn't shown %s", name)
		}
	}
	if names, _, _ := w.search(t, "/mcp", "bob", `{"query":"make a service token","limit":20}`); slices.Contains(names, "token.create") {
		t.Errorf("a member finds %v", names)
	}
}

// TestForPeople: a service isn't shown what is for people alone, doesn't find it, and is refused when it
// uses it anyway.
func TestForPeople(t *testing.T) {
	w := newWorld(t)
	w.makeBot()
	for set, tools := range map[string][]string{"person": {"person.get", "person.scheduled.add"}, "webhook": {"webhook.list", "webhook.create"}} {
		members := w.listed(t, "/mcp/"+set, "bob")
		for _, tool := range tools {
			if !slices.Contains(members, tool) || !slices.Contains(w.listed(t, "/mcp/all", "bob"), tool) {
				t.Errorf("a member isn't shown %s", tool)
			}
			if a := w.use(t, "/mcp", "bot", "test", "tool.describe", `{"name":"`+tool+`"}`); !strings.Contains(a.body, `"code":"unknown_tool"`) {
				t.Errorf("%s is described to a service: %s", tool, a.body)
			}
			for _, a := range []answer{w.use(t, "/mcp", "bot", "test", tool, `{}`), w.use(t, "/mcp", "bot", "test", "tool.call", `{"name":"`+tool+`"}`)} {
				if !strings.Contains(a.body, `"code":"forbidden"`) {
					t.Errorf("a service that uses %s is answered %s", tool, a.body)
				}
			}
		}
		for _, path := range []string{"/mcp/all", "/mcp/" + set} {
			if sets := setsOf(w.listed(t, path, "bot")); slices.Contains(sets, set) {
				t.Errorf("a service is shown %v at %s", sets, path)
			}
		}
	}
	for query, tool := range map[string]string{
		"remind me of a message": "person.reminder.add", "schedule a message": "person.scheduled.add", "make a webhook": "webhook.create", "invite a person": "tenant.invitation.create",
	} {
		args := `{"query":"` + query + `","limit":20}`
		if names, _, _ := w.search(t, "/mcp", "ana", args); !slices.Contains(names, tool) {
			t.Errorf("a person doesn't find %s: %v", tool, names)
		}
		if names, _, _ := w.search(t, "/mcp", "bot", args); slices.Contains(names, tool) || slices.ContainsFunc(setsOf(names), func(set string) bool { return set == "person" || set == "webhook" }) {
			t.Errorf("a service finds %v", names)
		}
	}
}

// TestOwnDataIsNoTool: nobody takes their data home over MCP, whatever they call it. It is a file, and for people alone.
func TestOwnDataIsNoTool(t *testing.T) {
	w := newWorld(t)
	w.makeBot()
	for _, who := range []string{"bob", "bot"} {
		for _, tool := range []string{"user.export", "me.export", "person.export", "export-own"} {
			for _, a := range []answer{
				w.use(t, "/mcp", who, "test", tool, `{}`), w.use(t, "/mcp/person", who, "test", tool, `{}`),
				w.use(t, "/mcp", who, "test", "tool.call", `{"name":"`+tool+`"}`), w.use(t, "/mcp", who, "test", "tool.describe", `{"name":"`+tool+`"}`),
			} {
				if !strings.Contains(a.body, "unknown") || strings.Contains(a.body, "receipt") {
					t.Errorf("%s uses %s and is answered %s", who, tool, a.body)
				}
			}
		}
	}
	for _, tool := range w.listed(t, "/mcp/all", "bob") {
		if strings.Contains(tool, "export") {
			t.Errorf("%s is listed", tool)
		}
	}
}

// TestTermsShowMore: who isn't an owner is shown what the tenant's own terms permit to them.
func TestTermsShowMore(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) {
		o.Permits = func(context.Context) (func(string) bool, error) {
			return func(tool string) bool { return tool == "token.create" || tool == "tool.access" }, nil
		}
	})
	names := w.listed(t, "/mcp/all", "bob")
	if !slices.Contains(names, "token.create") || slices.Contains(names, "token.renew") {
		t.Errorf("a member is shown %v", names)
	}
	if slices.Contains(names, "tool.access") {
		t.Error("the API lets owners alone use tool.access, whatever the terms say")
	}
}

// TestQueriesAsPaths: what a query chooses has a path that chooses the same.
func TestQueriesAsPaths(t *testing.T) {
	for at, want := range map[string]string{
		"/mcp": "/mcp", "/mcp?": "/mcp", "/mcp?schemas=output": "/mcp", "/mcp?readonly=false": "/mcp",
		"/mcp?sets=Office,%20messenger,office": "/mcp/office,messenger", "/portal/mcp?readonly=1": "/portal/mcp/readonly",
		"/portal/mcp?sets=weather&sets=sea&readonly=true": "/portal/mcp/weather,sea/readonly",
		"/portal/mcp/weather?sets=sea&readonly=true":      "/portal/mcp/weather/readonly",
		"/mcp/readonly?sets=files":                        "/mcp/files/readonly",
		"/mcp?readonly=maybe":                             "/mcp",
		"/mcp/files?sets=%zz":                             "/mcp/files",
	} {
		path, query, _ := strings.Cut(at, "?")
		if got := mcp.PathOf(path, query); got != want {
			t.Errorf("%s is as %s, want %s", at, got, want)
		}
	}
}

// TestAMandateBounds: an agent is shown, finds and calls what its Agreement lets it, and no more.
func TestAMandateBounds(t *testing.T) {
	o := &others{tools: []*ubl.PortalTool{tool("git.log", objectTool), tool("git.commit", writes)}}
	w := newWorld(t, func(opts *mcp.Options) {
		opts.Portal = o
	})
	w.mandate = &ubl.Mandate{Sets: []string{"files", "gone"}}
	if got := setsOf(w.listed(t, "/portal/mcp", "ana")); !slices.Equal(got, []string{"files", "tools"}) {
		t.Errorf("its sets list %v", got)
	}
	if got := setsOf(w.listed(t, "/portal/mcp/git", "ana")); !slices.Equal(got, []string{"git", "tools"}) {
		t.Errorf("a chosen set lists %v", got)
	}
	w.mandate = &ubl.Mandate{ReadOnly: true}
	if names := w.listed(t, "/portal/mcp/all", "ana"); slices.Contains(names, "messenger.send") || slices.Contains(names, "git.log") || !slices.Contains(names, "messenger.history") {
		t.Errorf("read-only lists %v", names)
	}
	w.mandate = &ubl.Mandate{Tools: []string{"messenger.*", "git.log"}}
	if got := setsOf(w.listed(t, "/portal/mcp/all", "ana")); !slices.Equal(got, []string{"agreements", "files", "forms", "git", "messenger", "polls", "tenant", "tools"}) {
		t.Errorf("with who it is, where it reads that, it is shown %v", got)
	}
	if names, _, _ := w.search(t, "/portal/mcp", "ana", `{"query":"commit a document","limit":20}`); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "office.") || n == "git.commit" }) {
		t.Errorf("the search finds %v", names)
	}
	for tool, want := range map[string]string{"messenger.list_rooms": `"result"`, "user.whoami": `"result"`, "office.workspace.list": "forbidden", "git.log": `"result"`, "git.commit": "forbidden"} {
		for _, a := range []answer{
			w.use(t, "/portal/mcp", "ana", "test", tool, `{}`),
			w.use(t, "/portal/mcp", "ana", "test", "tool.call", `{"name":"`+tool+`"}`),
		} {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s answers %s", tool, a.body)
			}
		}
	}
	if a := w.legacy(t, "ana", w.begin(t, w.url+"/mcp", "ana", "test"), "resources/read", `"uri":"ubl://receipts/1"`); !strings.Contains(a.body, "-32003") {
		t.Errorf("a resource whose tool isn't named answers %s", a.body)
	}
}

// TestServersAreListedWhileThereIsRoom: whole servers, in order of their ids.
func TestServersAreListedWhileThereIsRoom(t *testing.T) {
	o := &others{}
	w := newWorld(t, func(opts *mcp.Options) { opts.Portal = o })
	has := func(server string, tools int, definition string) {
		for i := range tools {
			o.tools = append(o.tools, tool(fmt.Sprintf("%s.t%d", server, i), definition))
		}
	}
	has("b", 2, objectTool)
	has("a", 1, writes)
	if got := w.listed(t, "/portal/mcp", "ana"); len(got) != 15 || !slices.Contains(got, "b.t1") {
		t.Errorf("three tools: %v", got)
	}
	has("c", 1, objectTool)
	if got := w.listed(t, "/portal/mcp", "ana"); len(got) != 15 || slices.Contains(got, "c.t0") {
		t.Errorf("a fourth: %v", got)
	}
	o.tools = nil
	has("a", 1, objectTool)
	has("b", 3, objectTool) // not whole
	has("c", 1, objectTool) // behind it
	if got := w.listed(t, "/portal/mcp", "ana"); len(got) != 13 || !slices.Contains(got, "a.t0") {
		t.Errorf("a server that doesn't fit: %v", got)
	}
	o.tools = nil
	has("a", 1, strings.Replace(objectTool, "Does x.", strings.Repeat("long ", 4000), 1))
	if got := w.listed(t, "/portal/mcp", "ana"); len(got) != 12 {
		t.Errorf("a large tool: %v", got)
	}
}
