package e2e

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/consent"
)

// forecasts is a server of tools: one answers, the other says that it failed.
func forecasts(t *testing.T) (url string) {
	t.Helper()
	type in struct {
		City string `json:"city"`
	}
	type out struct {
		Sky string `json:"sky"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "forecast"}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, out, error) {
		return nil, out{"rain in " + in.City}, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no sky over " + in.City}}}, nil, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(h.Close)
	return h.URL
}

// modelCalls are what the model calls, each once.
var modelCalls = map[string]string{
	"weather_forecast":       `{"city":"Faro"}`,
	"office_document_search": `{"workspace_id":"w:general","query":"umbrella"}`,
}

// newModel is a model that uses its tools first, and then answers.
func newModel(t *testing.T) *httptest.Server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		said, _ := io.ReadAll(r.Body)
		message := `{"role":"assistant","content":"It will"}`
		if finish := strings.Contains(string(said), `"role":"tool"`); !finish {
			var calls []string
			for _, name := range []string{"weather_forecast", "office_document_search"} {
				calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, name, name, modelCalls[name]))
			}
			message = `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
		}
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"id":"1","object":"chat.completion","model":"local","choices":[{"index":0,"finish_reason":"stop","message":%s}],"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}}`, message)
	}))
	t.Cleanup(h.Close)
	return h
}

// byThemselves sets what reaches them. Each answer is the record, with the salt of its act.
func (w *committing) byThemselves() {
	for _, set := range [][2]string{
		{"/api/me/rooms/r:general", `{"level":"all","mute_s":3600}`},
		{"/api/me/notifications", `{"keywords":["harbour"],"preview":"none"}`},
		{"/api/me/rooms/r:general", `{"mute_s":0,"favourite":true}`},
	} {
		answer, record := w.ask("PATCH", set[0], set[1]), object{}
		must(w.t, json.Unmarshal([]byte(answer), &record))
		w.record(text1(record["salt"]), record)
	}
	w.ask("POST", "/api/me/push-key", "")
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	must(w.t, err)
	device := w.id(w.ask("POST", "/api/me/devices", fmt.Sprintf(`{"name":"Firefox","endpoint":"https://push.invalid/a","p256dh":%q,"auth":%q}`,
		base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(make([]byte, 16)))), "device_id")
	sent := w.ask("POST", "/api/rooms/r:general/messages", `{"type":"text","body":{"text":"Remember"}}`)
	w.ask("GET", "/api/rooms/r:general/entries", "")
	reminder := w.id(w.ask("POST", "/api/me/reminders", fmt.Sprintf(`{"room_id":"r:general","msg_id":%q,"at":%q,"note":"The pin is 4711"}`,
		w.id(sent, "msg_id"), time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))), "reminder_id")
	if told := w.ask("GET", "/api/me/notifications", ""); strings.Count(told, `"salt"`) != 2 {
		w.t.Errorf("a device and a reminder are shown without their salts: %s", told)
	}
	scheduled := w.id(w.ask("POST", "/api/me/scheduled", fmt.Sprintf(`{"room_id":"r:general","text":"The pin is 4712","at":%q,"rule":"FREQ=DAILY"}`,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339))), "scheduled_id")
	w.ask("PATCH", "/api/me/scheduled/"+scheduled, `{"text":"The pin is 4713"}`)
	w.ask("DELETE", "/api/me/scheduled/"+scheduled, "")
	hook := "/api/webhooks/" + w.id(w.ask("POST", "/api/webhooks", `{"name":"Build","url":"https://hooks.invalid/1","rooms":["r:general"]}`), "webhook_id")
	w.ask("PATCH", hook, `{"paused":true,"events":["pin"]}`)
	w.ask("POST", hook+"/rotate", "")
	w.ask("DELETE", hook, "")
	w.ask("DELETE", "/api/me/devices/"+device, "")
	w.ask("DELETE", "/api/me/reminders/"+reminder, "")
}

// withAgents makes an agent by a token and gives it another mandate, and has a client connect one.
// Each mandate is read while it counts.
func (w *committing) withAgents(n *node, link string) {
	made := w.ask("POST", "/api/service-tokens", `{"name":"agent","mandate":{"tools":["messenger.*"],"places":["r:general"]}}`)
	w.ask("PUT", "/api/service-tokens/"+w.id(made, "client_id")+"/mandate", `{"tools":["messenger.send"],"read_only":true}`)
	p, err := consent.SignIn(w.t.Context(), link)
	must(w.t, err)
	must(w.t, says(w.t, connect(w.t, "http://"+n.addr+"/mcp", goClient(w.t, p, false)), "hello"))
	w.ask("GET", "/api/rooms/r:general/entries?limit=200", "") // it came in, and spoke
	var list struct {
		Tokens []struct {
			Client string
			ID     string `json:"client_id"`
		} `json:"service_tokens"`
	}
	must(w.t, json.Unmarshal([]byte(w.ask("GET", "/api/service-tokens", "")), &list))
	for _, token := range list.Tokens {
		if token.Client == "" {
			continue
		}
		client, _, _ := strings.Cut(token.ID, ".")
		if record := w.ask("GET", "/api/agreements/a:agent:"+client, ""); !strings.Contains(record, `"salt":`) {
			w.t.Errorf("the Agreement of a mandate is told without its salt: %s", record)
		}
	}
}
