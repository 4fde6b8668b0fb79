package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"ubl"
	"ubl/limits"
	"ubl/transport/auth"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
	"ubl/transport/oauth"
)

// oauthServer makes the authorization server, by which people let agents in.
func (c *serveCmd) oauthServer(p *program, n *node, f *front, limiter *limits.Limiter, log *slog.Logger) (*oauth.Server, error) {
	return oauth.New(oauth.Options{
		PublicURL: c.PublicURL, Browsers: f.at, Resource: mcp.Resource, PathOf: mcp.PathOf, Scope: mcp.Scope,
		Keys:     func(purpose string) [][]byte { return n.key.Load().Derived("oauth " + purpose) },
		Asker:    envelope.Entering(n.asker),
		Use:      f.agents.toolbox.use,
		Sets:     f.agents.toolbox.sets,
		NewAgent: func(tenant ubl.TenantID) (string, error) { return auth.NewClientID(tenant, p.random) },
		TenantOf: auth.TenantOfClient,
		Sign:     func(a oauth.Access) (string, error) { return f.auth.SignAgent(auth.AgentToken(a)) },
		Opened: func(token string) (oauth.Access, bool) {
			a, ok := f.auth.OpenAgent(token)
			return oauth.Access(a), ok
		},
		Pages: f.agents.portal.PublicClient(),
		Count: func(r *http.Request) error { return limiter.Client(r, strings.HasPrefix(c.PublicURL, "https://")) },
		From:  limiter.NetworkOf,
		Now:   p.now, Random: p.random, Log: log,
	})
}

// use does one of our own acts for the caller in ctx.
func (b *toolbox) use(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	act, ok := b.acts[tool]
	if !ok {
		return nil, ubl.Errorf(ubl.CodeUnknownTool, "there is no such tool")
	}
	return act.Do(ctx, args)
}

// sets are what a person may let an agent use at the MCP server at a path.
func (b *toolbox) sets(ctx context.Context, path string) ([]oauth.Set, error) {
	grants, err := mcp.Grants(path, func() ([]*ubl.Server, error) { return b.servers(ctx) })
	out := make([]oauth.Set, len(grants))
	for i, g := range grants {
		out[i] = oauth.Set(g)
	}
	return out, err
}

// servers are the caller's servers of tools; none where they are closed to the caller.
func (b *toolbox) servers(ctx context.Context) ([]*ubl.Server, error) {
	answer, err := b.use(ctx, "portal.server.list", json.RawMessage(`{}`))
	if ubl.CodeOf(err) == ubl.CodeForbidden {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var known struct {
		Servers []*ubl.Server `json:"servers"`
	}
	err = json.Unmarshal(answer, &known)
	return known.Servers, err
}
