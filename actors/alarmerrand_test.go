package actors_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/panics"
	"ubl/test/harness"
)

// TestSlowErrands: more errands hang than are run at a time, of one tenant. What is due behind
// them is done meanwhile, theirs aren't begun again, and show how late they are.
func TestSlowErrands(t *testing.T) {
	w := openClocks(t)
	free := make(chan struct{})
	w.upset("slow", func() error {
		<-free
		return nil
	})
	const many = 48
	for i := range many {
		w.set(fmt.Sprintf("far:%d", i), w.in("slow", time.Minute))
	}
	w.set("far:1", w.in("behind", 2*time.Minute))
	w.set("timer:1", w.in("beside", time.Minute))
	w.Clock.Add(2 * time.Minute)
	look := func() {
		for p := range w.Engine.Partitions() {
			w.Led(p)
		}
	}
	look()
	w.eventually("all are under way, and the others have rung", func() bool {
		look()
		return w.tries("slow") == many && w.AlarmStats().Fired == 2
	})
	w.rings("far:1", "behind:1")
	w.rings("timer:1", "beside:1")
	if late := w.AlarmStats().Late; late != time.Minute {
		t.Errorf("the slow ones are %v late", late)
	}
	close(free)
	w.Alarms()
	w.eventually("all have rung", func() bool { return w.AlarmStats().Fired == many+2 })
	if n := w.tries("slow"); n != many {
		t.Errorf("they were begun %d times", n)
	}
	for i := range many {
		if i != 1 {
			w.rings(fmt.Sprintf("far:%d", i), "slow:1")
		}
	}
	if left := w.records(); len(left) > 0 {
		t.Errorf("left in the store: %q", left)
	}
}

// TestSlowErrandFails: it has given its place back, and counts as any other that fails, or whose
// actors aren't there.
func TestSlowErrandFails(t *testing.T) {
	for _, code := range []ubl.Code{ubl.CodeConflict, ubl.CodeUnavailable} {
		t.Run(string(code), func(t *testing.T) {
			w := openClocks(t)
			slow := make(chan time.Time)
			w.upset("a", func() error {
				if w.tries("a") > 1 {
					return nil
				}
				<-slow
				return ubl.Errorf(code, "no")
			})
			w.set("far:1", w.in("a", time.Minute))
			w.Clock.Add(time.Minute)
			for p := range w.Engine.Partitions() {
				w.Led(p)
			}
			time.AfterFunc(time.Second, func() { close(slow) })
			w.Alarms()
			w.pass(2 * time.Second) // after a failure; the scheduler looks by itself after one that passes
			w.eventually("it has rung", func() bool { return w.AlarmStats().Fired == 1 })
			w.rings("far:1", "a:1")
			if n := w.AlarmStats().Failures; n != map[ubl.Code]int64{ubl.CodeConflict: 1}[code] {
				t.Errorf("%d attempts count as failed", n)
			}
		})
	}
}

// TestErrandAgain: an errand that says when it is to be run again is run then and not before,
// after a restart too, however often; it never fails for that.
func TestErrandAgain(t *testing.T) {
	w := openClocks(t)
	w.upset("a", func() error { return actors.Again(ubl.TimeOf(w.Clock.Now()).Add(time.Minute)) })
	w.set("far:1", w.in("a", time.Minute))
	for n := range 25 {
		w.pass(time.Minute - time.Millisecond)
		if got := w.tries("a"); got != n {
			t.Fatalf("it was run %d times, want %d", got, n)
		}
		if n%10 == 5 {
			w.Restart()
		}
		w.pass(time.Millisecond)
		if got := w.tries("a"); got != n+1 {
			t.Fatalf("it was run %d times, want %d", got, n+1)
		}
	}
	w.deadLetters()
	w.set("far:1", actors.Alarm{Key: "a"})
	w.pass(time.Hour)
	w.rings("far:1", "")
	if left := w.records(); len(left) > 0 {
		t.Errorf("left in the store: %q", left)
	}
}

// TestErrandAgainOfAClockAhead: what an errand waits for begins again where the clock turns out to
// have been ahead, and is neither lost nor run at once.
func TestErrandAgainOfAClockAhead(t *testing.T) {
	w := openClocks(t)
	w.upset("a", func() error { return actors.Again(ubl.TimeOf(w.Clock.Now()).Add(time.Hour)) })
	w.set("far:1", w.in("a", time.Minute))
	w.pass(12 * time.Hour)
	if n := w.tries("a"); n != 1 {
		t.Fatalf("it was run %d times", n)
	}
	w.Clock.Add(-11 * time.Hour)
	w.set("far:1", w.in("other", 24*time.Hour)) // its next command
	w.pass(59 * time.Minute)
	if n := w.tries("a"); n != 1 {
		t.Errorf("it was run %d times within an hour", n)
	}
	w.pass(time.Minute)
	if n := w.tries("a"); n != 2 {
		t.Errorf("it was run %d times after an hour", n)
	}
}

// TestEndedFails: where a family can't say what an outcome leads to, that is a failed attempt and
// no reason to do it again for ever. What is done once isn't done again at all.
func TestEndedFails(t *testing.T) {
	kind := *courierKind
	mended := false
	kind.Ended = func(s *courierState, out actors.Sent, m actors.Moment) (ubl.Did, *actors.Plan[courierEvent], error) {
		if !mended {
			return "", nil, ubl.Damaged("it isn't known here")
		}
		return courierKind.Ended(s, out, m)
	}
	w := &outside{clocks: &clocks{t: t, store: &faulty{}, trouble: make(map[string]func() error), tried: make(map[string]int)}}
	w.House = harness.Open(t, harness.Options{
		Wrap:   func(s ubl.Store) ubl.Store { w.store.Store = s; return w.store },
		Panics: panics.New(slog.New(slog.DiscardHandler)),
		Families: []actors.Family{{
			Name: "courier", Owns: func(local string) bool { return strings.HasPrefix(local, "courier:") },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				x, err := kind.Load(ctx, w.store, env, actors.Hooks[courierEvent]{Send: w.send})
				return courier{x}, err
			},
		}},
	})
	w.ana = harness.User("ana@example.com")
	w.Enter(w.ana)
	w.order("courier:1", actors.Outbound{Key: "often"})
	w.order("courier:1", actors.Outbound{Key: "once", Once: true})
	for range 30 {
		w.Alarms()
		w.Clock.Add(12 * time.Hour)
	}
	if often, once := w.attempts("often"), w.attempts("once"); often != 20 || once != 1 {
		t.Errorf("%d attempts at what can be repeated, %d at what can't", often, once)
	}
	var letters []string
	for _, l := range harness.Must[[]ubl.DeadLetter](w.House, ubl.LedgerName(w.ana.TenantID), ubl.ListDeadLetters{}) {
		letters = append(letters, l.Key)
	}
	if slices.Sort(letters); strings.Join(letters, " ") != "out:often out:once" {
		t.Errorf("the dead letters are %q", letters)
	}
	mended = true
	for _, letter := range letters {
		if _, err := w.Ask(t.Context(), w.at("courier:1"), ubl.Redrive{Request: w.Request(w.ana), Owner: true, Letter: letter}); err != nil {
			t.Error(err)
		}
		w.Alarms()
	}
	w.outcomes("courier:1", `often:ok "here" once:ok "here"`)
	w.clean()
}

// TestLeasesOfARunBefore: a node alone that starts ends what a run before it was doing, and
// nothing that it has begun itself. One of a cluster leaves leases alone.
func TestLeasesOfARunBefore(t *testing.T) {
	w := openOutside(t)
	until := ubl.TimeOf(w.Clock.Now()).Add(time.Hour)
	lease := func(key string) actors.Outbound { return actors.Outbound{Key: key, Lease: until, Deadline: until} }
	w.order("host:1", lease("before"))
	w.Clock.Add(time.Second)
	w.Restart()
	w.order("host:1", lease("own"))
	w.Alarms()
	w.outcomes("host:1", "")
	for p := range w.Engine.Partitions() {
		w.LedAlone(p)
	}
	ended := func() map[string]string {
		return harness.Must[map[string]string](w.House, w.at("host:1"), parcels{})
	}
	w.eventually("the one of the run before has ended", func() bool { return ended()["before"] == "unavailable" })
	w.pass(59 * time.Minute)
	w.outcomes("host:1", "before:unavailable")
	w.pass(time.Minute)
	w.outcomes("host:1", "before:unavailable own:unavailable")
	w.clean()
}
