package actors_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/panics"
	"ubl/test/harness"
	"ubl/test/poll"
)

// mine is a family that panics where its command says.
type mine struct {
	read   ubl.Reader
	mu     sync.Mutex
	opened int
}

// bursting is an actor of that family.
type bursting struct {
	*actors.Entity[struct{}, bang]
}

type bang struct{ actors.Stamp }

var bursts = actors.Kind[struct{}, bang]{
	Name: "mine", Version: 1, Spaces: "z",
	Place: func(ubl.Name) actors.Place {
		return actors.Place{Key: func(n int64) []byte { return binary.BigEndian.AppendUint64([]byte("zmine"), uint64(n)) }, Counter: []byte("emine")}
	},
	Apply:    func(*struct{}, bang) {},
	Under:    func(_ *struct{}, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
	Pointers: func(*struct{}) ubl.Fields { return nil },
	Rules: []actors.Rule[struct{}, bang]{actors.On(ubl.DidSend, nil, func(*struct{}, sealBurst, actors.Moment) (*actors.Plan[bang], error) {
		return &actors.Plan[bang]{
			Records: []actors.Record{{Key: []byte("zburst"), Seal: func() []byte { panic("seal burst") }}},
			Answer:  func(ubl.Receipt) any { return "sealed" },
		}, nil
	})},
}

type (
	lateBurst struct{} // panics in its deferred answer
	sealBurst struct { // commits a record whose seal panics
		ubl.Request
	}
)

func (lateBurst) Cost() int { return 0 }
func (sealBurst) Cost() int { return ubl.ActCost }

func (m *mine) family() actors.Family {
	return actors.Family{
		Name: "mine",
		Owns: func(local string) bool { return strings.HasPrefix(local, "mine:") },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			m.mu.Lock()
			m.opened++
			m.mu.Unlock()
			x, err := bursts.Load(ctx, m.read, env, actors.Hooks[bang]{})
			return bursting{x}, err
		},
	}
}

func (x bursting) Receive(t *actors.Turn, cmd ubl.Command) {
	switch cmd.(type) {
	case lateBurst:
		t.Later(func() (any, error) { panic("late burst") })
	case ping:
		t.Reply("pong")
	default:
		x.Change(t, cmd)
	}
}

func (m *mine) loads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opened
}

// TestPanicInADeferredAnswer: it runs in the caller's goroutine, which may be any;
// the caller gets internal, and the actor, which is sound, stays.
func TestPanicInADeferredAnswer(t *testing.T) {
	var log bytes.Buffer
	caught := panics.New(slog.New(slog.NewTextHandler(&log, nil)))
	m := &mine{}
	h := harness.Open(t, harness.Options{Families: []actors.Family{m.family()}, Panics: caught, Wrap: func(s ubl.Store) ubl.Store {
		m.read = s
		return s
	}})
	at := ubl.Name("t:example.com|mine:1")
	done := make(chan error, 1)
	go func() { // not the test's, which would survive
		_, err := h.Ask(context.Background(), at, lateBurst{})
		done <- err
	}()
	if err := <-done; ubl.CodeOf(err) != ubl.CodeInternal {
		t.Errorf("the caller got %v", err)
	}
	harness.Must[string](h, at, ping{})
	if m.loads() != 1 || caught.Caught() != 1 {
		t.Errorf("loaded %d times, %d panics counted, want 1 and 1", m.loads(), caught.Caught())
	}
	if !strings.Contains(log.String(), "late burst") || !strings.Contains(log.String(), "panic_test.go") || !strings.Contains(log.String(), "lateBurst") {
		t.Errorf("the log doesn't say what panicked where:\n%s", log.String())
	}
}

// TestPoisonedWrite: an append that can't be sealed takes its tenant's group with
// it, which is loaded again. Its own caller learns that asking again is of no use,
// others that it is.
func TestPoisonedWrite(t *testing.T) {
	caught := panics.New(nil)
	m := &mine{}
	v := &valve{}
	h := harness.Open(t, harness.Options{Families: []actors.Family{m.family()}, Panics: caught, Wrap: func(s ubl.Store) ubl.Store {
		m.read = v.wrap(s)
		return m.read.(ubl.Store)
	}})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.close()
	send := ubl.SendMessage{Request: h.Request(ana), Text: "hello"}
	other := make(chan error, 1)
	go func() {
		_, err := h.Ask(context.Background(), general, send)
		other <- err
	}()
	poll.Until(t, "the other write is under way", func() bool { return v.holds() == 1 })
	at := ubl.Name(string(ana.TenantID) + "|mine:1")
	_, err := h.Ask(context.Background(), at, sealBurst{h.Request(ana)})
	v.open()
	if ubl.CodeOf(err) != ubl.CodeInternal {
		t.Errorf("the poisoned write was answered %v", err)
	}
	if err := <-other; err != nil && ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("another write was answered %v", err)
	}
	if sent := harness.Must[*ubl.Sent](h, general, send); sent.RoomSeq != 2 { // 1 is the system message
		t.Errorf("its retry is number %d", sent.RoomSeq)
	}
	harness.Must[string](h, at, ping{})
	if caught.Caught() != 1 {
		t.Errorf("%d panics are counted, want 1", caught.Caught())
	}
}

// TestPanicOfAListener: who else listens hears it all the same, and the answer
// goes out.
func TestPanicOfAListener(t *testing.T) {
	caught := panics.New(nil)
	h := harness.Open(t, harness.Options{Panics: caught})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	heard := make(chan ubl.Publication, 10)
	defer h.Subscribe(general, func(ubl.Publication) { panic("bad listener") })()
	defer h.Subscribe(general, func(p ubl.Publication) { heard <- p })()
	harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(ana), Text: "hello"})
	if p := <-heard; len(p.Events) != 1 || caught.Caught() != 1 {
		t.Errorf("%d events were heard, %d panics counted", len(p.Events), caught.Caught())
	}
}

// TestAppendOfNobodysTurn: only a turn brings an append to the ledger.
func TestAppendOfNobodysTurn(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	h.Refused(ubl.CodeInternal, ubl.LedgerName(ana.TenantID), &actors.Append{Records: []actors.Record{{Key: []byte("z"), Value: []byte("z")}}})
}
