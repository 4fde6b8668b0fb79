package actors

import (
	"testing"

	"ubl"
)

// TestMay: in a full tenant what adds is refused, and a look a tenth later; the platform
// is refused nothing.
func TestMay(t *testing.T) {
	const most = 1_000_000
	u := &Usage{quota: func(_ string, have int) error {
		if have >= most {
			return ubl.Errorf(ubl.CodeQuotaExceeded, "full")
		}
		return nil
	}}
	ana := ubl.Identity{TenantID: "t:a", UserID: "u:ana"}
	for _, c := range []struct {
		stored      int64
		adds, looks bool
	}{
		{most - 1, true, true},
		{most, false, true},
		{most*11/10 - 11, false, true},
		{most * 11 / 10, false, false},
	} {
		u.Set(c.stored)
		if adds, looks := u.May(ana) == nil, u.MayLook(ana) == nil; adds != c.adds || looks != c.looks {
			t.Errorf("at %d bytes they may add: %t, and look: %t", c.stored, adds, looks)
		}
		if u.May(ubl.Platform()) != nil || u.MayLook(ubl.Platform()) != nil {
			t.Errorf("at %d bytes the platform is refused", c.stored)
		}
	}
	var none *Usage
	if none.May(ana) != nil || none.MayLook(ana) != nil {
		t.Error("without a limit somebody is refused")
	}
}
