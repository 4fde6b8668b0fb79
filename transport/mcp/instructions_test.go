package mcp_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/mcp"
)

// instructed are the instructions that initialize and server/discover give at an address.
func (w *world) instructed(t *testing.T, address, who string) string {
	t.Helper()
	ask := func(body string, headers ...string) string {
		a := w.do(t, "POST", w.url+address, who, body, headers...)
		var got struct{ Result struct{ Instructions string } }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Result.Instructions == "" {
			t.Fatalf("%s answers %d %s", address, a.status, a.body)
		}
		return got.Result.Instructions
	}
	begun := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	found := ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta("")+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
	if begun != found {
		t.Errorf("%s: initialize says %s, server/discover %s", address, begun, found)
	}
	return begun
}

var namesTool = regexp.MustCompile(`\b[a-z]+(\.[a-z_]+)+\b`)

// TestInstructionsFollowTheAddress: they name no tool that isn't listed, and send nobody where
// their credential isn't taken.
func TestInstructionsFollowTheAddress(t *testing.T) {
	o := &others{tools: []*ubl.PortalTool{tool("git.log", objectTool)}}
	w := newWorld(t, func(opts *mcp.Options) { opts.Portal, opts.Visible = o, open(opts.Asker) })
	for _, tt := range []struct {
		name, address string
		mandate       *ubl.Mandate
		oneAddress    bool
		says, not     []string
	}{
		{"the default", "/mcp", nil, false, []string{"Begin with messenger.list_rooms or office.workspace.list.", "most work needs", "/mcp/all"}, []string{"read-only"}},
		{"a set", "/mcp/messenger", nil, false, []string{"Begin with messenger.list_rooms.", "address names: messenger; tool.search finds"}, []string{"office", "/mcp/all"}},
		{"a server's", "/portal/mcp/git", nil, false, []string{"address names: git; tool.search"}, []string{"Begin", "/mcp/all"}},
		{"all", "/mcp/all", nil, false, []string{"You see all tools that you may use."}, []string{"tool.search"}},
		{"read-only", "/mcp/readonly", nil, false, []string{"most work needs", "read-only"}, nil},
		{"a token for one address", "/mcp", nil, true, []string{"most work needs; tool.search"}, []string{"/mcp/all", "connect"}},
		{"a mandate's sets", "/mcp", &ubl.Mandate{Sets: []string{"files"}}, false, []string{"your Agreement names; tool.search"}, []string{"/mcp/all", "Begin"}},
		{"a mandate that reads", "/mcp", &ubl.Mandate{ReadOnly: true}, false, []string{"lets you read"}, []string{"connect"}},
	} {
		w.mandate, w.oneAddress = tt.mandate, tt.oneAddress
		said, listed := w.instructed(t, tt.address, "ana"), w.listed(t, tt.address, "ana")
		for _, words := range append(tt.says, "Be kind.") {
			if !strings.Contains(said, words) {
				t.Errorf("%s: not told %q: %s", tt.name, words, said)
			}
		}
		for _, words := range tt.not {
			if strings.Contains(said, words) {
				t.Errorf("%s: told %q: %s", tt.name, words, said)
			}
		}
		for _, name := range namesTool.FindAllString(said, -1) {
			if !slices.Contains(listed, name) {
				t.Errorf("%s: told of %s, which isn't listed", tt.name, name)
			}
		}
	}
	w.mandate, w.oneAddress = nil, false
	w.setTool("tool.search", false)
	if said := w.instructed(t, "/mcp", "bob"); strings.Contains(said, "tool.search") {
		t.Errorf("a closed tool is named: %s", said)
	}
}

// TestAnEmptySetIsNoDeadEnd: whose role gives them nothing of a set can look for what they may use.
func TestAnEmptySetIsNoDeadEnd(t *testing.T) {
	w := newWorld(t)
	if names := w.listed(t, "/mcp/admin", "bob"); !slices.Equal(names, []string{"tool.call", "tool.describe", "tool.search"}) {
		t.Errorf("listed are %v", names)
	}
}
