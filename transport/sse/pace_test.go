package sse

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ubl"
)

// sleepers are listeners that wait until somebody lets them run.
func sleepers(hub *Hub, n int) []*listener {
	out := make([]*listener, n)
	for i := range out {
		out[i] = &listener{hub: hub, wake: make(chan struct{}, 1)}
		out[i].rest.sleep()
	}
	return out
}

func called(listeners []*listener) (n int) {
	for _, l := range listeners {
		if l.rest.state.Load() == waking {
			n++
		}
	}
	return n
}

// However many listeners a room has, no more are woken and don't run yet than there are
// places, and in the end all are.
func TestPace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		places := rapid.IntRange(1, 8).Draw(rt, "places")
		rooms := rapid.SliceOfN(rapid.IntRange(1, 20), 1, 4).Draw(rt, "rooms")
		first := rapid.Bool().Draw(rt, "the newest runs first")
		synctest.Test(t, func(t *testing.T) {
			hub := &Hub{pace: newPace(places)}
			var all []*listener
			for _, n := range rooms {
				room := sleepers(hub, n)
				all = append(all, room...)
				go hub.pace.wake(t.Context(), room)
			}
			for ran := 0; ran < len(all); {
				synctest.Wait()
				if n := called(all); n == 0 || n > places {
					t.Fatalf("%d listeners are woken, with %d places", n, places)
				}
				for i := range all {
					if first {
						i = len(all) - 1 - i
					}
					if l := all[i]; l.rest.state.Load() == waking {
						<-l.wake
						l.awake()
						ran++
						break
					}
				}
			}
			synctest.Wait()
			if !hub.pace.places.TryAcquire(int64(places)) {
				t.Fatal("places were lost")
			}
		})
	})
}

// A listener whose client doesn't read takes no place: it is poked, and looks again
// whenever its write ends.
func TestPaceDoesNotWaitForSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &Hub{pace: newPace(2)}
		slow := sleepers(hub, 50)
		for _, l := range slow {
			l.awake()
		}
		hub.pace.wake(t.Context(), slow)
		for _, l := range slow {
			if len(l.wake) != 1 {
				t.Fatal("a listener that writes wasn't poked")
			}
		}
		if !hub.pace.places.TryAcquire(2) {
			t.Fatal("listeners that write keep places")
		}
	})
}

// Whoever publishes goes on while a listener reads: behind it wait the answers.
func TestPublishingWaitsForNoReader(t *testing.T) {
	f := newFollow(&Hub{limits: Limits{}.withDefaults()}, roomTopic{}, func() {})
	f.change(func(r *ring) { filled(r, 1, 3) })
	p := cursor{at: -1}
	published := make(chan struct{})
	reads := 0
	runs, _, _ := f.read(&p, func(ubl.RoomID) bool {
		if reads++; reads == 1 {
			go func() {
				f.change(func(r *ring) { filled(r, 4, 4) })
				close(published)
			}()
			select {
			case <-published:
			case <-time.After(time.Minute):
				t.Error("the publisher waits for a reader")
			}
		}
		return true
	}, nil)
	if len(runs) != 1 || string(runs[0]) != "1,2,3," {
		t.Errorf("the reader got %q, not what there was when it began", runs)
	}
	if runs, _, _ = f.read(&p, everyRoom, nil); len(runs) != 1 || string(runs[0]) != "4," {
		t.Errorf("and then %q", runs)
	}
}
