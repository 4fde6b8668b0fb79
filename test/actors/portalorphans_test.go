package actors_test

import (
	"context"
	"strings"
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

// TestOrphansWake: a call whose node is gone is closed when its deadline has passed,
// although nobody asks, at whatever moment the node that closes it is gone, too. A call
// that ends in time leaves nothing to close.
func TestOrphansWake(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			p := openFiles(t)
			before := p.alarms() // of its servers
			early, ended := ask[*ubl.CallTicket](p, p.model(p.bob, 7)), ask[*ubl.CallTicket](p, p.call(p.bob))
			p.Clock.Add(30 * time.Second)
			late := ask[*ubl.CallTicket](p, p.call(p.bob))
			ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: ended.N, OutputHash: ubl.BodyHash(nil)})
			statuses := func(want string) {
				t.Helper()
				var got []string
				for _, row := range p.log(p.ana, true) {
					got = append(got, row.Status)
				}
				if strings.Join(got, " ") != want {
					t.Errorf("the calls are %v, want %s", got, want)
				}
			}
			p.Clock.Add(30*time.Second - time.Millisecond)
			p.Alarms()
			statuses("intended ok intended")
			struck, strike := make(chan struct{}), fault(p.valve)
			var once sync.Once
			p.setFault(func(b *ubl.Batch, settled func(error)) bool {
				once.Do(func() { close(struck) })
				return strike(b, settled)
			})
			p.Clock.Add(time.Millisecond)
			for n := range p.Engine.Partitions() {
				p.Led(n)
			}
			<-struck
			p.setFault(nil)
			p.Restart()
			p.Alarms()
			statuses("intended ok error")
			p.Clock.Add(30 * time.Second)
			p.Alarms()
			statuses("error ok error")
			if b := ask[*ubl.Budget](p, ubl.GetBudget{Who: p.bob}); b.UsedToday != 7 {
				t.Errorf("%d tokens are used", b.UsedToday)
			}
			if early.N != 1 || late.N != 3 {
				t.Errorf("the calls are %d and %d", early.N, late.N)
			}
			if n := p.alarms() - before; n > 0 {
				t.Errorf("%d records of alarms are left", n)
			}
			p.VerifyLedger(p.ana.TenantID)
		})
	}
}

// alarms counts what the store has of them.
func (p *portals) alarms() int {
	p.t.Helper()
	return alarmsOf(p.House, p.t, p.ana.TenantID)
}
