package mcp

import (
	"context"
	"sync"
	"time"

	"ubl"
)

// hub knows the channels of this node and what sessions have subscribed to. One
// lock guards all of it, the channels' own sets included; nothing waits under it.
type hub struct {
	server *Server
	work   sync.WaitGroup // who listens
	// closing is closed, under the lock, when the server stops.
	closing chan struct{}

	mu       sync.Mutex
	channels map[*channel]struct{}
	// listening counts who does, on a channel or with the tool for that.
	listening int
	perUser   map[userKey]int
	follows   map[ubl.TenantID]*follow
	// sessions are those that subscribed or ended here, oldest first in order.
	sessions map[string]*listening
	order    []string
}

type userKey struct {
	tenant ubl.TenantID
	user   ubl.UserID
}

// listening is what a node remembers of a session.
type listening struct {
	ended   bool
	channel *channel // nil while none is open here
	// interests are by [resource.key].
	interests map[string]*interest
}

// interest is a subscription to a resource.
type interest struct {
	resource
	// checked is when the caller's right was last asked about.
	checked time.Time
}

func newHub(s *Server) *hub {
	return &hub{
		server:   s,
		closing:  make(chan struct{}),
		channels: make(map[*channel]struct{}),
		perUser:  make(map[userKey]int),
		follows:  make(map[ubl.TenantID]*follow),
		sessions: make(map[string]*listening),
	}
}

func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listening
}

// over reports whether the session was ended on this node.
func (h *hub) over(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.sessions[id]
	return l != nil && l.ended
}

// remember is what is known of a session, from now on. The oldest without a
// channel is forgotten where there are too many.
func (h *hub) remember(id string) *listening {
	if l := h.sessions[id]; l != nil {
		return l
	}
	for n := len(h.order); n > 0 && len(h.sessions) >= h.server.limits.Sessions; n-- {
		oldest := h.order[0]
		h.order = h.order[1:]
		if h.sessions[oldest].channel != nil {
			h.order = append(h.order, oldest)
			continue
		}
		delete(h.sessions, oldest)
	}
	l := &listening{interests: make(map[string]*interest)}
	h.sessions[id] = l
	h.order = append(h.order, id)
	return l
}

// forget ends a session on this node, with its channel.
func (h *hub) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.remember(id)
	l.ended, l.interests = true, nil
	if l.channel != nil {
		l.channel.end()
	}
}

// subscribe notes a session's interest; false where it has too many.
func (h *hub) subscribe(id string, in *interest) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.remember(id)
	if l.ended || l.interests[in.key()] == nil && len(l.interests) >= h.server.limits.Subscriptions {
		return false
	}
	l.interests[in.key()] = in
	if l.channel != nil {
		l.channel.follow.add(l.channel, in.key())
	}
	return true
}

// unsubscribe forgets it again.
func (h *hub) unsubscribe(id, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.sessions[id]
	if l == nil {
		return
	}
	delete(l.interests, key)
	if l.channel != nil {
		l.channel.follow.drop(l.channel, key)
	}
}

// take counts somebody who begins to listen against the limits. The caller holds
// the lock, and whoever takes calls give, and then h.work.Done.
func (h *hub) take(who ubl.Identity) error {
	user := userKey{who.TenantID, who.UserID}
	switch {
	case h.stopping():
		return ubl.Errorf(ubl.CodeUnavailable, "this node is stopping")
	case h.listening >= h.server.limits.Channels:
		return ubl.Errorf(ubl.CodeOverloaded, "this node has as many channels open as it can carry")
	case h.perUser[user] >= h.server.limits.PerUser:
		return ubl.Errorf(ubl.CodeRateLimited, "you have %d channels open; close one first", h.server.limits.PerUser)
	}
	h.work.Add(1)
	h.listening++
	h.perUser[user]++
	return nil
}

// give undoes take. The caller holds the lock.
func (h *hub) give(who ubl.Identity) {
	user := userKey{who.TenantID, who.UserID}
	h.listening--
	if h.perUser[user]--; h.perUser[user] == 0 {
		delete(h.perUser, user)
	}
}

func (h *hub) stopping() bool {
	select {
	case <-h.closing:
		return true
	default:
		return false
	}
}

// enter lets somebody listen without a channel, until they exit.
func (h *hub) enter(who ubl.Identity) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.take(who)
}

func (h *hub) exit(who ubl.Identity) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.give(who)
	h.work.Done()
}

// admit counts a channel against the limits and lets it hear of its tenant. A
// session's earlier channel ends: its client has given it up.
func (h *hub) admit(c *channel) error {
	f, err := h.join(c)
	if err != nil {
		return err
	}
	f.start() // outside the lock, which its sink takes
	return nil
}

func (h *hub) join(c *channel) (*follow, error) {
	who := c.visit.who()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.take(who); err != nil {
		return nil, err
	}
	if id := c.visit.session.id; id != "" {
		l := h.remember(id)
		if l.channel != nil {
			l.channel.end()
		}
		l.channel, c.interests = c, l.interests
	}
	h.channels[c] = struct{}{}
	f := h.follows[who.TenantID]
	if f == nil {
		f = newFollow(h, who.TenantID)
		h.follows[who.TenantID] = f
	}
	f.join(c)
	return f, nil
}

// dismiss undoes admit.
func (h *hub) dismiss(c *channel) {
	if f := h.leave(c); f != nil {
		f.stop()
	}
	h.work.Done()
}

// leave gives back the follow that nobody needs any more, nil for none.
func (h *hub) leave(c *channel) (unused *follow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.channels, c)
	h.give(c.visit.who())
	if l := h.sessions[c.visit.session.id]; l != nil && l.channel == c {
		l.channel = nil
	}
	f := c.follow
	if f.leave(c) {
		return nil
	}
	delete(h.follows, f.tenant)
	return f
}

// endPace is the most that lies between two channels' ends at shutdown.
const endPace = 5 * time.Millisecond

func (h *hub) shutdown(ctx context.Context) error {
	open := h.close()
	if len(open) > 0 {
		pace := time.NewTicker(max(min(h.server.limits.ShutdownSpread/time.Duration(len(open)), endPace), time.Microsecond))
		defer pace.Stop()
		for _, c := range open {
			c.end()
			select {
			case <-pace.C:
			case <-ctx.Done():
			}
		}
	}
	done := make(chan struct{})
	go func() {
		h.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *hub) close() []*channel {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopping() {
		close(h.closing)
	}
	open := make([]*channel, 0, len(h.channels))
	for c := range h.channels {
		open = append(open, c)
	}
	return open
}
