package mcp_test

import (
	"strings"
	"testing"

	"ubl"
	"ubl/transport/mcp"
)

// TestUnknownToolsNameNearOnes: a name that no tool has is answered with those that may have been
// meant, of the tools that the caller is shown.
func TestUnknownToolsNameNearOnes(t *testing.T) {
	o := &others{tools: []*ubl.PortalTool{tool("git.commit", writes)}}
	w := newWorld(t, func(opts *mcp.Options) { opts.Portal = o })
	for _, tt := range []struct{ address, who, called, says string }{
		{"/mcp", "ana", "messenger.sent", "did you mean messenger.send"},
		{"/mcp", "ana", "messenger_sent", "did you mean messenger.send"},
		{"/mcp", "ana", "sendMessage", "tool.search"},
		{"/mcp", "ana", "send_message", "messenger.send"},
		{"/portal/mcp", "ana", "git_comit", "did you mean git.commit"},
		{"/mcp", "ana", "zzzzzz", "there is no such tool. Use tool.search"},
	} {
		for _, a := range []answer{
			w.use(t, tt.address, tt.who, "test", tt.called, `{}`),
			w.use(t, tt.address, tt.who, "test", "tool.call", `{"name":"`+tt.called+`"}`),
			w.use(t, tt.address, tt.who, "test", "tool.describe", `{"name":"`+tt.called+`"}`),
		} {
			if !strings.Contains(a.body, tt.says) || !strings.Contains(a.body, "Use tool.search") || strings.Contains(a.body, tt.called+`"`) {
				t.Errorf("%s at %s answers %s", tt.called, tt.address, a.body)
			}
		}
	}
	if a := w.use(t, "/mcp", "bob", "test", "token.creat", `{}`); strings.Contains(a.body, "token.create") {
		t.Errorf("a member is told of an owner's tool: %s", a.body)
	}
	a := w.use(t, "/mcp/readonly", "ana", "test", "messenger.send", `{}`)
	if strings.Contains(a.body, "owner") || !strings.Contains(a.body, "the same without readonly") {
		t.Errorf("a read-only address advises %s", a.body)
	}
}
