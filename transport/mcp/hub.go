package mcp

import (
	"container/list"
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
	// interests counts what all listen to.
	interests int
	users     map[userKey]*user
	follows   map[ubl.TenantID]*follow
	// sessions are those that subscribed or ended here, oldest first in order.
	sessions map[string]*listening
	order    *list.List
}

func newHub(s *Server) *hub {
	return &hub{
		server:   s,
		closing:  make(chan struct{}),
		channels: make(map[*channel]struct{}),
		users:    make(map[userKey]*user),
		follows:  make(map[ubl.TenantID]*follow),
		sessions: make(map[string]*listening),
		order:    list.New(),
	}
}

func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listening
}

// take counts somebody who begins to listen, to so many resources, against the
// limits. The caller holds the lock, and whoever takes calls give, and then
// h.work.Done.
func (h *hub) take(who ubl.Identity, interests int) (*user, error) {
	u := h.userOf(who)
	err := h.mayTake(u, interests)
	if err != nil {
		h.forgetUser(u)
		return nil, err
	}
	h.work.Add(1)
	h.listening++
	u.channels++
	h.tally(u, interests)
	return u, nil
}

func (h *hub) mayTake(u *user, interests int) error {
	switch {
	case h.stopping():
		return ubl.Errorf(ubl.CodeUnavailable, "this node is stopping")
	case h.listening >= h.server.limits.Channels:
		return ubl.Errorf(ubl.CodeOverloaded, "this node has as many channels open as it can carry")
	case u.channels >= h.server.limits.PerUser:
		return ubl.Errorf(ubl.CodeRateLimited, "you have %d channels open; close one first", h.server.limits.PerUser)
	}
	return h.room(u, interests)
}

// give undoes take. The caller holds the lock.
func (h *hub) give(u *user, interests int) {
	h.listening--
	u.channels--
	h.tally(u, -interests)
	h.forgetUser(u)
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
func (h *hub) enter(who ubl.Identity) (exit func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u, err := h.take(who, 0)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.give(u, 0)
		h.work.Done()
	}, err
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
	var err error
	if c.user, err = h.take(who, len(c.interests)); err != nil {
		return nil, err
	}
	if id := c.visit.session.id; id != "" {
		l := h.remember(id, who)
		if l.channel != nil {
			l.channel.detach()
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
	own := len(c.interests)
	if id := c.visit.session.id; id != "" {
		own = 0 // they are the session's
		if l := h.sessions[id]; l != nil && l.channel == c {
			l.channel = nil
		}
	}
	h.give(c.user, own)
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
	h.server.opts.Panics.Go(nil, "waiting for channels to end", func() {
		h.work.Wait()
		close(done)
	})
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
