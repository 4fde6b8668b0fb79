package mcp

import (
	"container/list"
	"time"

	"ubl"
)

// listening is what a node remembers of a session.
type listening struct {
	id      string
	user    *user
	ended   bool
	channel *channel // nil while none is open here
	// interests are by [resource.key].
	interests map[string]*interest
	// among is its place among all sessions, own among those of its user.
	among, own *list.Element
}

// interest is a subscription to a resource.
type interest struct {
	resource
	// checked is when the caller's right was last asked about.
	checked time.Time
}

// user is what somebody has here: channels, sessions and what these listen to. It is
// known while it has any.
type user struct {
	key       userKey
	channels  int
	interests int
	sessions  *list.List // of *listening, oldest first
}

type userKey struct {
	tenant ubl.TenantID
	user   ubl.UserID
}

// userOf is the count of a user's. Whoever takes nothing of it calls forgetUser.
func (h *hub) userOf(who ubl.Identity) *user {
	key := userKey{who.TenantID, who.UserID}
	u := h.users[key]
	if u == nil {
		u = &user{key: key, sessions: list.New()}
		h.users[key] = u
	}
	return u
}

func (h *hub) forgetUser(u *user) {
	if u.channels == 0 && u.interests == 0 && u.sessions.Len() == 0 {
		delete(h.users, u.key)
	}
}

// over reports whether the session was ended on this node.
func (h *hub) over(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.sessions[id]
	return l != nil && l.ended
}

// remember is what is known of a session, from now on. Where there are too many, the
// oldest without a channel is forgotten: one of the same user, if there is any, so
// that nobody can push out all others'.
func (h *hub) remember(id string, who ubl.Identity) *listening {
	if l := h.sessions[id]; l != nil {
		return l
	}
	u := h.userOf(who)
	full := len(h.sessions) >= h.server.limits.Sessions
	if full || u.sessions.Len() >= h.server.limits.PerUser {
		if !h.forgetOldest(u.sessions) && full {
			h.forgetOldest(h.order)
		}
		u = h.userOf(who) // it may have gone with its last session
	}
	l := &listening{id: id, user: u, interests: make(map[string]*interest)}
	l.among, l.own = h.order.PushBack(l), u.sessions.PushBack(l)
	h.sessions[id] = l
	return l
}

// forgetOldest forgets the first session that has no channel; false for none.
func (h *hub) forgetOldest(sessions *list.List) bool {
	for range sessions.Len() {
		oldest := sessions.Front()
		l := oldest.Value.(*listening)
		if l.channel != nil {
			sessions.MoveToBack(oldest)
			continue
		}
		h.drop(l)
		return true
	}
	return false
}

func (h *hub) drop(l *listening) {
	delete(h.sessions, l.id)
	h.order.Remove(l.among)
	l.user.sessions.Remove(l.own)
	h.tally(l.user, -len(l.interests))
	h.forgetUser(l.user)
}

// tally adds to the interests of a user.
func (h *hub) tally(u *user, more int) {
	u.interests += more
	h.interests += more
}

// room refuses more interests than a user may have here, or all.
func (h *hub) room(u *user, more int) error {
	switch limits := &h.server.limits; {
	case more == 0:
		return nil
	case u.interests+more > limits.UserInterests:
		return ubl.Errorf(ubl.CodeRateLimited, "you have %d subscriptions here; end one first", u.interests)
	case h.interests+more > limits.Interests:
		return ubl.Errorf(ubl.CodeOverloaded, "this node has as many subscriptions as it can carry")
	}
	return nil
}

// forget ends a session on this node, with its channel.
func (h *hub) forget(id string, who ubl.Identity) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.remember(id, who)
	if l.channel != nil {
		l.channel.detach()
		l.channel.end()
	}
	h.tally(l.user, -len(l.interests))
	l.ended, l.interests = true, nil
}

// subscribe notes a session's interest.
func (h *hub) subscribe(id string, who ubl.Identity, in *interest) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, key := h.remember(id, who), in.key()
	if l.interests[key] == nil {
		if l.ended || len(l.interests) >= h.server.limits.Subscriptions {
			return tooMany(h.server.limits.Subscriptions)
		}
		if err := h.room(l.user, 1); err != nil {
			return err
		}
		h.tally(l.user, 1)
	}
	l.interests[key] = in
	if l.channel != nil {
		l.channel.follow.add(l.channel, key)
	}
	return nil
}

// unsubscribe forgets it again.
func (h *hub) unsubscribe(id, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.sessions[id]
	if l == nil {
		return
	}
	if l.channel != nil {
		h.lose(l.channel, key)
		return
	}
	if l.interests[key] != nil {
		delete(l.interests, key)
		h.tally(l.user, -1)
	}
}

// lose takes an interest from a channel, and from its session. The caller holds the
// lock.
func (h *hub) lose(c *channel, key string) {
	if c.interests[key] == nil { // the channel has been replaced
		return
	}
	delete(c.interests, key)
	c.follow.drop(c, key)
	h.tally(c.user, -1)
}

// detach leaves a channel that ends without what its session listens to: that is
// the session's, and another channel's from now on. The caller holds the lock.
func (c *channel) detach() {
	for key := range c.interests {
		c.follow.drop(c, key)
	}
	c.interests = nil
}
