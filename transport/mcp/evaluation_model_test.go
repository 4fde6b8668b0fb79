package mcp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl/gateway"
)

// The model of TestEvaluationByAModel. These variables are read by the test alone:
//
//	UBL_EVAL_MODEL  the model's name; without it the test is left out
//	UBL_EVAL_URL    where it answers chat completions; https://api.openai.com/v1 by default
//	UBL_EVAL_KEY    the API key, where it wants one
const (
	evalModel = "UBL_EVAL_MODEL"
	evalURL   = "UBL_EVAL_URL"
	evalKey   = "UBL_EVAL_KEY"
)

// foundByModel is how many of the tasks a model must find a right tool for, in a hundred.
const foundByModel = 90

// TestEvaluationByAModel has a model choose, from the tools that are listed by default and
// what tool_search finds. Among the first three tools that it calls one must be right:
// a model looks up a room before it writes there.
func TestEvaluationByAModel(t *testing.T) {
	name := os.Getenv(evalModel)
	if name == "" {
		t.Skip("no model is at hand: " + evalModel + " names none")
	}
	url := os.Getenv(evalURL)
	if url == "" {
		url = "https://api.openai.com/v1"
	}
	m := newEvaluated(t, evaluationWorld(t), name, url, os.Getenv)
	all := slices.Concat(tasks, fresh)
	if found := measure(t, all, func(said string) []string { return m.choose(t, said) }); 100*found < foundByModel*len(all) {
		t.Errorf("%s finds a right tool for %d of %d tasks, want %d in a hundred", name, found, len(all), foundByModel)
	}
}

// evaluated is a model with the tools that a client of ours shows it.
type evaluated struct {
	w       *world
	gateway *gateway.Gateway
	name    string
	tools   []gateway.Tool
}

// evalClient is a client to whom tools are spelled as models take them.
const evalClient = "claude-ai"

func newEvaluated(t *testing.T, w *world, name, url string, env func(string) string) *evaluated {
	t.Helper()
	provider := gateway.Provider{Name: "evaluation", URL: url, Timeout: time.Minute}
	if env(evalKey) != "" {
		provider.KeyVariable = evalKey
	}
	g, err := gateway.New(gateway.Options{Config: gateway.Config{Providers: []gateway.Provider{provider}}, Env: env, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	m := &evaluated{w: w, gateway: g, name: name}
	session := w.begin(t, w.url+"/portal/mcp", "ana", evalClient)
	a := w.do(t, "POST", w.url+"/portal/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", session)
	var list struct {
		Result struct {
			Tools []struct {
				Name, Description string
				InputSchema       json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Result.Tools {
		m.tools = append(m.tools, gateway.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.InputSchema})
	}
	return m
}

// choose answers the first three tools that the model calls, in their dotted form, but those
// that only find others.
func (m *evaluated) choose(t *testing.T, said string) (names []string) {
	t.Helper()
	messages := []gateway.Message{{Role: gateway.RoleUser, Content: "You work for ana@acme.com with the tools that you have. " +
		"Do what she asks with as few calls as you can. Make ids up where you can't look them up. She says: " + said}}
	for range 6 {
		a, err := m.gateway.Complete(t.Context(), gateway.Request{Tenant: ana.TenantID, Model: m.name, Messages: messages, MaxTokens: 2000, Tools: m.tools, ToolChoice: gateway.ChooseAuto}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.ToolCalls) == 0 {
			return names
		}
		messages = append(messages, gateway.Message{Role: gateway.RoleAssistant, Content: a.Text, ToolCalls: a.ToolCalls})
		for _, call := range a.ToolCalls {
			if tool := m.meant(call); tool != "" {
				names = append(names, tool)
			}
			if len(names) == among {
				return names
			}
			messages = append(messages, gateway.Message{Role: gateway.RoleTool, ToolCallID: call.ID, Content: m.answer(t, call)})
		}
	}
	return names
}

// meant is the tool that a call is about; "" for one that only finds others.
func (m *evaluated) meant(call gateway.ToolCall) string {
	var in struct{ Name string }
	switch call.Name {
	case "tool_search", "tool_describe":
		return ""
	case "tool_call":
		_ = json.Unmarshal([]byte(call.Arguments), &in) // what can't be read names nothing
		return dotted(in.Name)
	}
	return dotted(call.Name)
}

// dotted is the name of a tool of ours, or of others, in its own form.
func dotted(name string) string {
	for _, task := range slices.Concat(tasks, fresh) {
		for _, tool := range task.tools {
			if strings.ReplaceAll(tool, ".", "_") == name {
				return tool
			}
		}
	}
	return name
}

// answer is what the server answers to a call: to those that look, since the others would
// change what later tasks find.
func (m *evaluated) answer(t *testing.T, call gateway.ToolCall) string {
	t.Helper()
	reads := []string{"tool_search", "tool_describe", "messenger_list_rooms", "messenger_history", "office_workspace_list", "office_document_search", "user_whoami"}
	if !slices.Contains(reads, call.Name) {
		return `{"done":true}`
	}
	if !json.Valid([]byte(call.Arguments)) {
		return "The arguments are no JSON."
	}
	return m.w.use(t, "/portal/mcp", "ana", evalClient, call.Name, call.Arguments).body
}

// TestAModelIsAskedWhole: the evaluation's own way, with a model that searches for the
// task's words and calls the first tool that was found.
func TestAModelIsAskedWhole(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer sk-of-the-test" {
			t.Errorf("the model is asked with %v, %v", r.Header, err)
		}
		call := `"name":"tool_search","arguments":"{\"query\":\"log me out on all devices\",\"limit\":1}"`
		if strings.Contains(string(body), `platform_token_revoke_all`) { // was found
			call = `"name":"tool_call","arguments":"{\"name\":\"platform_token_revoke_all\",\"arguments\":{}}"`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{`+call+`}}]},"finish_reason":"tool_calls"}]}`)
	}))
	t.Cleanup(provider.Close)
	m := newEvaluated(t, evaluationWorld(t), "scripted", provider.URL, func(name string) string {
		return map[string]string{evalKey: "sk-of-the-test"}[name]
	})
	if got := m.choose(t, "Log me out on all devices"); !slices.Contains(got, "platform.token.revoke_all") {
		t.Errorf("chosen: %v", got)
	}
	if got := len(m.tools); got < 10 || got > 15 {
		t.Errorf("the model is shown %d tools", got)
	}
}
