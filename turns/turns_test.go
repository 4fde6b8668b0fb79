package turns_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"ubl"
	"ubl/turns"
)

// desk has requests wait for a place, and tells who has had one, in order.
type desk struct {
	*turns.Turns
	served []string
	done   map[string]chan struct{}
}

func (d *desk) ask(ctx context.Context, of ubl.TenantID, name string) {
	done := make(chan struct{})
	d.done[name] = done
	go func() {
		if d.Take(ctx, of) != nil {
			return
		}
		d.served = append(d.served, name)
		<-done
		d.Give(of)
	}()
	synctest.Wait()
}

func (d *desk) end(name string) {
	close(d.done[name])
	synctest.Wait()
}

func (d *desk) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.served, want) {
		t.Errorf("places went to %q, want %q", d.served, want)
	}
}

func newDesk(all, each int) *desk {
	return &desk{Turns: turns.New(all, each), done: make(map[string]chan struct{})}
}

// TestATenantLeavesPlaces: the requests of one tenant wait while there are places for others.
func TestATenantLeavesPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(3, 2)
		for n := range 4 {
			d.ask(t.Context(), "t:a", fmt.Sprint("a", n))
		}
		d.expect(t, "a0", "a1")
		d.ask(t.Context(), "t:b", "b0")
		d.expect(t, "a0", "a1", "b0")
		d.end("b0") // a place is free, and none of a's
		d.expect(t, "a0", "a1", "b0")
		for _, name := range []string{"a0", "a1", "a2", "a3"} {
			d.end(name)
		}
		d.expect(t, "a0", "a1", "b0", "a2", "a3")
	})
}

// TestTenantsWaitInTurn: a place goes to the tenant whose turn it is, however many requests
// of another came before.
func TestTenantsWaitInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(1, 1)
		for _, name := range []string{"a0", "a1", "a2", "b0", "b1", "c0"} {
			d.ask(t.Context(), ubl.TenantID("t:"+name[:1]), name)
		}
		for _, name := range []string{"a0", "b0", "c0", "a1", "b1", "a2"} {
			d.end(name)
		}
		d.expect(t, "a0", "a1", "b0", "c0", "a2", "b1")
	})
}

// TestWhoGivesUpHasNoPlace: it neither keeps one nor takes one from those behind it.
func TestWhoGivesUpHasNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		d.ask(t.Context(), "t:a", "a0")
		d.ask(ctx, "t:a", "a1")
		d.ask(ctx, "t:b", "b0")
		d.ask(t.Context(), "t:a", "a2")
		cancel()
		d.end("a0")
		d.expect(t, "a0", "a2")
		d.end("a2")
		d.ask(t.Context(), "t:b", "b1")
		d.expect(t, "a0", "a2", "b1")
		d.end("b1")
	})
}

// TestAFreePlaceIsTaken, however little patience is left: a busy machine may take longer to look than a
// caller wants to wait.
func TestAFreePlaceIsTaken(t *testing.T) {
	d := turns.New(1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if err := d.Take(ctx, "t:a.b"); err != nil {
			t.Fatal(err)
		}
		d.Give("t:a.b")
	}
}
