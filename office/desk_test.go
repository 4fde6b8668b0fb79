package office_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"ubl"
	"ubl/gateway"
	"ubl/office"
	"ubl/test/harness"
)

// desk is an office over the real actors and the real gateway, a provider that
// answers by a script, and tools that the test has.
type desk struct {
	*harness.House
	t        *testing.T
	ana      ubl.Identity
	office   *office.Office
	provider *provider
	tools    *tools
	config   gateway.Config
}

func openDesk(t *testing.T, checks gateway.Checks) *desk {
	d := &desk{House: harness.Open(t, harness.Options{}), t: t, ana: harness.User("ana@example.com"), provider: &provider{}, tools: &tools{}}
	d.Enter(d.ana)
	s := httptest.NewServer(d.provider)
	t.Cleanup(s.Close)
	d.config = gateway.Config{
		Providers: []gateway.Provider{{Name: "scripted", URL: s.URL, PromptPrice: 1_000_000, CompletionPrice: 2_000_000}}, Checks: checks,
	}
	d.office = d.with(d.House)
	return d
}

// with makes an office as another node would have one.
func (d *desk) with(asker ubl.Asker) *office.Office { return d.open(d.config, asker) }

// open makes an office with a gateway of its own.
func (d *desk) open(c gateway.Config, asker ubl.Asker) *office.Office {
	d.t.Helper()
	models, err := gateway.New(gateway.Options{Config: c, Now: d.Clock.Now})
	if err != nil {
		d.t.Fatal(err)
	}
	return office.New(office.Options{Asker: asker, Models: models, Tools: d.tools, Now: d.Clock.Now, Random: rand.Reader})
}

// request asks in the general workspace.
func (d *desk) request(prompt string, tools ...string) ubl.CompleteRequest {
	return ubl.CompleteRequest{Request: d.Request(d.ana), WorkspaceID: ubl.GeneralWorkspace, Prompt: prompt, MaxTokens: 100, Tools: tools}
}

// complete asks and wants an answer.
func (d *desk) complete(r ubl.CompleteRequest) *ubl.Completion {
	d.t.Helper()
	c, err := d.office.Complete(context.Background(), r, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// head is how far the ledger is.
func (d *desk) head() int64 {
	d.t.Helper()
	return harness.Must[ubl.LedgerHead](d.House, ubl.LedgerName(d.ana.TenantID), ubl.GetLedgerHead{}).Seq
}

// atom is what the tests look at in an atom.
type atom struct {
	Kind        string           `json:"kind"`
	Did         string           `json:"did"`
	Status      string           `json:"status"`
	AgreementID string           `json:"agreement_id"`
	This        map[string]any   `json:"this"`
	Outcome     string           `json:"outcome"`
	Effects     []map[string]any `json:"effects"`
	Error       *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// pair is the action and the effect of a receipt; the effect is empty where there
// is none yet.
func (d *desk) pair(seq int64) (action, effect atom) {
	d.t.Helper()
	p := harness.Must[*ubl.ReceiptPair](d.House, ubl.LedgerName(d.ana.TenantID), ubl.GetReceipt{Seq: seq})
	for i, into := range []*atom{&action, &effect}[:len(p.Atoms)] {
		if err := json.Unmarshal(p.Atoms[i], into); err != nil {
			d.t.Fatal(err)
		}
	}
	return action, effect
}

// newest is the pair of the newest call in the portal's log.
func (d *desk) newest() (action, effect atom) {
	d.t.Helper()
	page := harness.Must[*ubl.CallPage](d.House, ubl.PortalName(d.ana.TenantID), ubl.ReadCalls{Who: d.ana, Limit: 1})
	if len(page.Calls) == 0 || page.Calls[0].Receipt == nil {
		d.t.Fatal("nothing is on record")
	}
	return d.pair(page.Calls[0].Receipt.Seq)
}

// provider answers with the messages of its script, one after the other, and
// remembers what it was asked. It is no faster than its gate.
type provider struct {
	mu     sync.Mutex
	script []string
	asked  []map[string]any
	gate   func(r *http.Request) // nil for none
}

// ServeHTTP implements [http.Handler].
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	_, _ = io.Copy(io.Discard, r.Body)
	p.mu.Lock()
	gate := p.gate
	p.asked = append(p.asked, body)
	answer := `{"content":"Hi there"}`
	if n := len(p.asked); n <= len(p.script) {
		answer = p.script[n-1]
	}
	p.mu.Unlock()
	if gate != nil {
		gate(r)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"choices":[{"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, answer)
}

func (p *provider) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// wants is a message that calls tools, written as name and arguments.
func wants(text string, calls ...string) string {
	var list []map[string]any
	for i := 0; i < len(calls); i += 2 {
		list = append(list, map[string]any{
			"id": fmt.Sprintf("c%d", i/2), "type": "function", "function": map[string]any{"name": calls[i], "arguments": calls[i+1]},
		})
	}
	data, _ := json.Marshal(map[string]any{"content": text, "tool_calls": list})
	return string(data)
}

// tools are those of a test, by name. Safe for concurrent use.
type tools struct {
	mu    sync.Mutex
	does  map[string]func(ctx context.Context, args string) (*ubl.ToolResult, error)
	calls []toolCall
}

type toolCall struct {
	req          ubl.Request
	tool, parent string
	args         string
}

// List implements [office.Tools].
func (s *tools) List(context.Context, ubl.Identity) ([]office.Tool, error) {
	var list []office.Tool
	for name := range s.does {
		list = append(list, office.Tool{Name: name, Description: "does " + name, Input: json.RawMessage(`{"type":"object"}`)})
	}
	return list, nil
}

// Call implements [office.Tools].
func (s *tools) Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, parent string) (*ubl.ToolResult, error) {
	s.mu.Lock()
	s.calls = append(s.calls, toolCall{req, tool, parent, string(args)})
	s.mu.Unlock()
	does := s.does[tool]
	if does == nil {
		return nil, ubl.NoTool()
	}
	return does(ctx, string(args))
}

// text is a tool that answers a text.
func text(t string) func(context.Context, string) (*ubl.ToolResult, error) {
	return func(context.Context, string) (*ubl.ToolResult, error) {
		content, _ := json.Marshal([]map[string]string{{"type": "text", "text": t}})
		return &ubl.ToolResult{Content: content}, nil
	}
}

// code is an error's, "ok" for none.
func code(err error) string { return cmp.Or(string(ubl.CodeOf(err)), "ok") }
