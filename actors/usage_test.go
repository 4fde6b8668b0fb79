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
	for bytes, ok := range map[int64]bool{0: true, 10: true, 11: false} {
		u.Set(most - 10)
		if u.MayAdd(ana, bytes) == nil != ok || u.MayAdd(ubl.Platform(), bytes) != nil {
			t.Errorf("10 bytes below the limit they may add %d: %t", bytes, !ok)
		}
	}
	var none *Usage
	if none.May(ana) != nil || none.MayLook(ana) != nil {
		t.Error("without a limit somebody is refused")
	}
}

// TestLimitsAtTheSeat: a tenant that is full may do what frees, and goes on looking for a
// tenth more.
func TestLimitsAtTheSeat(t *testing.T) {
	for _, at := range []struct {
		bytes     int64
		p         Proposal
		forbidden bool
	}{
		{900, Proposal{}, false},
		{1000, Proposal{}, true},
		{1000, Proposal{Frees: true}, false},
		{1000, Proposal{Who: ubl.Platform()}, false},
		{1000, Proposal{Looks: true}, false},
		{1000, Proposal{Uses: true}, false},
		{1200, Proposal{Looks: true}, true},
		{1200, Proposal{Uses: true}, false},
	} {
		u := &Usage{quota: func(_ string, have int) error {
			if have >= 1000 {
				return ubl.Errorf(ubl.CodeQuotaExceeded, "full")
			}
			return nil
		}}
		u.Set(at.bytes)
		x := &Entity[struct{}, follower]{Env: Env{Usage: u}, kind: &Kind[struct{}, follower]{}}
		if err := x.Verdict(at.p); (ubl.CodeOf(err) == ubl.CodeQuotaExceeded) != at.forbidden {
			t.Errorf("at %d of 1000 bytes %+v is answered %v", at.bytes, at.p, err)
		}
	}
}
