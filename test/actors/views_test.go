package actors_test

import (
	"context"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// longest is a store that knows the most keys that one Ascend has visited.
type longest struct {
	ubl.Store
	keys atomic.Int64
}

func (l *longest) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return l.Store.View(ctx, g, func(snap ubl.Snapshot) error { return fn(visited{snap, l}) })
}

type visited struct {
	ubl.Snapshot
	by *longest
}

func (v visited) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	n := int64(0)
	err := v.Snapshot.Ascend(from, to, func(k, value []byte) bool {
		n++
		return fn(k, value)
	})
	if n > v.by.keys.Load() {
		v.by.keys.Store(n)
	}
	return err
}

// TestShortViews: a room with a long history is loaded, tells it, and answers a
// retry by views of a page each.
func TestShortViews(t *testing.T) {
	store := &longest{}
	h := harness.Open(t, harness.Options{Wrap: func(s ubl.Store) ubl.Store {
		store.Store = s
		return store
	}})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	change := func(days int) ubl.SetRoomPolicy {
		return ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}}
	}
	plans := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	room := ubl.RoomName(ana.TenantID, plans.RoomID)
	var some ubl.SetRoomPolicy
	for i := range 2*actors.EventPage + 10 {
		c := change(i%300 + 1)
		if i == actors.EventPage+5 {
			some = c
		}
		harness.Must[*ubl.Room](h, room, c)
	}
	h.Reload()
	store.keys.Store(0)
	if got := harness.Must[*ubl.Room](h, room, some); got.Policy.RetentionDays != *some.Patch.RetentionDays {
		t.Errorf("the retry is answered with %d days, want %d", got.Policy.RetentionDays, *some.Patch.RetentionDays)
	}
	view := harness.Must[*ubl.AgreementView](h, room, ubl.GetAgreement{Who: ana})
	if len(view.History) != 1 || len(view.Members) != 1 {
		t.Errorf("the Agreement is %+v", view)
	}
	if got := store.keys.Load(); got != actors.EventPage {
		t.Errorf("a view visits %d keys, want %d", got, actors.EventPage)
	}
	store.keys.Store(0)
	brief := harness.Must[*ubl.AgreementView](h, room, ubl.GetAgreement{Who: ana, Brief: true})
	if len(brief.History) != 0 || len(brief.Members) != 1 || store.keys.Load() != 0 {
		t.Errorf("without its history the Agreement is %+v, by a view of %d keys", brief, store.keys.Load())
	}
}
