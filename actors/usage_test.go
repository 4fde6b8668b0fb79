package actors

import (
	"maps"
	"slices"
	"testing"

	"ubl"
)

// TestMay: in a full tenant an act that adds is refused, a look a tenth later, and what
// frees never; nor is the platform.
func TestMay(t *testing.T) {
	const most = 1_000_000
	u := &Usage{quota: func(_ string, have int) error {
		if have >= most {
			return ubl.Errorf(ubl.CodeQuotaExceeded, "full")
		}
		return nil
	}}
	ana := ubl.Identity{TenantID: "t:a", UserID: "u:ana"}
	refused := func(stored int64) map[ubl.Did]bool {
		u.Set(stored)
		out := map[ubl.Did]bool{}
		for _, did := range ubl.Dids() {
			if u.May(ubl.Platform(), did) != nil {
				t.Errorf("the platform is refused %s", did)
			}
			if u.May(ana, did) != nil {
				out[did] = true
			}
		}
		return out
	}
	if below := refused(most - 1); len(below) > 0 {
		t.Errorf("below the limit %v are refused", below)
	}
	for stored, passes := range map[int64][]ubl.Did{
		most:           slices.Concat(slices.Collect(maps.Keys(frees)), slices.Collect(maps.Keys(reads))),
		most * 11 / 10: slices.Collect(maps.Keys(frees)),
	} {
		got := refused(stored)
		for _, did := range passes {
			if got[did] {
				t.Errorf("at %d %s is refused", stored, did)
			}
		}
		if len(got)+len(passes) != len(ubl.Dids()) { // else one of them is no act
			t.Errorf("at %d %d of %d acts are refused, and %d should pass", stored, len(got), len(ubl.Dids()), len(passes))
		}
	}
	for _, did := range []ubl.Did{ubl.DidSend, ubl.DidToolAccess, ubl.DidTenantMemberUpdate, ubl.DidTokenCreate, "someone.else"} {
		if u.Set(most); u.May(ana, did) == nil {
			t.Errorf("%s passes", did)
		}
	}
}
