package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
	"ubl/test/poll"
)

// valve is a store whose submissions a test holds back, fails, or lets through.
type valve struct {
	mu    sync.Mutex
	Store ubl.Store // behind it, since the last restart
	shut  bool
	held  []func()
	fault func(b *ubl.Batch, settled func(error)) bool
}

// wrap puts the valve before a store: another one after each restart, while what crashed may
// still read from the one before.
func (v *valve) wrap(s ubl.Store) ubl.Store {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Store = s
	return &valved{s, v}
}

// valved is a store behind a valve.
type valved struct {
	ubl.Store
	v *valve
}

func (s *valved) Submit(b *ubl.Batch, settled func(error)) {
	v := s.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fault != nil && v.fault(b, settled) {
		return
	}
	if v.shut {
		v.held = append(v.held, func() { s.Store.Submit(b, settled) })
		return
	}
	s.Store.Submit(b, settled)
}

func (v *valve) close() { v.mu.Lock(); v.shut = true; v.mu.Unlock() }

func (v *valve) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = false
	for _, submit := range v.held {
		submit()
	}
	v.held = nil
}

func (v *valve) holds() int { v.mu.Lock(); defer v.mu.Unlock(); return len(v.held) }

func (v *valve) setFault(f func(b *ubl.Batch, settled func(error)) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fault = f
}

func openWithValve(t *testing.T, limits actors.Limits) (*harness.House, *valve) {
	v := &valve{}
	h := harness.Open(t, harness.Options{Limits: limits, Wrap: v.wrap})
	return h, v
}

// TestOutputGate: while a commit is under way nothing that could have seen it
// leaves the actor — no answer, no read, no refusal, no event.
func TestOutputGate(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	var events atomic.Int64
	defer h.Subscribe(name, func(p ubl.Publication) { events.Add(int64(len(p.Events))) })()

	v.close()
	first := h.Request(ana)
	after := int64(0)
	commands := []ubl.Command{
		ubl.SendMessage{Request: first, Text: "hello"},
		ubl.SendMessage{Request: first, Text: "another text"},                   // 409
		ubl.SendMessage{Request: first, Text: "hello"},                          // the pending outcome, shared
		ubl.SendMessage{Request: h.Request(harness.User("x@y.zz")), Text: "hi"}, // 403
		ubl.ReadHistory{Who: ana, After: &after, Limit: 10},
		ubl.RoomHead{},
		ubl.GetRoom{Who: ana},
	}
	answers := make(chan int, len(commands))
	results := make([]any, len(commands))
	errs := make([]error, len(commands))
	for i, c := range commands {
		go func() {
			results[i], errs[i] = h.Ask(context.Background(), name, c)
			answers <- i
		}()
		if i == 0 {
			poll.Until(t, "the first batch is submitted", func() bool { return v.holds() == 1 })
		}
	}
	poll.Until(t, "all commands are decided", func() bool { return h.Stats().Waiting == 0 })
	select {
	case i := <-answers:
		t.Fatalf("%T was answered before the commit was durable", commands[i])
	case <-time.After(50 * time.Millisecond):
	}
	if n := events.Load(); n != 0 {
		t.Fatalf("%d events were published before the commit was durable", n)
	}
	v.open()
	for range commands {
		<-answers
	}
	for i, want := range []ubl.Code{"", ubl.CodeIdempotencyConflict, "", ubl.CodeNotAMember, "", "", ""} {
		if got := ubl.CodeOf(errs[i]); got != want {
			t.Errorf("%T: %v, want code %q", commands[i], errs[i], want)
		}
	}
	if string(results[0].(*ubl.Sent).Message) != string(results[2].(*ubl.Sent).Message) {
		t.Error("the retry of a pending send has another outcome")
	}
	if events.Load() != 1 {
		t.Errorf("%d events, want 1", events.Load())
	}
}

// crashPoints are the places where a commit can fail, as faults of the store.
func crashPoints() map[string]func(v *valve) func(b *ubl.Batch, settled func(error)) bool {
	boom := errors.New("boom")
	return map[string]func(v *valve) func(b *ubl.Batch, settled func(error)) bool{
		"before persisting": func(*valve) func(*ubl.Batch, func(error)) bool {
			return func(_ *ubl.Batch, settled func(error)) bool { go settled(boom); return true }
		},
		"after persisting, before the answer": func(v *valve) func(*ubl.Batch, func(error)) bool {
			return func(b *ubl.Batch, settled func(error)) bool {
				v.Store.Submit(b, func(err error) { settled(errors.Join(err, boom)) })
				return true
			}
		},
		"refused by the store": func(v *valve) func(*ubl.Batch, func(error)) bool {
			return func(b *ubl.Batch, settled func(error)) bool {
				stale := *b
				stale.Lease.Generation--
				v.Store.Submit(&stale, settled)
				return true
			}
		},
	}
}

// TestCrashPoints: a commit fails at each point there is, and is retried with
// the same key; the outcome is always one message and no gap.
func TestCrashPoints(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			h, v := openWithValve(t, actors.Limits{})
			ana := harness.User("ana@example.com")
			h.Enter(ana)
			name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
			for n := range 5 {
				send := ubl.SendMessage{Request: h.Request(ana), Text: fmt.Sprint("message ", n)}
				v.setFault(fault(v))
				h.Refused(ubl.CodeUnavailable, name, send)
				v.setFault(nil)
				sent := harness.Must[*ubl.Sent](h, name, send)
				if want := int64(n + 2); sent.RoomSeq != want { // 1 is the system message
					t.Fatalf("room_seq %d after a retry, want %d", sent.RoomSeq, want)
				}
				again := harness.Must[*ubl.Sent](h, name, send)
				if string(again.Message) != string(sent.Message) {
					t.Fatal("a second retry has another outcome")
				}
			}
			h.Restart()
			if head := harness.Must[ubl.Head](h, name, ubl.RoomHead{}); head.LastSeq != 6 {
				t.Fatalf("%d messages after a restart, want 6", head.LastSeq)
			}
		})
	}
}

// TestEveryActAtEveryCrashPoint: the same for every command that changes
// something. A retry settles it, a second one is answered alike, and the ledger
// has grown by what one act leaves.
func TestEveryActAtEveryCrashPoint(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			h, v := openWithValve(t, actors.Limits{})
			ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
			h.Enter(ana)
			h.Enter(bob)
			tenant, room := ubl.TenantName(ana.TenantID), ubl.RoomName(ana.TenantID, "r:plans")
			days, rule := 7, ubl.JoinTenant
			for _, act := range []struct {
				to    ubl.Name
				cmd   ubl.Command
				atoms int64
			}{
				{tenant, ubl.CreateRoom{Request: h.Request(ana), Name: "plans"}, 4},
				{room, ubl.AddMember{Request: h.Request(ana), Member: ubl.Member{UserID: bob.UserID, Email: bob.Email, Role: ubl.RoleMember}}, 4},
				{room, ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner}, 2},
				{room, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{Join: &rule}}, 2},
				{room, ubl.RemoveMember{Request: h.Request(ana), UserID: bob.UserID}, 2},
				{room, ubl.JoinRoom{Request: h.Request(bob)}, 4},
				{room, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID}, 2},
				{room, ubl.EndAgreement{Request: h.Request(ana)}, 2},
				{tenant, ubl.SetDefaults{Request: h.Request(ana), Patch: ubl.TenantDefaultsPatch{RetentionDays: &days}}, 2},
				{tenant, ubl.CreateServiceToken{Request: h.Request(ana), Name: "bot", ClientID: "c1", SecretHash: "00"}, 2},
				{tenant, ubl.RevokeServiceToken{Request: h.Request(ana), ClientID: "c1"}, 2},
				{tenant, ubl.CreateContainer{Request: h.Request(ana), Kind: "wallet", Name: "purse"}, 2},
				{tenant, ubl.SetToolAccess{Request: h.Request(ana), Tool: "files.read", Allowed: true, PerMinute: 3}, 2},
				{tenant, ubl.EndAgreement{Request: h.Request(ana), Agreement: ubl.ToolAgreement("files.read")}, 2},
				{tenant, ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner}, 2},
				{tenant, ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleMember}, 2},
				{tenant, ubl.EndAgreement{Request: h.Request(ana)}, 2},
			} {
				before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
				v.setFault(fault(v))
				h.Refused(ubl.CodeUnavailable, act.to, act.cmd)
				v.setFault(nil)
				settled, again := answerText(t, h, act.to, act.cmd), answerText(t, h, act.to, act.cmd)
				if settled != again {
					t.Errorf("%T: the first retry is answered\n%s, the second\n%s", act.cmd, settled, again)
				}
				after := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
				if after.Seq-before.Seq != act.atoms {
					t.Errorf("%T left %d atoms, want %d", act.cmd, after.Seq-before.Seq, act.atoms)
				}
			}
		})
	}
}

// answerText is an answer as JSON.
func answerText(t *testing.T, h *harness.House, to ubl.Name, cmd ubl.Command) string {
	t.Helper()
	answer, err := h.Ask(context.Background(), to, cmd)
	if err != nil {
		t.Fatalf("%T: %v", cmd, err)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFailureReachesEveryoneInFlight: the batches behind a failed one are built
// on its head and fail with it; all callers learn it, and retries settle all.
func TestFailureReachesEveryoneInFlight(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.close()
	const n = 50
	var sends []ubl.SendMessage
	errs := make(chan error, n)
	for i := range n {
		c := ubl.SendMessage{Request: h.Request(ana), Text: fmt.Sprint(i)}
		sends = append(sends, c)
		go func() {
			_, err := h.Ask(context.Background(), name, c)
			errs <- err
		}()
	}
	poll.Until(t, "all are submitted", func() bool { return v.holds() == n })
	v.mu.Lock()
	v.held[0] = v.held[1] // the first one is lost on its way, the second comes twice
	v.held = v.held[1:]
	v.mu.Unlock()
	v.open()
	for range n - 1 {
		if err := <-errs; ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Fatalf("a caller in flight got %v", err)
		}
	}
	seen := make(map[int64]bool)
	for _, c := range sends[1:] {
		sent := harness.Must[*ubl.Sent](h, name, c)
		if seen[sent.RoomSeq] {
			t.Fatalf("room_seq %d twice", sent.RoomSeq)
		}
		seen[sent.RoomSeq] = true
	}
	if head := harness.Must[ubl.Head](h, name, ubl.RoomHead{}); head.LastSeq != n {
		t.Fatalf("%d messages, want %d", head.LastSeq, n)
	}
}
