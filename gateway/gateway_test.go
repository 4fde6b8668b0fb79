package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ubl"
	"ubl/gateway"
)

// TestWhole asks without a listener: one piece, with the provider's usage.
func TestWhole(t *testing.T) {
	c := one(start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("asked with %s %s and key %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		want := map[string]any{
			"model": "gpt-4-0613", "max_tokens": 50.0,
			"messages": []any{map[string]any{"role": "user", "content": "hello"}},
		}
		if got := decoded(t, r); !reflect.DeepEqual(got, want) {
			t.Errorf("sent %v\nwant %v", got, want)
		}
		whole("Hi there")(w, r)
	}))
	c.Providers[0].Models = map[string]string{"gpt-4": "gpt-4-0613"}
	c.Providers[0].PromptPrice, c.Providers[0].CompletionPrice = 30_000_000, 60_000_000
	a, err := open(t, c).Complete(context.Background(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &gateway.Answer{Text: "Hi there", Finish: "stop", Usage: ubl.Usage{
		PromptTokens: 9, CompletionTokens: 2, CostMicros: 9*30 + 2*60, Provider: "first", Model: "gpt-4-0613",
	}}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("got %+v\nwant %+v", a, want)
	}
}

// TestStream asks with a listener, of servers that write streams in their ways.
func TestStream(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"openai":               events(role, chunk("Hi "), chunk("there"), stopped, used, done),
		"no done":              events(chunk("Hi "), chunk("there"), stopped, used),
		"carriage returns":     events(chunk("Hi ")+"\r", chunk("there")+"\r", stopped+"\r", used+"\r", done),
		"comments and fields":  events(": waiting\n", "event: message\nid: 7\n"+chunk("Hi "), ": ping\n", chunk("there"), "retry: 5\n", stopped, used, done),
		"no space, no blank":   events(strings.ReplaceAll(strings.TrimSpace(chunk("Hi ")), "data: ", "data:"), strings.TrimSpace(chunk("there")), stopped, used, done),
		"usage with the last":  events(chunk("Hi "), chunk("there"), `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, done),
		"talks on after done":  then(events(chunk("Hi "), chunk("there"), stopped, used, done, chunk("!"))),
		"in one piece anyway":  whole("Hi there"),
		"whole with a charset": events(role, chunk("Hi there"), stopped, used, done),
	} {
		t.Run(name, func(t *testing.T) {
			c := one(start(t, func(w http.ResponseWriter, r *http.Request) {
				if body := decoded(t, r); body["stream"] != true || !reflect.DeepEqual(body["stream_options"], map[string]any{"include_usage": true}) {
					t.Errorf("asked with %v", body)
				}
				answer(w, r)
			}))
			deltas, a, err := listen(open(t, c), hello())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(deltas, "") != "Hi there" || a.Text != "Hi there" || a.Finish != "stop" {
				t.Errorf("heard %q, got %+v", deltas, a)
			}
			if want := (ubl.Usage{PromptTokens: 9, CompletionTokens: 2, Provider: "first", Model: "gpt-4"}); a.Usage != want {
				t.Errorf("usage %+v, want %+v", a.Usage, want)
			}
		})
	}
}

const weather = `{"properties":{"city":{"type":"string"}},"type":"object"}`

// TestTools sends a conversation with tools and puts the calls together.
func TestTools(t *testing.T) {
	r := hello()
	r.Tools = []gateway.Tool{{Name: "weather", Description: "Tells the weather.", Parameters: json.RawMessage(weather)}}
	r.ToolChoice = gateway.ChooseAuto
	r.Messages = append(r.Messages,
		gateway.Message{Role: gateway.RoleAssistant, ToolCalls: []gateway.ToolCall{{ID: "c0", Name: "weather", Arguments: `{"city":"Rio"}`}}},
		gateway.Message{Role: gateway.RoleTool, Content: "sunny", ToolCallID: "c0"})
	sent := `{"max_tokens":50,"messages":[{"content":"hello","role":"user"},{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"Rio\"}","name":"weather"},"id":"c0","type":"function"}]},{"content":"sunny","role":"tool","tool_call_id":"c0"}],"model":"gpt-4","tool_choice":"auto","tools":[{"function":{"description":"Tells the weather.","name":"weather","parameters":` + weather + `},"type":"function"}]}`
	want := []gateway.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Bonn"}`}, {ID: "c2", Name: "weather", Arguments: `{"city":"Lima"}`}}
	for name, c := range map[string]struct {
		stream bool
		answer http.HandlerFunc
		want   []gateway.ToolCall
	}{
		"whole": {false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bonn\"}"}},{"id":"c2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Lima\"}"}}]},"finish_reason":"tool_calls"}]}`))
		}, want},
		"deltas, mixed": {true, events(role,
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":""}}]}}]}`,
			`data: {"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"wea","arguments":"{\"ci"}}]}}]}`,
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}}]}`,
			`data: {"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"ther","arguments":"ty\":\"Lima\"}"}},{"index":0,"function":{"arguments":"\"Bonn\"}"}}]}}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, done), want},
		"whole calls in a stream, without index": {true, events(
			`data: {"choices":[{"delta":{"tool_calls":[{"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"Bonn\"}"}}]}}]}`,
			`data: {"choices":[{"delta":{"tool_calls":[{"id":"c2","function":{"name":"weather","arguments":"{\"city\":\"Lima\"}"}}]}}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, done), want},
		"without ids, with a hole": {true, events(
			`data: {"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"weather","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, done),
			[]gateway.ToolCall{{ID: "call_1", Name: "weather", Arguments: "{}"}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := open(t, one(start(t, func(w http.ResponseWriter, r *http.Request) {
				body := decoded(t, r)
				delete(body, "stream")
				delete(body, "stream_options")
				if got, _ := json.Marshal(body); string(got) != sent {
					t.Errorf("sent %s\nwant %s", got, sent)
				}
				c.answer(w, r)
			})))
			var onDelta func(string)
			if c.stream {
				onDelta = func(string) {}
			}
			a, err := g.Complete(context.Background(), r, onDelta)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a.ToolCalls, c.want) || a.Finish != "tool_calls" || !a.Usage.Estimated {
				t.Errorf("got %+v\nwant %+v", a, c.want)
			}
		})
	}
}

// TestUsage: what a provider says is taken where it can be true, and a quarter of
// the bytes else.
func TestUsage(t *testing.T) {
	counted := ubl.Usage{PromptTokens: 9, CompletionTokens: 2, CostMicros: 1, Provider: "first", Model: "gpt-4"}
	// "user" and "hello" are 9 bytes, "Hi there" 8.
	estimated := ubl.Usage{PromptTokens: 3, CompletionTokens: 2, CostMicros: 1, Provider: "first", Model: "gpt-4", Estimated: true}
	for said, want := range map[string]ubl.Usage{
		`{"prompt_tokens":9,"completion_tokens":2}`: counted,
		`null`: estimated,
		`{}`:   estimated,
		`{"prompt_tokens":-9,"completion_tokens":2}`:                  estimated,
		`{"prompt_tokens":9,"completion_tokens":9223372036854775807}`: estimated,
		`{"prompt_tokens":0,"completion_tokens":0}`:                   estimated,
	} {
		c := one(start(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"Hi there"},"finish_reason":"stop"}],"usage":` + said + `}`))
		}))
		c.Providers[0].PromptPrice = 10_000 // rounded up to a millionth
		a, err := open(t, c).Complete(context.Background(), hello(), nil)
		if err != nil || a.Usage != want {
			t.Errorf("%s: %+v, %v\nwant %+v", said, a.Usage, err, want)
		}
	}
}

// TestMaxTokensName: OpenAI's newer models call the bound by another name.
func TestMaxTokensName(t *testing.T) {
	c := one(start(t, func(w http.ResponseWriter, r *http.Request) {
		if body := decoded(t, r); body["max_completion_tokens"] != 50.0 || body["max_tokens"] != nil {
			t.Errorf("sent %v", body)
		}
		whole("Hi")(w, r)
	}))
	c.Providers[0].MaxTokensName = "max_completion_tokens"
	if _, err := open(t, c).Complete(context.Background(), hello(), nil); err != nil {
		t.Fatal(err)
	}
}

// TestServes: a model that nobody serves is refused before anybody is asked.
func TestServes(t *testing.T) {
	none := open(t, gateway.Config{})
	_, err := none.Complete(context.Background(), hello(), nil)
	if ubl.CodeOf(err) != ubl.CodeUnavailable || !strings.Contains(err.Error(), "gateway.providers") || !strings.Contains(err.Error(), "UBL_CONFIG") {
		t.Errorf("without providers: %v", err)
	}
	c := one("http://127.0.0.1:1/v1")
	c.Providers[0].Models = map[string]string{"small": "llama"}
	if _, err = open(t, c).Complete(context.Background(), hello(), nil); ubl.CodeOf(err) != ubl.CodeValidation || ubl.AsError(err).Details["model"] == "" {
		t.Errorf("of a model that isn't served: %v", err)
	}
}

// TestModelNames: each provider has its own name for a model.
func TestModelNames(t *testing.T) {
	for _, c := range []struct {
		models map[string]string
		want   string // "" for not served
	}{
		{nil, "gpt-4"},
		{map[string]string{"gpt-4": "llama"}, "llama"},
		{map[string]string{"*": "llama"}, "llama"},
		{map[string]string{"*": "*"}, "gpt-4"},
		{map[string]string{"gpt-4": ""}, "gpt-4"},
		{map[string]string{"*": "llama", "gpt-4": "big"}, "big"},
		{map[string]string{"small": "llama"}, ""},
	} {
		config := one(start(t, whole("Hi")))
		config.Providers[0].Models = c.models
		a, err := open(t, config).Complete(context.Background(), hello(), nil)
		if c.want == "" && err == nil || c.want != "" && (err != nil || a.Usage.Model != c.want) {
			t.Errorf("%v: %+v, %v, want %q", c.models, a, err, c.want)
		}
	}
}

// TestKeyFile: a key may come from a file, with a newline at its end.
func TestKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := one(start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("asked with %q", r.Header.Get("Authorization"))
		}
		whole("Hi")(w, r)
	}))
	c.Providers[0].KeyVariable, c.Providers[0].KeyFile = "", file
	if _, err := open(t, c).Complete(context.Background(), hello(), nil); err != nil {
		t.Fatal(err)
	}
}
