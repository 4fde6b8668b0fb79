package gateway_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/gateway"
	"ubl/office"
	"ubl/test/harness"
)

// TestAimock runs everything against one server.
func TestAimock(t *testing.T) {
	url := start(t)
	t.Run("an answer", func(t *testing.T) { testAnswer(t, url) })
	t.Run("faults", func(t *testing.T) { testFaults(t, url) })
	t.Run("fallback", func(t *testing.T) { testFallback(t, url) })
	t.Run("wrong key", func(t *testing.T) { testWrongKey(t, url) })
	t.Run("office", func(t *testing.T) { testOffice(t, url) })
}

// provider is the server under a name, where every model is called as given; *
// for as it is asked for.
func provider(name, url, model string) gateway.Provider {
	return gateway.Provider{Name: name, URL: url, KeyVariable: "KEY", Models: map[string]string{"*": model}, PromptPrice: 1_000_000}
}

func open(t *testing.T, key string, providers ...gateway.Provider) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Options{
		Config: gateway.Config{Providers: providers}, Now: time.Now, Env: func(string) string { return key },
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func hello() gateway.Request {
	return gateway.Request{
		Tenant: "t:example.com", Model: "gpt-4", MaxTokens: 100, Messages: []gateway.Message{{Role: gateway.RoleUser, Content: "hello"}},
	}
}

// testAnswer: whole and in pieces it is the same answer, with the server's usage.
func testAnswer(t *testing.T, url string) {
	g := open(t, key, provider("aimock", url, "*"))
	whole, err := g.Complete(context.Background(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	streamed, err := g.Complete(context.Background(), hello(), func(s string) { heard = append(heard, s) })
	if err != nil {
		t.Fatal(err)
	}
	const want = "Hello! How can I help you today, in more than one piece?"
	if whole.Text != want || streamed.Text != want || strings.Join(heard, "") != want || len(heard) < 2 {
		t.Errorf("got %q, then %q, heard %q", whole.Text, streamed.Text, heard)
	}
	if u := streamed.Usage; u != whole.Usage || u.Estimated || u.PromptTokens < 1 || u.CompletionTokens < 1 || u.CostMicros != u.PromptTokens || streamed.Finish != "stop" {
		t.Errorf("used %+v, then %+v, finished %q", whole.Usage, u, streamed.Finish)
	}
}

// testFaults: the server's ways to fail, by the model that has each.
func testFaults(t *testing.T, url string) {
	for model, want := range map[string]struct {
		code   ubl.Code
		reason string
		heard  string
	}{
		"busy":      {ubl.CodeRateLimited, "rate_limit_exceeded", ""},
		"down":      {ubl.CodeUnavailable, "", ""},
		"garbled":   {ubl.CodeUnavailable, "garbled", ""},
		"vanishing": {ubl.CodeUnavailable, "connection", ""},
		"breaking":  {ubl.CodeUnavailable, "", "This ans"},
	} {
		t.Run(model, func(t *testing.T) {
			var heard string
			a, err := open(t, key, provider("aimock", url, model)).Complete(context.Background(), hello(), func(s string) { heard += s })
			if e := ubl.AsError(err); ubl.CodeOf(err) != want.code || want.reason != "" && e.Details["reason"] != want.reason {
				t.Errorf("got %v, %v", err, e.Details)
			}
			if !strings.HasPrefix(heard, want.heard) || (a != nil) != (want.heard != "") || a != nil && a.Text != heard {
				t.Errorf("heard %q, got %+v", heard, a)
			}
			if model == "busy" && ubl.AsError(err).Details["retry_after"] == "" {
				t.Error("the caller doesn't learn when to come back")
			}
		})
	}
}

// testFallback: whatever fails before the first token, the next provider answers.
func testFallback(t *testing.T, url string) {
	faults := []string{"busy", "down", "garbled", "vanishing"}
	var all []gateway.Provider
	for _, f := range faults {
		all = append(all, provider(f, url, f))
	}
	all = append(all, provider("good", url, "*"))
	var heard string
	a, err := open(t, key, all...).Complete(context.Background(), hello(), func(s string) { heard += s })
	if err != nil || a.Usage.Provider != "good" || heard != a.Text {
		t.Errorf("got %+v, %v, heard %q", a, err, heard)
	}
}

func testWrongKey(t *testing.T, url string) {
	_, err := open(t, "sk-of-somebody-else", provider("aimock", url, "*")).Complete(context.Background(), hello(), nil)
	if ubl.CodeOf(err) != ubl.CodeUnavailable || ubl.AsError(err).Details["reason"] != "invalid_api_key" || strings.Contains(err.Error(), "somebody") {
		t.Errorf("got %v", err)
	}
}

// weather is the one tool.
type weather struct{ asked []string }

// List implements [office.Tools].
func (*weather) List(context.Context, ubl.Identity) ([]office.Tool, error) {
	return []office.Tool{{Name: "weather.today", Description: "Tells the weather.", Input: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}, nil
}

// Call implements [office.Tools].
func (w *weather) Call(_ context.Context, _ ubl.Request, _ string, args json.RawMessage, _ string) (*ubl.ToolResult, error) {
	w.asked = append(w.asked, string(args))
	return &ubl.ToolResult{Structured: json.RawMessage(`{"sky":"rain"}`)}, nil
}

// testOffice: a completion with tools over the real actors, heard as it comes.
func testOffice(t *testing.T, url string) {
	house := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	house.Enter(ana)
	tools := &weather{}
	o := office.New(office.Options{
		Asker: house, Models: open(t, key, provider("aimock", url, "*")), Tools: tools, Now: house.Clock.Now, Random: rand.Reader,
	})
	var heard string
	c, err := o.Complete(context.Background(), ubl.CompleteRequest{
		Request: house.Request(ana), WorkspaceID: ubl.GeneralWorkspace, Prompt: "how is the weather?", Tools: []string{"weather.today"},
	}, func(s string) { heard += s })
	if err != nil {
		t.Fatal(err)
	}
	if want := "Let me look.\n\nRio is sunny, Bonn is wet."; c.Completion != want || heard != want {
		t.Errorf("got %q, heard %q", c.Completion, heard)
	}
	if want := []string{`{"city":"Rio"}`, `{"city":"Bonn"}`}; !slices.Equal(tools.asked, want) || len(c.Steps) != 2 {
		t.Errorf("the tool was asked %q, the steps are %+v", tools.asked, c.Steps)
	}
	pair := harness.Must[*ubl.ReceiptPair](house, ubl.LedgerName(ana.TenantID), ubl.GetReceipt{Seq: c.Receipt.Seq})
	if len(pair.Atoms) != 2 || !strings.Contains(string(pair.Atoms[1]), `"outcome":"ok"`) {
		t.Errorf("on record: %s", pair.Atoms)
	}
	house.VerifyLedger(ana.TenantID)
}
