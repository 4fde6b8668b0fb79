package cluster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/panics"
)

// fragile stands for a node's actors: what is asked of the room "poisoned" panics
// in the asker's goroutine, as a deferred answer does.
type fragile struct {
	asked   atomic.Int64 // of the poisoned room, on all nodes
	release chan struct{}
}

const poisoned, healthy = ubl.Name("t:x|r:poisoned"), ubl.Name("t:x|r:healthy")

func (f *fragile) AskHere(ctx context.Context, to ubl.Name, _ ubl.Command) (any, bool, error) {
	if to == poisoned {
		f.asked.Add(1)
		panic("poisoned read")
	}
	select {
	case <-f.release:
		return ubl.Head{LastSeq: 7}, true, nil
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

func (f *fragile) Full(ubl.Name, ubl.Command) error { return nil }
func (f *fragile) Subscribe(ubl.Name, func(ubl.Publication), ...string) (cancel func()) {
	return func() {}
}
func (f *fragile) Led(int)                           {}
func (f *fragile) Failing() []ubl.TenantID           { return nil }
func (f *fragile) Evict(error, func(ubl.Group) bool) {}

// TestPoisonedRead: a read that panics on the leader is answered with internal,
// asked of no other node, counted and logged there; what else is under way over
// the same connection comes to its end.
func TestPoisonedRead(t *testing.T) {
	var log lockedBuffer
	caught := panics.New(slog.New(slog.NewTextHandler(&log, nil)))
	w := newWorld(t, 3, func(o *Options) { steady(o); o.Panics = caught })
	f := &fragile{release: make(chan struct{})}
	for _, n := range w.nodes {
		n.Attach(f)
	}
	leader := w.led(w.nodes[0].engine.Partition(poisoned.Group()))
	var others sync.WaitGroup
	for _, n := range w.nodes {
		others.Go(func() {
			if answer, err := n.Ask(t.Context(), healthy, ubl.RoomHead{}); err != nil || answer.(ubl.Head).LastSeq != 7 {
				t.Errorf("a question beside the poisoned one: %v, %v", answer, err)
			}
		})
	}
	for i, n := range w.nodes {
		before := f.asked.Load()
		if _, err := n.Ask(t.Context(), poisoned, ubl.RoomHead{}); ubl.CodeOf(err) != ubl.CodeInternal {
			t.Errorf("node %d (leads: %t): the poisoned read was answered %v", i, n == leader, err)
		}
		if asked := f.asked.Load() - before; asked != 1 {
			t.Errorf("node %d: it was asked %d times", i, asked)
		}
	}
	close(f.release)
	others.Wait()
	if caught.Caught() != 3 {
		t.Errorf("%d panics are counted, want 3", caught.Caught())
	}
	if !strings.Contains(log.String(), "poisoned read") || !strings.Contains(log.String(), "fragile") {
		t.Errorf("the log has no stack:\n%s", log.String())
	}
}

// TestPanicInACallBetweenNodes: its caller is told, and both nodes live.
func TestPanicInACallBetweenNodes(t *testing.T) {
	caught := panics.New(nil)
	w := newWorld(t, 2, func(o *Options) {
		o.Panics = caught
		o.Joined = func(context.Context, string, string, bool) error { return nil }
	})
	for i, n := range w.nodes {
		n.opts.Shared = func(bool) (map[string][]byte, error) { panic("no key") }
		other := w.nodes[1-i]
		_, err := call[joinReply](t.Context(), other, n.server, callJoin, &joinRequest{NodeID: "z", ServerID: "z@1", Partitions: testPartitions})
		if ubl.CodeOf(err) != ubl.CodeInternal {
			t.Errorf("node %d answered %v", i, err)
		}
	}
	if caught.Caught() == 0 {
		t.Error("no panic is counted")
	}
	w.settle()
}

// TestPanicWhileConfirming: those who wait are told.
func TestPanicWhileConfirming(t *testing.T) {
	caught := panics.New(nil)
	c := confirmer{group: &group{node: &Node{opts: Options{Panics: caught}, ctx: t.Context()}}} // without Raft
	if _, err := c.confirm(t.Context()); !errors.Is(err, panics.ErrPanic) {
		t.Errorf("it was confirmed with %v", err)
	}
}

// lockedBuffer is a log that many write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
