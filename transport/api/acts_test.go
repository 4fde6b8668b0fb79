package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/actors/families"
	"ubl/transport/envelope"
)

// noTools are the operations that are no tools, and why.
var noTools = map[string]string{
	"export-ledger":     "a stream of the whole ledger, for files; ledger.atoms reads it page by page",
	"export-own-data":   "a file that people take home; an agent has no data of its own, and reads rooms, documents and receipts by their tools",
	"back-up":           "a stream of all tenants' data, for files",
	"stream-room":       "a stream without an end; messenger.stream_room is its tool, which the MCP server adds",
	"stream-rooms":      "a stream without an end",
	"post-entry":        "for bodies that programs read and agents don't; messenger.send is its tool",
	"stream-portal-log": "a stream without an end; portal.log.list reads the same rows",
	"show-consent":      "a page for a person's browser",
	"connect":           "the form of that page",
	"begin-call":        "calls are between people's browsers; messenger.send is its tool",
	"be-in-call":        "the same",
	"end-call":          "the same",
	"append-upload":     "takes bytes; office.file.put takes a short content as text or base64",
	"read-room-file":    "sends bytes; messenger.file has short ones",
	"get-thumbnail":     "the same",
	"list-previews":     "for screens that show messages to people; a model has the links in messenger.entry",
	"get-preview-image": "sends bytes",
	"read-file":         "sends bytes; MCP has them as the resource ubl://files/…",

	"look-public":           "for those without an identity, who use no tools; container.get is its tool",
	"list-public-documents": "the same; office.document.list is its tool",
	"read-public-document":  "the same; office.document.get is its tool",

	"list-public-files": "the same; office.file.list is its tool", "get-public-file": "the same; office.file.get is its tool",
	"read-public-file": "sends bytes, to anyone", "search-public-documents": "the same; office.document.search is its tool",
	"list-knowledge": "the same; office.document.list is its tool", "read-knowledge": "the same; office.document.get is its tool", "search-knowledge": "the same; office.document.search is its tool",
}

// TestEveryOperationIsATool, or says why not.
func TestEveryOperationIsATool(t *testing.T) {
	s := newServer(t)
	excused := maps.Clone(noTools)
	byTool := map[any]string{}
	for path, item := range parse(s.api.spec())["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			id := op.(map[string]any)["operationId"].(string)
			tool, ok := op.(map[string]any)[toolExtension]
			if _, excuse := excused[id]; ok == excuse {
				t.Errorf("%s %s (%s) is either a tool or excused", method, path, id)
			}
			delete(excused, id)
			if other := byTool[tool]; ok && other != "" {
				t.Errorf("%v names both %s and %s", tool, id, other)
			}
			byTool[tool] = id
		}
	}
	for id := range excused {
		t.Errorf("%s is excused and no operation", id)
	}
}

// unasked are the acts that nobody asks for by an operation, and where they come from.
var unasked = map[string][]ubl.Did{
	"whoever comes first, and newcomers":                                   {ubl.DidTenantCreate, ubl.DidTenantJoin, ubl.DidContainerJoin},
	"signing in, by transport/auth":                                        {ubl.DidInvitationAccept, ubl.DidTenantMemberProve, ubl.DidPlatformHomeSet, ubl.DidPasskeyRegister, ubl.DidPasskeyUse},
	"sessions, tokens and links, as they do":                               {ubl.DidPlatformTokenCreate, ubl.DidPlatformTokenRenew, ubl.DidPlatformLinkCreate},
	"messages, alarms, reading and links of mails, as they reach somebody": {"person.mail", "person.mail.stop", "person.notify", "person.push", "person.release", "person.reminder.ring", "person.scheduled.send", "person.seen"},
	"people who take their own data home, a stream of a file":              {"user.export"},
	"webhooks, as they tell":                                               {"webhook.deliver", "webhook.pause", "webhook.remind"},
	"retention":                                                            {ubl.DidRoomTrim},
	"people's browsers, in calls":                                          {ubl.DidCallBegin, ubl.DidCallEnd},
	"deletions, a moment later":                                            {ubl.DidContainerRedact},
	"people who connect an agent, and its credentials, by transport/auth":  {ubl.DidAgentConnect, ubl.DidAgentRedeem, ubl.DidAgentRefresh},
	"the other end of a transfer":                                          {ubl.DidReceive},
	"the portal, about tools":                                              {ubl.DidToolDeny, ubl.DidPortalCall},
	"the node, about itself": {ubl.DidPlatformStart, ubl.DidPlatformStop, ubl.DidPlatformKeyCreate, ubl.DidPlatformKeyRotate, ubl.DidPlatformBackup,
		ubl.DidPlatformRestore, ubl.DidFileCollect, ubl.DidFileRefuse, ubl.DidPlatformJournalLoss, ubl.DidPlatformNodeJoin, ubl.DidPlatformSecretRotate},
}

// everyAct is those of the table, and those that families bring along.
func everyAct() []ubl.Did {
	all := ubl.Dids()
	for _, a := range families.All.Acts() {
		all = append(all, a.Did)
	}
	return all
}

// TestEveryActIsAsked by an operation, or says where it comes from.
func TestEveryActIsAsked(t *testing.T) {
	acts := newServer(t).api.Acts()
	excused := slices.Concat(slices.Collect(maps.Values(unasked))...)
	for _, did := range everyAct() {
		asked := slices.ContainsFunc(acts, func(a envelope.Act) bool { return a.Name == string(did) })
		if asked == slices.Contains(excused, did) {
			t.Errorf("%s is an operation (%t) and is said to come from elsewhere, or neither", did, asked)
		}
	}
}

// TestNamesOfTools are valid, the acts' own where they change something, and such
// that no external server can pass its tools off as ours.
func TestNamesOfTools(t *testing.T) {
	// What a registry offers changes nothing; disconnecting is a connect that says so; an upload
	// comes before its act.
	dids := append(everyAct(), "portal.discover", "portal.server.disconnect", "office.upload.begin", "office.upload.end",
		"messenger.upload", "messenger.mark_read", // how far one has read is one's own
		"messenger.typing", "tenant.member.present") // they pass
	for _, act := range newServer(t).api.Acts() {
		first, _, dotted := strings.Cut(act.Name, ".")
		if !ubl.ValidToolName(act.Name) || !dotted || ubl.ValidServerID(first) {
			t.Errorf("%s is no name for a tool of ours", act.Name)
		}
		words := strings.Split(act.Name, ".")
		for _, noun := range words[:len(words)-1] {
			if ubl.FreeServerID(noun) {
				t.Errorf("a server may be called %q, as %s is", noun, act.Name)
			}
		}
		if !act.ReadOnly && !slices.Contains(dids, ubl.Did(act.Name)) {
			t.Errorf("%s changes something and is no act of the table", act.Name)
		}
	}
}

// TestHintsOfTools: which tools look, which take something away.
func TestHintsOfTools(t *testing.T) {
	want := map[string]string{
		"messenger.send": "adds", "messenger.history": "reads", "office.document.get": "reads", "office.document.create": "adds",
		"office.document.update": "adds, again and again", "office.document.delete": "takes away, again and again", "room.leave": "takes away",
		"agreement.end": "takes away", "container.transfer": "takes away", "tool.access": "takes away, again and again",
	}
	for _, act := range newServer(t).api.Acts() {
		got := "adds"
		switch {
		case act.ReadOnly:
			got = "reads"
		case act.Destructive:
			got = "takes away"
		}
		if act.Idempotent && !act.ReadOnly {
			got += ", again and again"
		}
		if w, ok := want[act.Name]; ok && w != got {
			t.Errorf("%s %s, want: %s", act.Name, got, w)
		}
		if act.ReadOnly && act.Destructive || act.Title == "" || act.Description == "" {
			t.Errorf("%s contradicts itself or says nothing: %+v", act.Name, act)
		}
	}
}

// TestSchemasOfTools compile by themselves, and have nothing that clients are
// known to stumble over.
func TestSchemasOfTools(t *testing.T) {
	stumbling := regexp.MustCompile(`"\$(ref|defs|schema|id)"|"type":\[|"format":"(int|double)`)
	for _, act := range newServer(t).api.Acts() {
		for what, schema := range map[string]json.RawMessage{"input": act.Input, "output": act.Output} {
			if found := stumbling.Find(schema); found != nil {
				t.Errorf("the %s of %s has %s", what, act.Name, found)
			}
			root := parse(schema)
			if root["type"] != "object" || root["additionalProperties"] != false {
				t.Errorf("the %s of %s is not a strict object", what, act.Name)
			}
			compileSchema(t, schema)
		}
	}
}

func compileSchema(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(base+"tool", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(base + "tool")
	if err != nil {
		t.Fatalf("%s doesn't compile: %v", schema, err)
	}
	return s
}

// TestSeedsShapes: the seed's tools take what the seed says.
func TestSeedsShapes(t *testing.T) {
	takes := map[string]string{
		"messenger.list_rooms":   `cursor? details? full? joinable? limit? query?`,
		"messenger.send":         `attachments? body client_request_id? forward? reply_to? room_id thread? type?`,
		"messenger.history":      `cursor? full? limit? room_id senders?`,
		"office.document.create": `client_request_id? content title workspace_id`,
		"office.document.get":    `document_id full? version? workspace_id`,
		"office.document.search": `cursor? from? full? limit? match? query to? where? workspace_id`,
		"office.llm.complete":    `cache? client_request_id? max_steps? max_tokens? model? prompt temperature? tools? workspace_id`,
	}
	good := map[string][]string{
		"messenger.list_rooms":   {`{}`, `{"cursor":null,"limit":null}`, `{"limit":500}`},
		"messenger.send":         {`{"room_id":"r:general","type":"text","body":{"text":"hi"},"reply_to":null,"client_request_id":null}`, `{"room_id":"r:general","body":{"text":"hi"}}`},
		"messenger.history":      {`{"room_id":"r:general","cursor":null,"limit":200}`},
		"office.document.create": {`{"workspace_id":"w:general","title":"T","content":""}`},
		"office.document.search": {`{"workspace_id":"w:general","query":"x","limit":100}`, `{"workspace_id":"w:general","query":"x","match":"any","where":["tags:a","type:tag"],"from":"2026-01-01","to":null}`},
	}
	for _, act := range newServer(t).api.Acts() {
		if want, ok := takes[act.Name]; ok && membersOf(parse(act.Input)) != want {
			t.Errorf("%s takes %s, want %s", act.Name, membersOf(parse(act.Input)), want)
		}
		schema := compileSchema(t, act.Input)
		for _, args := range good[act.Name] {
			v, _ := jsonschema.UnmarshalJSON(strings.NewReader(args))
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s refuses %s: %v", act.Name, args, err)
			}
		}
	}
}

func membersOf(schema map[string]any) string {
	var names []string
	for name := range schema["properties"].(map[string]any) {
		if !slices.Contains(items[string](schema["required"]), name) {
			name += "?"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// acting is a context as the MCP server makes it.
func acting(c *envelope.Caller) context.Context {
	ctx := envelope.WithRequest(context.Background(), &envelope.Request{ID: "req:1234", Key: "req:1234", At: now})
	return envelope.WithCaller(ctx, c)
}

// anaActs is the caller that requests of these tests have over HTTP too.
func anaActs() context.Context {
	return acting(let(&envelope.Caller{Identity: ana, ExpiresAt: now.Add(time.Hour)}, ubl.RoleOwner))
}

func (s *server) act(t testing.TB, tool string) envelope.Act {
	t.Helper()
	if s.acts == nil {
		s.acts = s.api.Acts()
	}
	i := slices.IndexFunc(s.acts, func(a envelope.Act) bool { return a.Name == tool })
	if i < 0 {
		t.Fatalf("there is no tool %s", tool)
	}
	return s.acts[i]
}

// argumentsOf says as a tool's arguments what a request says.
func argumentsOf(t *testing.T, tab *route, query, body string) json.RawMessage {
	t.Helper()
	args := map[string]any{}
	if body != "" {
		args = parse([]byte(body))
	}
	for part := range strings.SplitSeq(tab.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			args[snake(strings.TrimSuffix(name, "}"))] = json.RawMessage(literal(places.Replace(part)))
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name := range values {
		args[name] = json.RawMessage(literal(values.Get(name)))
	}
	return must(json.Marshal(args))
}

// literal is a text as JSON: numbers and truths as themselves.
func literal(s string) string {
	if regexp.MustCompile(`^(\d+|true|false)$`).MatchString(s) {
		return s
	}
	return string(must(json.Marshal(s)))
}

// queries are for operations that need one, and some that may have one.
var queries = map[string]string{"search-messages": "query=plan&limit=5", "search-documents": "query=plan&limit=5&cursor=5", "read-history": "limit=2&cursor=50&senders=true", "list-rooms": "details=true&limit=1", "read-atoms": "from=2", "get-room-file": "content=true", "list-room-files": "kind=image&limit=5"}

// TestToolsAreREST: what is done as a tool asks the same, and answers the same
// bytes, as over HTTP; and the answer is as the tool's schema promises.
func TestToolsAreREST(t *testing.T) {
	s := newServer(t)
	for i := range s.api.table {
		tab := &s.api.table[i]
		if tab.tool == "" {
			continue
		}
		t.Run(tab.tool, func(t *testing.T) {
			query, body := queries[tab.id], bodies[tab.method+" /api"+tab.path]
			who, target := ana, places.Replace("/api"+tab.path)
			if strings.HasPrefix(tab.path, "/platform/") {
				who = root
			}
			if query != "" {
				target += "?" + query
			}
			w := s.doWith(who, tab.method, target, body)
			overHTTP := s.takeAsked()
			ctx := acting(let(&envelope.Caller{Identity: who, ExpiresAt: now.Add(time.Hour)}, ubl.RoleOwner))
			act := s.act(t, tab.tool)
			args := argumentsOf(t, tab, query, body)
			got, err := act.Do(ctx, inFull(tab.tool, args))
			if err != nil || w.Code >= 400 || string(got) != w.Body.String() {
				t.Fatalf("answered %s, %v; over HTTP %d %s", got, err, w.Code, w.Body)
			}
			if asked := s.takeAsked(); !reflect.DeepEqual(asked, overHTTP) {
				t.Errorf("asked %q; over HTTP %q", asked, overHTTP)
			}
			v, _ := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err := compileSchema(t, act.Output).Validate(v); err != nil {
				t.Errorf("%s is not as promised: %v", got, err)
			}
		})
	}
}

// TestForeignWords: the tools whose answers hold words of other servers say so.
func TestForeignWords(t *testing.T) {
	s := newServer(t)
	for tool, want := range map[string]string{
		"office.tool.call": "weather true", "portal.discover": "MCP registry false", "portal.tool.approve": "weather false", "user.whoami": " false",
	} {
		act := s.act(t, tool)
		i := slices.IndexFunc(s.api.table, func(r route) bool { return r.tool == tool })
		tab := &s.api.table[i]
		answer, err := act.Do(anaActs(), argumentsOf(t, tab, queries[tab.id], bodies[tab.method+" /api"+tab.path]))
		if err != nil {
			t.Fatal(err)
		}
		if server, failed := act.Wrote(answer); fmt.Sprint(server, " ", failed) != want {
			t.Errorf("%s holds words of %q, failed %t: want %q", tool, server, failed, want)
		}
	}
	// A page of the list holds words of those servers whose tools are on it.
	mixed := json.RawMessage(`{"tools":[{"server_id":"b"},{"server_id":"ubl"},{"server_id":"a"},{"server_id":"b"}]}`)
	if server, _ := s.act(t, "portal.tool.list").Wrote(mixed); server != "a, b" {
		t.Errorf("a list of two servers' tools holds words of %q", server)
	}
	if server, failed := s.act(t, "office.tool.call").Wrote(json.RawMessage(`{"content":null,"is_error":false}`)); server != "" || failed {
		t.Errorf("a tool of ours said words of %q", server)
	}
}

// TestBadArguments are refused with the place among the arguments, and nobody is
// asked.
func TestBadArguments(t *testing.T) {
	const send, create, atoms = "messenger.send", "room.create", "ledger.atoms"
	long := strings.Repeat("k", 129)
	tests := []struct{ tool, args, place string }{
		{send, `{"type":"text","body":{"text":"hi"}}`, "room_id"},
		{send, `{"room_id":"u:s3cr3t","type":"text","body":{"text":"hi"}}`, "room_id"},
		{send, `{"room_id":7,"type":"text","body":{"text":"hi"}}`, "room_id"},
		{send, `{"room_id":null,"type":"text","body":{"text":"hi"}}`, "room_id"},
		{send, `{"room_id":"r:general","type":"s3cr3t","body":{"text":"hi"}}`, "type"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":7}}`, "body.text"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"hi","s3cr3t x":1}}`, "body"}, {send, `{"room_id":"r:general","type":"text","body":{"txt":"hi"}}`, "body.txt"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"hi"},"s3cr3t x":1}`, "arguments"}, {create, `{"name":"x","nam":1}`, "nam"},
		{send, `{"room_id":"r:general","room_id":"r:general","type":"text","body":{"text":"hi"}}`, "arguments"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"hi","text":"ho"}}`, "arguments"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"s3cr3t` + "\xff" + `"}}`, "arguments"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"s3cr3t\ud800"}}`, "arguments"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"hi"}}{}`, "arguments"},
		{send, `{"room_id":"r:general","type":"text","body":{"text":"hi"},"client_request_id":"` + long + `"}`, "client_request_id"},
		{send, `["s3cr3t"]`, "arguments"}, {send, `null`, "arguments"}, {send, `"s3cr3t"`, "arguments"}, {send, `{`, "arguments"}, {send, `s3cr3t`, "arguments"},
		{create, `{}`, "name"}, {create, ``, "name"},
		{create, `{"name":7}`, "name"}, {create, `{"name":null}`, "name"},
		{atoms, `{"from":"7"}`, "from"}, {atoms, `{"from":1.5}`, "from"}, {atoms, `{"from":0}`, "from"}, {atoms, `{"from":[1]}`, "from"}, {atoms, `{"limit":501}`, "limit"},
		{"messenger.list_rooms", `{"details":"true"}`, "details"},
		{"receipt.get", `{"seq":"1"}`, "seq"}, {"receipt.get", `{"seq":0}`, "seq"}, {"receipt.get", `{}`, "seq"},
		{"office.document.search", `{"workspace_id":"w:general"}`, "query"}, {"office.document.search", `{"workspace_id":"w:general","query":""}`, "query"},
		{"office.document.delete", `{"workspace_id":"w:general","document_id":"d:1","client_request_id":"` + long + `"}`, "client_request_id"},
		{"office.document.delete", `{"workspace_id":"w:general","document_id":"d:1","client_request_id":7}`, "client_request_id"},
		{"office.tool.call", `{"tool":"weather.forecast","arguments":["s3cr3t"]}`, "arguments"},
		{"tool.access", `{"tool":"weather.forecast","allowed":true,"users":["s3cr3t"]}`, "users[0]"},
	}
	s := newServer(t)
	for _, test := range tests {
		_, err := s.act(t, test.tool).Do(anaActs(), json.RawMessage(test.args))
		e := ubl.AsError(err)
		if err == nil || e.Code != ubl.CodeValidation || e.Details[test.place] == "" || len(e.Details) != 1 {
			t.Errorf("%s %s: %v, want validation_error at %s, has %v", test.tool, test.args, err, test.place, e.Details)
		}
		if err != nil && strings.Contains(err.Error()+e.Details[test.place], "s3cr3t") {
			t.Errorf("%s %s: the error echoes what was sent: %v", test.tool, test.args, err)
		}
		if asked := s.takeAsked(); len(asked) > 0 {
			t.Errorf("%s %s: an actor was asked: %q", test.tool, test.args, asked)
		}
	}
}

// TestSendingWithoutMore: a tool's message is a text without saying so, and what it lacks is named.
func TestSendingWithoutMore(t *testing.T) {
	s := newServer(t)
	act := s.act(t, "messenger.send")
	if strings.Contains(string(act.Input), `"system"`) || !strings.Contains(string(act.Input), `"default":"text"`) {
		t.Errorf("it takes %s", act.Input)
	}
	for _, kind := range []string{"", `"type":null,`, `"type":"text",`} {
		s.takeAsked()
		if _, err := act.Do(anaActs(), json.RawMessage(`{"room_id":"r:general",`+kind+`"body":{"text":"hi"}}`)); err != nil || len(s.takeAsked()) != 1 {
			t.Errorf("with %s it answers %v", kind, err)
		}
	}
	for _, body := range []string{"", `,"body":{}`, `,"body":{"text":""}`, `,"body":{"text":" "}`, `,"body":null`} {
		_, err := act.Do(anaActs(), json.RawMessage(`{"room_id":"r:general"`+body+`}`))
		if e := ubl.AsError(err); err == nil || e.Code != ubl.CodeValidation || e.Details["body.text"] == "" {
			t.Errorf("with %s it answers %v %v", body, err, e.Details)
		}
	}
}

// TestNoDocumentAsATool is an error, where HTTP answers null.
func TestNoDocumentAsATool(t *testing.T) {
	s := newServer(t)
	s.api.Asker = instant{&ubl.DocumentResult{Receipt: receipt}}
	_, err := s.act(t, "office.document.get").Do(anaActs(), json.RawMessage(`{"workspace_id":"w:general","document_id":"d:none","version":7}`))
	if ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("it answers %v", err)
	}
}

// TestRefusalsAsTools keep code, message and details.
func TestRefusalsAsTools(t *testing.T) {
	s := newServer(t)
	act := s.act(t, "room.create")
	for _, s.refuse = range []error{ubl.Errorf(ubl.CodeConflict, "taken"), ubl.Errorf(ubl.CodeOverloaded, "busy"),
		&ubl.Error{Code: ubl.CodeForbidden, Message: "no", Details: map[string]string{"physics.topology": "wrong", "body.name": "bad"}}} {
		_, err := act.Do(anaActs(), json.RawMessage(`{"name":"x"}`))
		want := ubl.AsError(s.refuse)
		got, ok := errors.AsType[*ubl.Error](err)
		if !ok || got.Code != want.Code || got.Message != want.Message || len(got.Details) != len(want.Details) {
			t.Errorf("answered %v, want %v", err, want)
		}
		if want.Details != nil && (got.Details["name"] != "bad" || got.Details["physics.topology"] != "wrong") {
			t.Errorf("the places are %v", got.Details)
		}
	}
	s.refuse = errors.New("a secret cause")
	if _, err := act.Do(anaActs(), json.RawMessage(`{"name":"x"}`)); ubl.CodeOf(err) != ubl.CodeInternal || strings.Contains(err.Error(), "secret") {
		t.Errorf("answered %v", err)
	}
	if _, err := act.Do(context.Background(), json.RawMessage(`{"name":"x"}`)); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("nobody is answered %v", err)
	}
}

// TestKeysOfTools: an argument for acts that have no body over HTTP, too.
func TestKeysOfTools(t *testing.T) {
	s := newServer(t)
	for args, want := range map[string]string{
		`{"room_id":"r:general","user_id":"u:bob"}`:                           `Key:"req:1234"`,
		`{"room_id":"r:general","user_id":"u:bob","client_request_id":null}`:  `Key:"req:1234"`,
		`{"room_id":"r:general","user_id":"u:bob","client_request_id":"ké1"}`: `Key:"ké1"`,
	} {
		if _, err := s.act(t, "room.remove").Do(anaActs(), json.RawMessage(args)); err != nil {
			t.Fatal(err)
		}
		if asked := s.takeAsked(); len(asked) != 1 || !strings.Contains(asked[0], want) {
			t.Errorf("%s asked %q, want %s", args, asked, want)
		}
	}
}

// TestToolThatStreams hands out the pieces before the whole.
func TestToolThatStreams(t *testing.T) {
	s := newServer(t)
	act := s.act(t, "office.llm.complete")
	args := json.RawMessage(`{"workspace_id":"w:general","prompt":"Say hello"}`)
	whole, err := act.Do(anaActs(), args)
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	streamed, err := act.Stream(anaActs(), args, func(text string) { pieces = append(pieces, text) })
	if err != nil || string(streamed) != string(whole) || !reflect.DeepEqual(pieces, []string{"Hello", " world"}) {
		t.Errorf("streamed %q and then %s, %v; at once it is %s", pieces, streamed, err, whole)
	}
	_, err = act.Stream(anaActs(), json.RawMessage(`{"workspace_id":"w:general","prompt":"break"}`), func(string) {})
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("a stream that breaks ends with %v", err)
	}
	for _, other := range s.api.Acts() {
		if (other.Stream != nil) != (other.Name == act.Name) {
			t.Errorf("%s streams: %t", other.Name, other.Stream != nil)
		}
	}
}

// TestToolsSideBySide share nothing.
func TestToolsSideBySide(t *testing.T) {
	s := newServer(t)
	s.api.Asker = instant{&ubl.RoomSummary{RoomID: "r:x", Name: "x", Mode: ubl.ModeInternal}}
	act := s.act(t, "room.create")
	done := make(chan error)
	for range 8 {
		go func() {
			var err error
			for range 100 {
				if _, e := act.Do(anaActs(), json.RawMessage(`{"name":"x"}`)); e != nil {
					err = e
				}
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestToolsInviteNoOwner: who turns an agent by what it reads isn't let in as an
// owner. Members it may invite, and over REST its person may invite owners.
func TestToolsInviteNoOwner(t *testing.T) {
	s := newServer(t)
	invite := s.act(t, "tenant.invitation.create")
	if _, err := invite.Do(anaActs(), json.RawMessage(`{"email":"eve@else.org","role":"owner"}`)); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("an owner is invited: %v", err)
	}
	if _, err := invite.Do(anaActs(), json.RawMessage(`{"email":"eve@else.org"}`)); err != nil {
		t.Errorf("a member isn't: %v", err)
	}
	if w := s.do("POST", "/api/invitations", `{"email":"eve@else.org","role":"owner"}`); w.Code != 201 {
		t.Errorf("over REST: %d %s", w.Code, w.Body)
	}
}
