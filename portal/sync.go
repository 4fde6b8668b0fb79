package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

const (
	// syncTimeout bounds asking a server for its tools, all pages of them.
	syncTimeout = 30 * time.Second
	// maxPages bounds how many; a server that has more tools than the Portal keeps
	// is read a little further, so that the Portal can say so.
	maxPages = 100
	maxTools = ubl.MaxServerTools + 1
	// A server that says that its tools have changed is asked soon, but seldom.
	settle    = 500 * time.Millisecond
	syncAgain = time.Minute
)

// Sync asks a server for its tools now, and answers the server with what came of
// it: that it couldn't be asked is no error, but its status. Owners.
func (p *Portal) Sync(ctx context.Context, req ubl.Request, owner bool, serverID string) (*ubl.Server, error) {
	if !owner {
		return nil, errOwner
	}
	c, err := p.renew(ctx, req.Who)
	if err != nil {
		return nil, err
	}
	s := c.servers[serverID]
	if s == nil {
		return nil, ubl.Errorf(ubl.CodeNotFound, "no such server")
	}
	if s.Disabled {
		return nil, ubl.Errorf(ubl.CodeConflict, "the server is disabled")
	}
	return p.sync(ctx, req, owner, s, c)
}

// sync asks for the tools and has the Portal record them. Who asks is who connects.
func (p *Portal) sync(ctx context.Context, req ubl.Request, owner bool, s *ubl.Server, c *catalogue) (*ubl.Server, error) {
	record := ubl.RecordSync{Request: req, Owner: owner, ServerID: s.ServerID}
	at := place{tenant: req.Who.TenantID, server: s.ServerID}
	end := p.asked.begin(at)
	defer end()
	asking, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	var err error
	if record.Tools, err = p.listTools(asking, req.Who, s, c); err != nil {
		if s.Auth == ubl.AuthUser && ubl.CodeOf(err) == ubl.CodeForbidden {
			return nil, err // theirs to mend, and others may be signed in
		}
		record.Tools, record.Problem = nil, ubl.AsError(err).Message
	}
	if err := p.stillOwner(ctx, req.Who); err != nil { // asking took long
		return nil, err
	}
	out, err := ubl.Ask[*ubl.Server](ctx, p.asker, ubl.PortalName(req.Who.TenantID), record)
	if err != nil {
		return nil, err
	}
	p.shopOf(req.Who.TenantID).drop()
	end()
	return p.Shown(req.Who.TenantID, out), nil
}

// listTools reads the server's tools, page by page. A server that may ask is asked in a session in
// which it could; the one that all share is open then as well, for its word of changes.
func (p *Portal) listTools(ctx context.Context, who ubl.Identity, s *ubl.Server, c *catalogue) ([]ubl.ToolDefinition, error) {
	var out []ubl.ToolDefinition
	list := func(ctx context.Context, sess *session) (err error) {
		if sess.client == nil {
			out, err = sess.operations(ctx)
			return err
		}
		if out, err = sess.tools(ctx); err != nil {
			return err
		}
		more, err := sess.offers(ctx, out)
		out = append(out, more...)
		return err
	}
	if s.Kind == ubl.ServerOpenAPI || c.mayAsk(s.ServerID) == nil {
		err := p.with(ctx, who, s, c.number, list)
		return out, err
	}
	err := p.with(ctx, who, s, c.number, func(context.Context, *session) error { return nil })
	if err == nil {
		err = p.apart(ctx, who, s.ServerID, &asker{p: p, ctx: ctx, turn: newTurn()}, list)
	}
	return out, err
}

// tools asks for all pages.
func (s *session) tools(ctx context.Context) (out []ubl.ToolDefinition, err error) {
	size := 0
	params := &mcp.ListToolsParams{}
	for range maxPages {
		listing, read := copying(ctx)
		page, err := s.client.ListTools(listing, params)
		if s.toolless() && declines(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, result := range read.results() {
			s.guard.tasked.note(result)
		}
		for _, t := range page.Tools {
			if t != nil && s.guard.tasked.has(t.Name) {
				continue
			}
			if d, ok := definitionOf(t, s.guard.shown.get()); ok && len(out) < maxTools {
				d = slim(s.access.Server.ServerID, d, size)
				size += len(d.Definition)
				out = append(out, d)
			}
		}
		if page.NextCursor == "" || len(out) == maxTools {
			return out, nil
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, ubl.Errorf(ubl.CodeUnavailable, "the server's list of tools has no end")
}

// toolless reports whether a server says that it has no tools.
func (s *session) toolless() bool {
	caps := s.client.InitializeResult().Capabilities
	return caps != nil && caps.Tools == nil
}

// joined is what a user is shown of a server's tools, with all that is known
// besides: another account may be shown more. So a user's list adds tools and holds
// them, but takes none away and frees none that waits for approval.
func (c *catalogue) joined(server string, shown []ubl.ToolDefinition) []ubl.ToolDefinition {
	known := map[string]ubl.ToolDefinition{}
	for _, t := range c.tools {
		if t.ServerID == server && !t.Gone {
			known[t.Upstream] = ubl.ToolDefinition{Name: t.Upstream, Definition: t.Definition}
			if t.HeldHash != "" {
				known[t.Upstream] = ubl.ToolDefinition{Name: t.Upstream, Definition: t.Held}
			}
		}
	}
	var said []ubl.ToolDefinition
	for _, d := range shown {
		if t := c.byName[server+"."+d.Name]; t == nil || t.HeldHash == "" || ubl.BodyHash(d.Definition) != t.Hash {
			said = append(said, d)
			if len(d.Definition) > 0 {
				delete(known, d.Name)
			}
		}
	}
	out, size := append(slices.Collect(maps.Values(known)), said...), 0
	for i, d := range out {
		out[i] = slim(server, d, size)
		size += len(out[i].Definition)
	}
	return out
}

// slim is a tool that comes after others of a size, as the Portal is told of it:
// what is too large is emptied, so that the Portal counts it as left out and is not
// asked to take in more than it keeps.
func slim(serverID string, d ubl.ToolDefinition, size int) ubl.ToolDefinition {
	switch {
	case !ubl.ValidToolName(serverID + "." + d.Name):
		return ubl.ToolDefinition{}
	case len(d.Definition) > ubl.MaxDefinition || size+len(d.Definition) > ubl.MaxDefinitions:
		d.Definition = nil
	}
	return d
}

// definitionOf is what a server says about a tool, as it is pinned: what callers
// see of it and nothing else, without icons and _meta, what can't be seen, and secrets.
func definitionOf(t *mcp.Tool, hide secrets) (ubl.ToolDefinition, bool) {
	if t == nil || t.Name == "" {
		return ubl.ToolDefinition{}, false
	}
	raw, err := json.Marshal(&mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: t.Annotations,
	})
	if err != nil {
		return ubl.ToolDefinition{}, false
	}
	if raw, err = hide.redactJSON(ubl.PlainJSON(raw)); err != nil {
		return ubl.ToolDefinition{}, false
	}
	canonical, err := ubl.Canonical(raw)
	if err != nil { // numbers that JSON's readers disagree about
		return ubl.ToolDefinition{}, false
	}
	return ubl.ToolDefinition{Name: t.Name, Definition: canonical}, true
}

// with runs fn in a session with the server, and once more in a new one where the
// server has forgotten the first.
func (p *Portal) with(ctx context.Context, who ubl.Identity, s *ubl.Server, number int64, fn func(context.Context, *session) error) error {
	for again := false; ; again = true {
		sess, done, err := p.use(ctx, who, s, number)
		if err != nil {
			return err
		}
		err = sess.do(ctx, fn)
		done()
		if lost(err) {
			sess.broken.Store(true)
			if !again {
				continue
			}
			return explain(err, nil)
		}
		if ubl.CodeOf(err) == ubl.CodeForbidden { // someone may have mended it
			p.sessions.forget(ctx, placeOf(who, s))
		}
		return err
	}
}

// syncAs syncs a server beside its caller, for the platform or a user whose grant is used.
func (p *Portal) syncAs(ctx context.Context, who ubl.Identity, serverID string) {
	ctx, cancel := context.WithTimeout(ctx, 2*syncTimeout)
	defer cancel()
	_, err := p.trySync(ctx, who, serverID)
	if err != nil && ctx.Err() == nil {
		// Without the cause, which quotes what servers sent.
		p.log.Warn("couldn't sync a server", "tenant", who.TenantID, "server", serverID, "code", ubl.CodeOf(err), "error", ubl.AsError(err).Message)
	}
}

// trySync asks a server and has the Portal record what came of it. It answers the server after
// that, nil where it isn't to be asked.
func (p *Portal) trySync(ctx context.Context, who ubl.Identity, serverID string) (*ubl.Server, error) {
	license, err := p.license(ctx, who.TenantID)
	if err != nil || license.InForce() != nil {
		return nil, err
	}
	c, err := p.renew(ctx, platformOf(who.TenantID))
	if err != nil {
		return nil, err
	}
	s, at := c.servers[serverID], place{tenant: who.TenantID, server: serverID}
	if s == nil || s.Disabled {
		return nil, nil
	}
	end := p.asked.begin(at)
	defer end()
	tools, err := p.listTools(ctx, who, s, c)
	record := ubl.RecordSync{ServerID: serverID, Tools: tools}
	if err != nil {
		if s.Auth == ubl.AuthUser {
			return nil, fmt.Errorf("couldn't list tools for a user: %w", err)
		}
		record.Problem = ubl.AsError(err).Message
	}
	if s.Auth == ubl.AuthUser {
		if c, err = p.renew(ctx, platformOf(who.TenantID)); err != nil { // others may have seen more meanwhile
			return nil, err
		}
		record.Tools = c.joined(serverID, tools)
	}
	if record.Request, err = p.request(platformOf(who.TenantID)); err != nil {
		return nil, err
	}
	record.Under = []ubl.RecordHash{{Agreement: license.ID, Hash: license.Hash}}
	after, err := ubl.Ask[*ubl.Server](ctx, p.asker, ubl.PortalName(who.TenantID), record)
	p.shopOf(who.TenantID).drop()
	return after, err
}

// license is the tenant's Agreement. Whether it is in force callers have asked by their Tenant; for
// an errand nobody does.
func (p *Portal) license(ctx context.Context, t ubl.TenantID) (*ubl.AgreementView, error) {
	v, err := ubl.Ask[*ubl.AgreementView](ctx, p.asker, ubl.TenantName(t), ubl.GetAgreement{Who: platformOf(t), Brief: true})
	if err != nil {
		return nil, fmt.Errorf("couldn't read the tenant's license: %w", err)
	}
	return v, nil
}

// syncing is when a server's word of changes leads to a sync.
type syncing struct {
	timer *time.Timer
	last  ubl.Time
}

// syncSoon is called when a server says that its tools have changed. However often
// it does, it is asked once a minute at most.
func (p *Portal) syncSoon(who ubl.Identity, s *ubl.Server) {
	at := placeOf(who, s)
	if s.Auth != ubl.AuthUser {
		who = platformOf(who.TenantID)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	plan, ok := p.syncs[at]
	if !ok {
		plan = &syncing{}
		p.syncs[at] = plan
	}
	if p.closed || plan.timer != nil {
		return
	}
	now := ubl.TimeOf(p.now())
	wait := max(settle, plan.last.Add(syncAgain).Std().Sub(now.Std()))
	plan.timer = time.AfterFunc(wait, func() {
		p.mu.Lock()
		plan.timer, plan.last = nil, ubl.TimeOf(p.now())
		p.mu.Unlock()
		p.background(func(ctx context.Context) { p.syncAs(ctx, who, s.ServerID) })
	})
}

// forgetSyncs lets go of plans that are over.
func (p *Portal) forgetSyncs() {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := ubl.TimeOf(p.now()).Add(-syncAgain)
	maps.DeleteFunc(p.syncs, func(_ place, plan *syncing) bool { return plan.timer == nil && plan.last < old })
}
