package public

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
)

// visiting connects the SDK's client to a commons.
func visiting(t *testing.T, h http.Handler, path string) *sdk.ClientSession {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL + path, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// answered calls a tool, and holds what it answers against its schema.
func answered(t *testing.T, s *sdk.ClientSession, name string, args any) (structured map[string]any, text string, failed bool) {
	t.Helper()
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	i := slices.IndexFunc(tools.Tools, func(tool *sdk.Tool) bool { return tool.Name == name })
	c := jsonschema.NewCompiler()
	if err := c.AddResource("out.json", tools.Tools[i].OutputSchema); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("out.json").Validate(got.StructuredContent); err != nil {
		t.Errorf("%s answers what isn't of its schema: %v", name, err)
	}
	structured, _ = got.StructuredContent.(map[string]any)
	return structured, got.Content[0].(*sdk.TextContent).Text, got.IsError
}

// TestAgentsOfACommons: what a client of MCP finds that nobody here wrote.
func TestAgentsOfACommons(t *testing.T) {
	house := newHouse()
	h := New(Options{Asker: house, Feed: house, Version: "1.2"})
	t.Cleanup(h.Close)
	s := visiting(t, h, handbook+"/mcp")
	if in := s.InitializeResult(); in.ServerInfo.Title != "Handbook" || in.ServerInfo.Version != "1.2" || !strings.Contains(in.Instructions, `"Handbook"`) {
		t.Errorf("it says of itself %+v", in)
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint || tool.OutputSchema == nil || tool.Description == "" {
			t.Errorf("%s is told as %+v", tool.Name, tool)
		}
	}
	if want := []string{"define_term", "get_document", "list_groups", "list_releases", "search_knowledge", "search_lexicon", "search_with_documents"}; !slices.Equal(names, want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}
	for name, test := range map[string]struct {
		args any
		want string
	}{
		"search_knowledge":      {map[string]any{"query": " how small? ", "filters": map[string]any{"contentType": "pattern", "group": "g", "tags": []string{"a", "b"}, "limit": 7}}, `true how small? type=pattern group=g tags=a tags=b  7`},
		"search_with_documents": {map[string]any{"query": "how small?"}, `"results":[`},
		"get_document":          {map[string]any{"contentType": "pattern", "id": "cell governance"}, `"content":"Be small."`},
		"define_term":           {map[string]any{"term": "Cells"}, `Term "Cells" not found in lexicon.`},
		"search_lexicon":        {map[string]any{"keyword": "cells"}, `"results":[`},
		"list_groups":           {nil, `"name":"governance","documents":1`},
		"list_releases":         {map[string]any{}, `"releases":[]`},
	} {
		if _, text, failed := answered(t, s, name, test.args); failed || !strings.Contains(text, test.want) {
			t.Errorf("%s answers %t %s, want %s", name, failed, text, test.want)
		}
	}
	for name, test := range map[string]struct {
		tool string
		args any
		code ubl.Code
	}{
		"no question":         {"search_knowledge", map[string]any{}, ubl.CodeValidation},
		"blanks":              {"search_knowledge", map[string]any{"query": " "}, ubl.CodeValidation},
		"too many":            {"search_knowledge", map[string]any{"query": "a", "filters": map[string]any{"limit": 21}}, ubl.CodeValidation},
		"none":                {"search_knowledge", map[string]any{"query": "a", "filters": map[string]any{"limit": 0}}, ubl.CodeValidation},
		"a filter of its own": {"search_knowledge", map[string]any{"query": "a", "filters": map[string]any{"path": "x"}}, ubl.CodeValidation},
		"a limit as text":     {"search_knowledge", map[string]any{"query": "a", "filters": map[string]any{"limit": "5"}}, ubl.CodeValidation},
		"a type that is none": {"search_knowledge", map[string]any{"query": "a", "filters": map[string]any{"contentType": "../x"}}, ubl.CodeValidation},
		"no such document":    {"get_document", map[string]any{"contentType": "pattern", "id": "none"}, ubl.CodeNotFound},
		"a document outside":  {"get_document", map[string]any{"contentType": "pattern", "id": "../cells"}, ubl.CodeValidation},
		"no term":             {"define_term", map[string]any{"term": ""}, ubl.CodeValidation},
	} {
		got, text, failed := answered(t, s, test.tool, test.args)
		if problem, _ := got["error"].(map[string]any); !failed || problem["code"] != string(test.code) || text != problem["message"] {
			t.Errorf("%s: answered %t %v %s", name, failed, got, text)
		}
	}
}

// TestResourcesOfACommons: the four, documents by a template, and nothing else; the prompts name the commons.
func TestResourcesOfACommons(t *testing.T) {
	house := newHouse()
	h := New(Options{Asker: house, Feed: house})
	t.Cleanup(h.Close)
	s := visiting(t, h, handbook+"/mcp")
	listed, err := s.ListResources(t.Context(), nil)
	if err != nil || len(listed.Resources) != 4 {
		t.Fatalf("listed are %+v, %v", listed, err)
	}
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "mcp://handbook/entries/{contentType}/{id}" {
		t.Errorf("the templates are %+v, %v", templates, err)
	}
	for uri, want := range map[string]string{
		"mcp://handbook/prompts/knowledge-search":            `the knowledge commons "Handbook"`,
		"mcp://handbook/data/ontology":                       `"name":"pattern","description":`,
		"mcp://handbook/data/groups":                         `{"groups":[{"name":"governance","documents":1}`,
		"mcp://handbook/data/releases":                       `{"releases":[]}`,
		"mcp://handbook/entries/pattern/cell%20governance":   `"content":"Be small."`,
		"mcp://handbook/entries/pattern/none":                "",
		"mcp://handbook/entries/pattern/..%2F..%2Fdocuments": "",
		"mcp://other/data/ontology":                          "",
	} {
		got, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if want == "" {
			if err == nil {
				t.Errorf("%s reads as %s", uri, got.Contents[0].Text)
			}
			continue
		}
		if err != nil || !strings.Contains(got.Contents[0].Text, want) {
			t.Errorf("%s reads as %+v, %v", uri, got, err)
		}
	}
	for name, args := range map[string]map[string]string{"research-topic": {"topic": "cells", "depth": "deep"}, "explain-pattern": {"pattern": "cells"}, "compare-practices": {"practice1": "cells", "practice2": "circles"}} {
		got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := got.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(text, `"cells"`) || !strings.Contains(text, `"Handbook"`) || !strings.Contains(text, "search_knowledge") {
			t.Errorf("%s says %s", name, text)
		}
		if _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name}); err == nil {
			t.Errorf("%s takes no arguments", name)
		}
	}
}

// TestTiersOfACommons is the table of tools by what the terms show to anyone: a refusal names the tier
// that is needed and the caller's.
func TestTiersOfACommons(t *testing.T) {
	args := map[string]any{
		"search_knowledge": map[string]any{"query": "a"}, "search_with_documents": map[string]any{"query": "a"}, "get_document": map[string]any{"contentType": "pattern", "id": "cell governance"},
		"define_term": map[string]any{"term": "a"}, "search_lexicon": map[string]any{"keyword": "a"}, "list_groups": nil, "list_releases": nil,
	}
	for name, test := range map[string]struct {
		access  ubl.KnowledgeAccess
		refused []string
	}{
		"all is open":        {ubl.KnowledgeAccess{Search: ubl.TierOpen, Entries: ubl.TierOpen}, nil},
		"documents are not":  {ubl.KnowledgeAccess{Search: ubl.TierOpen, Entries: ubl.TierMembers}, []string{"define_term", "get_document", "search_lexicon", "search_with_documents"}},
		"searches are not":   {ubl.KnowledgeAccess{Search: ubl.TierMembers, Entries: ubl.TierOpen}, []string{"define_term", "search_knowledge", "search_lexicon", "search_with_documents"}},
		"lists alone are so": {ubl.KnowledgeAccess{Search: ubl.TierMembers, Entries: ubl.TierMembers}, []string{"define_term", "get_document", "search_knowledge", "search_lexicon", "search_with_documents"}},
	} {
		house := newHouse()
		house.access = test.access
		h := New(Options{Asker: house, Feed: house})
		s := visiting(t, h, handbook+"/mcp")
		var refused []string
		for tool, given := range args {
			got, text, failed := answered(t, s, tool, given)
			if !failed {
				continue
			}
			refused = append(refused, tool)
			problem, _ := json.Marshal(got["error"])
			if text != "Requires members access. Current: open." || !strings.Contains(string(problem), `"currentTier":"open"`) || !strings.Contains(string(problem), `"requiredTier":"members"`) {
				t.Errorf("%s: %s is refused by %s, %s", name, tool, text, problem)
			}
		}
		if slices.Sort(refused); !slices.Equal(refused, test.refused) {
			t.Errorf("%s: refused are %q, want %q", name, refused, test.refused)
		}
		h.Close()
	}
}

// call posts one message.
func call(h http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestAgentsWayIn: from any page, by POST alone, to what is public alone; an identity changes nothing.
func TestAgentsWayIn(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	house := newHouse()
	h := New(Options{Asker: house, Feed: house, Host: "docs.example.com"})
	t.Cleanup(h.Close)
	at := handbook + "/mcp"
	plain := call(h, at, list)
	as := call(h, at, list, "Origin", "https://evil.example", "Authorization", "Bearer s3cr3t", "Cookie", "ubl=s3cr3t", "Mcp-Session-Id", "x")
	if plain.Code != 200 || as.Code != 200 || plain.Body.String() != as.Body.String() || !strings.Contains(plain.Body.String(), "search_knowledge") {
		t.Errorf("answered %d %s, and with an identity %d %s", plain.Code, plain.Body, as.Code, as.Body)
	}
	for name, want := range map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "", "Set-Cookie": "", "Content-Type": "application/json", "Cache-Control": "no-cache, no-transform", "Mcp-Session-Id": ""} {
		if got := as.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for what, test := range map[string]struct {
		w      *httptest.ResponseRecorder
		status int
	}{
		"by its host":               {call(h, "http://docs.example.com/t:acme/k:handbook/mcp", list), 200},
		"a container that isn't":    {call(h, "/public/t:acme/k:secret/mcp", list), 404},
		"another tenant":            {call(h, "/public/t:nobody/k:handbook/mcp", list), 404},
		"below it":                  {call(h, at+"/x", list), 405},
		"another path":              {call(h, handbook+"/documents", list), 405},
		"a stream":                  {do(h, "GET", at), 405},
		"the end of a session":      {do(h, "DELETE", at), 405},
		"what a page may ask":       {do(h, "OPTIONS", at), 204},
		"no JSON":                   {call(h, at, "{"), 400},
		"a form":                    {call(h, at, list, "Content-Type", "text/plain"), 415},
		"too long":                  {call(h, at, `"`+strings.Repeat("x", 300<<10)+`"`), 413},
		"a version that was never":  {call(h, at, list, "Mcp-Protocol-Version", "2020-01-01"), 400},
		"the newest version's list": {call(h, at, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"), 200},
	} {
		if test.w.Code != test.status {
			t.Errorf("%s is answered %d %s, want %d", what, test.w.Code, test.w.Body, test.status)
		}
	}
	if w := do(h, "OPTIONS", at); w.Header().Get("Access-Control-Allow-Methods") != "POST" || !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version") {
		t.Errorf("pages are told %v", w.Header())
	}
}

// TestAgentsAreLimited: each message counts, and what no copy answers counts once more.
func TestAgentsAreLimited(t *testing.T) {
	var reads, asks atomic.Int64 // a batch is answered by several goroutines
	var full error
	house := newHouse()
	h := New(Options{Asker: house, Feed: house, Count: func(*http.Request) (func() error, error) {
		reads.Add(1)
		return func() error { asks.Add(1); return full }, nil
	}})
	t.Cleanup(h.Close)
	const search = `{"jsonrpc":"2.0","id":%,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"small"}}}`
	one := func(id string) string { return strings.ReplaceAll(search, "%", id) }
	for range 2 { // the first has the house listened to
		call(h, handbook+"/mcp", one("1"))
	}
	reads.Store(0)
	asks.Store(0)
	if w := call(h, handbook+"/mcp", one("1")); w.Code != 200 || reads.Load() != 1 || asks.Load() != 1 {
		t.Errorf("a search is answered %d %s, %d reads and %d asked", w.Code, w.Body, reads.Load(), asks.Load())
	}
	reads.Store(0)
	asks.Store(0)
	if w := call(h, handbook+"/mcp", "["+one("1")+","+one("2")+","+one("3")+"]", "Mcp-Protocol-Version", "2025-03-26"); w.Code != 200 || reads.Load() != 3 || asks.Load() != 3 {
		t.Errorf("three in a batch are answered %d %s, %d reads and %d asked", w.Code, w.Body, reads.Load(), asks.Load())
	}
	full = ubl.Errorf(ubl.CodeRateLimited, "too much")
	if w := call(h, handbook+"/mcp", one("1")); !strings.Contains(w.Body.String(), `"isError":true`) || !strings.Contains(w.Body.String(), `"rate_limited"`) {
		t.Errorf("beyond the limit it is answered %d %s", w.Code, w.Body)
	}
	full = nil
	house.mu.Lock()
	house.failed = errors.New("gone")
	house.mu.Unlock()
	if w := call(h, handbook+"/mcp", one("1")); strings.Contains(w.Body.String(), "gone") || !strings.Contains(w.Body.String(), `"isError":true`) && w.Code < 500 {
		t.Errorf("a failure is answered %d %s", w.Code, w.Body)
	}
}
