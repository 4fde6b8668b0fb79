package actors_test

import (
	"context"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/actors/container"
	"ubl/test/harness"
)

// TestLoadOutlivesItsAsker: a container that takes long to load is loaded once, even
// if the one who came first has gone in the meantime.
func TestLoadOutlivesItsAsker(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	begun, loads := make(chan struct{}, 2), atomic.Int64{}
	var slow actors.Family
	h := harness.Open(t, harness.Options{
		Families: []actors.Family{{
			Name: "slow container",
			Owns: func(local string) bool { return local == "k:slow" },
			Open: func(loading context.Context, env actors.Env) (actors.Actor, error) {
				loads.Add(1)
				begun <- struct{}{}
				<-ctx.Done()
				if loading.Err() != nil {
					t.Error("the load ends with its asker")
				}
				return slow.Open(loading, env)
			},
		}},
		Wrap: func(s ubl.Store) ubl.Store { slow = container.Family(s, nil); return s },
	})
	y := openYard(t, h)
	at := y.found("wallet", "slow", "")
	gone := make(chan error)
	go func() {
		_, err := h.Ask(ctx, at, ubl.GetContainer{Who: y.ana})
		gone <- err
	}()
	<-begun
	leave()
	if err := <-gone; err == nil {
		t.Error("who has left was answered")
	}
	if got := y.tell(at, ubl.GetContainer{Who: y.ana}); got != "ok" || loads.Load() != 1 {
		t.Errorf("the next one is answered %s after %d loads", got, loads.Load())
	}
}
