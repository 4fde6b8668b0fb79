package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
