// Package counter is a trial: a family of actors in one folder, as anybody would add one. A
// tenant's counters are made by their first use. They are read and added to over REST and MCP,
// go back to nothing at a time (an alarm), tell everyone in the tenant of each change (an effect
// of the act, live and over a pause), and call a web hook, once in effect (the outbox).
//
// It needs one line of wiring, in the list of families:
//
//	func(w families.World) actors.Family { return counter.Family(w.Store) },
//
// test/e2e puts that line into the program and drives it.
package counter

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// ID names a counter: n:visits.
type ID string

// Counter is how a counter stands.
type Counter struct {
	ID    ID    `json:"counter_id"`
	Value int64 `json:"value"`
}

// Commands. Add answers a Counter, and so does Get; Reset answers nothing.
type (
	// Add adds to a counter. Where After is not 0 the counter goes back to nothing then, and
	// with Call its hook hears of the new value.
	Add struct {
		ubl.Request
		By    int64
		After time.Duration
		Call  bool
	}
	// Get reads a counter.
	Get struct{ Who ubl.Identity }
	// Reset ends an alarm of a counter: it asks itself.
	Reset struct{ ubl.Request }
)

// Cost implements [ubl.Command].
func (Add) Cost() int { return ubl.ActCost }

// Cost implements [ubl.Command].
func (Get) Cost() int { return 0 }

// Cost implements [ubl.Command].
func (Reset) Cost() int { return ubl.ActCost }

// The acts, which are also the ops of their effects, and the alarm.
const (
	didAdd   ubl.Did = "counter.add"
	didReset ubl.Did = "counter.reset"
	didCall  ubl.Did = "counter.call"

	alarmReset = "reset"
)

// event is stored under z counter 0 n.
type event struct {
	actors.Stamp
	Counter // behind the act
}

type (
	state = Counter
	plan  = actors.Plan[event]
)

// Family is all of it. UBL_COUNTER_HOOK is where the web hook is.
func Family(read ubl.Reader) actors.Family {
	return actors.Family{
		Name: "counter",
		Owns: func(local string) bool { return strings.HasPrefix(local, "n:") },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			x := &actor{hook: os.Getenv("UBL_COUNTER_HOOK")}
			var err error
			x.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: outcome, Errand: x.errand, Send: x.call})
			return x, err
		},
		Commands: []ubl.Command{Add{}, Get{}, Reset{}},
		Answers:  []any{Counter{}},
		Numbers:  []ubl.Numbers{{Space: 'z', Counter: "e", Named: true, FromOne: true, Fixed: true}},
		Content:  []ubl.Content{{Space: 'z'}},
		Kind:     kind,
		Offers:   offers,
		Acts:     acts,
	}
}

var kind = &actors.Kind[state, event]{
	Name: "counter", Version: 1, Spaces: "z",
	Place: func(name ubl.Name) actors.Place {
		local := name.Local()
		return actors.Place{
			Key:     func(n int64) []byte { return binary.BigEndian.AppendUint64(append([]byte("z"+local), 0), uint64(n)) },
			Counter: []byte("e" + local), Ref: 'z',
		}
	},
	Empty:    func(of ubl.Name) state { return state{ID: ID(of.Local())} },
	Apply:    func(s *state, e event) { *s = e.Counter },
	Under:    func(_ *state, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
	Pointers: func(s *state) ubl.Fields { return ubl.Fields{ubl.Str("counter_id", s.ID)} },
	Told:     []ubl.Told{{Op: string(didAdd)}, {Op: string(didReset)}},
	Rules: []actors.Rule[state, event]{
		actors.On(didAdd, func(c Add) []string { return []string{fmt.Sprint(c.By, c.After, c.Call)} }, add),
		actors.On(didReset, nil, reset),
	},
	Ended: called,
}

func add(s *state, c Add, _ actors.Moment) (*plan, error) {
	p := change(s, didAdd, s.Value+c.By)
	if c.After > 0 {
		p.Alarms = append(p.Alarms, actors.Alarm{Key: alarmReset, After: c.After})
	}
	if c.Call {
		body, _ := json.Marshal(p.Event.Counter)
		p.Also = &plan{
			Act:   actors.Act{Did: didCall, Status: ubl.StatusIntended, This: ubl.Fields{ubl.Str("counter_id", s.ID), ubl.Int("value", s.Value+c.By)}},
			Event: p.Event, Intends: &actors.Outbound{Key: c.ID, Content: body},
		}
	}
	return p, nil
}

func reset(s *state, _ Reset, _ actors.Moment) (*plan, error) {
	p := change(s, didReset, 0)
	p.Alarms = []actors.Alarm{{Key: alarmReset}}
	return p, nil
}

func change(s *state, did ubl.Did, to int64) *plan {
	now := Counter{ID: s.ID, Value: to}
	return &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("counter_id", s.ID)},
			Effects: []ubl.Fields{{ubl.Str("op", did), ubl.Str("counter_id", s.ID), ubl.Int("value", to)}},
		},
		Event:  event{Counter: now},
		Answer: func(ubl.Receipt) any { return now },
	}
}

// outcome is the answer to a retry: the value behind the first.
func outcome(_ context.Context, e event) (any, error) { return e.Counter, nil }

// actor is one counter.
type actor struct {
	*actors.Entity[state, event]
	hook string
}

// Receive implements [actors.Actor].
func (x *actor) Receive(t *actors.Turn, cmd ubl.Command) {
	switch cmd.(type) {
	case Get:
		t.Reply(x.State)
	default:
		if !x.Change(t, cmd) {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "a counter doesn't answer this command"))
		}
	}
}

// called puts on record what the hook answered. The value stays.
func called(s *state, out actors.Sent, _ actors.Moment) (ubl.Did, *plan, error) {
	p := change(s, didCall, s.Value)
	if out.Err != nil {
		p.Error = &ubl.AtomError{Code: out.Err.Code, Message: out.Err.Message}
	}
	return didCall, p, nil
}

// errand is what the alarm leads to.
func (x *actor) errand(_ string, req ubl.Request) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := x.Ask.Ask(ctx, x.Name, Reset{req})
		return err
	}
}

// call posts to the hook, which knows a repetition by its key.
func (x *actor) call(ctx context.Context, a actors.Attempt) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.hook, bytes.NewReader(a.Content))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Idempotency-Key", a.IdempotencyKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the hook answered %d", resp.StatusCode)
	}
	return nil, nil
}
