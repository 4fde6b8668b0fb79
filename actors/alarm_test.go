package actors_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/panics"
	"ubl/test/harness"
)

// The egg timer is a family of this test's own. Set arms an alarm with a plan, and rings
// are what alarms lead to: a decision each, or of keys that begin with "far " an errand.

type timerState struct {
	Rings map[string]int64
}

type timerEvent struct {
	actors.Stamp
	Key  string `json:"key,omitempty"`
	Rang bool   `json:"rang,omitempty"`
}

type (
	// set arms alarms; of time 0 it clears them. Answers true.
	set struct {
		ubl.Request
		Alarms []actors.Alarm
	}
	// ring is what an errand asks.
	ring struct {
		ubl.Request
		Key string
	}
	// rung asks how often each key rang.
	rung struct{}
)

func (set) Cost() int  { return ubl.ActCost }
func (ring) Cost() int { return ubl.ActCost }
func (rung) Cost() int { return 0 }

func ringing(key string) *actors.Plan[timerEvent] {
	return &actors.Plan[timerEvent]{Event: timerEvent{Key: key, Rang: true}}
}

func timerKind(trouble func(key string) error) *actors.Kind[timerState, timerEvent] {
	return &actors.Kind[timerState, timerEvent]{
		Name: "timer", Version: 1, Spaces: "z",
		Place: func(name ubl.Name) actors.Place {
			local := name.Local()
			return actors.Place{
				Key:     func(n int64) []byte { return counterKey(local, n) },
				Counter: []byte("e" + local), Ref: 'z',
			}
		},
		Apply: func(s *timerState, e timerEvent) {
			if s.Rings == nil {
				s.Rings = make(map[string]int64)
			}
			if e.Rang {
				s.Rings[e.Key]++
			}
		},
		Under:    func(_ *timerState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(*timerState) ubl.Fields { return ubl.Fields{} },
		Rules: []actors.Rule[timerState, timerEvent]{
			actors.On("timer.set", nil, func(_ *timerState, c set, _ actors.Moment) (*actors.Plan[timerEvent], error) {
				return &actors.Plan[timerEvent]{Alarms: c.Alarms, Answer: func(ubl.Receipt) any { return true }}, nil
			}),
			actors.On("timer.ring", func(c ring) []string { return []string{c.Key} },
				func(_ *timerState, c ring, _ actors.Moment) (*actors.Plan[timerEvent], error) {
					p := ringing(c.Key)
					p.Answer = func(ubl.Receipt) any { return true }
					return p, nil
				}),
		},
		Wake: func(_ *timerState, key string, m actors.Moment) (ubl.Did, *actors.Plan[timerEvent], error) {
			if err := trouble(key); err != nil {
				return "", nil, err
			}
			if strings.HasPrefix(key, "idle") {
				return "", nil, nil
			}
			p := ringing(key)
			if strings.HasPrefix(key, "again") {
				p.Alarms = []actors.Alarm{{Key: key, At: m.Now.Add(time.Minute)}}
			}
			return "timer.ring", p, nil
		},
	}
}

type timer struct {
	*actors.Entity[timerState, timerEvent]
}

// Receive implements [actors.Actor].
func (x timer) Receive(t *actors.Turn, cmd ubl.Command) {
	if x.Change(t, cmd) {
		return
	}
	rings := make(map[string]int64)
	for k, n := range x.State.Rings {
		rings[k] = n
	}
	t.Reply(rings)
}

// watched is a timer that counts how often the scheduler wakes it.
type watched struct {
	timer
	w *clocks
}

// Receive implements [actors.Actor].
func (x watched) Receive(t *actors.Turn, cmd ubl.Command) {
	if fmt.Sprintf("%T", cmd) == "actors.fire" {
		x.w.fires.Add(1)
	}
	x.timer.Receive(t, cmd)
}

// clocks is a house with two families of timers: those named timer: decide when they
// are woken, those named far: have errands.
type clocks struct {
	*harness.House
	t     *testing.T
	store *faulty
	ana   ubl.Identity

	mu      sync.Mutex
	trouble map[string]func() error // by key
	tried   map[string]int
	fires   atomic.Int64 // how often the scheduler has woken an actor
}

func openClocks(t *testing.T) *clocks {
	w := &clocks{t: t, store: &faulty{}, trouble: make(map[string]func() error), tried: make(map[string]int)}
	kind, far := timerKind(w.meet), timerKind(w.meet)
	kind.Stands = func(_ *timerState, p actors.Proposal) error {
		if p.Did == "timer.ring" {
			return w.meet("seat")
		}
		return nil
	}
	far.Wake = nil
	family := func(prefix string, kind *actors.Kind[timerState, timerEvent]) actors.Family {
		return actors.Family{
			Name: prefix, Owns: func(local string) bool { return strings.HasPrefix(local, prefix) },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				if err := w.meet("loading"); err != nil {
					return nil, err
				}
				hooks := actors.Hooks[timerEvent]{Outcome: func(context.Context, timerEvent) (any, error) { return true, nil }}
				hooks.Errand = func(key string, req ubl.Request) func(context.Context) error {
					return func(ctx context.Context) error {
						if err := w.meet(key); err != nil {
							return err
						}
						to := env.Name
						if key == "elsewhere" {
							to, key = w.at("timer:bell"), env.Name.Local()
						}
						_, err := env.Ask.Ask(ctx, to, ring{req, key})
						return err
					}
				}
				if kind.Wake != nil {
					hooks.Errand = nil
				}
				x, err := kind.Load(ctx, w.store, env, hooks)
				return watched{timer{x}, w}, err
			},
		}
	}
	w.House = harness.Open(t, harness.Options{
		Wrap:     func(s ubl.Store) ubl.Store { w.store.Store = s; return w.store },
		Panics:   panics.New(slog.New(slog.DiscardHandler)),
		Families: []actors.Family{family("timer:", kind), family("far:", far)},
	})
	w.ana = harness.User("ana@example.com")
	w.Enter(w.ana)
	return w
}

// meet is the trouble of a key.
func (w *clocks) meet(key string) error {
	w.mu.Lock()
	w.tried[key]++
	trouble := w.trouble[key]
	w.mu.Unlock()
	if trouble == nil {
		return nil
	}
	return trouble()
}

func (w *clocks) upset(key string, trouble func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble[key] = trouble
}

func (w *clocks) tries(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tried[key]
}

func (w *clocks) at(local string) ubl.Name {
	return ubl.Name(string(w.ana.TenantID) + "|" + local)
}

func (w *clocks) set(local string, alarms ...actors.Alarm) {
	w.t.Helper()
	harness.Must[bool](w.House, w.at(local), set{w.Request(w.ana), alarms})
}

// in is an alarm so much later than now.
func (w *clocks) in(key string, d time.Duration) actors.Alarm {
	return actors.Alarm{Key: key, At: ubl.TimeOf(w.Clock.Now()).Add(d)}
}

// pass lets time pass, and what is due then be tried.
func (w *clocks) pass(d time.Duration) {
	w.t.Helper()
	w.Clock.Add(d)
	w.Alarms()
}

func (w *clocks) rings(local, want string) {
	w.t.Helper()
	if got := fmt.Sprint(harness.Must[map[string]int64](w.House, w.at(local), rung{})); got != "map["+want+"]" {
		w.t.Errorf("%s rang %s, want %s", local, got, want)
	}
}

// records are those of alarms that the store has.
func (w *clocks) records() (keys []string) {
	w.t.Helper()
	err := w.store.View(w.t.Context(), w.at("").Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("i"), []byte("i\x03"), func(k, v []byte) bool {
			keys = append(keys, fmt.Sprintf("%q", k))
			return true
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return keys
}

// families are the locals of an actor that decides and one with errands.
var families = []string{"timer:1", "far:1"}

// TestAlarms: an alarm is fired when its time has come and not before, once; setting it
// again moves it, clearing it ends it, and one without a reason leads to nothing. What
// remains in the store is nothing.
func TestAlarms(t *testing.T) {
	for _, at := range families {
		t.Run(at, func(t *testing.T) {
			w := openClocks(t)
			w.set(at, w.in("a", time.Minute), w.in("b", 2*time.Minute), w.in("c", time.Minute), w.in("d", time.Hour))
			w.set(at, w.in("b", time.Hour), actors.Alarm{Key: "c"}, w.in("d", time.Minute), actors.Alarm{Key: "never set"})
			w.pass(59 * time.Second)
			w.rings(at, "")
			w.pass(time.Second)
			w.rings(at, "a:1 d:1")
			w.pass(50 * time.Minute)
			w.rings(at, "a:1 d:1")
			w.Restart()
			w.pass(10 * time.Minute)
			w.rings(at, "a:1 b:1 d:1")
			w.set(at, w.in("past", -time.Hour), w.in("a", time.Second))
			w.Alarms()
			w.rings(at, "a:1 b:1 d:1 past:1")
			w.pass(time.Second)
			w.rings(at, "a:2 b:1 d:1 past:1")
			if left := w.records(); len(left) > 0 {
				t.Errorf("left in the store: %q", left)
			}
			w.VerifyLedger(w.ana.TenantID)
		})
	}
}

// TestWakeOrErrand: a family that decides what its alarms lead to, and has errands besides, isn't
// loaded: one of the two would never be asked.
func TestWakeOrErrand(t *testing.T) {
	w := openClocks(t)
	env := actors.Env{Name: w.at("timer:1"), Now: w.Clock.Now}
	errand := func(string, ubl.Request) func(context.Context) error { return nil }
	for _, at := range []struct {
		wake, errand, fine bool
	}{{true, true, false}, {true, false, true}, {false, true, true}} {
		kind, hooks := timerKind(w.meet), actors.Hooks[timerEvent]{}
		if !at.wake {
			kind.Wake = nil
		}
		if at.errand {
			hooks.Errand = errand
		}
		if _, err := kind.Load(t.Context(), w.store, env, hooks); (err == nil) != at.fine {
			t.Errorf("with Wake %v and Errand %v: %v", at.wake, at.errand, err)
		}
	}
}

// TestErrandsMeet: actors whose alarms have one key and one time, and which ask the same actor,
// are each heard.
func TestErrandsMeet(t *testing.T) {
	w := openClocks(t)
	for _, at := range []string{"far:1", "far:2"} {
		w.set(at, w.in("elsewhere", time.Minute))
	}
	w.pass(time.Minute)
	w.rings("timer:bell", "far:1:1 far:2:1")
}

// TestErrandOutlivesItsActor: an actor that leaves memory while its errand runs doesn't know that
// it was the alarm's. The errand runs again under the same key, and the alarm is gone.
func TestErrandOutlivesItsActor(t *testing.T) {
	w := openClocks(t)
	w.upset("a", func() error {
		if w.tries("a") > 1 {
			return nil
		}
		for deadline := time.Now().Add(time.Minute); w.Stats().Active > 0; time.Sleep(time.Millisecond) {
			if w.Runtime.Passivate(-time.Hour); time.Now().After(deadline) { // none leaves while it has a turn
				return errors.New("an actor stays in memory")
			}
		}
		return nil
	})
	w.set("far:1", w.in("a", time.Minute))
	w.pass(time.Minute)
	w.pass(2 * time.Second)
	w.eventually("the errand counts as done", func() bool { return w.AlarmStats().Fired == 1 })
	rt := w.Runtime
	w.Restart() // no attempt is under way any more
	if n, fired := w.tries("a"), rt.AlarmStats().Fired; n != 2 || fired != 1 {
		t.Errorf("the errand ran %d times, %d of them count as done", n, fired)
	}
	w.rings("far:1", "a:1")
	if left := w.records(); len(left) > 0 {
		t.Errorf("left in the store: %q", left)
	}
}

// TestAlarmsWaitAgain: where the clock was ahead when an alarm began to wait, it waits as
// long from the next command on; at a time, it stays where it is.
func TestAlarmsWaitAgain(t *testing.T) {
	for _, at := range families {
		for _, restart := range []bool{true, false} {
			w := openClocks(t)
			w.Clock.Add(30 * time.Minute)
			w.set(at, actors.Alarm{Key: "wait", After: time.Minute}, w.in("time", time.Minute))
			w.Clock.Add(-30 * time.Minute)
			if restart {
				w.Restart()
			}
			w.pass(time.Minute)
			w.rings(at, "")
			w.pass(59 * time.Second)
			w.rings(at, "")
			w.pass(time.Second)
			w.rings(at, "wait:1")
			w.pass(30 * time.Minute)
			w.rings(at, "time:1 wait:1")
			if left := w.records(); len(left) > 0 {
				t.Errorf("left in the store: %q", left)
			}
		}
	}
}

// TestRetriesWaitAgain: where the clock was ahead when an attempt failed, the next one comes as
// much later as it should, from the next command on, but none before a time that was set.
func TestRetriesWaitAgain(t *testing.T) {
	for _, at := range families {
		for _, restart := range []bool{true, false} {
			w := openClocks(t)
			w.upset("a", func() error { return ubl.Errorf(ubl.CodeConflict, "no") })
			w.Clock.Add(30 * time.Minute)
			w.upset("time", func() error { return ubl.Errorf(ubl.CodeConflict, "no") })
			w.set(at, actors.Alarm{Key: "a", After: time.Second}, w.in("time", time.Second))
			w.pass(time.Second)
			w.pass(2 * time.Second)
			w.upset("a", nil)
			w.upset("time", nil)
			w.Clock.Add(-30 * time.Minute)
			if restart {
				w.Restart()
			}
			w.rings(at, "")
			w.store.each(func(*ubl.Batch, func(error)) bool { t.Error("a look has led to another commit"); return false })
			w.rings(at, "")
			w.store.each(nil)
			w.pass(3 * time.Second)
			w.rings(at, "")
			w.pass(time.Second)
			w.rings(at, "a:1")
			w.pass(30 * time.Minute)
			w.rings(at, "a:1 time:1")
		}
	}
}

// TestAlarmsOfAnEarlierLook: a look that found an alarm due by a clock that was ahead wakes nobody
// once the clock has been set right.
func TestAlarmsOfAnEarlierLook(t *testing.T) {
	for _, at := range families {
		w := openClocks(t)
		w.set(at, w.in("time", time.Minute))
		w.Reload()
		w.upset("loading", func() error { // the look is behind its reading then
			w.upset("loading", nil)
			w.Clock.Add(-time.Second)
			return nil
		})
		w.Clock.Add(time.Minute)
		for p := range w.Engine.Partitions() {
			w.Led(p)
		}
		w.eventually("the actor is asked", func() bool { return w.fires.Load() == 1 })
		w.rings(at, "")
		w.pass(time.Second)
		w.rings(at, "time:1")
	}
}

// TestAlarmsSetMeanwhile: an alarm that is set again while its errand is under way, to the
// same time even, is fired again.
func TestAlarmsSetMeanwhile(t *testing.T) {
	w := openClocks(t)
	alarm := w.in("a", time.Minute)
	w.set("far:1", alarm)
	w.upset("a", func() error {
		w.upset("a", nil)
		_, err := w.Ask(t.Context(), w.at("far:1"), set{w.Request(w.ana), []actors.Alarm{alarm}})
		return err
	})
	w.pass(time.Minute)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tried["a"] != 2 {
		t.Errorf("the alarm was fired %d times, want twice", w.tried["a"])
	}
}

// TestAlarmsAgain: the decision that an alarm leads to may set it again, and may be that
// there is nothing to do.
func TestAlarmsAgain(t *testing.T) {
	w := openClocks(t)
	w.set("timer:1", w.in("again", time.Minute), w.in("idle", time.Minute))
	for n := range 3 {
		w.pass(time.Minute)
		w.rings("timer:1", fmt.Sprintf("again:%d", n+1))
		w.Reload()
	}
	w.set("timer:1", actors.Alarm{Key: "again"})
	if left := w.records(); len(left) > 0 {
		t.Errorf("left in the store: %q", left)
	}
}

// TestAlarmsInOneCommit: of a plan whose commit fails before it is durable nothing is
// armed; where it is durable and its caller learned nothing, it is, without a restart.
func TestAlarmsInOneCommit(t *testing.T) {
	for _, at := range families {
		for what, fault := range crashes() {
			t.Run(at+" "+what, func(t *testing.T) {
				w := openClocks(t)
				w.store.next(fault(w.store))
				w.Refused(ubl.CodeUnavailable, w.at(at), set{w.Request(w.ana), []actors.Alarm{w.in("a", time.Minute)}})
				if what == "before" {
					w.eventually("the scheduler knows that it isn't armed", func() bool { return w.AlarmStats().Groups == 0 })
					w.pass(time.Minute)
					w.rings(at, "")
				} else {
					w.eventually("the scheduler knows that it is armed", func() bool { s := w.AlarmStats(); return s.Groups == 1 && s.Late == 0 })
					w.pass(time.Minute)
					w.rings(at, "a:1")
				}
			})
		}
	}
}

func crashes() map[string]func(*faulty) func(*ubl.Batch, func(error)) {
	return map[string]func(*faulty) func(*ubl.Batch, func(error)){
		"before": func(*faulty) func(*ubl.Batch, func(error)) {
			return func(_ *ubl.Batch, settled func(error)) { go settled(errors.New("the disk is gone")) }
		},
		"after": func(f *faulty) func(*ubl.Batch, func(error)) {
			return func(b *ubl.Batch, settled func(error)) {
				f.Store.Submit(b, func(error) { settled(errors.New("the node is gone")) })
			}
		},
	}
}

// TestAlarmsCrash: the node is gone at each commit that an alarm leads to, before and
// after it is durable. After a restart it is fired again, and once in effect.
func TestAlarmsCrash(t *testing.T) {
	for at, commits := range map[string]int{"timer:1": 1, "far:1": 2} {
		for what, fault := range crashes() {
			for commit := 1; commit <= commits; commit++ {
				for _, restart := range []bool{true, false} {
					t.Run(fmt.Sprint(at, " ", commit, " ", what, " restart ", restart), func(t *testing.T) {
						w := openClocks(t)
						w.set(at, w.in("a", time.Minute))
						gone := make(chan struct{})
						var n, since atomic.Int64
						w.store.each(func(b *ubl.Batch, settled func(error)) bool {
							if int(n.Add(1)) != commit {
								if since.Load() > 0 && restart { // the node is gone
									go settled(errors.New("the node is gone"))
									return true
								}
								return false
							}
							since.Add(1)
							fault(w.store)(b, settled)
							close(gone)
							return true
						})
						w.Clock.Add(time.Minute)
						for p := range w.Engine.Partitions() {
							w.Led(p)
						}
						<-gone
						if restart {
							w.Close()
						}
						w.store.each(nil)
						if restart {
							w.Restart()
						}
						w.pass(time.Minute) // an attempt may be waited for
						w.rings(at, "a:1")
						if left := w.records(); len(left) > 0 {
							t.Errorf("left in the store: %q", left)
						}
						w.VerifyLedger(w.ana.TenantID)
					})
				}
			}
		}
	}
}

// TestAlarmsFail: an alarm that fails or panics is tried again, later each time, up to
// six hours; after two days it has failed and is seen so, after a restart too. Those of
// other actors and of its own are fired. Set again, it is tried again.
func TestAlarmsFail(t *testing.T) {
	for _, at := range families {
		t.Run(at, func(t *testing.T) {
			w := openClocks(t)
			w.upset("bad", func() error { return ubl.Errorf(ubl.CodeConflict, "no") })
			w.upset("worse", func() error { panic("poisoned alarm") })
			w.set(at, w.in("bad", time.Minute), w.in("worse", time.Minute), w.in("good", time.Minute))
			other := strings.Replace(at, "1", "2", 1)
			w.set(other, w.in("good", time.Minute))
			w.pass(time.Minute)
			w.rings(at, "good:1")
			w.rings(other, "good:1")
			var passed time.Duration
			pause := 2 * time.Second
			for range 19 {
				before := w.tried["bad"]
				w.pass(pause - time.Second)
				if w.tried["bad"] != before {
					t.Fatalf("after %d attempts it was tried again too early", before)
				}
				w.pass(time.Second)
				if w.tried["bad"] != before+1 || w.tried["worse"] != before+1 {
					t.Fatalf("after %d attempts and %s it was tried %d and %d times", before, pause, w.tried["bad"], w.tried["worse"])
				}
				passed += pause
				pause = min(2*pause, 6*time.Hour)
			}
			if passed < 24*time.Hour || passed > 72*time.Hour {
				t.Errorf("it was tried for %s", passed)
			}
			for range 2 {
				w.pass(48 * time.Hour)
				if w.tried["bad"] != 20 || len(w.records()) != 4 {
					t.Errorf("tried %d times; left are %q", w.tried["bad"], w.records())
				}
				w.eventually("two have failed", func() bool { return w.AlarmStats().Failed == 2 })
				w.Restart()
			}
			w.deadLetters("bad conflict 20", "worse internal 20")
			w.redrives(at)
			w.deadLetters()
			w.rings(at, "bad:1 good:1 worse:1")
			if left := w.records(); len(left) > 0 {
				t.Errorf("left in the store: %q", left)
			}
			w.eventually("none has failed", func() bool { return w.AlarmStats().Failed == 0 && w.AlarmStats().Groups == 0 })
		})
	}
}

// deadLetters wants the keys, codes and attempts of all.
func (w *clocks) deadLetters(want ...string) {
	w.t.Helper()
	var got []string
	for _, l := range harness.Must[[]ubl.DeadLetter](w.House, ubl.LedgerName(w.ana.TenantID), ubl.ListDeadLetters{}) {
		got = append(got, fmt.Sprint(l.Key, " ", l.Code, " ", l.Attempts))
	}
	if strings.Join(got, ",") != strings.Join(want, ",") {
		w.t.Errorf("the dead letters are %q, want %q", got, want)
	}
}

// redrives has "bad" and "worse" tried again, the first one twice under a key. What isn't
// a dead letter can't be, and by others nothing can.
func (w *clocks) redrives(at string) {
	w.t.Helper()
	w.upset("bad", nil)
	w.upset("worse", nil)
	bad := ubl.Redrive{Request: w.Request(w.ana), Owner: true, Letter: "bad"}
	w.Refused(ubl.CodeForbidden, w.at(at), ubl.Redrive{Request: w.Request(w.ana), Letter: "bad"})
	w.Refused(ubl.CodeNotFound, w.at(at), ubl.Redrive{Request: w.Request(w.ana), Owner: true, Letter: "good"})
	for _, c := range []ubl.Redrive{bad, {Request: w.Request(w.ana), Owner: true, Letter: "worse"}, bad} {
		if _, err := w.Ask(w.t.Context(), w.at(at), c); err != nil {
			w.t.Error(err)
		}
		w.Alarms()
	}
	w.VerifyLedger(w.ana.TenantID)
}

func (w *clocks) eventually(what string, is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("it never came to be that %s: %+v", what, w.AlarmStats())
		}
	}
}

// TestAlarmsUnavailable: where somebody isn't there, that is no failure of the alarm,
// which goes on being tried, and shows how late it is.
func TestAlarmsUnavailable(t *testing.T) {
	w := openClocks(t)
	away := func() error { return ubl.Errorf(ubl.CodeUnavailable, "away") }
	w.upset("a", away)
	w.set("far:1", w.in("a", time.Minute))
	w.Clock.Add(time.Minute)
	for n := range 30 {
		for p := range w.Engine.Partitions() {
			w.Led(p)
		}
		w.eventually("it is tried", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.tried["a"] > n
		})
		w.Clock.Add(time.Minute)
	}
	if stats := w.AlarmStats(); stats.Failures != 0 || stats.Late != 30*time.Minute {
		t.Errorf("the figures are %+v", stats)
	}
	w.upset("a", nil)
	w.Alarms()
	w.rings("far:1", "a:1")
}

// shelf is a store of alarms in memory, for tests of the scheduler alone.
type shelf struct {
	ubl.Reader
	looks atomic.Int64
	leads atomic.Bool
}

func (s *shelf) GroupsOf(context.Context, int) ([]ubl.Group, error) {
	return []ubl.Group{{Tenant: "t:example.com", Shard: ubl.DefaultShard}}, nil
}
func (s *shelf) Leads(int) bool { return s.leads.Load() }
func (s *shelf) View(_ context.Context, _ ubl.Group, fn func(ubl.Snapshot) error) error {
	s.looks.Add(1)
	return fn(&page{})
}

// page has one alarm, an hour from the bubble's beginning.
type page struct{ ubl.Snapshot }

func (page) Ascend(from, _ []byte, fn func(key, value []byte) bool) error {
	at := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC).UnixMilli()
	key := append(binary.BigEndian.AppendUint64([]byte{'i', 0}, uint64(at)), "timer:1\x00a"...)
	if string(from) < string(key) && from[1] == 0 {
		fn(key, []byte{1})
	}
	return nil
}

// sleeper is an actor that notes when it is woken.
type sleeper struct {
	mu    sync.Mutex
	woken []time.Time
}

func (x *sleeper) Receive(t *actors.Turn, _ ubl.Command) {
	x.mu.Lock()
	x.woken = append(x.woken, time.Now())
	x.mu.Unlock()
	t.Fail(ubl.Errorf(ubl.CodeUnavailable, "busy"))
}

// after tells when it was woken, seen from a time.
func (x *sleeper) after(begin time.Time) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var after []string
	for _, at := range x.woken {
		after = append(after, at.Sub(begin).String())
	}
	return strings.Join(after, " ")
}

// TestAlarmsWait: until an alarm is due nothing is looked at. What is unavailable then
// is tried after 2 s, 4 s and so on up to a minute, and no more once another leads.
func TestAlarmsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.leads.Store(true)
		x := &sleeper{}
		rt := actors.New(actors.Options{
			Now: time.Now, Random: zeros{}, Shelf: s,
			Families: []actors.Family{{
				Name: "all", Owns: func(string) bool { return true },
				Open: func(context.Context, actors.Env) (actors.Actor, error) { return x, nil },
			}},
		})
		due := time.Now().Add(time.Hour)
		rt.Led(0)
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if n := s.looks.Load(); n != 2 || x.after(due) != "" {
			t.Errorf("%d looks into the store before it is due, wakings %s", n, x.after(due))
		}
		time.Sleep(3*time.Minute + 3*time.Second)
		synctest.Wait()
		const want = "0s 2s 6s 14s 30s 1m2s 2m2s"
		if got := x.after(due); got != want {
			t.Errorf("it was tried after %s, want %s", got, want)
		}
		if late := rt.AlarmStats().Late; late != 2*time.Minute+3*time.Second {
			t.Errorf("it is %s late", late)
		}
		s.leads.Store(false)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if stats := rt.AlarmStats(); stats.Groups != 0 || x.after(due) != want {
			t.Errorf("another leads, and here are %+v, and it was tried after %s", stats, x.after(due))
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAlarmsHeld: while the clock can't be believed nothing is fired, and soon after that
// what has become due.
func TestAlarmsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.leads.Store(true)
		x := &sleeper{}
		due := time.Now().Add(time.Hour)
		rt := actors.New(actors.Options{
			Now: time.Now, Random: zeros{}, Shelf: s,
			Hold: func() bool { return time.Now().Before(due.Add(30 * time.Minute)) },
			Families: []actors.Family{{
				Name: "all", Owns: func(string) bool { return true },
				Open: func(context.Context, actors.Env) (actors.Actor, error) { return x, nil },
			}},
		})
		rt.Led(0)
		time.Sleep(89 * time.Minute)
		synctest.Wait()
		if got := x.after(due); got != "" {
			t.Errorf("fired after %s", got)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if got := x.after(due); got != "30m0s" {
			t.Errorf("fired after %s", got)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAlarmsTakeTurns: where more groups have thousands due than are looked into at a time, one
// with a single alarm doesn't wait for all of theirs.
func TestAlarmsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowded, many = 20, 1000
		due := time.Now().Add(time.Hour)
		s := crowd{quiet: {due.Add(time.Second)}}
		for i := range crowded {
			g := ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:%d.example", i)), Shard: ubl.DefaultShard}
			s[g] = slices.Repeat([]time.Time{due}, many)
		}
		var fired atomic.Int64
		var first atomic.Pointer[time.Time] // that the quiet one was woken
		rt := actors.New(actors.Options{
			Now: time.Now, Random: zeros{}, Shelf: s,
			Families: []actors.Family{{
				Name: "all", Owns: func(string) bool { return true },
				Open: func(_ context.Context, env actors.Env) (actors.Actor, error) {
					return woken(func() {
						fired.Add(1)
						if now := time.Now(); env.Name.Group() == quiet {
							first.CompareAndSwap(nil, &now)
						}
					}), nil
				},
			}},
		})
		rt.Led(0)
		time.Sleep(time.Until(due) + 2*time.Minute)
		synctest.Wait()
		if at := first.Load(); at == nil || at.Sub(due) > 5*time.Second || fired.Load() < crowded*many {
			t.Errorf("%d were fired, the quiet one at %v, due at %v", fired.Load(), at, due)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

var quiet = ubl.Group{Tenant: "t:quiet.example", Shard: ubl.DefaultShard}

// crowd is a shelf of groups with their alarms, which stay on it.
type crowd map[ubl.Group][]time.Time

func (c crowd) GroupsOf(context.Context, int) ([]ubl.Group, error) {
	return slices.Collect(maps.Keys(c)), nil
}
func (crowd) Leads(int) bool { return true }
func (c crowd) View(_ context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return fn(shelved{due: c[g]})
}

type shelved struct {
	ubl.Snapshot
	due []time.Time
}

func (s shelved) Ascend(from, _ []byte, fn func(key, value []byte) bool) error {
	for i, at := range s.due {
		key := binary.BigEndian.AppendUint64([]byte{'i', 0}, uint64(at.UnixMilli()))
		key = fmt.Appendf(key, "timer:1\x00%05d", i)
		if from[1] == 0 && string(from) <= string(key) && !fn(key, []byte{1}) {
			break
		}
	}
	return nil
}

// woken is an actor that tells when it is asked, and agrees.
type woken func()

func (w woken) Receive(t *actors.Turn, _ ubl.Command) {
	w()
	t.Reply(true)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
