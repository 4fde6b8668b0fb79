package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/events"
	"ubl/test/poll"
)

// upstream is a server of tools that ask, take long and fail, in either era of the protocol.
func upstream(t *testing.T, modern bool) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "upstream", Version: "1"}, nil)
	question := &sdk.ElicitParams{Mode: "form", Message: "Who are you?", RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"color":{"type":"string","enum":["red","green"]}},"required":["name"]}`)}
	says := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	greet := func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var got *sdk.ElicitResult
		if modern {
			replies := r.Params.InputResponses
			if replies == nil {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": question}, RequestState: "theirs"}, nil
			}
			got, _ = replies["who"].(*sdk.ElicitResult)
		} else {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(t.Context(), cancel)()
			var err error
			if got, err = r.Session.Elicit(ctx, question); err != nil {
				return nil, err
			}
		}
		return says(fmt.Sprintf("%s: hello, %v", got.Action, got.Content["name"])), nil
	}
	slow := func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(7 * time.Second): // longer than a client that knows tasks is kept waiting
		}
		return says("done at last"), nil
	}
	for name, fn := range map[string]sdk.ToolHandler{"greet": greet, "slow": slow} {
		s.AddTool(&sdk.Tool{Name: name, Description: "For tests.", InputSchema: json.RawMessage(`{"type":"object"}`)}, fn)
	}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: modern})
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// api asks for an operation as ana.
func (p *program) api(t *testing.T, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.address+"/api"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s = %d %s", method, path, res.StatusCode, answer)
	}
	return string(answer)
}

// knows adds servers, and opens tools of them to everyone.
func (p *program) knows(t *testing.T, servers map[string]string, tools ...string) {
	t.Helper()
	for id, url := range servers {
		p.api(t, "POST", "/portal/servers", fmt.Sprintf(`{"server_id":%q,"name":%q,"url":%q}`, id, id, url))
		poll.Until(t, id+" has told its tools", func() bool {
			return !strings.Contains(p.api(t, "GET", "/portal/servers", ""), `"status":"new"`)
		})
		for _, tool := range tools {
			p.api(t, "PUT", "/portal/tools/"+id+"."+tool+"/access", `{"allowed":true}`)
		}
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// visitor is a client of the go-sdk, whose person answers each question so.
func visitor(t *testing.T, url string, token bearer, version string, person func(*sdk.ElicitParams) *sdk.ElicitResult) *sdk.ClientSession {
	t.Helper()
	o := &sdk.ClientOptions{}
	if person != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return person(r.Params), nil }
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "visitor", Version: "1"}, o)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: token}}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// spoken are the texts of a result.
func spoken(t *testing.T, r *sdk.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			b.WriteString(c.Text + "\n")
		}
	}
	return b.String()
}

var revisions = []string{"2025-11-25", "2026-07-28"}

// TestQuestions: a question of another server's comes to the person in front of the client that
// has called, and the reply to the server, whatever era each of the two speaks; and each message
// may reach another node.
func TestQuestions(t *testing.T) {
	servers := map[string]string{"old": upstream(t, false), "new": upstream(t, true)}
	for name, open := range map[string]func(*testing.T) []*program{
		"one node": func(t *testing.T) []*program {
			p := prepare(t, product, "--owner", "ana@acme.com")
			p.serve(t)
			p.signIn(t)
			return []*program{p}
		},
		"two nodes": func(t *testing.T) []*program { return startCluster(t, "--owner", "ana@acme.com") },
	} {
		t.Run(name, func(t *testing.T) {
			nodes := open(t)
			nodes[0].knows(t, servers, "greet", "slow", "elicitation")
			at := front(t, nodes...) + "/portal/mcp"
			for _, revision := range revisions {
				for id := range servers {
					t.Run(revision+" to "+id, func(t *testing.T) {
						asked := ""
						s := visitor(t, at, "", revision, func(p *sdk.ElicitParams) *sdk.ElicitResult {
							asked = p.Message
							return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ana", "age": 44.0}}
						})
						r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: id + ".greet", Arguments: map[string]any{}})
						if got := spoken(t, r, err); !strings.Contains(got, "accept: hello, Ana") {
							t.Errorf("the tool answered %s", got)
						}
						if !strings.HasPrefix(asked, fmt.Sprintf("[Question of the server %q", id)) || !strings.HasSuffix(asked, "Who are you?") {
							t.Errorf("the person was asked %q", asked)
						}
						shut := visitor(t, at, "", revision, func(*sdk.ElicitParams) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "decline"} })
						r, err = shut.CallTool(t.Context(), &sdk.CallToolParams{Name: id + ".greet", Arguments: map[string]any{}})
						if got := spoken(t, r, err); !strings.Contains(got, "decline: hello, <nil>") {
							t.Errorf("declined, the tool answered %s", got)
						}
						mute := visitor(t, at, "", revision, nil)
						r, err = mute.CallTool(t.Context(), &sdk.CallToolParams{Name: id + ".greet", Arguments: map[string]any{}})
						if got := spoken(t, r, err); strings.Contains(got, "hello") || !r.IsError {
							t.Errorf("to a client that can't ask, the tool answered %s", got)
						}
					})
				}
			}
		})
	}
}

// rpc is one request of a client that speaks JSON-RPC by hand.
func rpc(t *testing.T, url, revision, method, params string, headers ...string) (result map[string]any, problem map[string]any) {
	t.Helper()
	name := ""
	if revision == "2026-07-28" {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hand","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
		params = strings.TrimSuffix("{"+meta+","+strings.TrimPrefix(params, "{"), ",}")
		var p struct {
			Name string
			Task string `json:"taskId"`
		}
		if err := json.Unmarshal([]byte(params), &p); err != nil {
			t.Fatal(err)
		}
		name = p.Name + p.Task
	}
	headers = append(headers, "MCP-Protocol-Version", revision, "Mcp-Method", method)
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	res, body := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, headers...)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		for e := range events.All(bytes.NewReader(body)) { // the last is the answer
			body = []byte(e.Data)
		}
	}
	var answer struct{ Result, Error map[string]any }
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s answered %d %s", method, res.StatusCode, body)
	}
	return answer.Result, answer.Error
}

// post sends a message, and reads the answer to its end.
func post(t *testing.T, url, message string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// text is JSON for a look.
func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestTasks: a call that takes long is a task, whose status and answer are there on every node,
// and which its caller can cancel; in 2025-11-25 where the client says so, in 2026-07-28 by itself.
func TestTasks(t *testing.T) {
	nodes := startCluster(t, "--owner", "ana@acme.com")
	nodes[0].knows(t, map[string]string{"old": upstream(t, false)}, "greet", "slow", "elicitation")
	at := front(t, nodes...) + "/portal/mcp"
	until := func(t *testing.T, revision, task, status string) (last map[string]any) {
		t.Helper()
		poll.Until(t, task+" is "+status, func() bool {
			var problem map[string]any
			if last, problem = rpc(t, at, revision, "tasks/get", `{"taskId":"`+task+`"}`); problem != nil {
				t.Fatalf("tasks/get: %s", text(problem))
			}
			return last["status"] == status
		})
		return last
	}
	t.Run("2025-11-25", func(t *testing.T) {
		begin := func(tool string) string {
			got, problem := rpc(t, at, "2025-11-25", "tools/call", `{"name":"`+tool+`","arguments":{},"task":{"ttl":600000}}`)
			task, ok := got["task"].(map[string]any)
			if !ok || task["status"] != "working" || task["ttl"] != 600000.0 {
				t.Fatalf("%s was answered %s %s", tool, text(got), text(problem))
			}
			return task["taskId"].(string)
		}
		slow, stopped := begin("old.slow"), begin("old.slow")
		if got, problem := rpc(t, at, "2025-11-25", "tasks/cancel", `{"taskId":"`+stopped+`"}`); got["status"] != "cancelled" {
			t.Errorf("cancelled, it is %s %s", text(got), text(problem))
		}
		if _, problem := rpc(t, at, "2025-11-25", "tasks/cancel", `{"taskId":"`+stopped+`"}`); problem["code"] != -32602.0 {
			t.Errorf("cancelled twice, it is %s", text(problem))
		}
		got, problem := rpc(t, at, "2025-11-25", "tasks/result", `{"taskId":"`+slow+`"}`)
		if !strings.Contains(text(got), "done at last") || !strings.Contains(text(got), `"io.modelcontextprotocol/related-task":{"taskId":"`+slow+`"}`) {
			t.Errorf("the result is %s %s", text(got), text(problem))
		}
		until(t, "2025-11-25", slow, "completed")
		if got, _ := rpc(t, at, "2025-11-25", "tasks/list", `{}`); !strings.Contains(text(got), slow) || !strings.Contains(text(got), stopped) {
			t.Errorf("the list is %s", text(got))
		}
		if _, problem := rpc(t, at, "2025-11-25", "tasks/get", `{"taskId":"call-99999"}`); problem["code"] != -32602.0 {
			t.Errorf("a task that isn't there: %s", text(problem))
		}
		if _, problem := rpc(t, at, "2025-11-25", "tools/call", `{"name":"messenger.list_rooms","arguments":{},"task":{}}`); problem["code"] != -32601.0 {
			t.Errorf("a tool that is no task's: %s", text(problem))
		}
		run, problem := rpc(t, at, "2025-11-25", "tools/call", `{"name":"tool.run","arguments":{"program":"return (await tools.messenger.list_rooms({})).rooms.length"},"task":{}}`)
		if run == nil {
			t.Fatalf("a program is no task: %s", text(problem))
		}
		id := run["task"].(map[string]any)["taskId"].(string)
		if got, problem := rpc(t, at, "2025-11-25", "tasks/result", `{"taskId":"`+id+`"}`); !strings.Contains(text(got), `"result":1`) {
			t.Errorf("the program's result is %s %s", text(got), text(problem))
		}
	})
	t.Run("2026-07-28", func(t *testing.T) {
		got, problem := rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.slow","arguments":{}}`)
		if got["resultType"] != "task" || got["status"] != "working" {
			t.Fatalf("a call that takes long was answered %s %s", text(got), text(problem))
		}
		done := until(t, "2026-07-28", got["taskId"].(string), "completed")
		if !strings.Contains(text(done["result"]), "done at last") || done["resultType"] != "complete" {
			t.Errorf("it came to %s", text(done))
		}
		got, _ = rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.slow","arguments":{}}`)
		id, _ := got["taskId"].(string)
		if got, problem := rpc(t, at, "2026-07-28", "tasks/cancel", `{"taskId":"`+id+`"}`); problem != nil || got["resultType"] != "complete" {
			t.Errorf("cancelling was answered %s %s", text(got), text(problem))
		}
		until(t, "2026-07-28", id, "cancelled")
		asks, _ := rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.greet","arguments":{}}`)
		if asks["resultType"] != "input_required" {
			t.Fatalf("a tool that asks was answered %s", text(asks))
		}
		state := asks["requestState"].(string)
		replies := `,"inputResponses":{"q1":{"action":"accept","content":{"name":"Ana"}}}`
		if _, problem := rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.greet","arguments":{"other":1},"requestState":"`+state+`"`+replies+`}`); problem["code"] != -32602.0 {
			t.Errorf("a state with another call was answered %s", text(problem))
		}
		for range 2 { // the second finds it answered
			got, problem = rpc(t, at, "2026-07-28", "tools/call", `{"name":"old.greet","arguments":{},"requestState":"`+state+`"`+replies+`}`)
			if !strings.Contains(text(got), "accept: hello, Ana") {
				t.Errorf("the reply was answered %s %s", text(got), text(problem))
			}
		}
	})
}

// TestQuestionsToTypeScript: both official TypeScript clients show a person the question, and hand
// the reply on.
func TestQuestionsToTypeScript(t *testing.T) {
	box := tools(t)
	p := prepare(t, product, "--owner", "ana@acme.com")
	p.serve(t)
	p.signIn(t)
	servers := map[string]string{"old": upstream(t, false), "new": upstream(t, true)}
	p.knows(t, servers, "greet", "elicitation")
	for _, which := range []string{"sdk", "client"} {
		for id := range servers {
			t.Run(which+" to "+id, func(t *testing.T) {
				out, code := box.run(t, box.script(t, "form.mjs"), "http://"+p.address+"/portal/mcp", p.token, which, id+".greet")
				var got struct {
					Asked  []string
					Answer string
				}
				if err := json.Unmarshal([]byte(lastLine(out)), &got); err != nil || code != 0 {
					t.Fatalf("ended with %d: %s", code, out)
				}
				if len(got.Asked) != 1 || !strings.Contains(got.Asked[0], "Who are you?") || !strings.Contains(got.Answer, "accept: hello, Ana") {
					t.Errorf("heard %+v", got)
				}
			})
		}
	}
}

// TestTaskAsks: a task of 2025-11-25 whose tool asks waits as input_required; its client sees the
// question on the stream of tasks/result, and its reply lets the task end.
func TestTaskAsks(t *testing.T) {
	p := prepare(t, product, "--owner", "ana@acme.com")
	p.serve(t)
	p.signIn(t)
	p.knows(t, map[string]string{"old": upstream(t, false)}, "greet", "elicitation")
	session := ""
	post := func(body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+p.address+"/portal/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+p.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("MCP-Protocol-Version", "2025-11-25")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	whole := func(res *http.Response) string {
		t.Helper()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	hello := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"hand","version":"1"}}}`)
	session = hello.Header.Get("Mcp-Session-Id")
	if said := whole(hello); !strings.Contains(said, `"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}`) && !strings.Contains(said, `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`) {
		t.Errorf("initialize tells %s", said)
	}
	if list := whole(post(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)); !strings.Contains(list, `{"execution":{"taskSupport":"optional"}`) {
		t.Errorf("no tool can be a task: %s", list)
	}
	var made struct {
		Result struct{ Task struct{ TaskID string } }
	}
	if err := json.Unmarshal([]byte(whole(post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"old.greet","arguments":{},"task":{}}}`))), &made); err != nil || made.Result.Task.TaskID == "" {
		t.Fatalf("no task is made: %v", err)
	}
	id := made.Result.Task.TaskID
	poll.Until(t, "the task asks", func() bool {
		return strings.Contains(whole(post(`{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":"`+id+`"}}`)), `"status":"input_required"`)
	})
	stream := events.NewReader(post(`{"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":"` + id + `"}}`).Body)
	event := func() string {
		t.Helper()
		for e, ok := stream.Next(); ok; e, ok = stream.Next() {
			if e.Data != "" {
				return e.Data
			}
		}
		t.Fatal("the stream ends")
		return ""
	}
	var question struct {
		ID, Method string
		Params     struct {
			Meta map[string]struct{ TaskID string } `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(event()), &question); err != nil || question.Method != "elicitation/create" || question.Params.Meta["io.modelcontextprotocol/related-task"].TaskID != id {
		t.Fatalf("the client is asked %+v, %v", question, err)
	}
	if res := post(`{"jsonrpc":"2.0","id":"` + question.ID + `","result":{"action":"accept","content":{"name":"Ana"}}}`); res.StatusCode != http.StatusAccepted {
		t.Errorf("the reply was answered %d", res.StatusCode)
	}
	if last := event(); !strings.Contains(last, "accept: hello, Ana") || !strings.Contains(last, id) {
		t.Errorf("the task came to %s", last)
	}
}
