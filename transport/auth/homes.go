package auth

import (
	"sync"

	"ubl"
)

// homes are the tenants of the credentials in the cache, whose ledgers tell of what
// is revoked and of who leaves. Each is listened to once, however many credentials
// it has.
type homes struct {
	feed  ubl.Feed
	heard func(ubl.Publication)

	mu   sync.Mutex
	open map[ubl.TenantID]*listening
}

type listening struct {
	uses  int
	leave func()
}

// follow listens to a tenant until leave is called, which happens once. Tenant 0's
// ledger is listened to anyway.
func (h *homes) follow(t ubl.TenantID) (leave func()) {
	if t == ubl.CoreTenant {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[t]
	if l == nil {
		l = &listening{leave: h.feed.Subscribe(ubl.LedgerName(t), h.heard, heardOf...)}
		h.open[t] = l
	}
	l.uses++
	return func() { h.release(t, l) }
}

func (h *homes) release(t ubl.TenantID, l *listening) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.uses--; l.uses > 0 {
		return
	}
	delete(h.open, t)
	l.leave()
}
