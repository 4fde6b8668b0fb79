package actors_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// longest is a store that knows the most keys that one Ascend has visited, and one Descend.
type longest struct {
	ubl.Store
	keys, back atomic.Int64
}

func (l *longest) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return l.Store.View(ctx, g, func(snap ubl.Snapshot) error { return fn(visited{snap, l}) })
}

type visited struct {
	ubl.Snapshot
	by *longest
}

func (v visited) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	return visit(&v.by.keys, v.Snapshot.Ascend, from, to, fn)
}

func (v visited) Descend(from, to []byte, fn func(k, v []byte) bool) error {
	return visit(&v.by.back, v.Snapshot.Descend, from, to, fn)
}

func visit(most *atomic.Int64, walk func(_, _ []byte, fn func(k, v []byte) bool) error, from, to []byte, fn func(k, v []byte) bool) error {
	n := int64(0)
	err := walk(from, to, func(k, value []byte) bool {
		n++
		return fn(k, value)
	})
	if n > most.Load() {
		most.Store(n)
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

// TestHistoryInPages: the pages of an Agreement's history put together are the whole of
// it, whatever their size, for each family that keeps one, as it is and as it was.
func TestHistoryInPages(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	tenant := ubl.TenantName(y.ana.TenantID)
	plans := harness.Must[*ubl.RoomSummary](y.House, tenant, ubl.CreateRoom{Request: y.Request(y.ana), Name: "plans"})
	room := ubl.RoomName(y.ana.TenantID, plans.RoomID)
	drafts := y.found("workspace", "drafts", "versioned/objects/gated/sandboxed")
	for i := range 7 {
		for _, place := range []ubl.Name{room, drafts} {
			y.add(place, y.bob, ubl.RoleMember)
			harness.Must[*ubl.Member](y.House, place, ubl.RemoveMember{Request: y.Request(y.ana), UserID: y.bob.UserID})
		}
		days := i + 1 // between the steps are events that are none
		harness.Must[*ubl.Room](y.House, room, ubl.SetRoomPolicy{Request: y.Request(y.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
		y.write(drafts, "Plan", "of the day")
		role := []ubl.Role{ubl.RoleOwner, ubl.RoleMember}[i%2]
		harness.Must[*ubl.Member](y.House, tenant, ubl.SetTenantMember{Request: y.Request(y.ana), UserID: y.bob.UserID, Role: role})
	}
	y.Reload()
	for _, place := range []ubl.Name{room, drafts, tenant} {
		whole := harness.Must[*ubl.AgreementView](y.House, place, ubl.GetAgreement{Who: y.ana})
		if len(whole.History) < 10 {
			t.Fatalf("%s: the whole history has %d steps", place, len(whole.History))
		}
		middle := len(whole.History) / 2
		for _, c := range []struct {
			asOf ubl.AsOf
			want []ubl.Change
		}{
			{ubl.AsOf{}, whole.History},
			{ubl.AsOf{Seq: whole.History[middle].Receipt.Seq}, whole.History[:middle+1]},
		} {
			for _, limit := range []int{1, 3, len(c.want) - 1, len(c.want), 1000} {
				var got []ubl.Change
				for after := int64(0); ; {
					page := harness.Must[*ubl.AgreementView](y.House, place, ubl.GetAgreement{Who: y.ana, AsOf: c.asOf, After: after, Limit: limit})
					if want := min(limit, len(c.want)-len(got)); len(page.History) != want {
						t.Fatalf("%s: a page of %d has %d steps, want %d", place, limit, len(page.History), want)
					}
					if len(page.History) == 0 {
						break
					}
					got = append(got, page.History...)
					after = got[len(got)-1].N
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s as of %d by %d steps: %v, want %v", place, c.asOf.Seq, limit, got, c.want)
				}
			}
		}
	}
}

// TestAnswersInALongThread read what is new of it, though it is for all who take part.
func TestAnswersInALongThread(t *testing.T) {
	store := &longest{}
	x := openTalkIn(t, harness.Options{Wrap: func(s ubl.Store) ubl.Store {
		store.Store = s
		return store
	}})
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.cyd.UserID, Email: x.cyd.Email, Role: ubl.RoleMember}})
	root := x.send(x.cyd, "who is in?", "")
	x.send(x.bob, "I am", root)
	answer := func() {
		harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(x.ana), Text: "good", Thread: root})
	}
	for range 50 {
		answer()
	}
	store.back.Store(0)
	for range 3 {
		answer()
	}
	if got := store.back.Load(); got > 5 {
		t.Errorf("a view visits %d keys", got)
	}
	x.unread(x.bob, 0, 53)
	x.unread(x.cyd, 0, 54)
	x.Restart()
	answer()
	x.unread(x.bob, 0, 54)
	x.unread(x.cyd, 0, 55)
}
