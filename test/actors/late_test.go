package actors_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
	"ubl/test/poll"
)

// runsOut is a context whose deadline passes when the test says.
type runsOut struct {
	context.Context
	over chan struct{}
}

func newRunsOut() *runsOut { return &runsOut{context.Background(), make(chan struct{})} }

func (r *runsOut) Done() <-chan struct{} { return r.over }

func (r *runsOut) Err() error {
	select {
	case <-r.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// write is a command of the probe's that counts as a write.
type write struct{ name string }

func (write) Cost() int { return 1 }

// noted is the probe, noting which writes it decides.
type noted struct {
	probe
	decided []string // owned by the mailbox
}

func (n *noted) Receive(t *actors.Turn, cmd ubl.Command) {
	if w, ok := cmd.(write); ok {
		n.decided = append(n.decided, w.name)
		t.Reply(strings.Join(n.decided, " "))
		return
	}
	n.probe.Receive(t, cmd)
}

func openNoted(t *testing.T, n *noted) *harness.House {
	n.block = make(chan struct{})
	family := n.family()
	family.Open = func(context.Context, actors.Env) (actors.Actor, error) { return n, nil }
	return harness.Open(t, harness.Options{Families: []actors.Family{family}})
}

// TestDeadlineBeforeTheDecision: a caller whose time is over before anybody has begun to
// decide hears that nothing was done, and nothing is done afterwards.
func TestDeadlineBeforeTheDecision(t *testing.T) {
	n := &noted{}
	h := openNoted(t, n)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = h.Ask(context.Background(), probeName, pause{}) })
	poll.Until(t, "the actor is busy", func() bool { return h.Stats().Waiting == 1 })
	ctx := newRunsOut()
	refused := make(chan error, 1)
	wg.Go(func() {
		_, err := h.Ask(ctx, probeName, write{"late"})
		refused <- err
	})
	poll.Until(t, "the write waits", func() bool { return h.Stats().Waiting == 2 })
	close(ctx.over)
	if err := <-refused; ubl.CodeOf(err) != ubl.CodeOverloaded {
		t.Errorf("the caller hears %v, want overloaded: nothing was done", err)
	}
	close(n.block)
	wg.Wait()
	if got := harness.Must[string](h, probeName, write{"next"}); got != "next" {
		t.Errorf("decided were %q: one of them after its caller was told that nothing was done", got)
	}
	if n := h.Stats().Refused["waiting"]; n != 1 {
		t.Errorf("%d refusals are counted, want 1", n)
	}
}

// TestDeadlineAfterTheDecision: once a write is decided, a caller whose time is over hears
// that the outcome is unknown; the same key tells it.
func TestDeadlineAfterTheDecision(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.close()
	ctx := newRunsOut()
	send := ubl.SendMessage{Request: h.Request(ana), Text: "decided"}
	answer := make(chan error, 1)
	go func() {
		_, err := h.Ask(ctx, name, send)
		answer <- err
	}()
	poll.Until(t, "the write is held", func() bool { return v.holds() == 1 })
	close(ctx.over)
	if err := <-answer; ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("the caller hears %v, want unavailable: the write may be taken", err)
	}
	v.open()
	first := harness.Must[*ubl.Sent](h, name, send)
	next := harness.Must[*ubl.Sent](h, name, ubl.SendMessage{Request: h.Request(ana), Text: "next"})
	if next.RoomSeq != first.RoomSeq+1 {
		t.Errorf("the next message is %d after %d", next.RoomSeq, first.RoomSeq)
	}
}

// TestLateWritesAreRefused: while a tenant's writes are late, one that has waited for long
// is refused before it is decided, with when to come back; on another day it is not.
func TestLateWritesAreRefused(t *testing.T) {
	for _, late := range []bool{true, false} {
		n := &noted{}
		h := openNoted(t, n)
		harness.Must[string](h, probeName, write{"loads the actor"})
		var wg sync.WaitGroup
		// A command counts until a moment after its answer.
		waiting := func(n int64) { poll.Until(t, "so many commands wait", func() bool { return h.Stats().Waiting == n }) }
		ask := func(cmd ubl.Command) <-chan error {
			out := make(chan error, 1)
			wg.Go(func() {
				_, err := h.Ask(context.Background(), probeName, cmd)
				out <- err
			})
			return out
		}
		waiting(0)
		ask(pause{})
		waiting(1)
		ask(write{"makes the window look, when it ends"})
		waiting(2)
		if late {
			h.Clock.Add(time.Second)
		}
		n.block <- struct{}{}
		wg.Wait()
		waiting(0)
		ask(pause{})
		waiting(1)
		waited := ask(write{"waits"})
		waiting(2)
		h.Clock.Add(time.Second)
		n.block <- struct{}{}
		want := ubl.Code("")
		if late {
			want = ubl.CodeOverloaded
		}
		err := <-waited
		if ubl.CodeOf(err) != want || late && ubl.AsError(err).RetryAfter() < 1 {
			t.Errorf("late %t: answered %v", late, err)
		}
		wg.Wait()
	}
}
