package sse_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/sse"
)

// without runs fn while all publications get lost.
func (w *world) without(fn func()) {
	lose := w.lose
	w.lose = func() bool { return true }
	fn()
	w.lose = lose
}

func TestMissedPublications(t *testing.T) {
	const room, all = general, "/api/events"
	for _, c := range []struct{ name, target, want string }{
		{"in a room", room, `
			retry 2000
			id 1
			id 2 message.created
			id 3 message.created
			id 4 message.created
			id 5 message.created`},
		{"in a tenant", all, `
			retry 2000
			id l0-4
			id l0-6 message.created
			id l0-8 message.created
			id l0-10 message.created
			id l0-12 message.created`},
	} {
		t.Run(c.name+", seen by the next one", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				s := open(hub, member("u:ann"), c.target, "")
				synctest.Wait()
				w.send("r:general", "u:ann", "told")
				w.without(func() { w.sendN("r:general", "u:ann", 2) })
				w.send("r:general", "u:ann", "told")
				synctest.Wait()
				wantTranscript(t, s.drop(), c.want)
			})
		})
		t.Run(c.name+", seen by the durable head", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				s := open(hub, member("u:ann"), c.target, "")
				synctest.Wait()
				w.send("r:general", "u:ann", "told")
				synctest.Wait()
				w.without(func() { w.sendN("r:general", "u:ann", 3) })
				time.Sleep(3 * time.Second)
				synctest.Wait()
				wantTranscript(t, s.drop(), c.want)
				if n := hub.Stats().Missed; n != 1 {
					t.Errorf("missed counts %d, want 1", n)
				}
			})
		})
	}
}

func TestLatePublicationsAreNotRepeated(t *testing.T) {
	for _, c := range []struct{ name, target, want, last string }{
		{"in a room", general, "retry 2000\nid 1\n", "\nid 2 message.created\nid 3 message.created"},
		{"in a tenant", "/api/events", "retry 2000\nid l0-4\n", "\nid l0-8 message.created\nid l0-10 message.created"},
	} {
		for _, lag := range []struct {
			time   time.Duration
			told   string // how the join comes across
			missed int64
		}{
			{100 * time.Millisecond, "room.member_joined", 0},
			{time.Second, "", 1}, // paged by then, without what has no id
		} {
			t.Run(c.name+" by "+lag.time.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, hub := house(sse.Limits{})
					s := open(hub, member("u:ann"), c.target, "")
					time.Sleep(2*time.Second - time.Millisecond) // to just before the head is asked for
					w.hold(true)
					w.join("r:general", "u:bob")
					time.Sleep(lag.time)
					w.hold(false)
					synctest.Wait()
					w.send("r:general", "u:ann", "next")
					synctest.Wait()
					wantTranscript(t, s.drop(), strings.TrimSuffix(c.want+lag.told, "\n")+c.last)
					if n := hub.Stats().Missed; n != lag.missed {
						t.Errorf("missed counts %d, want %d", n, lag.missed)
					}
				})
			})
		}
	}
}

func TestHistoryIsTriedAgainWhileItsActorIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		name := ubl.RoomName(tenant, "r:general")
		s := open(hub, member("u:ann"), general, "")
		synctest.Wait()
		w.without(func() { w.send("r:general", "u:ann", "missed") })
		w.fail(name, ubl.Errorf(ubl.CodeUnavailable, "the leader is gone"))
		w.send("r:general", "u:ann", "told")
		time.Sleep(4 * time.Second)
		wantTranscript(t, s.frames(), "retry 2000\nid 1")
		w.fail(name, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		wantTranscript(t, s.drop(), "retry 2000\nid 1\nid 2 message.created\nid 3 message.created")
	})
}

// TestDamageEndsTheStream: nothing is told past an entry that can't be read.
func TestDamageEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		s := open(hub, member("u:ann"), general, "")
		synctest.Wait()
		w.without(func() { w.send("r:general", "u:ann", "damaged by now") })
		w.fail(ubl.RoomName(tenant, "r:general"), ubl.Damaged("message 2 of r:general is missing"))
		w.send("r:general", "u:ann", "behind it")
		synctest.Wait()
		wantEnded(t, hub, s, sse.EndedInternal, "retry 2000\nid 1")
	})
}

func TestHistoryThatStaysAwayEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		s := open(hub, member("u:ann"), general, "")
		synctest.Wait()
		w.without(func() { w.send("r:general", "u:ann", "missed") })
		w.fail(ubl.RoomName(tenant, "r:general"), ubl.Errorf(ubl.CodeUnavailable, "the leader is gone"))
		w.send("r:general", "u:ann", "told")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		wantEnded(t, hub, s, sse.EndedUnavailable, "retry 2000\nid 1")
	})
}

func TestATenantStreamFollowsTheCallersRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob")
		s := open(hub, member("u:bob"), "/api/events", "")
		synctest.Wait()
		w.create("r:secret", "u:ann") // 9..12, not bob's
		w.send("r:secret", "u:ann", "not for bob")
		w.create("r:bobs", "u:bob")             // 15..18
		w.send("r:general", "u:ann", "for all") // 19, 20
		synctest.Wait()
		live := s.drop()
		wantTranscript(t, live, `
			retry 2000
			id l0-8
			id l0-16 room.created
			id l0-18 message.created
			id l0-20 message.created`)

		// Resumed from its first id, it gets the same again, byte for byte.
		s = open(hub, member("u:bob"), "/api/events", "l0-8")
		synctest.Wait()
		replayed := s.drop()
		wantTranscript(t, replayed, `
			retry 2000
			id l0-16 room.created
			id l0-18 message.created
			id l0-20 message.created`)
		for i, f := range replayed[1:] {
			if f != live[i+2] {
				t.Errorf("live  %+v\nreplay %+v", live[i+2], f)
			}
		}
	})
}

func TestATenantStreamLearnsOfJoiningAndLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.create("r:club", "u:ann") // 5..8
		w.join("r:club", "u:cyd")   // 9..12
		s := open(hub, member("u:bob"), "/api/events", "")
		synctest.Wait()
		w.send("r:club", "u:ann", "before") // 13, 14
		w.join("r:club", "u:bob")           // 15..18
		w.send("r:club", "u:ann", "during") // 19, 20
		synctest.Wait()
		w.leave("r:club", "u:cyd") // 21, 22: somebody else
		w.send("r:club", "u:ann", "during")
		synctest.Wait()
		w.leave("r:club", "u:bob") // 25, 26
		w.send("r:club", "u:ann", "after")
		synctest.Wait()
		w.without(func() { w.join("r:club", "u:bob") }) // 29..32, learned from the list of rooms
		w.send("r:club", "u:ann", "again")              // 33, 34
		synctest.Wait()
		got := s.drop()
		// "before" may come or not: by the time it is read bob may be a member.
		if got[2].id == "l0-14" {
			got = append(got[:2:2], got[3:]...)
		}
		wantTranscript(t, got, `
			retry 2000
			id l0-12
			room.member_joined
			id l0-18 message.created
			id l0-20 message.created
			id l0-24 message.created
			room.left
			id l0-32 message.created
			id l0-34 message.created`)
	})
}

// A leave whose publication was missed shows in the next list of rooms; who never knew of
// a room isn't told that it is gone.
func TestATenantStreamTellsALeaveThatWasMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob") // 5..8
		s := open(hub, member("u:bob"), "/api/events", "")
		synctest.Wait()
		w.lose = func() bool { return true }
		w.leave("r:general", "u:bob") // 9, 10
		w.lose = func() bool { return false }
		time.Sleep(31 * time.Second)
		synctest.Wait()
		w.send("r:general", "u:ann", "not for bob") // 11, 12
		w.leave("r:general", "u:bob")
		synctest.Wait()
		got := s.drop()
		var told []string
		for _, f := range got {
			if f.event != "" {
				told = append(told, f.event+" "+f.data)
			}
		}
		if len(told) != 1 || !strings.Contains(told[0], `"event":"room.left","payload":{"user_id":"u:bob"},"room_id":"r:general"`) {
			t.Errorf("told %q, want one room.left of r:general\n%s", told, transcript(got))
		}
	})
}

// TestATenantStreamTellsWhatOneHasRead: the devices of who reads hear how far, and nobody else's.
func TestATenantStreamTellsWhatOneHasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob") // 5..8
		bobs, anns := open(hub, member("u:bob"), "/api/events", ""), open(hub, member("u:ann"), "/api/events", "")
		synctest.Wait()
		w.read("r:general", "u:bob", 3)
		synctest.Wait()
		w.send("r:general", "u:ann", "hello") // 9, 10
		synctest.Wait()
		wantTranscript(t, bobs.drop(), `
			retry 2000
			id l0-8
			room.read
			id l0-10 message.created`)
		wantTranscript(t, anns.drop(), `
			retry 2000
			id l0-8
			id l0-10 message.created`)
	})
}

func TestEventsOfOneActShareItsPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.sendN("r:general", "u:ann", 62) // up to 128
		s := open(hub, member("u:ann"), "/api/events", "")
		synctest.Wait()
		w.createInOneAct("r:new", "u:ann") // 129, 130
		synctest.Wait()
		want := "room.created\nid l0-130 message.created"
		wantTranscript(t, s.drop(), "retry 2000\nid l0-128\n"+want)
		// From 2 on, a page ends between the act's atoms.
		for _, from := range []string{"l0-128", "l0-1"} {
			s = open(hub, member("u:ann"), "/api/events", from)
			synctest.Wait()
			frames := s.drop()
			wantTranscript(t, frames[len(frames)-2:], want)
		}
	})
}

func TestAListOfRoomsThatALeaveOvertookIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob") // 5..8
		w.answered = func(cmd ubl.Command) {
			if _, ok := cmd.(ubl.ListRooms); ok {
				w.answered = func(ubl.Command) {}
				w.leave("r:general", "u:bob") // 9, 10, before the answer is seen
			}
		}
		s := open(hub, member("u:bob"), "/api/events", "")
		synctest.Wait()
		w.send("r:general", "u:ann", "not for bob")
		synctest.Wait()
		wantTranscript(t, s.drop(), "retry 2000\nid l0-10")
	})
}

func TestATenantStreamTellsGapsOncePerRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.sendN("r:general", "u:ann", 4)
		w.trim("r:general", 4)
		s := open(hub, member("u:ann"), "/api/events?cursor=l0-4", "")
		synctest.Wait()
		got := s.drop()
		wantTranscript(t, got, `
			retry 2000
			id l0-6 room.gap
			id l0-10 message.created
			id l0-12 message.created`)
		if want := `{"event":"room.gap","payload":{"available_from":4,"from_seq":2},"room_id":"r:general"`; got[1].data[:len(want)] != want {
			t.Errorf("the gap is %s", got[1].data)
		}
	})
}

func TestATenantCursorBeyondTheHeadIsSetRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		s := open(hub, member("u:ann"), "/api/events", "l0-900")
		synctest.Wait()
		w.send("r:general", "u:ann", "new")
		synctest.Wait()
		wantTranscript(t, s.drop(), "retry 2000\nid l0-4\nid l0-6 message.created")
	})
}
