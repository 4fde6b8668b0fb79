package peer

import (
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/bench/internal/mcpload"
)

// What the bare MCP server has: EchoTool answers its arguments, WhoamiTool what
// UBL's tool of that name does, without asking anybody.
const (
	MCPPath    = "/mcp"
	EchoTool   = "echo"
	WhoamiTool = "user.whoami"
)

// said is what EchoTool takes and gives.
type said struct {
	Text string `json:"text"`
}

// whoami has the members of UBL's answer.
type whoami struct {
	Identity   identity `json:"identity"`
	TenantID   string   `json:"tenant_id"`
	Role       string   `json:"role"`
	ExpiresAt  string   `json:"expires_at"`
	RequestID  string   `json:"request_id"`
	ServerTime string   `json:"server_time"`
}

type identity struct {
	UserID      string   `json:"user_id"`
	Email       string   `json:"email"`
	EmailDomain string   `json:"email_domain"`
	Groups      []string `json:"groups"`
	IsService   bool     `json:"is_service"`
}

// RunMCP serves a bare MCP server, the SDK's with two tools, until ctx is done.
func RunMCP(ctx context.Context, out io.Writer) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: EchoTool, Description: "Answers its arguments."},
		func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, said, error) {
			return nil, in, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: WhoamiTool, Description: "Answers who calls."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, whoami, error) {
			return nil, someone(), nil
		})
	mux := http.NewServeMux()
	mux.Handle(MCPPath, bothEras(server))
	return serve(ctx, out, mux)
}

// bothEras serves each era of the protocol in the mode that costs the SDK least:
// sessions where there are some, which the newer one hasn't.
func bothEras(server *mcp.Server) http.Handler {
	mode := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: true})
	}
	modern, legacy := mode(true), mode(false)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("MCP-Protocol-Version") >= mcpload.Modern {
			modern.ServeHTTP(w, r)
			return
		}
		legacy.ServeHTTP(w, r)
	})
}

// someone is as long as UBL's answer.
func someone() whoami {
	return whoami{
		Identity: identity{UserID: "u:bff24f640b8fea995438e4c01c0cb924", Email: "one@bench.example", EmailDomain: "bench.example", Groups: []string{}},
		TenantID: "t:bench.example", Role: "owner", ExpiresAt: "2026-01-01T00:00:00.000Z",
		RequestID: "req:7640d02e-cf7f-48c2-827d-41324db72422", ServerTime: "2026-01-01T00:00:00.000Z",
	}
}
