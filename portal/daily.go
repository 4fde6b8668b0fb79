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
	// dueEvery is how often servers are looked for that are due, and those that are
	// down put on the agenda: another node may have tried them so far.
	dueEvery = 10 * time.Minute
	// errand bounds how long one tenant's servers are synced in a round, and errands
	// how many tenants' are at a time: servers that hang hold up their own tenant, and
	// not the others.
	errand  = time.Minute
	errands = 8
)

// syncDue syncs the servers of all tenants whose last sync is a day old. Servers that
// want a user's own credentials are synced when a user signs in.
func (p *Portal) syncDue(ctx context.Context) {
	if p.tenants == nil || !p.rounds.TryLock() { // the last round takes long
		return
	}
	defer p.rounds.Unlock()
	tenants, err := p.tenants(ctx)
	if err != nil && ctx.Err() == nil { // one that can't be read holds up no other
		p.log.Warn("couldn't list all tenants", "error", err)
	}
	free := make(chan struct{}, errands)
	var running sync.WaitGroup
	for _, t := range tenants {
		free <- struct{}{}
		p.panics.Go(&running, "syncing a tenant's servers", func() {
			defer func() { <-free }()
			p.syncTenant(ctx, t)
		})
	}
	running.Wait()
}

// syncTenant syncs the servers of one tenant that are due, until its time is over.
// Who has waited longest comes first, so that those left over come in the next
// round. Those that are down are left to the agenda.
func (p *Portal) syncTenant(ctx context.Context, t ubl.TenantID) {
	bounded, cancel := context.WithTimeout(ctx, p.errand)
	defer cancel()
	servers, err := p.Servers(bounded, platformOf(t))
	if err != nil {
		if ctx.Err() == nil {
			p.log.Warn("couldn't list servers", "tenant", t, "error", err)
		}
		return
	}
	slices.SortStableFunc(servers, func(a, b *ubl.Server) int { return cmp.Compare(syncedAt(a), syncedAt(b)) })
	for _, s := range servers {
		switch {
		case s.Disabled || s.Auth == ubl.AuthUser:
		case s.Status == ubl.ServerDown:
			p.agenda.add(place{tenant: t, server: s.ServerID}, *s.NextTry)
		case bounded.Err() == nil && syncedAt(s).Add(syncAfter) <= ubl.TimeOf(p.now()):
			p.syncAs(ctx, platformOf(t), s.ServerID)
		}
	}
}

// syncedAt is when the last sync was put on record, 0 for never.
func syncedAt(s *ubl.Server) ubl.Time {
	if s.SyncedAt == nil {
		return 0
	}
	return *s.SyncedAt
}
