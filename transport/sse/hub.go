package sse

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/panics"
	"ubl/transport/envelope"
)

// Options are what a Hub is made of. Asker and Feed are required.
type Options struct {
	Asker  ubl.Asker
	Feed   ubl.Feed
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: nothing is logged
	Panics *panics.Catcher  // catches what panics over one room or tenant
	Limits Limits
	// Told are the effects of which streams tell.
	Told []ubl.Told
}

// Limits bound a Hub; a zero field takes its default.
type Limits struct {
	Streams        int           // at a time; 20,000, then 503
	StreamsPerUser int           // 2,000, then 429
	RingEvents     int           // a room or tenant; 1,024
	RingBytes      int           // a room or tenant; 4 MiB
	WriteTimeout   time.Duration // for 64 KiB; 10 s
	Keepalive      time.Duration // silence before a comment; 15 s
	HeadEvery      time.Duration // between questions for the durable head; 2 s
	Recheck        time.Duration // between questions for membership; 30 s
	AskTimeout     time.Duration // of any question; 5 s
	ShutdownSpread time.Duration // over which streams end; 3 s
}

func (l Limits) withDefaults() Limits {
	def(&l.Streams, 20_000)
	def(&l.StreamsPerUser, 2_000)
	def(&l.RingEvents, 1_024)
	def(&l.RingBytes, 4<<20)
	def(&l.WriteTimeout, 10*time.Second)
	def(&l.Keepalive, 15*time.Second)
	def(&l.HeadEvery, 2*time.Second)
	def(&l.Recheck, 30*time.Second)
	def(&l.AskTimeout, 5*time.Second)
	def(&l.ShutdownSpread, 3*time.Second)
	return l
}

func def[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Hub serves the live streams of one node. Its handlers expect the caller in
// the request's context ([envelope.CallerOf]).
type Hub struct {
	asker  ubl.Asker
	feed   ubl.Feed
	now    func() time.Time
	log    *slog.Logger
	panics *panics.Catcher
	limits Limits
	told   tellings
	pace   *pace

	frames, missed, slowed atomic.Int64
	work                   sync.WaitGroup // streams and follows

	mu      sync.Mutex
	closing bool
	follows map[ubl.Name]*follow
	gates   map[ubl.TenantID]*gate
	streams map[*listener]struct{}
	perUser map[userKey]int
	ended   map[Reason]int64
}

type userKey struct {
	tenant ubl.TenantID
	user   ubl.UserID
}

// New makes a Hub. It starts nothing until someone listens.
func New(o Options) *Hub {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Hub{
		asker: o.Asker, feed: o.Feed, now: o.Now, log: o.Logger, panics: o.Panics, limits: o.Limits.withDefaults(), told: tellingsOf(o.Told), pace: defaultPace(),
		follows: make(map[ubl.Name]*follow),
		gates:   make(map[ubl.TenantID]*gate),
		streams: make(map[*listener]struct{}),
		perUser: make(map[userKey]int),
		ended:   make(map[Reason]int64),
	}
}

// Stats is what a Hub counts, for metrics.
type Stats struct {
	Streams int   // open now
	Follows int   // rooms and tenants followed now
	Frames  int64 // events written to clients
	Missed  int64 // times a durable head showed that publications were missed
	Slowed  int64 // times a stream waited for the limit of its tenant's bytes
	Ended   map[Reason]int64
}

// Stats counts as of now.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Stats{
		Streams: len(h.streams), Follows: len(h.follows),
		Frames: h.frames.Load(), Missed: h.missed.Load(), Slowed: h.slowed.Load(), Ended: maps.Clone(h.ended),
	}
}

// callerOf is the caller, whom their tenant has let in for a tool.
func callerOf(r *http.Request, tool string) (*envelope.Caller, error) {
	c := envelope.CallerOf(r.Context())
	if c == nil {
		return nil, ubl.Errorf(ubl.CodeUnauthorized, "nobody is signed in")
	}
	c.Uses(tool, "")
	_, err := c.Enter(r.Context())
	return c, err
}

// serve opens a stream and runs it to its end.
func (h *Hub) serve(w http.ResponseWriter, r *http.Request, c *envelope.Caller, from *int64, s source) {
	l := &listener{hub: h, caller: c, tool: envelope.ToolStream, presence: s, source: s, wake: make(chan struct{}, 1)}
	if err := h.admit(l); err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	var why Reason // stays empty where no stream came about
	defer func() { h.dismiss(l, why) }()
	at, err := h.open(r.Context(), l, from)
	if err == nil {
		l.out, err = newOutput(w, r, h.now, h.limits.WriteTimeout)
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	l.cursor = cursor{pos: at.pos, at: -1}
	why = l.carry(r.Context(), at.first, l.advance)
}

// carry runs an open stream to its end, and says why it ended.
func (l *listener) carry(ctx context.Context, first []byte, step stepper) Reason {
	if err := l.out.start(first); err != nil {
		return l.reason(ctx, err)
	}
	why := l.run(ctx, step)
	if why != EndedClient && why != EndedSlow {
		l.out.end()
	}
	l.hub.log.DebugContext(ctx, "stream ended", "reason", why, "request_id", envelope.RequestOf(ctx).ID)
	return why
}

// open follows the source's actor and then checks the caller, in this order:
// a membership that ends after the check is learned from the feed.
func (h *Hub) open(ctx context.Context, l *listener, from *int64) (begin, error) {
	ctx, cancel := context.WithTimeout(ctx, h.limits.AskTimeout)
	defer cancel()
	l.follow = h.acquire(l.source.topic())
	l.follow.join(l)
	select {
	case <-l.follow.ready:
	case <-ctx.Done():
		return begin{}, ctx.Err()
	}
	if l.follow.err != nil {
		return begin{}, l.follow.err
	}
	at, err := l.source.start(ctx, from)
	if err == nil && at.behind {
		_, err = l.caller.Anew(false, envelope.ToolHistory).Enter(ctx)
	}
	if err == nil && l.ended.Load() != nil {
		err = ubl.Errorf(ubl.CodeUnavailable, "the stream ended before it began")
	}
	return at, err
}

// admit lets a stream begin, which hears from then on whether it may go on.
func (h *Hub) admit(l *listener) error {
	if err := h.count(l); err != nil {
		return err
	}
	h.guard(l)
	return nil
}

// count counts a stream against the limits.
func (h *Hub) count(l *listener) error {
	user := userKey{l.caller.Identity.TenantID, l.caller.Identity.UserID}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closing:
		return ubl.Errorf(ubl.CodeUnavailable, "this node is stopping")
	case len(h.streams) >= h.limits.Streams:
		return ubl.Errorf(ubl.CodeOverloaded, "this node has as many streams open as it can carry")
	case h.perUser[user] >= h.limits.StreamsPerUser:
		return ubl.Errorf(ubl.CodeRateLimited, "you have %d streams open; close one first", h.limits.StreamsPerUser)
	}
	h.work.Add(1)
	l.gate = h.gateOf(user.tenant)
	h.streams[l] = struct{}{}
	h.perUser[user]++
	return nil
}

// dismiss undoes admit and open.
func (h *Hub) dismiss(l *listener, why Reason) {
	h.unguard(l)
	if l.follow != nil {
		l.follow.leave(l)
		h.release(l.follow)
	}
	user := userKey{l.caller.Identity.TenantID, l.caller.Identity.UserID}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, l)
	if h.perUser[user]--; h.perUser[user] == 0 {
		delete(h.perUser, user)
	}
	if why != "" {
		h.ended[why]++
	}
	h.work.Done()
}

// acquire finds or starts the follow of a topic.
func (h *Hub) acquire(t topic) *follow {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.follows[t.name()]
	if f == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f = newFollow(h, t, cancel)
		h.follows[t.name()] = f
		h.panics.Go(&h.work, "following a room or tenant", func() { f.run(ctx) })
	}
	f.refs++
	return f
}

// release ends a follow with its last listener.
func (h *Hub) release(f *follow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.refs--; f.refs > 0 {
		return
	}
	f.cancel()
	if h.follows[f.topic.name()] == f {
		delete(h.follows, f.topic.name())
	}
}

// forget makes room for another try after a follow that couldn't begin.
func (h *Hub) forget(f *follow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.follows[f.topic.name()] == f {
		delete(h.follows, f.topic.name())
	}
}
