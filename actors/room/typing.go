package room

import (
	"time"

	"ubl"
	"ubl/actors"
)

// A room tells of maxTyping people at a time, and of each at most every typingEvery.
const (
	maxTyping   = 20
	typingEvery = time.Second
)

// typing is who is writing, and when that was told last. It lives in memory alone, so a room
// that was loaded again begins with nobody.
type typing map[ubl.UserID]ubl.Time

// setTyping tells the room's listeners that a member is writing, or has stopped.
func (r *Room) setTyping(t *actors.Turn, c ubl.SetTyping) {
	if err := r.State.mayType(c.Who); err != nil {
		t.Fail(err)
		return
	}
	now, user := t.Now(), c.Who.UserID
	if !c.Typing {
		r.stopTyping(t, user)
		t.Reply(&ubl.Typing{UserID: user, Until: now})
		return
	}
	t.Reply(&ubl.Typing{UserID: user, Until: now.Add(ubl.TypingFor)})
	if r.typing.told(user, now) {
		r.tellTyping(t, user, now.Add(ubl.TypingFor))
	}
}

// told notes that somebody is writing, and reports whether that is to be told.
func (y typing) told(user ubl.UserID, now ubl.Time) bool {
	for other, at := range y {
		if at.Add(ubl.TypingFor) <= now {
			delete(y, other)
		}
	}
	at, known := y[user]
	if known && now < at.Add(typingEvery) || !known && len(y) >= maxTyping {
		return false
	}
	y[user] = now
	return true
}

// stopTyping tells that somebody has stopped, where it was told that they are writing.
func (r *Room) stopTyping(t *actors.Turn, user ubl.UserID) {
	if _, known := r.typing[user]; known {
		delete(r.typing, user)
		r.tellTyping(t, user, t.Now())
	}
}

func (r *Room) tellTyping(t *actors.Turn, user ubl.UserID, until ubl.Time) {
	t.Tell(ubl.Event{
		Kind: ubl.EventRoomTyping, TenantID: r.tenant, RoomID: r.id, TS: t.Now(), UserID: user,
		Payload: ubl.TypingPayload(ubl.Typing{UserID: user, Until: until}),
	})
}

// mayType refuses who couldn't send what they are writing. In a room for threads nobody knows
// yet where it will stand.
func (s *State) mayType(who ubl.Identity) error {
	m, err := s.member(who)
	if err == nil {
		err = s.Agreement.May(ubl.OpWrite)
	}
	if err == nil {
		err = s.Policy.MayPost(m.Role, true)
	}
	return err
}
