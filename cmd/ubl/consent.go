package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
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

// ownSets are our tools as people choose among them.
var ownSets = []oauth.Set{
	{Name: "messenger", Says: "Read and send messages, and see who is in a room", Tools: []string{"messenger.*", "room.get", "room.join", "room.leave", "room.member.list"}, Chosen: true},
	{Name: "office", Says: "Read and write documents, and search them", Tools: []string{"office.document.*", "office.workspace.*"}, Chosen: true},
	{Name: "files", Says: "Read and store files", Tools: []string{"office.file.*", "office.upload.*"}},
	{Name: "rooms", Says: "Make rooms, and set the rules of those it made", Tools: []string{"room.*"}},
	{Name: "containers", Says: "Use workspaces, wallets and other containers", Tools: []string{"container.*", "kind.list"}},
	{Name: "agreements", Says: "Read Agreements and receipts, and answer proposals", Tools: []string{"agreement.*", "ledger.*", "receipt.get"}},
	{Name: "models", Says: "Ask language models, at the expense of your organisation", Tools: []string{"office.llm.complete", "office.tool.call"}},
}

// sets are what a person may let an agent use at the MCP server at a path: there, where the path
// names sets, those are chosen; "all" chooses what is usual, as more is for the person to give. Other servers' tools are behind the portal alone.
func (b *toolbox) sets(ctx context.Context, path string) ([]oauth.Set, error) {
	out := slices.Clone(ownSets)
	rest, portal := strings.CutPrefix(path, "/portal")
	if portal {
		servers, err := b.servers(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, servers...)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(rest, "/mcp"), "/"), "/")
	named := strings.Split(first, ",")
	usual := first == "" || first == "readonly" || slices.Contains(named, "default") || slices.Contains(named, "all")
	for i := range out {
		out[i].Chosen = usual && out[i].Chosen || slices.Contains(named, out[i].Name)
	}
	return out, nil
}

// servers are the caller's servers of tools, each as a set.
func (b *toolbox) servers(ctx context.Context) ([]oauth.Set, error) {
	answer, err := b.use(ctx, "portal.server.list", json.RawMessage(`{}`))
	if ubl.CodeOf(err) == ubl.CodeForbidden { // closed to the caller
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var known struct {
		Servers []struct {
			ID   string `json:"server_id"`
			Name string `json:"name"`
		} `json:"servers"`
	}
	if err := json.Unmarshal(answer, &known); err != nil {
		return nil, err
	}
	var out []oauth.Set
	for _, s := range known.Servers {
		out = append(out, oauth.Set{Name: s.ID, Says: "Use the tools of " + s.Name + " (" + s.ID + "), of those that you may use", Tools: []string{s.ID + ".*"}})
	}
	return out, nil
}
