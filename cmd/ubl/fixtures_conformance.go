//go:build conformance

package main

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	conformance "ubl/test/mcp/fixtures"
	"ubl/transport/envelope"
)

// fixtures is what the protocol's conformance suite wants to find. A record of
// ToolAccess, which owners alone can write, is what changes the tools: of a
// tenant as of its clients on every node.
func fixtures(n *node) func(*sdk.Server) {
	asker := envelope.Entering(n.asker)
	return conformance.Register(func(ctx context.Context) error {
		req := envelope.Command(ctx, "")
		_, err := ubl.Ask[*ubl.ToolAccess](ctx, asker, ubl.TenantName(req.Who.TenantID), ubl.SetToolAccess{Request: req, Tool: "test.changed", Allowed: true})
		return err
	})
}
