package actors_test

import (
	"fmt"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// TestSeat: every way in which somebody asks a family for an act comes by the seat, with who
// asks, the act and the Agreement that it names. What the seat refuses changes nothing, and
// leaves its key free.
func TestSeat(t *testing.T) {
	refusal := ubl.Errorf(ubl.CodeForbidden, "the seat refuses")
	var refused error
	var proposed []actors.Proposal
	h, _, ana := openJudged(t, func(_ *counterState, p actors.Proposal) error {
		proposed = append(proposed, p)
		return refused
	})
	harness.Must[*counted](h, counterAt, add{h.Request(ana), 1, nil})
	ledger := ubl.LedgerName(ana.TenantID)
	for _, at := range []struct {
		cmd   ubl.Command
		did   ubl.Did
		looks bool
	}{
		{add{h.Request(ana), 2, nil}, "counter.up", false},
		{mark{h.Request(ana), 3}, "counter.mark", false},
		{jot{h.Request(ana), "note"}, "counter.jot", false},
		{look{h.Request(ana)}, "counter.look", true},
	} {
		t.Run(string(at.did), func(t *testing.T) {
			was, head := fmt.Sprint(harness.Must[counterState](h, counterAt, get{})), harness.Must[ubl.LedgerHead](h, ledger, ubl.GetLedgerHead{})
			proposed, refused = nil, refusal
			h.Refused(ubl.CodeForbidden, counterAt, at.cmd)
			if len(proposed) != 1 {
				t.Fatalf("the seat was asked %d times", len(proposed))
			}
			p := proposed[0]
			if p.Did != at.did || p.Looks != at.looks || p.Who.UserID != ana.UserID || p.Agreement != ubl.TenantAgreement(ana.TenantID) || p.At == 0 {
				t.Errorf("the seat was asked about %+v", p)
			}
			if now := fmt.Sprint(harness.Must[counterState](h, counterAt, get{})); now != was {
				t.Errorf("a refusal changed %s to %s", was, now)
			}
			if now := harness.Must[ubl.LedgerHead](h, ledger, ubl.GetLedgerHead{}); now.Seq != head.Seq {
				t.Errorf("a refusal left %d atoms", now.Seq-head.Seq)
			}
			refused = nil
			if _, err := h.Ask(t.Context(), counterAt, at.cmd); err != nil {
				t.Errorf("allowed, it is answered %v", err)
			}
		})
	}
	h.VerifyLedger(ana.TenantID)
}

// TestSeatOfAlarms: what an alarm leads to comes by the seat, too. Refused it is tried again
// later, as after any failure.
func TestSeatOfAlarms(t *testing.T) {
	w := openClocks(t)
	w.upset("seat", func() error { return ubl.Errorf(ubl.CodeForbidden, "the seat refuses") })
	w.set("timer:1", w.in("held", time.Minute))
	w.pass(time.Minute)
	w.rings("timer:1", "")
	w.upset("seat", nil)
	w.pass(2 * time.Second)
	w.rings("timer:1", "held:1")
}
