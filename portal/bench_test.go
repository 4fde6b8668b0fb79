package portal_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/test/harness"
)

// BenchmarkCall compares a call of a tool over the portal, with its two durable
// commits, with the same call straight to its server.
func BenchmarkCall(b *testing.B) {
	for _, e := range eras {
		b.Run(e.name, func(b *testing.B) {
			s := mcp.NewServer(&mcp.Implementation{Name: "others", Version: "1"}, nil)
			s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(schema)}, echo)
			h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &e.opts)
			server := httptest.NewServer(h)
			b.Cleanup(server.Close)
			b.Run("direct", func(b *testing.B) { direct(b, server.URL) })
			b.Run("portal", func(b *testing.B) { hop(b, server.URL) })
		})
	}
}

func direct(b *testing.B, url string) {
	client := mcp.NewClient(&mcp.Implementation{Name: "b", Version: "1"}, nil)
	session, err := client.Connect(b.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = session.Close() })
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func hop(b *testing.B, url string) {
	house := harness.Open(b, harness.Options{})
	who := harness.User("ana@example.com")
	house.Enter(who)
	p := newNode(b, house)
	if _, err := p.Add(b.Context(), house.Request(who), true, ubl.Server{ServerID: "ev", Name: "Ev", URL: url, Auth: ubl.AuthNone}, ""); err != nil {
		b.Fatal(err)
	}
	if _, err := p.Sync(b.Context(), house.Request(who), true, "ev"); err != nil {
		b.Fatal(err)
	}
	harness.Must[*ubl.ToolAccess](house, ubl.TenantName(who.TenantID), ubl.SetToolAccess{Request: house.Request(who), Tool: "ev.echo", Allowed: true})
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Call(b.Context(), house.Request(who), "ev.echo", json.RawMessage(`{"text":"hi"}`), "", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
