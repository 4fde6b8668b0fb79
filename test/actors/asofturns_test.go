package actors_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/test/harness"
)

// stuck is a store in which the histories of one tenant are read without end.
type stuck struct {
	ubl.Store
	tenant  ubl.TenantID
	on      atomic.Bool
	readers atomic.Int64  // of those
	over    chan struct{} // closed at the end
}

func (s *stuck) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	if g.Tenant != s.tenant || !s.on.Load() {
		return s.Store.View(ctx, g, fn)
	}
	return s.Store.View(ctx, g, func(snap ubl.Snapshot) error { return fn(stuckSnapshot{snap, s}) })
}

type stuckSnapshot struct {
	ubl.Snapshot
	by *stuck
}

func (s stuckSnapshot) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	s.by.readers.Add(1)
	<-s.by.over
	return s.Snapshot.Ascend(from, to, fn)
}

// TestATenantsLooksAtThePastWaitForEachOther, and not those of others for them.
func TestATenantsLooksAtThePastWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ana, eve := harness.User("ana@example.com"), harness.User("eve@elsewhere.example")
		store := &stuck{tenant: eve.TenantID, over: make(chan struct{})}
		h := harness.Open(t, harness.Options{Wrap: func(s ubl.Store) ubl.Store {
			store.Store = s
			return store
		}})
		look := func(who ubl.Identity) error {
			_, err := h.Ask(t.Context(), ubl.RoomName(who.TenantID, ubl.GeneralRoom), ubl.GetRoom{Who: who, AsOf: ubl.AsOf{Time: ubl.TimeOf(h.Clock.Now()) - 1}})
			return err
		}
		for _, who := range []ubl.Identity{ana, eve} {
			h.Enter(who)
			h.Clock.Add(time.Second)
			if err := look(who); err != nil {
				t.Fatal(err)
			}
		}
		store.on.Store(true)
		const looks = 12
		errs := make(chan error, looks)
		for range looks {
			go func() { errs <- look(eve) }()
		}
		synctest.Wait()
		if n := store.readers.Load(); n != 1 {
			t.Errorf("%d histories of a tenant are read at once", n)
		} else if err := look(ana); err != nil {
			t.Error(err)
		}
		close(store.over)
		for range looks {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		h.Close()
	})
}
