package actors_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"ubl"
	"ubl/actors"
	"ubl/panics"
	"ubl/test/harness"
)

// The counter is a family of this test's own: how small one can be, and what the kernel
// does for it.

type counterState struct {
	Events, Total int64
	Open          bool
	Seen          counterSeen
	Receipt       ubl.Receipt // of the newest mark that was loaded
	Notes         int64       // the newest note, an item
}

// counterSeen is the counter's only record that follows from no event.
type counterSeen struct {
	Marked, Ticks int64
	Receipt       ubl.Receipt
}

type counterEvent struct {
	actors.Stamp
	Delta int64 `json:"delta"`
	Total int64 `json:"total"`

	mark, tick int64 // these pass
}

type (
	// add changes the counter: down is another act, zero has no name, 13 panics, and an
	// odd number is answered from memory. Answers counted.
	add struct {
		ubl.Request
		By   int64
		Text []byte // a record that goes with it
	}
	// enactAndPanic carries out a plan and panics then.
	enactAndPanic struct{ ubl.Request }
	// jot makes a note behind an act that it tells of, and is counted by what follows.
	// Answers *note.
	jot struct {
		ubl.Request
		Text string
	}
	// look is on record. Answers counted with the total.
	look struct{ ubl.Request }
	// mark passes: 0 is refused, what is marked already leaves nothing. Answers the mark.
	mark struct {
		ubl.Request
		At int64
	}
	// tick passes without an act.
	tick struct{ ubl.Request }
	// get is not. Answers counterState.
	get struct{}
)

func (add) Cost() int           { return ubl.ActCost }
func (enactAndPanic) Cost() int { return ubl.ActCost }
func (jot) Cost() int           { return ubl.ActCost }
func (look) Cost() int          { return ubl.ActCost }
func (mark) Cost() int          { return ubl.ActCost }
func (tick) Cost() int          { return ubl.ActCost }
func (get) Cost() int           { return 0 }

type counted struct {
	Total   int64
	Receipt ubl.Receipt
}

const (
	didOpen ubl.Did = "counter.open"
	didNote ubl.Did = "counter.note"
)

func (a add) did() ubl.Did {
	switch {
	case a.By > 0:
		return "counter.up"
	case a.By < 0:
		return "counter.down"
	}
	return ""
}

func counterKey(local string, n int64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte("z"+local), 0), uint64(n))
}

func counterKind() *actors.Kind[counterState, counterEvent] {
	return &actors.Kind[counterState, counterEvent]{
		Name: "counter", Version: 1, Spaces: "z",
		Place: func(name ubl.Name) actors.Place {
			local := name.Local()
			return actors.Place{
				Key: func(n int64) []byte { return counterKey(local, n) }, Counter: []byte("e" + local), Ref: 'z', Passed: 'd',
			}
		},
		Apply: func(s *counterState, e counterEvent) {
			s.Events, s.Total = max(s.Events, e.N), s.Total+e.Delta
			s.Open = s.Open || e.Did == didOpen
			s.Seen.Ticks += e.tick
			if e.mark != 0 {
				s.Seen.Marked = e.mark
			}
		},
		Under:    func(_ *counterState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(s *counterState) ubl.Fields { return ubl.Fields{ubl.Int("total", s.Total)} },
		Index: func(s *counterState, e counterEvent, act *actors.Act) []actors.Record {
			if e.N == 0 {
				seen := s.Seen
				return []actors.Record{{Key: []byte("zseen"), Seal: func() []byte {
					seen.Receipt = *e.Sealed()
					return encodeJSON(seen)
				}}}
			}
			return []actors.Record{act.Sealed([]byte("zlast"), encodeJSON(map[string]int64{"n": e.N}))}
		},
		Tell: func(s *counterState, e counterEvent) []ubl.Event {
			return []ubl.Event{{Kind: "counter.changed", UserID: e.By, Payload: json.RawMessage(fmt.Sprint(s.Total))}}
		},
		Rules: []actors.Rule[counterState, counterEvent]{
			actors.OnNamed(add.did, func(c add) []string { return []string{fmt.Sprint(c.By)} }, decideAdd),
			actors.OnPassing("counter.mark", func(c mark) []string { return []string{fmt.Sprint(c.At)} }, decideMark, marked),
			actors.On("counter.found", func(c found) []string { return []string{string(c.Name)} }, decideFound),
			actors.On("counter.jot", func(c jot) []string { return []string{c.Text} }, decideJot),
		},
		Guests: true,
		Items: func(ubl.Name) actors.Place {
			return actors.Place{Key: noteKey, Counter: []byte("enotes"), Ref: 'n'}
		},
		Take: func(s *counterState, item actors.Item) { s.Notes = item.Number() },
		Snapshot: &actors.Snapshots[counterState]{
			Version: 1, Every: 3, Each: -1, Piece: 20, Keep: 6,
			Encode: func(s *counterState) []byte { return encodeJSON(s) },
			Decode: func(v []byte) (s counterState, err error) { return s, json.Unmarshal(v, &s) },
			Size:   func(*counterState) int { return 1 },
		},
		Beside: func(ctx context.Context, read ubl.Reader, name ubl.Name, s *counterState) error {
			return read.View(ctx, name.Group(), func(snap ubl.Snapshot) error {
				v, err := snap.Get([]byte("zseen"))
				if err == nil && v != nil {
					err = json.Unmarshal(v, &s.Seen)
				}
				s.Receipt, s.Seen.Receipt = s.Seen.Receipt, ubl.Receipt{}
				if err == nil {
					s.Notes, err = snap.Counter([]byte("enotes"))
				}
				return err
			})
		},
	}
}

// note is the counter's item.
type note struct {
	N       int64
	Text    string
	Receipt ubl.Receipt
}

func (x *note) Number() int64 { return x.N }

func (x *note) Seal(receipt ubl.Receipt) []byte {
	x.Receipt = receipt
	return encodeJSON(x)
}

func (x *note) Told() ubl.Event {
	return ubl.Event{Kind: "counter.noted", Payload: encodeJSON(x.Receipt.Seq)}
}

func noteKey(n int64) []byte { return binary.BigEndian.AppendUint64([]byte("znote"), uint64(n)) }

func decideJot(s *counterState, c jot, _ actors.Moment) (*actors.Plan[counterEvent], error) {
	made := &note{N: s.Notes + 1, Text: c.Text}
	return &actors.Plan[counterEvent]{
		Act:    actors.Act{Did: didNote},
		First:  &actors.Act{},
		Item:   made,
		Also:   &actors.Plan[counterEvent]{Act: actors.Act{Did: "counter.up"}, Event: counterEvent{Delta: 1}},
		Answer: func(ubl.Receipt) any { return made },
	}, nil
}

func decideMark(s *counterState, c mark, _ actors.Moment) (*actors.Plan[counterEvent], error) {
	switch c.At {
	case 0:
		return nil, ubl.Errorf(ubl.CodeConflict, "it is no mark")
	case s.Seen.Marked:
		return nil, nil
	}
	return &actors.Plan[counterEvent]{
		Act:   actors.Act{Effects: []ubl.Fields{{ubl.Str("op", "counter.mark")}}},
		Event: counterEvent{mark: c.At},
	}, nil
}

func marked(s *counterState, _ mark) func() (any, error) {
	at := s.Seen.Marked
	return func() (any, error) { return at, nil }
}

func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func decideAdd(s *counterState, c add, _ actors.Moment) (*actors.Plan[counterEvent], error) {
	total := s.Total + c.By
	switch {
	case total < 0:
		return nil, ubl.Errorf(ubl.CodeConflict, "the counter would be below zero")
	case c.By == 13:
		panic("unlucky")
	}
	p := &actors.Plan[counterEvent]{
		Act:   actors.Act{This: ubl.Fields{ubl.Int("by", c.By)}, Effects: []ubl.Fields{{ubl.Str("op", "counter.add")}}},
		Event: counterEvent{Delta: c.By, Total: total},
	}
	if c.Text != nil {
		p.Records = []actors.Record{{Key: []byte("ztext"), Value: c.Text}}
	}
	if c.By%2 != 0 {
		p.Answer = func(receipt ubl.Receipt) any { return &counted{total, receipt} }
	}
	return p, nil
}

type counter struct {
	*actors.Entity[counterState, counterEvent]
}

// Receive implements [actors.Actor]. The first add opens the counter in its own commit.
func (x counter) Receive(t *actors.Turn, cmd ubl.Command) {
	if c, ok := cmd.(actors.Asked); ok && !x.State.Open {
		x.Enact(t, x.Following(didOpen, c.Asked(), &actors.Plan[counterEvent]{}), nil)
	}
	if x.Change(t, cmd) {
		return
	}
	switch cmd := cmd.(type) {
	case enactAndPanic:
		x.Enact(t, x.Following("counter.up", cmd.Request, &actors.Plan[counterEvent]{Event: counterEvent{Delta: 1000}}), nil)
		panic("after it was applied")
	case look:
		act, err := x.Look(t, "counter.look", cmd.Request, actors.Act{})
		total := x.State.Total
		t.Read(err, func(context.Context) (any, error) { return &counted{total, act.Receipt}, nil })
	case addThen:
		x.ChangeThen(t, cmd.add, func(_ context.Context, answer any) (any, error) {
			return cmd.then(answer.(*counted).Total)
		})
	case knows:
		t.Reply(x.Knows(t, cmd.add))
	case tick:
		x.PassUnreceipted(t, actors.Unreceipted[counterEvent]{Event: counterEvent{tick: 1}}, nil)
		t.Reply(nil)
	case get:
		t.Reply(x.State)
	}
}

func outcome(_ context.Context, e counterEvent) (any, error) {
	return &counted{e.Total, e.Receipt}, nil
}

// noted is the answer for a note that is stored.
func (f *faulty) noted(ctx context.Context, n int64) func() (any, error) {
	return func() (any, error) {
		x := &note{}
		err := f.View(ctx, counterAt.Group(), func(snap ubl.Snapshot) error {
			v, err := snap.Get(noteKey(n))
			return errors.Join(err, json.Unmarshal(v, x))
		})
		return x, err
	}
}

const counterAt = ubl.Name("t:example.com|counter:1")

// openCounter is a house with the counter, whose writes meet a fault where there is one.
func openCounter(t *testing.T) (*harness.House, *faulty, ubl.Identity) { return openJudged(t, nil) }

// openJudged is openCounter with a seat that has an input.
func openJudged(t *testing.T, stands func(*counterState, actors.Proposal) error) (*harness.House, *faulty, ubl.Identity) {
	kind := counterKind()
	kind.Stands = stands
	return openKind(t, kind, nil)
}

// openKind is openCounter with a kind of the counter's that has been changed, and another clock; nil
// for the house's.
func openKind(t *testing.T, kind *actors.Kind[counterState, counterEvent], now func() time.Time) (*harness.House, *faulty, ubl.Identity) {
	store := &faulty{}
	h := harness.Open(t, harness.Options{
		Wrap:   func(s ubl.Store) ubl.Store { store.Store = s; return store },
		Panics: panics.New(slog.New(slog.DiscardHandler)),
		Now:    now,
		Families: []actors.Family{{
			Name: "counter", Kind: kind, Owns: func(local string) bool { return strings.HasPrefix(local, "counter:") },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				x, err := kind.Load(ctx, store, env, actors.Hooks[counterEvent]{Outcome: outcome, Again: store.noted})
				return counter{x}, err
			},
		}},
	})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	return h, store, ana
}

// faulty is a store whose next batch meets a fault.
type faulty struct {
	ubl.Store
	mu    sync.Mutex
	fault func(b *ubl.Batch, settled func(error))
	all   func(b *ubl.Batch, settled func(error)) bool
}

func (f *faulty) Submit(b *ubl.Batch, settled func(error)) {
	f.mu.Lock()
	fault, all := f.fault, f.all
	f.fault = nil
	f.mu.Unlock()
	if all != nil && all(b, settled) {
		return
	}
	if fault == nil {
		fault = f.Store.Submit
	}
	fault(b, settled)
}

// each is asked of every batch from now on whether it takes it.
func (f *faulty) each(all func(b *ubl.Batch, settled func(error)) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = all
}

func (f *faulty) next(fault func(b *ubl.Batch, settled func(error))) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// TestKind: a retry is answered as the first time, from memory or from what is stored;
// another content is a conflict; a refusal, a panic and an act without a name change
// nothing; and all of it is the same after a restart.
func TestKind(t *testing.T) {
	h, _, ana := openCounter(t)
	var asked []add
	var answers []*counted
	for _, by := range []int64{5, 2, -4} {
		asked = append(asked, add{Request: h.Request(ana), By: by})
		answers = append(answers, harness.Must[*counted](h, counterAt, asked[len(asked)-1]))
	}
	before := harness.Must[counterState](h, counterAt, get{})
	if want := (counterState{Events: 4, Total: 3, Open: true}); before != want {
		t.Fatalf("it knows %+v, want %+v", before, want)
	}
	other := asked[0]
	other.By++
	for range 2 {
		for i, cmd := range asked {
			if again := harness.Must[*counted](h, counterAt, cmd); !reflect.DeepEqual(again, answers[i]) {
				t.Errorf("a retry is answered %+v, first %+v", again, answers[i])
			}
		}
		h.Refused(ubl.CodeIdempotencyConflict, counterAt, other)
		h.Refused(ubl.CodeConflict, counterAt, add{Request: h.Request(ana), By: -4})
		h.Refused(ubl.CodeInternal, counterAt, add{Request: h.Request(ana), By: 13})
		h.Refused(ubl.CodeInternal, counterAt, add{Request: h.Request(ana), By: 0}) // its act has no name
		h.Refused(ubl.CodeInternal, counterAt, enactAndPanic{h.Request(ana)})
		if got := harness.Must[counterState](h, counterAt, get{}); got != before {
			t.Errorf("now it knows %+v, before %+v", got, before)
		}
		h.Restart()
	}
	if got := harness.Must[*counted](h, counterAt, look{h.Request(ana)}); got.Total != 3 || got.Receipt.Seq == 0 {
		t.Errorf("a look is answered %+v", got)
	}
	h.VerifyLedger(ana.TenantID)
}

// TestKindPasses: an event that passes changes the state and its record, and is no
// event in the store; its key is answered with what holds by then. One without an act
// leaves no atom.
func TestKindPasses(t *testing.T) {
	h, store, ana := openCounter(t)
	harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 1})
	atoms := func() int64 {
		return harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq
	}
	first := mark{Request: h.Request(ana), At: 7}
	before := atoms()
	for _, test := range []struct {
		what  string
		cmd   mark
		want  int64
		atoms int64
	}{
		{"a mark", first, 7, 2},
		{"a retry", first, 7, 0},
		{"the same mark", mark{Request: h.Request(ana), At: 7}, 7, 0},
		{"another", mark{Request: h.Request(ana), At: 8}, 8, 2},
		{"a late retry", first, 8, 0},
	} {
		for range 2 {
			if got := harness.Must[int64](h, counterAt, test.cmd); got != test.want {
				t.Errorf("%s is answered %d, want %d", test.what, got, test.want)
			}
			h.Reload()
		}
		if grown := atoms() - before; grown != test.atoms {
			t.Errorf("%s left %d atoms, want %d", test.what, grown, test.atoms)
		}
		before = atoms()
	}
	h.Refused(ubl.CodeIdempotencyConflict, counterAt, mark{Request: first.Request, At: 9})
	h.Refused(ubl.CodeConflict, counterAt, mark{Request: h.Request(ana)})
	receipt := harness.Must[counterState](h, counterAt, get{}).Receipt
	if receipt.Seq != before-1 {
		t.Errorf("the mark has the receipt %+v, the ledger ends at %d", receipt, before)
	}
	harness.Must[any](h, counterAt, add{Request: h.Request(ana), By: 2}) // is counted on from the stored event
	before = atoms()
	if _, err := h.Ask(t.Context(), counterAt, tick{h.Request(ana)}); err != nil || atoms() != before {
		t.Errorf("a tick left %d atoms; %v", atoms()-before, err)
	}
	live := harness.Must[counterState](h, counterAt, get{})
	h.Restart()
	loaded := harness.Must[counterState](h, counterAt, get{})
	want := counterState{Events: 3, Total: 3, Open: true, Seen: counterSeen{Marked: 8, Ticks: 1}}
	loaded.Receipt, live.Receipt = ubl.Receipt{}, ubl.Receipt{}
	if live != want || loaded != want {
		t.Errorf("it knows %+v, and loaded %+v; want %+v", live, loaded, want)
	}
	events := actors.Events[counterEvent]{Read: store, Group: counterAt.Group(), Key: func(n int64) []byte { return counterKey("counter:1", n) }, Newest: 1}
	if page, err := events.Page(t.Context(), 1, 10); err != nil || len(page) != 3 {
		t.Errorf("%d events are stored; %v", len(page), err)
	}
	h.VerifyLedger(ana.TenantID)
}

// TestKindCrash: where a write fails before or after it is durable, the same key
// settles it, once; what is loaded then knows exactly what all its events say.
func TestKindCrash(t *testing.T) {
	for what, fault := range map[string]func(*faulty) func(*ubl.Batch, func(error)){
		"before": func(*faulty) func(*ubl.Batch, func(error)) {
			return func(_ *ubl.Batch, settled func(error)) { go settled(errors.New("the disk is gone")) }
		},
		"after": func(f *faulty) func(*ubl.Batch, func(error)) {
			return func(b *ubl.Batch, settled func(error)) {
				f.Store.Submit(b, func(error) { settled(errors.New("the node is gone")) })
			}
		},
	} {
		h, store, ana := openCounter(t)
		for i := range int64(8) {
			cmd := add{Request: h.Request(ana), By: i + 1}
			store.next(fault(store))
			h.Refused(ubl.CodeUnavailable, counterAt, cmd)
			if got, want := harness.Must[*counted](h, counterAt, cmd).Total, (i+1)*(i+2)/2; got != want {
				t.Errorf("%s: add %d leads to %d, want %d", what, i+1, got, want)
			}
		}
		h.Reload()
		loaded := harness.Must[counterState](h, counterAt, get{})
		var replayed counterState
		events := actors.Events[counterEvent]{Read: store, Group: counterAt.Group(), Key: func(n int64) []byte { return counterKey("counter:1", n) }, Newest: 1}
		err := events.Each(t.Context(), 1, math.MaxInt64, func(e counterEvent) error {
			counterKind().Apply(&replayed, e)
			return nil
		})
		if want := (counterState{Events: 9, Total: 36, Open: true}); err != nil || loaded != want || replayed != want {
			t.Errorf("%s: it knows %+v, its events say %+v (%v), want %+v", what, loaded, replayed, err, want)
		}
	}
}

// TestKindTells: an event is published with its act's place once it is durable, two of
// one commit in their order, and records are sealed with the receipt.
func TestKindTells(t *testing.T) {
	h, store, ana := openCounter(t)
	heard := make(chan ubl.Publication, 10)
	defer h.Subscribe(ubl.LedgerName(ana.TenantID), func(p ubl.Publication) { heard <- p })()
	receipt := harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 7}).Receipt
	p := <-heard
	if p.Last-p.First != 3 || len(p.Events) != 2 {
		t.Fatalf("published %+v", p)
	}
	for i, want := range []string{"0", "7"} {
		if e := p.Events[i]; string(e.Payload) != want || e.UserID != ana.UserID || e.TenantID != ana.TenantID || e.TS != receipt.Time {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if p.Events[0].LedgerSeq != p.First+1 || p.Events[1].LedgerSeq != p.Last || receipt.Seq != p.Last-1 {
		t.Errorf("of atoms %d to %d: %+v; the receipt has %d", p.First, p.Last, p.Events, receipt.Seq)
	}
	err := store.View(t.Context(), counterAt.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get([]byte("zlast"))
		if want := `{"n":2,"receipt":` + string(encodeJSON(receipt)) + `}`; string(v) != want {
			t.Errorf("stored is %s, want %s", v, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestKindItems: an item has its act's receipt and a number of its own, shares a commit
// with the act before it and the event behind it, is told once it is durable, and answers
// a retry of its key.
func TestKindItems(t *testing.T) {
	h, _, ana := openCounter(t)
	harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 2})
	heard := make(chan ubl.Publication, 10)
	defer h.Subscribe(ubl.LedgerName(ana.TenantID), func(p ubl.Publication) { heard <- p })()
	var asked []jot
	var answers []note
	for i := range int64(6) {
		cmd := jot{Request: h.Request(ana), Text: fmt.Sprint("note ", i+1)}
		made := *harness.Must[*note](h, counterAt, cmd)
		asked, answers = append(asked, cmd), append(answers, made)
		p := <-heard
		if made.N != i+1 || p.Last-p.First != 5 || made.Receipt.Seq != p.First+2 || len(p.Events) != 2 {
			t.Fatalf("note %d is %+v, published with %+v", i+1, made, p)
		}
		if e := p.Events[0]; e.LedgerSeq != p.First+3 || e.TS != made.Receipt.Time || string(e.Payload) != fmt.Sprint(made.Receipt.Seq) {
			t.Errorf("note %d is told as %+v", i+1, e)
		}
		page := harness.Must[*ubl.AtomPage](h, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: p.First, Limit: 6})
		for i, did := range []string{"counter.jot", "counter.note", "counter.up"} {
			if atom := string(page.Atoms[2*i]); !strings.Contains(atom, `"did":"`+did+`"`) {
				t.Errorf("act %d is %s, want %s", i, atom, did)
			}
		}
	}
	for range 2 {
		for i, cmd := range asked {
			if again := *harness.Must[*note](h, counterAt, cmd); again != answers[i] {
				t.Errorf("a retry is answered %+v, first %+v", again, answers[i])
			}
			cmd.Text += "!"
			h.Refused(ubl.CodeIdempotencyConflict, counterAt, cmd)
		}
		if got := harness.Must[counterState](h, counterAt, get{}); got.Notes != 6 || got.Events != 8 || got.Total != 8 {
			t.Errorf("it knows %+v", got)
		}
		h.Restart()
	}
	h.VerifyLedger(ana.TenantID)
}

// TestKindForgetsTexts: what was written is in memory no longer than it takes, though
// its actor stays there with its newest commit.
func TestKindForgetsTexts(t *testing.T) {
	h, store, ana := openCounter(t)
	written := func() weak.Pointer[byte] {
		text := make([]byte, 1<<20)
		harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 1, Text: text})
		return weak.Make(&text[0])
	}()
	for deadline := time.Now().Add(time.Minute); written.Value() != nil; runtime.GC() {
		err := store.View(t.Context(), counterAt.Group(), func(ubl.Snapshot) error { return nil }) // has it in its file then
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the text is still in memory; %v", err)
		}
	}
	if got := harness.Must[counterState](h, counterAt, get{}); got.Total != 1 {
		t.Errorf("it knows %+v", got)
	}
}
