package cluster

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/ledger"
	"ubl/test/poll"
)

// listeners count bells that were set: one by decisions, one outside.
func listeners(read ubl.Reader, outside func(seq int64)) []actors.Family {
	one := func(actors.Entry) string { return "" }
	inside := &actors.Follow{Name: "inside", Local: "inside", Dids: []ubl.Did{"bell.set"}, Subject: one}
	out := &actors.Follow{Name: "outside", Local: "outside", Dids: []ubl.Did{"bell.set"}, Subject: one}
	kind := &actors.Kind[bellState, bellEvent]{
		Name: "inside", Version: 1, Spaces: "z", Follow: inside,
		Place: func(ubl.Name) actors.Place {
			return actors.Place{
				Key:     func(n int64) []byte { return binary.BigEndian.AppendUint64([]byte("zinside\x00"), uint64(n)) },
				Counter: []byte("einside"), Ref: 'z',
			}
		},
		Apply:    func(s *bellState, _ bellEvent) { s.Rang++ },
		Under:    func(_ *bellState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(*bellState) ubl.Fields { return ubl.Fields{} },
		Decide: func(*bellState, actors.Entry, actors.Moment) (ubl.Did, *actors.Plan[bellEvent], error) {
			return "bell.hear", &actors.Plan[bellEvent]{}, nil
		},
	}
	return []actors.Family{{
		Name: "inside", Owns: func(local string) bool { return local == "inside" }, Follow: inside,
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			x, err := kind.Load(ctx, read, env, actors.Hooks[bellEvent]{})
			return bell{x}, err
		},
	}, actors.Deliverer(read, out, func(actors.Env) func(context.Context, string, []actors.Entry) error {
		return func(_ context.Context, _ string, list []actors.Entry) error {
			for _, e := range list {
				outside(e.Seq)
			}
			return nil
		}
	})}
}

// TestFollowFailsOver: acts are put on record while the leader goes and another node takes
// over. Decisions about them are made once each, and what lies outside hears of each.
func TestFollowFailsOver(t *testing.T) {
	w := newWorld(t, 3, nil)
	var mu sync.Mutex
	heard := make(map[int64]bool)
	var local []*actors.Runtime
	for _, n := range w.nodes {
		rt := actors.New(actors.Options{
			Families: append(listeners(n.Store(), func(seq int64) {
				mu.Lock()
				defer mu.Unlock()
				heard[seq] = true
			}), ledger.Family(n.Store()), bells(n.Store())),
			Now: time.Now, Random: rand.Reader, Partition: n.engine.Partition, Elsewhere: n, Shelf: n.Store(),
		})
		local = append(local, rt)
		n.Attach(rt)
		t.Cleanup(func() { _ = rt.Close(context.Background()) })
	}
	who := ubl.Identity{UserID: "u:ana", TenantID: "t:example.com", Issuer: "test", Subject: "ana"}
	name := func(local string) ubl.Name { return ubl.Name(string(who.TenantID) + "|" + local) }
	partition := w.nodes[0].engine.Partition(name("").Group())
	leads := func() int { return slices.Index(w.nodes, w.led(partition)) }
	const many = 100
	first := -1
	for i := range many {
		if i == many/2 {
			poll.Until(t, "some are heard of", func() bool {
				first = leads()
				return local[first].FollowStats()["inside"].Delivered > 0
			})
			w.stop(first)
		}
		set := setBell{Request: ubl.Request{Who: who, ID: "req:set-bell", Key: fmt.Sprint(i)}}
		poll.Until(t, "a bell is set", func() bool {
			_, err := local[leads()].Ask(t.Context(), name("bell:1"), set)
			return err == nil
		})
	}
	poll.Until(t, "all were heard of", func() bool {
		inside, err := ubl.Ask[int](t.Context(), local[leads()], name("inside"), readBell{})
		mu.Lock()
		outside := len(heard)
		mu.Unlock()
		if inside > many || outside > many {
			t.Fatalf("%d and %d of %d were heard of", inside, outside, many)
		}
		return err == nil && inside == many && outside == many
	})
	if stats := local[first].FollowStats()["inside"]; stats.Groups != 0 {
		t.Errorf("the old leader still has %+v", stats)
	}
}
