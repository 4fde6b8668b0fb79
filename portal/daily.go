package portal

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"ubl"
)

const (
	// syncAfter is how old a sync is that is due again.
	syncAfter = 23 * time.Hour
	// dueEvery is how often servers are looked for that are due. One that is down is
	// asked again after as long, then after twice that, and so on up to syncAfter.
	dueEvery = time.Hour
	// errand bounds how long one tenant's servers are synced in a round, and errands
	// how many tenants' are at a time: servers that hang hold up their own tenant, and
	// not the others.
	errand  = time.Minute
	errands = 8
)

// waits are how long servers of a tenant that were down are left alone, by id.
type waits map[string]time.Duration

// syncDue syncs the servers of all tenants whose last sync is a day old, or failed.
// Servers that want a user's own credentials are synced when a user signs in.
func (p *Portal) syncDue(ctx context.Context) {
	if p.tenants == nil || !p.daily.TryLock() { // the last round takes long
		return
	}
	defer p.daily.Unlock()
	tenants, err := p.tenants(ctx)
	if err != nil && ctx.Err() == nil { // one that can't be read holds up no other
		p.log.Warn("couldn't list all tenants", "error", err)
	}
	next := make([]waits, len(tenants))
	free := make(chan struct{}, errands)
	var running sync.WaitGroup
	for i, t := range tenants {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			next[i] = p.syncTenant(ctx, t, p.down[t])
		})
	}
	running.Wait()
	p.down = make(map[ubl.TenantID]waits)
	for i, t := range tenants {
		if len(next[i]) > 0 {
			p.down[t] = next[i]
		}
	}
}

// syncTenant syncs the servers of one tenant that are due, until its time is over.
// Who has waited longest comes first, so that those left over come in the next
// round. It answers how long those that are down will be left alone.
func (p *Portal) syncTenant(ctx context.Context, t ubl.TenantID, were waits) waits {
	bounded, cancel := context.WithTimeout(ctx, p.errand)
	defer cancel()
	servers, err := p.Servers(bounded, platformOf(t))
	if err != nil {
		if ctx.Err() == nil {
			p.log.Warn("couldn't list servers", "tenant", t, "error", err)
		}
		return were
	}
	slices.SortStableFunc(servers, func(a, b *ubl.Server) int { return cmp.Compare(syncedAt(a), syncedAt(b)) })
	next := waits{}
	for _, s := range servers {
		wait, then := syncAfter, dueEvery // then counts if it is down after that
		if s.Status == ubl.ServerDown {
			wait = cmp.Or(were[s.ServerID], dueEvery)
			then, next[s.ServerID] = min(2*wait, syncAfter), wait
		}
		if bounded.Err() == nil && p.due(s, wait) {
			next[s.ServerID] = then
			p.syncAs(ctx, platformOf(t), s.ServerID)
		}
	}
	return next
}

// due reports whether a server is to be asked that is left alone for a while.
func (p *Portal) due(s *ubl.Server, wait time.Duration) bool {
	if s.Disabled || s.Auth == ubl.AuthUser {
		return false
	}
	return syncedAt(s).Add(wait) <= ubl.TimeOf(p.now())
}

// syncedAt is when a server was last asked, 0 for never.
func syncedAt(s *ubl.Server) ubl.Time {
	if s.SyncedAt == nil {
		return 0
	}
	return *s.SyncedAt
}
