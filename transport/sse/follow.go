package sse

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
)

// askSlots is how many listeners of one follow may page from history at a
// time, so that a thousand of them don't fill an actor's mailbox at once.
const askSlots = 16

// settleTime is what a publication may lag behind its commit before it counts
// as missed.
const settleTime = 250 * time.Millisecond

// follow is the node's one subscription to an actor. It lives while it has
// listeners.
type follow struct {
	hub    *Hub
	topic  topic
	refs   int // owned by hub.mu
	cancel context.CancelFunc
	ready  chan struct{} // closed once err is final and the ring has its base
	err    error
	dirty  chan struct{} // one slot: listeners have something to look at
	unsure chan struct{} // one slot: something may have been missed
	asks   chan struct{} // slots

	mu   sync.Mutex
	ring ring                 // guarded by mu
	seen atomic.Pointer[view] // the ring as listeners see it

	moments moments

	listenersMu sync.Mutex
	listeners   map[*listener]struct{}
}

func newFollow(h *Hub, t topic, cancel context.CancelFunc) *follow {
	f := &follow{
		hub: h, topic: t, cancel: cancel,
		ready:     make(chan struct{}),
		dirty:     make(chan struct{}, 1),
		unsure:    make(chan struct{}, 1),
		asks:      make(chan struct{}, askSlots),
		ring:      ring{maxEvents: h.limits.RingEvents, maxBytes: h.limits.RingBytes},
		listeners: make(map[*listener]struct{}),
	}
	f.seen.Store(&view{})
	return f
}

// run subscribes, learns the base, and keeps watch until ctx ends.
func (f *follow) run(ctx context.Context) {
	defer f.abandon(ctx)
	unsubscribe := f.hub.feed.Subscribe(f.topic.name(), f.sink)
	defer unsubscribe()
	head, err := f.head(ctx)
	if err != nil {
		f.err = err
		f.hub.forget(f)
		close(f.ready)
		return
	}
	f.advance(head)
	close(f.ready)
	f.hub.panics.Go(&f.hub.work, "asking for a durable head", func() { f.watch(ctx) })
	f.wakeAll(ctx)
}

// abandon ends the streams of a follow that panicked: nobody would wake them. Their
// clients come back, to another.
func (f *follow) abandon(ctx context.Context) {
	if ctx.Err() != nil || f.err != nil {
		return
	}
	f.hub.forget(f)
	f.listenersMu.Lock()
	defer f.listenersMu.Unlock()
	for l := range f.listeners {
		l.end(EndedInternal)
	}
}

// sink takes a publication. It runs on the publisher's goroutine: membership
// changes first, so that they hold before the next event is seen.
func (f *follow) sink(p ubl.Publication) {
	if p.Passing() {
		f.moments.take(p.Events, f.hub.now())
		f.touch()
		return
	}
	if p.Last == 0 {
		signal(f.unsure)
		return
	}
	for i := range p.Events {
		ev := &p.Events[i]
		if f.hub.told.own(ev.Kind) {
			f.learn(ev)
			continue
		}
		switch ev.Kind {
		case ubl.EventMemberJoined, ubl.EventMemberLeft, ubl.EventRoomCreated:
			f.learn(ev)
		}
	}
	f.change(func(r *ring) { f.topic.take(r, &p) })
	f.touch()
}

func (f *follow) learn(ev *ubl.Event) {
	f.listenersMu.Lock()
	defer f.listenersMu.Unlock()
	for l := range f.listeners {
		if l.caller.Identity.UserID == ev.UserID && !l.source.learn(ev) {
			l.end(EndedMembership)
		}
	}
}

func (f *follow) touch() { signal(f.dirty) }

// signal fills a channel of one slot.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wakeAll spares the publisher the cost of waking a thousand listeners; events
// that come while it is at it share the next round.
func (f *follow) wakeAll(ctx context.Context) {
	var round []*listener
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.dirty:
		}
		round = f.everyone(round)
		f.hub.pace.wake(ctx, round)
		clear(round) // lets go of those that end
	}
}

// everyone is the listeners as of now, in the memory of a list that is given up.
func (f *follow) everyone(into []*listener) []*listener {
	f.listenersMu.Lock()
	defer f.listenersMu.Unlock()
	return slices.AppendSeq(into[:0], maps.Keys(f.listeners))
}

// watch asks for the durable head again and again, and at once when the way to
// the actor was made anew: a leader may commit and die before it publishes.
func (f *follow) watch(ctx context.Context) {
	ticker := time.NewTicker(f.hub.limits.HeadEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-f.unsure:
		}
		f.hub.panics.Do("asking for a durable head", func() { f.look(ctx) })
	}
}

// look asks once. An actor that can't answer now is asked again.
func (f *follow) look(ctx context.Context) {
	head, err := f.head(ctx)
	if err != nil || f.knows(head) {
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(settleTime):
	}
	if !f.knows(head) {
		f.hub.missed.Add(1)
		f.advance(head)
		f.touch()
	}
}

func (f *follow) head(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, f.hub.limits.AskTimeout)
	defer cancel()
	return f.topic.head(ctx)
}

// change changes the ring, and has listeners see it.
func (f *follow) change(fn func(*ring)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(&f.ring)
	now := f.ring.view
	f.seen.Store(&now)
}

func (f *follow) knows(pos int64) bool { return f.seen.Load().last >= pos }

func (f *follow) advance(pos int64) { f.change(func(r *ring) { r.advance(pos) }) }

// read is [view.read] of what listeners see now.
func (f *follow) read(p *cursor, sees func(ubl.RoomID) bool, runs [][]byte) ([][]byte, int, bool) {
	return f.seen.Load().read(p, sees, runs, maxPiece)
}

func (f *follow) join(l *listener) {
	f.listenersMu.Lock()
	defer f.listenersMu.Unlock()
	f.listeners[l] = struct{}{}
}

func (f *follow) leave(l *listener) {
	f.listenersMu.Lock()
	defer f.listenersMu.Unlock()
	delete(f.listeners, l)
}
