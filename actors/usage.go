package actors

import (
	"sync/atomic"

	"ubl"
)

// Usage is how many bytes a tenant has stored: its ledger, and what families say counts
// ([ubl.Content]). The tenant's LedgerShard counts, and is loaded before all
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

// May refuses somebody an act that adds, in a tenant that has stored as much as it may.
// What the platform does is never refused.
func (u *Usage) May(who ubl.Identity) error { return u.may(who, u.Bytes()) }

// MayAdd refuses somebody to add so many bytes at once, where the tenant would store more than
// it may with them.
func (u *Usage) MayAdd(who ubl.Identity, bytes int64) error {
	return u.may(who, u.Bytes()+max(bytes-1, 0))
}

// MayLook refuses a look that leaves a receipt once a tenth more is stored than the tenant may.
func (u *Usage) MayLook(who ubl.Identity) error {
	have := u.Bytes()
	return u.may(who, have-have/11)
}

// Within asks another limit than that of the bytes of the tenant. What the platform does is never
// refused.
func (u *Usage) Within(who ubl.Identity, limit string, have int64) error {
	if u == nil || who.IsPlatform() {
		return nil
	}
	return u.quota.Within(limit, int(have))
}

func (u *Usage) may(who ubl.Identity, have int64) error {
	if u == nil || who.IsPlatform() {
		return nil
	}
	return u.quota.Within(ubl.QuotaBytes, int(have))
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
