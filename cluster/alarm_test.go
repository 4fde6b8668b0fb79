package cluster

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/ledger"
	"ubl/test/poll"
)

// Bells are a family of this test's own: each rings when its alarm wakes it.

type bellState struct{ Rang int }

type bellEvent struct {
	actors.Stamp
	Rang bool `json:"rang,omitempty"`
}

type (
	setBell struct {
		ubl.Request
		At ubl.Time
	}
	readBell struct{}
)

func (setBell) Cost() int  { return ubl.ActCost }
func (readBell) Cost() int { return 0 }

type bell struct {
	*actors.Entity[bellState, bellEvent]
}

func (x bell) Receive(t *actors.Turn, cmd ubl.Command) {
	if !x.Change(t, cmd) {
		t.Reply(x.State.Rang)
	}
}

func bells(read ubl.Reader) actors.Family {
	kind := &actors.Kind[bellState, bellEvent]{
		Name: "bell", Version: 1, Spaces: "z",
		Place: func(name ubl.Name) actors.Place {
			local := name.Local()
			return actors.Place{
				Key: func(n int64) []byte {
					return binary.BigEndian.AppendUint64(append([]byte("z"+local), 0), uint64(n))
				},
				Counter: []byte("e" + local), Ref: 'z',
			}
		},
		Apply: func(s *bellState, e bellEvent) {
			if e.Rang {
				s.Rang++
			}
		},
		Under:    func(_ *bellState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(*bellState) ubl.Fields { return ubl.Fields{} },
		Rules: []actors.Rule[bellState, bellEvent]{
			actors.On("bell.set", nil, func(_ *bellState, c setBell, _ actors.Moment) (*actors.Plan[bellEvent], error) {
				return &actors.Plan[bellEvent]{Alarms: []actors.Alarm{{Key: "ring", At: c.At}}}, nil
			}),
		},
		Wake: func(*bellState, string, actors.Moment) (ubl.Did, *actors.Plan[bellEvent], error) {
			return "bell.ring", &actors.Plan[bellEvent]{Event: bellEvent{Rang: true}}, nil
		},
	}
	return actors.Family{
		Name: "bell", Owns: func(local string) bool { return strings.HasPrefix(local, "bell:") },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			x, err := kind.Load(ctx, read, env, actors.Hooks[bellEvent]{
				Outcome: func(context.Context, bellEvent) (any, error) { return 0, nil },
			})
			return bell{x}, err
		},
	}
}

// TestAlarmsFailOver: alarms come due while their leader goes and another node takes
// over. Each rings, those that were armed under the old leader too, and once.
func TestAlarmsFailOver(t *testing.T) {
	w := newWorld(t, 3, nil)
	var local []*actors.Runtime
	for _, n := range w.nodes {
		rt := actors.New(actors.Options{
			Families: []actors.Family{ledger.Family(n.Store()), bells(n.Store())},
			Now:      time.Now, Random: rand.Reader, Partition: n.engine.Partition, Elsewhere: n, Shelf: n.Store(),
		})
		local = append(local, rt)
		n.Attach(rt)
		t.Cleanup(func() { _ = rt.Close(context.Background()) })
	}
	who := ubl.Identity{UserID: "u:ana", TenantID: "t:example.com", Issuer: "test", Subject: "ana"}
	const many = 60
	name := func(i int) ubl.Name { return ubl.Name(fmt.Sprintf("%s|bell:%d", who.TenantID, i)) }
	partition := w.nodes[0].engine.Partition(name(0).Group())
	leads := func() int { return slices.Index(w.nodes, w.led(partition)) }
	fired := func() (n int64) {
		for _, rt := range local {
			n += rt.AlarmStats().Fired
		}
		return n
	}
	for i := range many { // each later than the one before, however long the setting takes: most are left when the leader goes
		at := ubl.TimeOf(time.Now().Add(time.Second + time.Duration(i)*75*time.Millisecond))
		set := setBell{ubl.Request{Who: who, ID: "req:set-bell", Key: "set"}, at}
		poll.Until(t, "a bell is set", func() bool {
			_, err := local[leads()].Ask(t.Context(), name(i), set)
			return err == nil
		})
	}
	poll.Until(t, "some have rung", func() bool { return fired() >= 5 })
	first := leads()
	w.stop(first)
	before := fired()
	poll.Until(t, "all have rung", func() bool {
		for i := range many {
			rang, err := ubl.Ask[int](t.Context(), local[leads()], name(i), readBell{})
			if rang > 1 {
				t.Fatalf("bell %d rang %d times", i, rang)
			}
			if err != nil || rang == 0 {
				return false
			}
		}
		return true
	})
	if next := local[leads()].AlarmStats(); fired() == before && before < many || next.Failures > 0 {
		t.Errorf("%d of %d rang before the leader went, and the figures of the next are %+v", before, many, next)
	}
	if stats := local[first].AlarmStats(); stats.Groups != 0 {
		t.Errorf("the old leader still has %+v", stats)
	}
}
