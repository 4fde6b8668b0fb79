package container_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors/container"
	"ubl/test/harness"
)

// wallet founds one.
func wallet(h *harness.House, who ubl.Identity, name string) ubl.Name {
	c := ubl.CreateContainer{Request: h.Request(who), Kind: "wallet", Name: name}
	made := harness.Must[*ubl.ContainerMade](h, ubl.TenantName(who.TenantID), c)
	return ubl.ContainerName(who.TenantID, made.Container.ContainerID)
}

// many asks n times, 64 at once.
func many(t *testing.T, n int, ask func() error) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for range (n + 63 - i) / 64 {
				if err := ask(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestArrivalIsRememberedForEver: a transfer that is told again, at once or after
// its key was forgotten, does not arrive twice.
func TestArrivalIsRememberedForEver(t *testing.T) {
	h := openCaptured(t, 1000).House
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	purse, departed := wallet(h, ana, "purse"), ubl.TimeOf(h.Clock.Now())
	arrive := func() string {
		answer := harness.Must[*ubl.TransferResult](h, purse, container.Arrival(h.Request(ana), "x:once", departed, 5))
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	fill := func(n int) {
		many(t, n, func() error {
			_, err := h.Ask(t.Context(), purse, container.Credit{Request: h.Request(ana), Amount: 1})
			return err
		})
	}
	first := arrive()
	for range 5 {
		before := harness.Must[*ubl.Container](h, purse, ubl.GetContainer{Who: ana}).Balance
		if again := arrive(); again != first {
			t.Errorf("told again it is answered\n%s, first\n%s", again, first)
		}
		if after := harness.Must[*ubl.Container](h, purse, ubl.GetContainer{Who: ana}).Balance; after != before {
			t.Errorf("told again it arrived again: %d credits, before %d", after, before)
		}
		h.Reload()
		fill(1100) // in the fourth round the first one's keys are old, and more than are kept
		h.Clock.Add(11 * time.Hour)
	}
}

// TestPendingHasABound: while a target is away, only so many transfers leave for it;
// a retry of one of them is none more. With the target back a sweep carries all on.
func TestPendingHasABound(t *testing.T) {
	c := openCaptured(t, 1000)
	h := c.House
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	from, to := wallet(h, ana, "from"), wallet(h, ana, "to")
	issue := ubl.IssueCredits{Request: h.Request(ana), To: ubl.ContainerID(from.Local()), Amount: 2 * container.MaxPending}
	harness.Must[*ubl.Balance](h, ubl.TenantName(ana.TenantID), issue)
	send := func() ubl.Transfer {
		return ubl.Transfer{Request: h.Request(ana), To: ubl.ContainerID(to.Local()), Amount: 1}
	}
	c.away.Store(true)
	first := send()
	h.Refused(ubl.CodeUnavailable, from, first)
	many(t, container.MaxPending-1, func() error {
		if _, err := h.Ask(context.Background(), from, send()); ubl.CodeOf(err) != ubl.CodeUnavailable {
			return fmt.Errorf("a transfer to who is away: %w", err)
		}
		return nil
	})
	h.Refused(ubl.CodeOverloaded, from, send())
	h.Refused(ubl.CodeUnavailable, from, first)
	c.away.Store(false)
	h.Reload()
	h.Clock.Add(time.Minute)
	h.Alarms()
	harness.Must[*ubl.TransferResult](h, from, send())
	if got := harness.Must[*ubl.Container](h, from, ubl.GetContainer{Who: ana}); got.Balance != container.MaxPending-1 || got.InTransit != 0 {
		t.Errorf("the source has %d credits, %d in transit", got.Balance, got.InTransit)
	}
}
