package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/gateway"
)

// answering carries a provider's answer without a network.
type answering struct{ kind, body string }

// RoundTrip implements [http.RoundTripper].
func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(strings.NewReader(a.body)),
	}, nil
}

// FuzzAnswer: whatever a provider sends is an answer or an error of the table,
// and who listens hears exactly the answer's text.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		role + chunk("Hi ") + chunk("there") + stopped + used + done,
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[{"message":{"content":"Hi","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`data: {"error":{"code":"server_error"}}`, "data:\n:\n\ndata", "{", `{"choices":[{}]}`, "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud800\"}}]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			g, err := gateway.New(gateway.Options{
				Config: gateway.Config{Providers: []gateway.Provider{{Name: "first", URL: "http://provider.example"}}},
				Now:    time.Now, Transport: answering{kind, body},
			})
			if err != nil {
				t.Fatal(err)
			}
			var heard strings.Builder
			a, err := g.Complete(context.Background(), hello(), func(d string) { heard.WriteString(d) })
			if err == nil && a == nil || err != nil && ubl.CodeOf(err) == ubl.CodeInternal {
				t.Errorf("%s: %+v, %v", kind, a, err)
			}
			if a == nil {
				if heard.Len() > 0 {
					t.Errorf("%s: heard %q of no answer", kind, heard.String())
				}
				continue
			}
			if heard.String() != a.Text {
				t.Errorf("%s: heard %q of %q", kind, heard.String(), a.Text)
			}
			if u := a.Usage; u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CostMicros < 0 {
				t.Errorf("%s: used %+v", kind, u)
			}
			for _, call := range a.ToolCalls {
				if call.ID == "" || call.Name == "" {
					t.Errorf("%s: a call without id or name: %+v", kind, call)
				}
			}
		}
	})
}
