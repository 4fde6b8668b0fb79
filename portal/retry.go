package portal

import (
	"context"
	"sync"

	"ubl"
	"ubl/turns"
)

const (
	// maxTrying bounds how many servers a node asks by itself at a time, maxTenantTrying how
	// many of one tenant: servers that hang must not hold up another tenant's.
	maxTrying       = 32
	maxTenantTrying = 4
)

// asking counts who asks each server right now.
type asking struct {
	mu    sync.Mutex
	place map[place]int
}

// begin notes that a server is being asked; end takes that back.
func (a *asking) begin(at place) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.place[at]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.place[at]--; a.place[at] == 0 {
			delete(a.place, at)
		}
	})
}

func (a *asking) is(at place) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.place[at] > 0
}

// SyncServer implements [ubl.Syncer]: a Portal's alarm says when.
func (p *Portal) SyncServer(ctx context.Context, t ubl.TenantID, serverID string) (s *ubl.Server, err error) {
	if !p.trying.Try(t) {
		return nil, ubl.Errorf(ubl.CodeOverloaded, "too many servers are being asked")
	}
	defer p.trying.Give(t)
	ctx, cancel := context.WithTimeout(ctx, 2*syncTimeout)
	defer cancel()
	done := make(chan struct{})
	err = ubl.Errorf(ubl.CodeUnavailable, "the node stops")
	if !p.spawn(func() {
		defer close(done)
		err = ubl.Errorf(ubl.CodeInternal, "asking the server panicked")
		s, err = p.trySync(ctx, platformOf(t), serverID)
	}) {
		return nil, err
	}
	select {
	case <-done:
	case <-p.ctx.Done():
		cancel()
		<-done
	}
	if err != nil && ctx.Err() == nil {
		// Without the cause, which quotes what servers sent.
		p.log.Warn("couldn't sync a server", "tenant", t, "server", serverID, "code", ubl.CodeOf(err), "error", ubl.AsError(err).Message)
	}
	if p.ctx.Err() != nil && err != nil { // its node's end is no failure of the server's
		err = ubl.Errorf(ubl.CodeUnavailable, "the node stops")
	}
	return s, err
}

func newTrying() *turns.Turns { return turns.New(maxTrying, maxTenantTrying) }

// Shown is a server with what this node knows of its state. Answers of actors are
// shared, so it is a copy.
func (p *Portal) Shown(t ubl.TenantID, s *ubl.Server) *ubl.Server {
	with := *s
	with.Connecting = p.asked.is(place{tenant: t, server: s.ServerID})
	if try := s.NextTryAfter(t, ubl.TimeOf(p.now())); try != 0 {
		with.NextTry = &try
	}
	return &with
}

// Servers lists the servers by id, each with its state. Members.
func (p *Portal) Servers(ctx context.Context, who ubl.Identity) ([]*ubl.Server, error) {
	list, err := ubl.Ask[[]*ubl.Server](ctx, p.asker, ubl.PortalName(who.TenantID), ubl.ListServers{Who: who})
	for i, s := range list {
		list[i] = p.Shown(who.TenantID, s)
	}
	return list, err
}
