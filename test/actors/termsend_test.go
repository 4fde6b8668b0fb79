package actors_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// until has ana agree to terms of the room that end after a time; 0 for never.
func (x *aging) until(d time.Duration) {
	x.t.Helper()
	terms := ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{permit("*", ubl.ToOwners)}}
	if d > 0 {
		terms.Until = ubl.TimeOf(x.Clock.Now()).Add(d)
	}
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.ProposeTerms{Request: x.Request(x.ana), Terms: terms})
}

// ended wants the room's Agreement to have been ended so often: never, or once.
func (x *aging) ended(want int) {
	x.t.Helper()
	page := harness.Must[*ubl.AtomPage](x.House, ubl.LedgerName(x.ana.TenantID), ubl.ReadAtoms{From: 1, Limit: 500})
	ends := 0
	for _, atom := range page.Atoms {
		ends += strings.Count(string(atom), `"did":"agreement.end"`)
	}
	v := harness.Must[*ubl.AgreementView](x.House, x.room, ubl.GetAgreement{Who: x.ana})
	if over := v.Status == ubl.AgreementEnded; ends != want || over != (want > 0) {
		x.t.Errorf("%d acts end the Agreement, which is %s, want %d", ends, v.Status, want)
	}
}

// TestTermsWake: the time of terms ends the Agreement, after a restart too. The alarm follows
// the terms, and there is none without an end, or after it.
func TestTermsWake(t *testing.T) {
	x := openAging(t, harness.Options{})
	x.armed(0)
	x.until(time.Hour)
	x.armed(1)
	x.until(0)
	x.armed(0)
	x.until(time.Hour)
	x.until(2 * time.Hour)
	x.armed(1)
	x.pass(2*time.Hour - time.Millisecond)
	x.ended(0)
	x.Restart()
	x.pass(time.Millisecond)
	x.ended(1)
	x.armed(0)

	early := openAging(t, harness.Options{})
	early.until(time.Hour)
	harness.Must[*ubl.AgreementView](early.House, early.room, ubl.EndAgreement{Request: early.Request(early.ana)})
	early.armed(0)
	early.pass(time.Hour)
	early.ended(1)
}

// TestTermsEndCrash: the node is gone at the commit that ends an Agreement, before and after it
// is durable. After a restart it has ended, once.
func TestTermsEndCrash(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable ", durable), func(t *testing.T) {
			d := newDying(1, durable)
			x := openAging(t, harness.Options{Wrap: d.wrap})
			x.until(time.Hour)
			d.takes(t, x.House, time.Hour)
			for range 3 {
				x.pass(time.Second)
			}
			x.ended(1)
			x.armed(0)
			x.VerifyLedger(x.ana.TenantID)
		})
	}
}
