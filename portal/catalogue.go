package portal

import (
	"context"
	"slices"
	"sync"
	"time"

	"ubl"
)

const (
	// catalogueLife is how long a catalogue is used without a word from the feed,
	// which is not certain to bring one.
	catalogueLife = time.Minute
	// shopLife is how long a tenant is remembered that nobody asks for.
	shopLife = 10 * time.Minute
)

// catalogue is what a tenant's Portal and Tenant say about external tools. It is
// never changed, only replaced; what follows from it is worked out once.
type catalogue struct {
	// number tells it from every other catalogue of this node.
	number  int64
	at      ubl.Time
	servers map[string]*ubl.Server
	tools   []*ubl.PortalTool // by name
	byName  map[string]*ubl.PortalTool
	access  map[string]*ubl.ToolAccess

	destructive sync.Map // by tool, whether it replaces or takes away something, or may
}

// shop is a tenant as its portal on this node knows it.
type shop struct {
	cancel func() // of the subscription to the feed

	mu       sync.Mutex
	current  *catalogue // nil when it has to be asked for
	changes  int64      // how often it was dropped
	watchers map[int]func()
	serial   int
	askedAt  ubl.Time
}

// shopOf is the tenant's, which from then on follows the feed.
func (p *Portal) shopOf(t ubl.TenantID) *shop {
	p.mu.Lock()
	defer p.mu.Unlock()
	sh, ok := p.shops[t]
	if !ok {
		sh = &shop{watchers: map[int]func(){}}
		if p.closed {
			return sh
		}
		sh.cancel = p.feed.Subscribe(ubl.LedgerName(t), sh.hear, ubl.EventToolsChanged, ubl.EventMemberLeft)
		p.shops[t] = sh
	}
	sh.mu.Lock()
	sh.askedAt = ubl.TimeOf(p.now())
	sh.mu.Unlock()
	return sh
}

// hear is called with the commits of the tenant that may concern it; an empty publication tells that
// some may have been missed. Where somebody leaves, sessions that are theirs are looked at
// anew: they may be back before those end by themselves.
func (sh *shop) hear(pub ubl.Publication) {
	concerns := func(e ubl.Event) bool {
		return e.Kind == ubl.EventToolsChanged || e.Kind == ubl.EventMemberLeft && e.RoomID == ""
	}
	if pub.Last != 0 && !slices.ContainsFunc(pub.Events, concerns) {
		return
	}
	for _, fn := range sh.drop() {
		fn()
	}
}

// drop forgets the catalogue, and answers who wants to know.
func (sh *shop) drop() []func() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.current = nil
	sh.changes++
	fns := make([]func(), 0, len(sh.watchers))
	for _, fn := range sh.watchers {
		fns = append(fns, fn)
	}
	return fns
}

// Watch has fn called when which tools a tenant has, or who may use them, may have
// changed, until it is cancelled. fn must not block, and may be called for nothing.
func (p *Portal) Watch(t ubl.TenantID, fn func()) (cancel func()) {
	sh := p.shopOf(t)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.serial++
	n := sh.serial
	sh.watchers[n] = fn
	return func() {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		delete(sh.watchers, n)
	}
}

// catalogue is the tenant's, asked for where it isn't known.
func (p *Portal) catalogue(ctx context.Context, who ubl.Identity) (*catalogue, error) {
	sh := p.shopOf(who.TenantID)
	sh.mu.Lock()
	c, changes := sh.current, sh.changes
	sh.mu.Unlock()
	if c != nil && ubl.TimeOf(p.now()) < c.at.Add(catalogueLife) {
		return c, nil
	}
	c, err := p.ask(ctx, who)
	if err != nil {
		return nil, err
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.changes == changes { // else it may be older than what changed
		sh.current = c
	}
	return c, nil
}

// ask reads a catalogue from the actors.
func (p *Portal) ask(ctx context.Context, who ubl.Identity) (*catalogue, error) {
	c := &catalogue{number: p.numbers.Add(1), at: ubl.TimeOf(p.now()),
		servers: map[string]*ubl.Server{}, byName: map[string]*ubl.PortalTool{}, access: map[string]*ubl.ToolAccess{}}
	portal := ubl.PortalName(who.TenantID)
	servers, err := ubl.Ask[[]*ubl.Server](ctx, p.asker, portal, ubl.ListServers{Who: who})
	if err != nil {
		return nil, err
	}
	if c.tools, err = ubl.Ask[[]*ubl.PortalTool](ctx, p.asker, portal, ubl.ListPortalTools{Who: who}); err != nil {
		return nil, err
	}
	records, err := ubl.Ask[[]*ubl.ToolAccess](ctx, p.asker, ubl.TenantName(who.TenantID), ubl.ListToolAccess{Who: who})
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		c.servers[s.ServerID] = s
	}
	for _, t := range c.tools {
		c.byName[t.Tool] = t
	}
	for _, r := range records {
		c.access[r.Tool] = r
	}
	return c, nil
}

// renew is the tenant's catalogue as it is now.
func (p *Portal) renew(ctx context.Context, who ubl.Identity) (*catalogue, error) {
	p.shopOf(who.TenantID).drop()
	return p.catalogue(ctx, who)
}

// Tools lists the external tools that the caller may use now, by name: those with
// a definition that an owner has seen and an access record that admits the caller.
// Members. Callers must not change what they get.
func (p *Portal) Tools(ctx context.Context, who ubl.Identity) ([]*ubl.PortalTool, error) {
	c, err := p.catalogue(ctx, who)
	if err != nil {
		return nil, err
	}
	var out []*ubl.PortalTool
	for _, t := range c.tools {
		if r := c.access[t.Tool]; r != nil && r.Admits(who) && t.Callable() {
			out = append(out, t)
		}
	}
	return out, nil
}

// Listing lists all tools of all servers with who may use them, by name. Owners.
func (p *Portal) Listing(ctx context.Context, who ubl.Identity, owner bool) ([]*ubl.ToolListing, error) {
	if !owner {
		return nil, errOwner
	}
	c, err := p.renew(ctx, who)
	if err != nil {
		return nil, err
	}
	out := make([]*ubl.ToolListing, 0, len(c.tools))
	for _, t := range c.tools {
		out = append(out, &ubl.ToolListing{PortalTool: plain(*t), Access: c.access[t.Tool]})
	}
	return out, nil
}

// plain is a tool without what can't be seen: definitions that were pinned by earlier
// versions may still hold it.
func plain(t ubl.PortalTool) ubl.PortalTool {
	t.Definition, t.Held = ubl.PlainJSON(t.Definition), ubl.PlainJSON(t.Held)
	return t
}

// forgetShops lets go of tenants that nobody has asked for in a while.
func (p *Portal) forgetShops() {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := ubl.TimeOf(p.now()).Add(-shopLife)
	for t, sh := range p.shops {
		sh.mu.Lock()
		idle := len(sh.watchers) == 0 && sh.askedAt < old
		sh.mu.Unlock()
		if idle {
			sh.cancel()
			delete(p.shops, t)
		}
	}
}
