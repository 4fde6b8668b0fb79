package actors

import (
	"sync/atomic"

	"ubl"
)

// Usage is how many bytes of content a tenant has stored: its ledger, and what families
// say counts ([ubl.Content]). The tenant's LedgerShard counts, and is loaded before all
// others; those who are about to add more ask. A nil one has no limit.
type Usage struct {
	bytes atomic.Int64
	quota ubl.Quota
}

// Set tells how many there are now.
func (u *Usage) Set(bytes int64) {
	if u != nil {
		u.bytes.Store(bytes)
	}
}

// Bytes is how many there are, what is not durable yet included.
func (u *Usage) Bytes() int64 {
	if u == nil {
		return 0
	}
	return u.bytes.Load()
}

// MayAdd refuses more content of somebody where there is as much as there may be. What
// the platform says is never refused.
func (u *Usage) MayAdd(who ubl.Identity) error {
	if u == nil || who.IsPlatform() {
		return nil
	}
	return u.quota.Within(ubl.QuotaBytes, int(u.bytes.Load()))
}

// Usage is how many bytes each tenant has stored that has actors here.
func (rt *Runtime) Usage() map[ubl.TenantID]int64 {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	out := make(map[ubl.TenantID]int64, len(rt.groups))
	for key, g := range rt.groups {
		out[key.Tenant] = g.usage.Bytes()
	}
	return out
}
