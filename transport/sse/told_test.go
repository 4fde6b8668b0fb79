package sse_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"ubl"
	"ubl/transport/sse"
)

// Two effects of a family that no stream knows: one is told in a room, one everywhere.
const (
	opNote = "note.add"
	opBell = "bell.ring"
)

// announce makes an act with an effect, and publishes that as the kernel does.
func (w *world) announce(op string, room ubl.RoomID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	effect := ubl.Fields{ubl.Str("op", op)}
	if room != "" {
		effect = append(effect, ubl.Str("room_id", room))
	}
	at := c.act(ubl.Did(op), "u:ann", nil, effect)
	c.events = append(c.events, ubl.Event{Kind: op, TenantID: tenant, RoomID: room, TS: w.now, LedgerSeq: at, Payload: effect.JSON()})
	c.publish(room)
}

// TestEffectsAreToldWhereTheirFamilySays: those of a room to its members, in both streams, the
// others to everyone; again after a pause in the same bytes.
func TestEffectsAreToldWhereTheirFamilySays(t *testing.T) {
	for _, c := range []struct {
		user          ubl.UserID
		target        string
		heard, missed []string
	}{
		{"u:ann", "/api/events", []string{opNote, opBell}, []string{opNote, opBell}},
		{"u:eve", "/api/events", []string{opBell}, []string{opBell}},
		{"u:ann", general, []string{opNote}, nil}, // what isn't in its history a room's stream doesn't repeat
	} {
		t.Run(string(c.user)+" "+c.target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				s := open(hub, member(c.user), c.target, "")
				synctest.Wait()
				w.announce(opNote, "r:general")
				w.announce(opBell, "")
				synctest.Wait()
				live := s.drop()
				began := slices.IndexFunc(live, func(f frame) bool { return f.id != "" })
				again := open(hub, member(c.user), c.target, live[began].id)
				synctest.Wait()
				for _, got := range []struct {
					frames []frame
					want   []string
				}{{live, c.heard}, {again.drop(), c.missed}} {
					var ops []string
					for _, f := range got.frames {
						if f.event == "" {
							continue
						}
						ops = append(ops, f.event)
						if !slices.ContainsFunc(live, func(l frame) bool { return l.data == f.data && l.id == f.id }) {
							t.Errorf("%s is told as %s %s, and wasn't before", f.event, f.id, f.data)
						}
					}
					if !slices.Equal(ops, got.want) {
						t.Errorf("%q is told, want %q", ops, got.want)
					}
				}
			})
		})
	}
}
