package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/gateway"
	"ubl/limits"
	"ubl/office"
	"ubl/portal"
	"ubl/transport"
	"ubl/transport/auth"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
	"ubl/transport/mcp/script"
	"ubl/transport/web"
)

// agents is what a node does outside: models, tools of other servers, and the
// office that puts both together.
type agents struct {
	portal  *portal.Portal
	office  *office.Office
	toolbox *toolbox
}

// agents makes them; at is where browsers reach the server.
func (c *serveCmd) agents(p *program, n *node, at string, log *slog.Logger) (*agents, error) {
	models, err := gateway.New(gateway.Options{
		Config: p.gateway, Env: func(name string) string { return p.env[name] }, Now: p.now, Log: log,
	})
	if err != nil {
		return nil, err
	}
	commands, err := c.commands(p, n, log)
	if err != nil {
		return nil, err
	}
	outside, err := portal.New(portal.Options{
		Asker: n.asker, Feed: n.feed, Keys: n.derived("portal"), Now: p.now, Random: p.random, Log: log, Panics: n.panics,
		PublicURL: at, Version: version(), AllowPrivate: c.networks(p), Commands: commands,
	})
	if err != nil {
		return nil, err
	}
	n.servers.portal.Store(outside)
	box := &toolbox{asker: envelope.Entering(n.asker), portal: outside, now: p.now}
	return &agents{portal: outside, toolbox: box, office: office.New(office.Options{
		Asker: envelope.Entering(n.asker), Models: models, Tools: box, Now: p.now, Random: p.random, Log: log,
	})}, nil
}

// lateSyncer is the portal of a node, which is made over the actors that ask it.
type lateSyncer struct{ portal atomic.Pointer[portal.Portal] }

// SyncServer implements [ubl.Syncer].
func (l *lateSyncer) SyncServer(ctx context.Context, t ubl.TenantID, server string) (*ubl.Server, error) {
	p := l.portal.Load()
	if p == nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the node is starting")
	}
	return p.SyncServer(ctx, t, server)
}

// trusted reports whether a tenant's servers of tools may be on this machine and in
// every private network: the operators' may and the owner's.
func (c *serveCmd) trusted(t ubl.TenantID) bool {
	owner, domain := ubl.UserIDFor(auth.LocalIssuer, strings.ToLower(c.Owner), false), ubl.EmailDomain(c.Owner)
	return t == ubl.CoreTenant || t == ubl.PersonalTenant(owner) || t == cmp.Or(c.domains()[domain], ubl.DomainTenant(domain))
}

// toolbox is every tool that a caller may use: our own and those of other
// servers. It implements [office.Tools], and says what [mcp.Options.Visible] and
// Permits ask.
type toolbox struct {
	asker  ubl.Asker
	portal *portal.Portal
	acts   map[string]envelope.Act
	names  []string // of all our own tools, those of MCP alone too
	now    func() time.Time
}

// put takes our own tools in, before the first request.
func (b *toolbox) put(acts []envelope.Act) {
	b.acts = make(map[string]envelope.Act, len(acts))
	for _, act := range acts {
		b.acts[act.Name] = act
	}
	b.names = append(slices.Sorted(maps.Keys(b.acts)), beside()...)
}

// visible says which of our own tools ToolAccess lets the caller use.
func (b *toolbox) visible(ctx context.Context) (func(tool string) bool, error) {
	return b.visibleTo(ctx, envelope.CallerOf(ctx).Identity)
}

func (b *toolbox) visibleTo(ctx context.Context, who ubl.Identity) (func(tool string) bool, error) {
	usable, err := b.usable(ctx, who)
	if err != nil {
		return nil, err
	}
	if usable == nil {
		return func(string) bool { return true }, nil
	}
	return among(usable.Open), nil
}

// permits says which acts the tenant's terms permit to the caller.
func (b *toolbox) permits(ctx context.Context) (func(tool string) bool, error) {
	usable, err := b.usable(ctx, envelope.CallerOf(ctx).Identity)
	if usable == nil {
		return nil, err
	}
	return among(usable.Permitted), nil
}

// usable is nil where a node of a version before the question answers for the tenant, as during
// an upgrade: nothing is hidden then, and each use is decided as always.
func (b *toolbox) usable(ctx context.Context, who ubl.Identity) (*ubl.UsableTools, error) {
	usable, err := ubl.Ask[*ubl.UsableTools](ctx, b.asker, ubl.TenantName(who.TenantID), ubl.FindUsable{Who: who, Tools: b.names})
	if ubl.CodeOf(err) == ubl.CodeUnavailable {
		return nil, nil
	}
	return usable, err
}

func among(tools []string) func(tool string) bool {
	known := make(map[string]bool, len(tools))
	for _, tool := range tools {
		known[tool] = true
	}
	return func(tool string) bool { return known[tool] }
}

// List implements [office.Tools].
func (b *toolbox) List(ctx context.Context, who ubl.Identity) ([]office.Tool, error) {
	shown, err := b.visibleTo(ctx, who)
	if err != nil {
		return nil, err
	}
	var out []office.Tool
	for _, name := range slices.Sorted(maps.Keys(b.acts)) {
		if act := b.acts[name]; shown(name) && !(act.People && who.IsService) {
			out = append(out, office.Tool{Name: name, Description: act.Description, Input: act.Input})
		}
	}
	others, err := b.portal.Tools(ctx, who)
	for _, t := range others {
		var d struct {
			Description string          `json:"description"`
			Input       json.RawMessage `json:"inputSchema"`
		}
		if json.Unmarshal(ubl.PlainJSON(t.Definition), &d) == nil {
			out = append(out, office.Tool{Name: t.Tool, Description: ubl.ForeignTool(t.ServerID, d.Description), Input: d.Input})
		}
	}
	return out, err
}

// Call implements [office.Tools]. Our own tools run as a request of their own,
// with the office's request id and key, and are in the portal's log.
func (b *toolbox) Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, parent string) (*ubl.ToolResult, error) {
	act, own := b.acts[tool]
	if !own {
		return b.portal.Call(ctx, req, tool, args, parent, nil)
	}
	inner := *envelope.RequestOf(ctx)
	inner.ID, inner.Key, inner.Parent = req.ID, req.Key, parent
	ctx, aside := envelope.WithAside(envelope.WithRequest(ctx, &inner))
	began := b.now()
	answer, err := act.Do(ctx, args)
	b.portal.Log(req.Who.TenantID, envelope.CallRow(ctx, tool, began, b.now(), err))
	if err != nil {
		return nil, act.Explain(err)
	}
	server, failed := act.Wrote(answer)
	return &ubl.ToolResult{Structured: answer, Foreign: server, IsError: failed, Salt: aside.Salt}, nil
}

// ways is the portal as MCP asks for it.
type ways struct{ *portal.Portal }

// Servers implements [mcp.Portal].
func (w ways) Servers(ctx context.Context, who ubl.Identity) ([]string, error) {
	servers, err := w.Portal.Servers(ctx, who)
	ids := make([]string, 0, len(servers))
	for _, s := range servers {
		ids = append(ids, s.ServerID)
	}
	slices.Sort(ids)
	return ids, err
}

// Call implements [mcp.Portal].
func (w ways) Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, progress func(mcp.Progress)) (*mcp.Result, error) {
	out, err := w.Portal.Call(ctx, req, tool, args, req.Parent, toldOf(tool, progress))
	if err != nil {
		return nil, err
	}
	return resultOf(out), nil
}

// Log implements [mcp.Portal].
func (w ways) Log(tenant ubl.TenantID, call *ubl.Call) { w.Portal.Log(tenant, call) }

// mcpServer makes the MCP server over our own acts and those of other servers.
func (c *serveCmd) mcpServer(p *program, n *node, a *agents, acts []envelope.Act, limiter *limits.Limiter, log *slog.Logger) (*mcp.Server, error) {
	runner := newRunner(limiter)
	n.figures.watchRuns(runner)
	return mcp.New(mcp.Options{
		Acts: acts, Visible: a.toolbox.visible, Permits: a.toolbox.permits, Portal: ways{a.portal}, Calls: longCalls{a.portal}, Scripts: runner, View: web.View,
		Asker: envelope.Entering(n.asker), Feed: n.feed, SessionKeys: n.derived("mcp sessions"), Blobs: readBlobs{n},
		Foreign: transport.Foreign(c.AllowOrigin, c.PublicURL), PublicURL: c.PublicURL, Issuers: c.issuerURLs(p), Authorizes: true,
		Extra:   fixtures(n),
		Version: version(), Instructions: instructions, Log: log, Panics: n.panics, Now: p.now, Random: p.random,
	})
}

// newRunner runs agents' programs, as many at a time as the limits let.
func newRunner(l *limits.Limiter) *script.Runner {
	places := func(limit limits.Name) int { return cmp.Or(l.Most(limit), -1) }
	return script.New(script.Options{
		AtOnce: places(limits.Runs), PerTenant: places(limits.RunsTenant),
		Full: func() error { return l.Full(limits.Runs, 5*time.Second) },
	})
}

// instructions tell models what they are connected to.
const instructions = `This is a UBL server: rooms where people and agents talk, workspaces with documents, and tools of other servers.
Everything you do is receipted in your organisation's ledger under the Agreement that allows it; results carry the receipt.
Give a client_request_id with acts that must not happen twice.`
