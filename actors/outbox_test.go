package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/panics"
	"ubl/test/harness"
)

// The courier is a family of this test's own: order has a parcel brought outside, and what
// came of each is its state.

type courierState struct {
	Under    map[string]bool   // way
	Outcomes map[string]string // "ok <answer>" or an error's code
}

type courierEvent struct {
	actors.Stamp
	Parcel  string `json:"parcel"`
	Outcome string `json:"outcome,omitempty"` // "" while it is under way
}

type (
	// order intends an outbound. Answers the receipt of the intent.
	order struct {
		ubl.Request
		actors.Outbound
	}
	// delivered ends one that its asker had the lease of.
	delivered struct {
		ubl.Request
		Parcel string
	}
	// parcels asks what came of all. Answers map[string]string.
	parcels struct{}
)

func (order) Cost() int     { return ubl.ActCost }
func (delivered) Cost() int { return ubl.ActCost }
func (parcels) Cost() int   { return 0 }

const didBring ubl.Did = "courier.bring"

var courierKind = &actors.Kind[courierState, courierEvent]{
	Name: "courier", Version: 1, Spaces: "z",
	Place: func(name ubl.Name) actors.Place {
		local := name.Local()
		return actors.Place{Key: func(n int64) []byte { return counterKey(local, n) }, Counter: []byte("e" + local), Ref: 'z'}
	},
	Empty: func(ubl.Name) courierState {
		return courierState{Under: make(map[string]bool), Outcomes: make(map[string]string)}
	},
	Apply: func(s *courierState, e courierEvent) {
		if e.Outcome == "" {
			s.Under[e.Parcel] = true
			return
		}
		delete(s.Under, e.Parcel)
		s.Outcomes[e.Parcel] = e.Outcome
	},
	Under:    func(_ *courierState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
	Pointers: func(*courierState) ubl.Fields { return ubl.Fields{} },
	Rules: []actors.Rule[courierState, courierEvent]{
		actors.On(didBring, func(c order) []string { return []string{c.Outbound.Key} },
			func(_ *courierState, c order, _ actors.Moment) (*actors.Plan[courierEvent], error) {
				return &actors.Plan[courierEvent]{
					Act:   actors.Act{Status: ubl.StatusIntended, This: ubl.Fields{ubl.Str("parcel", c.Outbound.Key)}},
					Event: courierEvent{Parcel: c.Outbound.Key}, Intends: &c.Outbound,
					Answer: func(r ubl.Receipt) any { return r },
				}, nil
			}),
		actors.On(didBring+".end", func(c delivered) []string { return []string{c.Parcel} },
			func(_ *courierState, c delivered, _ actors.Moment) (*actors.Plan[courierEvent], error) {
				p := brought(c.Parcel, "ok by hand", nil)
				p.Ends, p.Answer = c.Parcel, func(ubl.Receipt) any { return true }
				return p, nil
			}),
	},
	Ended: func(_ *courierState, s actors.Sent, _ actors.Moment) (ubl.Did, *actors.Plan[courierEvent], error) {
		if s.Err != nil {
			return didBring, brought(s.Key, string(s.Err.Code), &ubl.AtomError{Code: s.Err.Code, Message: s.Err.Message}), nil
		}
		return didBring, brought(s.Key, "ok "+string(s.Answer), nil), nil
	},
}

func brought(parcel, outcome string, failed *ubl.AtomError) *actors.Plan[courierEvent] {
	return &actors.Plan[courierEvent]{
		Act:   actors.Act{Effects: []ubl.Fields{{ubl.Str("op", didBring), ubl.Str("parcel", parcel)}}, Error: failed},
		Event: courierEvent{Parcel: parcel, Outcome: outcome},
	}
}

type courier struct {
	*actors.Entity[courierState, courierEvent]
}

// Receive implements [actors.Actor].
func (x courier) Receive(t *actors.Turn, cmd ubl.Command) {
	if !x.Change(t, cmd) {
		t.Reply(maps.Clone(x.State.Outcomes))
	}
}

// outside is the world that parcels are brought to, and a house with couriers and an egg
// timer.
type outside struct {
	*clocks
	mu   sync.Mutex
	does map[string]func(context.Context, actors.Attempt) (json.RawMessage, error) // by parcel
	came []actors.Attempt
}

func openOutside(t *testing.T) *outside {
	w := &outside{does: make(map[string]func(context.Context, actors.Attempt) (json.RawMessage, error))}
	w.clocks = &clocks{t: t, store: &faulty{}, trouble: make(map[string]func() error), tried: make(map[string]int)}
	family := func(prefix string, send func(context.Context, actors.Attempt) (json.RawMessage, error)) actors.Family {
		return actors.Family{
			Name: prefix, Owns: func(local string) bool { return strings.HasPrefix(local, prefix) },
			Leased: func(ubl.Snapshot) ([]string, error) { return []string{prefix + "1"}, nil },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				hooks := actors.Hooks[courierEvent]{Send: send, Outcome: func(_ context.Context, e courierEvent) (any, error) { return e.Receipt, nil }}
				x, err := courierKind.Load(ctx, w.store, env, hooks)
				return courier{x}, err
			},
		}
	}
	timers := actors.Family{
		Name: "timer", Owns: func(local string) bool { return strings.HasPrefix(local, "timer:") },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			x, err := timerKind(w.meet).Load(ctx, w.store, env, actors.Hooks[timerEvent]{})
			return timer{x}, err
		},
	}
	w.House = harness.Open(t, harness.Options{
		Wrap:     func(s ubl.Store) ubl.Store { w.store.Store = s; return w.store },
		Panics:   panics.New(slog.New(slog.DiscardHandler)),
		Families: []actors.Family{family("courier:", w.send), family("host:", nil), timers},
	})
	w.ana = harness.User("ana@example.com")
	w.Enter(w.ana)
	return w
}

func (w *outside) send(ctx context.Context, a actors.Attempt) (json.RawMessage, error) {
	w.mu.Lock()
	w.came = append(w.came, a)
	do := w.does[a.Key]
	if do == nil {
		do = w.does[""]
	}
	w.mu.Unlock()
	if do != nil {
		return do(ctx, a)
	}
	return json.RawMessage(`"here"`), nil
}

// meets has a parcel meet something outside, or "" all those that have nothing of their own.
func (w *outside) meets(parcel string, do func(context.Context, actors.Attempt) (json.RawMessage, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.does[parcel] = do
}

func fails(code ubl.Code) func(context.Context, actors.Attempt) (json.RawMessage, error) {
	return func(context.Context, actors.Attempt) (json.RawMessage, error) { return nil, ubl.Errorf(code, "no") }
}

func (w *outside) order(at string, o actors.Outbound) ubl.Receipt {
	w.t.Helper()
	return harness.Must[ubl.Receipt](w.House, w.at(at), order{w.Request(w.ana), o})
}

func (w *outside) outcomes(at, want string) {
	w.t.Helper()
	if got := fmt.Sprint(harness.Must[map[string]string](w.House, w.at(at), parcels{})); got != "map["+want+"]" {
		w.t.Errorf("the outcomes at %s are %s, want %s", at, got, want)
	}
}

// attempts counts those of a parcel.
func (w *outside) attempts(parcel string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.came {
		if a.Key == parcel {
			n++
		}
	}
	return n
}

// clean is what must hold once nothing is open.
func (w *outside) clean() {
	w.t.Helper()
	if left := w.records(); len(left) > 0 {
		w.t.Errorf("left in the store: %q", left)
	}
	w.VerifyLedger(w.ana.TenantID)
}

// pair reads the atoms of an act, and how many there are.
func (w *outside) pair(r ubl.Receipt) *ubl.ReceiptPair {
	w.t.Helper()
	return harness.Must[*ubl.ReceiptPair](w.House, ubl.LedgerName(w.ana.TenantID), ubl.GetReceipt{Seq: r.Seq})
}

// TestOutbox: what is intended is done once its intent is durable, and its effect closes the
// intent. The other side gets the intent's content id as its key.
func TestOutbox(t *testing.T) {
	w := openOutside(t)
	w.meets("a", func(_ context.Context, a actors.Attempt) (json.RawMessage, error) {
		head := harness.Must[ubl.LedgerHead](w.House, ubl.LedgerName(w.ana.TenantID), ubl.GetLedgerHead{})
		if r := w.pair(ubl.Receipt{Seq: head.Seq}); len(r.Atoms) != 1 {
			t.Errorf("the intent has %d atoms while it is attempted, want its action alone", len(r.Atoms))
		}
		return json.RawMessage(`"there"`), nil
	})
	intent := w.order("courier:1", actors.Outbound{Key: "a", Content: json.RawMessage(`{"to":"bob"}`)})
	w.Alarms()
	w.outcomes("courier:1", `a:ok "there"`)
	w.mu.Lock()
	if a := w.came[0]; len(w.came) != 1 || a.IdempotencyKey != intent.CID || string(a.Content) != `{"to":"bob"}` {
		t.Errorf("attempts were %+v, want one with the key %s", w.came, intent.CID)
	}
	w.mu.Unlock()
	if r := w.pair(intent); len(r.Atoms) != 2 || !strings.Contains(string(r.Atoms[1]), `"parcel":"a"`) {
		t.Errorf("the intent isn't closed by its effect: %s", r.Atoms)
	}
	w.clean()
	w.order("courier:1", actors.Outbound{Key: "a"}) // the key is free again
	w.Alarms()
	w.Restart()
	w.outcomes("courier:1", `a:ok "there"`)
}

// TestOutboxOutcomes: what may pass is attempted again with the same key, later each time;
// what the other side refuses is its answer. A deadline ends what is still attempted, and
// what may be attempted once alone ends with its first attempt.
func TestOutboxOutcomes(t *testing.T) {
	for _, at := range []struct {
		name     string
		out      func(now ubl.Time) actors.Outbound
		meets    func(context.Context, actors.Attempt) (json.RawMessage, error)
		attempts int
		outcome  string
	}{
		{"away three times", nil, func(_ context.Context, a actors.Attempt) (json.RawMessage, error) {
			if a.Failed < 3 {
				return nil, ubl.Errorf(ubl.CodeUnavailable, "away")
			}
			return json.RawMessage(`3`), nil
		}, 4, "ok 3"},
		{"panics once", nil, func(_ context.Context, a actors.Attempt) (json.RawMessage, error) {
			if a.Failed == 0 {
				panic("a hook's fault")
			}
			return json.RawMessage(`1`), nil
		}, 2, "ok 1"},
		{"refused", nil, fails(ubl.CodeForbidden), 1, "forbidden"},
		{"a deadline of a minute", func(now ubl.Time) actors.Outbound {
			return actors.Outbound{Deadline: now.Add(time.Minute)}
		}, fails(ubl.CodeRateLimited), 5, "rate_limited"}, // after 0, 2, 6, 14, 30 s
		{"a deadline that has passed", func(now ubl.Time) actors.Outbound {
			return actors.Outbound{Deadline: now}
		}, nil, 0, "unavailable"},
		{"once, away", func(ubl.Time) actors.Outbound { return actors.Outbound{Once: true} }, fails(ubl.CodeUnavailable), 1, "unavailable"},
		{"once", func(ubl.Time) actors.Outbound { return actors.Outbound{Once: true} }, nil, 1, `ok "here"`},
	} {
		t.Run(at.name, func(t *testing.T) {
			w := openOutside(t)
			w.meets("p", at.meets)
			var o actors.Outbound
			if at.out != nil {
				o = at.out(ubl.TimeOf(w.Clock.Now()))
			}
			o.Key = "p"
			w.order("courier:1", o)
			w.Alarms()
			for range 90 {
				w.pass(time.Second)
			}
			w.outcomes("courier:1", "p:"+at.outcome)
			if n := w.attempts("p"); n != at.attempts {
				t.Errorf("%d attempts, want %d", n, at.attempts)
			}
			for _, a := range w.came {
				if a.IdempotencyKey != w.came[0].IdempotencyKey {
					t.Error("attempts have different keys")
				}
			}
			if s := w.OutboxStats(); s.Waiting != 0 || s.Late != 0 || s.Attempts != int64(at.attempts) {
				t.Errorf("the figures are %+v", s)
			}
			w.clean()
		})
	}
}

// TestOutboxLease: while who asked has the lease, nobody else attempts anything. Who ends it
// in time ends it; then the outbox attempts it, or says that nobody knows where it can't.
func TestOutboxLease(t *testing.T) {
	w := openOutside(t)
	until := ubl.TimeOf(w.Clock.Now()).Add(time.Minute)
	for _, key := range []string{"in time", "late"} {
		w.order("courier:1", actors.Outbound{Key: key, Lease: until})
		w.order("host:1", actors.Outbound{Key: key, Lease: until, Deadline: until})
	}
	w.pass(59 * time.Second)
	for _, at := range []string{"courier:1", "host:1"} {
		harness.Must[bool](w.House, w.at(at), delivered{w.Request(w.ana), "in time"})
	}
	w.Restart()
	if n := len(w.came); n > 0 {
		t.Errorf("%d attempts under somebody's lease", n)
	}
	w.pass(time.Second)
	w.outcomes("courier:1", `in time:ok by hand late:ok "here"`)
	w.outcomes("host:1", `in time:ok by hand late:unavailable`)
	w.Refused(ubl.CodeInternal, w.at("host:1"), delivered{w.Request(w.ana), "late"}) // a family sees to that itself
	w.clean()
}

// TestOutboxWaitsAgain: where the clock was ahead when something was intended, or when an attempt
// was made, it is attempted as if the clock had been right, from the next command on.
func TestOutboxWaitsAgain(t *testing.T) {
	w := openOutside(t)
	w.Clock.Add(30 * time.Minute)
	now := ubl.TimeOf(w.Clock.Now())
	w.meets("away", fails(ubl.CodeUnavailable))
	w.order("courier:1", actors.Outbound{Key: "leased", Lease: now.Add(time.Minute)})
	w.order("courier:1", actors.Outbound{Key: "away"})
	w.Alarms()
	hangs := make(chan struct{})
	w.meets("lost", func(context.Context, actors.Attempt) (json.RawMessage, error) {
		w.meets("lost", nil)
		w.store.each(func(_ *ubl.Batch, settled func(error)) bool { // the node is gone before it tells
			go settled(errGone)
			return true
		})
		close(hangs)
		return nil, nil
	})
	w.order("courier:1", actors.Outbound{Key: "lost"})
	<-hangs
	w.Close()
	w.store.each(nil)
	w.meets("away", nil)
	w.Clock.Add(-30 * time.Minute)
	w.Restart()
	w.outcomes("courier:1", "")
	w.pass(2 * time.Second)
	w.outcomes("courier:1", `away:ok "here"`)
	w.pass(18 * time.Second)
	w.outcomes("courier:1", `away:ok "here" lost:ok "here"`)
	w.pass(40 * time.Second)
	w.outcomes("courier:1", `away:ok "here" leased:ok "here" lost:ok "here"`)
	w.clean()
}

// TestOutboxOfAClockSetBack: what comes of an attempt is put on record also where the clock was
// set back while it was made, and the actor was asked meanwhile.
func TestOutboxOfAClockSetBack(t *testing.T) {
	for name, once := range map[string]bool{"once": true, "repeated": false} {
		t.Run(name, func(t *testing.T) {
			w := openOutside(t)
			begun, goOn := make(chan struct{}), make(chan struct{})
			w.meets("p", func(context.Context, actors.Attempt) (json.RawMessage, error) {
				close(begun)
				<-goOn
				return json.RawMessage(`"here"`), nil
			})
			w.order("courier:1", actors.Outbound{Key: "p", Once: once})
			<-begun
			w.Clock.Add(-30 * time.Minute)
			w.outcomes("courier:1", "")
			close(goOn)
			w.eventually("the attempt has ended", func() bool { return w.OutboxStats().Running == 0 })
			w.outcomes("courier:1", `p:ok "here"`)
			w.pass(time.Hour)
			w.clean()
		})
	}
}

// TestOutboxHeldAhead: what is intended, or redriven, while the clock is ahead and alarms are held
// is attempted once the clock is right, from the next command on.
func TestOutboxHeldAhead(t *testing.T) {
	for name, redriven := range map[string]bool{"intended": false, "redriven": true} {
		t.Run(name, func(t *testing.T) {
			w := openOutside(t)
			w.meets("p", fails(ubl.CodeUnavailable))
			if redriven {
				w.order("courier:1", actors.Outbound{Key: "p"})
				w.Alarms()
				for range 3 * 24 {
					w.pass(time.Hour)
				}
			}
			w.Clock.Add(30 * time.Minute)
			faults := crashes()
			w.store.each(func(b *ubl.Batch, settled func(error)) bool { // the attempt's lease isn't kept
				if len(b.Atoms) > 0 {
					return false
				}
				faults["before"](w.store)(b, settled)
				return true
			})
			if redriven {
				w.redriveAll("courier:1", 1)
			} else {
				w.order("courier:1", actors.Outbound{Key: "p"})
			}
			w.Close()
			w.store.each(nil)
			w.meets("p", nil)
			w.Clock.Add(-30 * time.Minute)
			w.Restart()
			w.outcomes("courier:1", "")
			w.pass(time.Second)
			w.outcomes("courier:1", `p:ok "here"`)
			w.clean()
		})
	}
}

// redriveAll has an actor's dead letters tried again, of which there are so many.
func (w *outside) redriveAll(at string, want int) {
	w.t.Helper()
	list := harness.Must[[]ubl.DeadLetter](w.House, ubl.LedgerName(w.ana.TenantID), ubl.ListDeadLetters{})
	for _, l := range list {
		if _, err := w.Ask(w.t.Context(), w.at(at), ubl.Redrive{Request: w.Request(w.ana), Owner: true, Letter: l.Key}); err != nil {
			w.t.Fatal(err)
		}
	}
	if len(list) != want {
		w.t.Fatalf("the dead letters are %+v", list)
	}
}

// TestOutboxDeadLetter: what has no deadline becomes a dead letter after about two days, is
// listed as one of its kind, and is redriven with a receipt. Others go on.
func TestOutboxDeadLetter(t *testing.T) {
	w := openOutside(t)
	w.meets("lost", fails(ubl.CodeUnavailable))
	intent := w.order("courier:1", actors.Outbound{Key: "lost"})
	w.Alarms()
	for range 3 * 24 {
		w.pass(time.Hour)
	}
	list := harness.Must[[]ubl.DeadLetter](w.House, ubl.LedgerName(w.ana.TenantID), ubl.ListDeadLetters{})
	if len(list) != 1 || list[0].Kind != ubl.DeadOutbound || list[0].Subject != "courier:1" || list[0].Code != ubl.CodeUnavailable || list[0].Attempts != w.attempts("lost") {
		t.Fatalf("dead letters are %+v after %d attempts", list, w.attempts("lost"))
	}
	w.order("courier:1", actors.Outbound{Key: "other"})
	w.Alarms()
	w.outcomes("courier:1", `other:ok "here"`)
	w.Restart()
	w.meets("lost", nil)
	w.redriveAll("courier:1", 1)
	w.Alarms()
	w.outcomes("courier:1", `lost:ok "here" other:ok "here"`)
	if last := w.came[len(w.came)-1]; last.Key != "lost" || last.IdempotencyKey != intent.CID || last.Failed != 0 {
		t.Errorf("redriven it was attempted as %+v, want with the key %s", last, intent.CID)
	}
	w.clean()
}

// TestOutboxDiscard: what is given up isn't attempted any more, and its intent has an end on record,
// an error.
func TestOutboxDiscard(t *testing.T) {
	w := openOutside(t)
	w.meets("lost", fails(ubl.CodeUnavailable))
	w.order("courier:1", actors.Outbound{Key: "lost"})
	w.Alarms()
	for range 3 * 24 {
		w.pass(time.Hour)
	}
	list := harness.Must[[]ubl.DeadLetter](w.House, ubl.LedgerName(w.ana.TenantID), ubl.ListDeadLetters{})
	if len(list) != 1 {
		t.Fatalf("dead letters are %+v", list)
	}
	tried := w.attempts("lost")
	ask := ubl.Discard{Request: w.Request(w.ana), Owner: true, Subject: "courier:1", Letter: list[0].Key}
	for range 2 { // the second time is a retry
		if _, err := w.Ask(t.Context(), w.at("courier:1"), ask); err != nil {
			t.Fatal(err)
		}
	}
	w.Restart()
	w.pass(72 * time.Hour)
	w.outcomes("courier:1", "lost:unavailable")
	if n := w.attempts("lost"); n != tried {
		t.Errorf("it was attempted %d times, %d before it was given up", n, tried)
	}
	w.clean()
}

// TestOutboxCrash: the node is gone at each commit on the way of one outbound, before and
// after it is durable. Later it is attempted again, with the same key, and has one effect;
// one that may be attempted once alone is not attempted again after its first attempt.
func TestOutboxCrash(t *testing.T) {
	for what, fault := range crashes() {
		for commit := 1; commit <= 2; commit++ { // the lease and the effect
			for _, once := range []bool{false, true} {
				for _, restart := range []bool{false, true} {
					t.Run(fmt.Sprintf("commit %d %s, once %t, restart %t", commit, what, once, restart), func(t *testing.T) {
						w := openOutside(t)
						w.order("courier:1", actors.Outbound{Key: "p", Once: once, Lease: ubl.TimeOf(w.Clock.Now()).Add(time.Minute)})
						gone := make(chan struct{})
						var n atomic.Int64
						w.store.each(func(b *ubl.Batch, settled func(error)) bool {
							switch k := int(n.Add(1)); {
							case k == commit:
								fault(w.store)(b, settled)
								close(gone)
								return true
							case k > commit && restart: // the node is gone
								go settled(errGone)
								return true
							}
							return false
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
						w.pass(time.Second)
						w.pass(time.Minute) // the lease of an attempt may be waited for
						w.pass(time.Minute)
						attempts := w.attempts("p")
						got := harness.Must[map[string]string](w.House, w.at("courier:1"), parcels{})["p"]
						switch {
						case once && attempts > 1:
							t.Errorf("%d attempts of what may be attempted once", attempts)
						case got != `ok "here"` && (!once || got != "unavailable"):
							t.Errorf("it came to %q after %d attempts", got, attempts)
						}
						w.clean()
					})
				}
			}
		}
	}
}

// TestOutboxHistories: over random histories of what is intended, with another side that comes
// and goes, commits that fail before and after they are durable, actors that leave memory, and
// restarts, each intent has one effect. Its attempts have one key, and it has at most one
// where that is all that it may have.
func TestOutboxHistories(t *testing.T) {
	w := openOutside(t)
	worlds := 0
	rapid.Check(t, func(rt *rapid.T) {
		worlds++
		orders := make(map[string]actors.Outbound)
		name := func(key string) string { return fmt.Sprintf("courier:%d-%c", worlds, key[0]) }
		rt.Repeat(map[string]func(*rapid.T){
			"order": func(rt *rapid.T) {
				now := ubl.TimeOf(w.Clock.Now())
				o := actors.Outbound{
					Key:  fmt.Sprintf("%s%d-%d", rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "of"), worlds, len(orders)),
					Once: rapid.Bool().Draw(rt, "once"),
				}
				if rapid.Bool().Draw(rt, "has a deadline") {
					o.Deadline = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(rt, "seconds")) * time.Second)
				}
				if rapid.Bool().Draw(rt, "has a lease") {
					o.Lease = now.Add(time.Duration(rapid.IntRange(1, 9).Draw(rt, "seconds of it")) * time.Second)
				}
				cmd := order{w.Request(w.ana), o}
				_, err := w.Ask(t.Context(), w.at(name(o.Key)), cmd)
				for range 3 { // a failed write ends what else of its group is under way
					if ubl.CodeOf(err) == ubl.CodeUnavailable {
						_, err = w.Ask(t.Context(), w.at(name(o.Key)), cmd)
					}
				}
				if err != nil {
					rt.Fatal(err)
				}
				orders[o.Key] = o
			},
			"meet": func(rt *rapid.T) {
				code := rapid.SampledFrom([]ubl.Code{"", ubl.CodeUnavailable, ubl.CodeForbidden}).Draw(rt, "answers")
				w.meets("", nil)
				if code != "" {
					w.meets("", fails(code))
				}
			},
			"pass": func(rt *rapid.T) { w.pass(time.Duration(rapid.IntRange(0, 30).Draw(rt, "passed")) * time.Second) },
			"fault": func(rt *rapid.T) {
				w.store.next(crashes()[rapid.SampledFrom([]string{"before", "after"}).Draw(rt, "fails")](w.store))
			},
			"reload": func(*rapid.T) { w.Reload() },
			"restart": func(rt *rapid.T) {
				if rapid.IntRange(0, 4).Draw(rt, "often enough") == 0 {
					w.Restart()
				}
			},
		})
		w.meets("", nil)
		for range 4 { // past each deadline, each lease, and what a failure has put off
			w.pass(lastRetry)
		}
		for key, o := range orders {
			got := harness.Must[map[string]string](w.House, w.at(name(key)), parcels{})[key]
			if attempts := w.attempts(key); got == "" || o.Once && attempts > 1 || strings.HasPrefix(got, "ok") && attempts == 0 {
				rt.Fatalf("%+v came to %q after %d attempts", o, got, attempts)
			}
		}
		keys := make(map[string]string)
		for _, a := range w.came {
			if was, has := keys[a.Key]; has && was != a.IdempotencyKey {
				rt.Fatalf("%s was attempted under two keys", a.Key)
			}
			keys[a.Key] = a.IdempotencyKey
		}
		w.came = nil
		if left := w.records(); len(left) > 0 {
			rt.Fatalf("left in the store: %q", left)
		}
	})
	w.VerifyLedger(w.ana.TenantID)
}

// lastRetry is the longest wait between two attempts.
const lastRetry = 6 * time.Hour

// TestOutboxHolds: servers that hang hold up neither alarms nor another tenant's attempts,
// and a tenant has no more attempts at a time than it may.
func TestOutboxHolds(t *testing.T) {
	w := openOutside(t)
	hang := make(chan struct{})
	for n := range 40 {
		parcel := fmt.Sprint("p", n)
		w.meets(parcel, func(ctx context.Context, _ actors.Attempt) (json.RawMessage, error) {
			select {
			case <-hang:
			case <-ctx.Done():
			}
			return json.RawMessage(`1`), nil
		})
		w.order("courier:1", actors.Outbound{Key: parcel})
	}
	w.eventually("a tenant's attempts are under way", func() bool { return w.OutboxStats().Running == 8 })
	w.set("timer:1", w.in("egg", 0))
	w.eventually("the egg is done", func() bool {
		return harness.Must[map[string]int64](w.House, w.at("timer:1"), rung{})["egg"] == 1
	})
	bob := harness.User("bob@other.example")
	w.Enter(bob)
	harness.Must[ubl.Receipt](w.House, ubl.Name(string(bob.TenantID)+"|courier:1"), order{w.Request(bob), actors.Outbound{Key: "bob's"}})
	w.eventually("bob's is done", func() bool { return w.attempts("bob's") == 1 })
	if s := w.OutboxStats(); s.Running > 9 {
		t.Errorf("%d attempts at a time", s.Running)
	}
	close(hang)
	w.eventually("all are done, each as soon as there is a place", func() bool { s := w.OutboxStats(); return s.Attempts == 41 && s.Running == 0 })
	got := harness.Must[map[string]string](w.House, w.at("courier:1"), parcels{})
	if done := slices.Collect(maps.Values(got)); len(done) != 40 || slices.ContainsFunc(done, func(o string) bool { return o != "ok 1" }) {
		t.Errorf("the outcomes are %v", got)
	}
	w.clean()
}

var errGone = errors.New("the node is gone")
