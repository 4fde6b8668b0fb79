package actors_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
	"ubl/test/leaks"
	"ubl/test/poll"
)

// probe is a family of the tests' own: it blocks, panics and counts on demand.
type probe struct {
	mu     sync.Mutex
	opened int
	block  chan struct{}
}

type (
	pause struct{} // waits until the test lets go
	burst struct{} // panics
	ping  struct{}
)

func (pause) Cost() int { return 0 }
func (burst) Cost() int { return 0 }
func (ping) Cost() int  { return 0 }

func (p *probe) family() actors.Family {
	return actors.Family{
		Name: "probe",
		Owns: func(local string) bool { return strings.HasPrefix(local, "probe:") },
		Open: func(context.Context, actors.Env) (actors.Actor, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.opened++
			return p, nil
		},
	}
}

func (p *probe) Receive(t *actors.Turn, cmd ubl.Command) {
	switch cmd.(type) {
	case pause:
		<-p.block
	case burst:
		panic("burst")
	}
	t.Reply("pong")
}

const probeName = ubl.Name("t:example.com|probe:1")

// TestPanic: the caller gets an error, and the actor is loaded anew.
func TestPanic(t *testing.T) {
	p := &probe{}
	h := harness.Open(t, harness.Options{Families: []actors.Family{p.family()}})
	harness.Must[string](h, probeName, ping{})
	h.Refused(ubl.CodeInternal, probeName, burst{})
	harness.Must[string](h, probeName, ping{})
	if p.opened != 2 {
		t.Errorf("opened %d times, want 2", p.opened)
	}
}

// TestOverload: a full mailbox refuses, and works again once it has drained.
func TestOverload(t *testing.T) {
	p := &probe{block: make(chan struct{})}
	h := harness.Open(t, harness.Options{Families: []actors.Family{p.family()}, Limits: actors.Limits{MaxWaiting: 10}})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { _, _ = h.Ask(context.Background(), probeName, pause{}) })
	}
	poll.Until(t, "the mailbox is full", func() bool { return h.Stats().Waiting == 10 })
	h.Refused(ubl.CodeOverloaded, probeName, ping{})
	close(p.block)
	wg.Wait()
	harness.Must[string](h, probeName, ping{})
}

// TestWriteCredits: a tenant with too much on its way to the disk is refused
// before a room_seq is taken, and the refusal leaves no gap.
func TestWriteCredits(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{GroupWrites: 3})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.close()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, _ = h.Ask(context.Background(), name, ubl.SendMessage{Request: h.Request(ana), Text: "hello"})
		})
	}
	poll.Until(t, "three writes are held", func() bool { return v.holds() == 3 })
	h.Refused(ubl.CodeOverloaded, name, ubl.SendMessage{Request: h.Request(ana), Text: "one too many"})
	v.open()
	wg.Wait()
	sent := harness.Must[*ubl.Sent](h, name, ubl.SendMessage{Request: h.Request(ana), Text: "now"})
	if sent.RoomSeq != 5 {
		t.Errorf("room_seq %d, want 5", sent.RoomSeq)
	}
}

// TestPassivationRace: actors come and go while everybody writes; nothing is
// lost, doubled or out of order.
func TestPassivationRace(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	stop := make(chan struct{})
	var churn, writers sync.WaitGroup
	churn.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				h.Passivate(-1)
			}
		}
	})
	const each = 50
	for w := range 8 {
		writers.Go(func() {
			for i := range each {
				c := ubl.SendMessage{Request: h.Request(ana), Text: fmt.Sprintf("%d/%d", w, i)}
				if _, err := h.Ask(context.Background(), name, c); err != nil {
					t.Errorf("send: %v", err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	churn.Wait()
	if head := harness.Must[ubl.Head](h, name, ubl.RoomHead{}); head.LastSeq != 8*each+1 {
		t.Errorf("%d messages, want %d", head.LastSeq, 8*each+1)
	}
	h.Reload()
}

// TestUnknownNamesLeaveNothing: names that lead nowhere don't stay in memory.
func TestUnknownNamesLeaveNothing(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	before := h.Stats().Active
	const names = 100 // of each kind: more than what ana's entry wakes a little later, and stays
	for i := range names {
		h.Refused(ubl.CodeNotFound, ubl.RoomName(ana.TenantID, ubl.RoomID(fmt.Sprint("r:none", i))), ubl.RoomHead{})
		h.Refused(ubl.CodeUnauthorized, ubl.TenantName(ubl.TenantID(fmt.Sprint("t:none", i))), ubl.CheckServiceToken{})
	}
	poll.Until(t, "they are gone", func() bool { return h.Stats().Active < before+names/2 })
}

// TestCloseDrains: what was accepted before Close is answered and durable.
func TestCloseDrains(t *testing.T) {
	defer leaks.None(t, goleak.IgnoreCurrent())
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	rt := h.Runtime
	var acked, started sync.WaitGroup
	var mu sync.Mutex
	texts := make(map[int64]bool)
	for range 16 {
		started.Add(1)
		acked.Go(func() {
			for i := 0; ; i++ {
				answer, err := rt.Ask(context.Background(), name, ubl.SendMessage{Request: h.Request(ana), Text: "hello"})
				if i == 0 {
					started.Done()
				}
				if err != nil {
					return
				}
				mu.Lock()
				texts[answer.(*ubl.Sent).RoomSeq] = true
				mu.Unlock()
			}
		})
	}
	started.Wait()
	h.Restart()
	acked.Wait()
	head := harness.Must[ubl.Head](h, name, ubl.RoomHead{})
	if want := int64(len(texts) + 1); head.LastSeq != want {
		t.Errorf("%d messages are stored, want the %d that were acknowledged", head.LastSeq, want)
	}
	h.Close()
}

// TestGateQueue: reads that wait for a stalled commit are bounded too.
func TestGateQueue(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{MaxGated: 100})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.close()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = h.Ask(ctx, general, ubl.SendMessage{Request: h.Request(ana), Text: "x"}) })
	poll.Until(t, "held", func() bool { return v.holds() == 1 })
	var refused, pending atomic.Int64
	for range 1000 {
		pending.Add(1)
		wg.Go(func() {
			defer pending.Add(-1)
			if _, err := h.Ask(ctx, general, ubl.RoomHead{}); ubl.CodeOf(err) == ubl.CodeOverloaded {
				refused.Add(1)
			}
		})
		for h.Stats().Waiting > 0 {
			runtime.Gosched()
		}
	}
	poll.Until(t, "the rest is refused", func() bool { return refused.Load() >= 1000-100 })
	if pending.Load() > 100 {
		t.Errorf("%d reads wait at the gate of one actor, want at most 100", pending.Load())
	}
	cancel()
	v.open()
	wg.Wait()
}

// TestEnterCredits: newcomers need write credits, members who only read don't.
func TestEnterCredits(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{GroupWrites: 3})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	h.Reload()
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	h.Enter(ana)
	v.close()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer v.open()
	for range 3 {
		wg.Go(func() {
			_, _ = h.Ask(context.Background(), general, ubl.SendMessage{Request: h.Request(ana), Text: "x"})
		})
	}
	poll.Until(t, "three held", func() bool { return v.holds() == 3 })
	wg.Go(func() { // it waits at the gate, and is answered
		if _, err := h.Ask(context.Background(), ubl.TenantName(ana.TenantID), ubl.Enter{Request: h.Request(bob)}); err != nil {
			t.Errorf("a GET of a member who only wants to read: %v", err)
		}
	})
	for i := range 50 {
		wg.Go(func() {
			_, _ = h.Ask(context.Background(), ubl.TenantName(ana.TenantID), ubl.Enter{Request: h.Request(harness.User(fmt.Sprint("n", i, "@example.com")))})
		})
	}
	poll.Until(t, "all are decided", func() bool { return h.Stats().Waiting == 0 })
	if n := v.holds(); n > 3 {
		t.Errorf("%d commits under way, 3 are allowed", n)
	}
}

// TestReadsGoOn: while every write fails, reads are answered.
func TestReadsGoOn(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.setFault(func(_ *ubl.Batch, settled func(error)) bool {
		go settled(ubl.Errorf(ubl.CodeUnavailable, "no space"))
		return true
	})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = h.Ask(context.Background(), general, ubl.SendMessage{Request: h.Request(ana), Text: "x"})
					time.Sleep(time.Millisecond) // a client that minds Retry-After waits a thousand times longer
				}
			}
		})
	}
	for i := range 500 {
		if _, err := h.Ask(context.Background(), general, ubl.ReadHistory{Who: ana, Limit: 1}); err != nil {
			t.Errorf("read %d of 500 failed while the disk was full: %v", i, err)
		}
	}
	close(stop)
	wg.Wait()
}

// TestGuessesLeaveNothing: guesses of client ids, which need no credential,
// leave no actor in memory and no lease in the store.
func TestGuessesLeaveNothing(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	for i := range 1000 {
		h.Refused(ubl.CodeUnauthorized, ubl.TenantName(ubl.TenantID(fmt.Sprint("t:guess", i))), ubl.CheckServiceToken{ClientID: "x"})
	}
	poll.Until(t, "all is given back", func() bool {
		leases := 0
		for _, p := range h.Engine.Stats().Partitions {
			leases += int(p.Leases)
		}
		return h.Stats().Active == 0 && leases == 0
	})
}
