package actors_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestOrphans: calls whose node is gone are closed once their deadline has passed,
// or all at once, with an effect that pairs with the intent; an end that comes
// after that changes nothing.
func TestOrphans(t *testing.T) {
	p := openFiles(t)
	early := ask[*ubl.CallTicket](p, p.call(p.bob))
	p.Clock.Add(45 * time.Second)
	late := ask[*ubl.CallTicket](p, p.call(p.bob))
	sweep := func(all bool, want int) {
		t.Helper()
		if got := ask[int](p, ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: all}); got != want {
			t.Errorf("%d calls were closed, want %d", got, want)
		}
	}
	sweep(false, 0)
	p.Clock.Add(15 * time.Second)
	sweep(false, 1)
	sweep(false, 0)
	p.Restart()
	sweep(true, 1)
	for _, ticket := range []*ubl.CallTicket{early, late} {
		row := ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: ticket.N, OutputHash: ubl.BodyHash(nil)})
		if row.Status != "error" || row.Code != ubl.CodeUnavailable || *row.Receipt != ticket.Receipt {
			t.Errorf("an orphan ended as %+v", row)
		}
		pair := harness.Must[*ubl.ReceiptPair](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetReceipt{Seq: ticket.Receipt.Seq})
		if len(pair.Atoms) != 2 {
			t.Fatal("an orphan has no effect")
		}
		if effect := atomOf(t, pair.Atoms[1]); effect.Outcome != "error" || effect.Error.Message != "the node that made the call stopped" {
			t.Errorf("the effect of an orphan is %+v", effect)
		}
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestManyOrphans: there is a bound for calls under way, and all of them can be
// closed, which takes many batches.
func TestManyOrphans(t *testing.T) {
	p := openFiles(t)
	const n = 10_000
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range n / 16 {
				if _, err := p.Ask(context.Background(), p.name, p.call(p.bob)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	one := p.call(p.bob)
	p.refuse(ubl.CodeOverloaded, one)
	p.Restart()
	p.refuse(ubl.CodeOverloaded, one)
	if got := ask[int](p, ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: true}); got != n {
		t.Errorf("%d calls were closed, want %d", got, n)
	}
	ask[*ubl.CallTicket](p, one)
}
