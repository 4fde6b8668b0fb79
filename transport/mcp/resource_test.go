package mcp_test

import (
	"testing"

	"ubl/transport/mcp"
)

// TestResource: at which paths there is an MCP server. A segment of dots leads elsewhere.
func TestResource(t *testing.T) {
	for path, want := range map[string]bool{
		"/mcp": true, "/portal/mcp": true, "/mcp/messenger,office": true, "/mcp/all/readonly": true, "/mcp/v1.2": true,
		"/mcp/": false, "/mcp/..": false, "/mcp/.": false, "/portal/mcp/../x": false, "/mcp/a/..": false, "/mcps": false,
	} {
		if got := mcp.Resource(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
