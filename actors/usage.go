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

// May refuses an act of somebody in a tenant that has stored as much as it may. Reading,
// whose receipts are stored too, is refused once there is a tenth more than that. What
// the platform does is never refused, nor what [frees].
func (u *Usage) May(who ubl.Identity, did ubl.Did) error {
	if u == nil || who.IsPlatform() || frees[did] {
		return nil
	}
	have := u.bytes.Load()
	if reads[did] {
		have -= have / 11
	}
	return u.quota.Within(ubl.QuotaBytes, int(have))
}

var (
	// frees are the acts that make room, or take people, power or credentials away, with
	// what signs people in who do so: each is as often as there is something to take. An
	// act of another name may do the same, as a change of a role: its plan says so then.
	frees = set(
		ubl.DidTenantMemberRemove, ubl.DidRoomRemove, ubl.DidRoomLeave, ubl.DidContainerRemove, ubl.DidContainerLeave,
		ubl.DidInvitationRevoke, ubl.DidDomainRelease, ubl.DidTokenRevoke, ubl.DidPasskeyRemove, ubl.DidServerRemove,
		ubl.DidAgreementEnd, ubl.DidAgreementHeir, ubl.DidRoomTrim, ubl.DidDocumentDelete,
		ubl.DidPlatformTokenCreate, ubl.DidPlatformTokenRenew, ubl.DidPlatformTokenRevoke, ubl.DidPlatformTokenRevokeAll,
		ubl.DidPlatformLinkCreate, ubl.DidPlatformHomeSet, ubl.DidPasskeyUse, ubl.DidTenantMemberProve,
	)
	// reads are the looks that leave a receipt.
	reads = set(ubl.DidDocumentGet, ubl.DidDocumentList, ubl.DidDocumentVersions, ubl.DidDocumentSearch, ubl.DidWorkspaceList)
)

func set(dids ...ubl.Did) map[ubl.Did]bool {
	out := make(map[ubl.Did]bool, len(dids))
	for _, d := range dids {
		out[d] = true
	}
	return out
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
