package portal

import (
	"context"
	"sync"
	"time"

	"ubl"
	"ubl/panics"
)

// downFor is how long a server that couldn't be reached isn't tried again: those
// who wait for it would only wait longer.
const downFor = 5 * time.Second

// place is where a session belongs. User is set for [ubl.AuthUser] only.
type place struct {
	tenant ubl.TenantID
	server string
	user   ubl.UserID
}

// sessions keeps what is open. A slot is never shared by two places.
type sessions struct {
	panics *panics.Catcher

	mu    sync.Mutex
	slots map[place]*slot
}

// slot is one place's session. Whoever holds the turn opens or checks it, the
// others wait.
type slot struct {
	turn

	// Owned by the holder of the turn.
	gone      bool // tidied away: another slot is in its place
	s         *session
	checked   int64 // the catalogue's number at which its access was read
	downUntil ubl.Time
	down      error
}

func newSessions(c *panics.Catcher) *sessions {
	return &sessions{slots: map[place]*slot{}, panics: c}
}

func (ss *sessions) slot(at place) *slot {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	sl, ok := ss.slots[at]
	if !ok {
		sl = &slot{turn: newTurn()}
		ss.slots[at] = sl
	}
	return sl
}

// take waits for the turn at a place; whoever gets it gives it back.
func (ss *sessions) take(ctx context.Context, at place) (*slot, error) {
	for {
		sl := ss.slot(at)
		if err := sl.turn.take(ctx); err != nil {
			return nil, err
		}
		if !sl.gone {
			return sl, nil
		}
		sl.give()
	}
}

// forget has the access at a place be read anew with the next call.
func (ss *sessions) forget(ctx context.Context, at place) {
	if sl, err := ss.take(ctx, at); err == nil {
		sl.checked, sl.downUntil = 0, 0
		sl.give()
	}
}

// placeOf is where a caller's session with a server belongs.
func placeOf(who ubl.Identity, s *ubl.Server) place {
	at := place{tenant: who.TenantID, server: s.ServerID}
	if s.Auth == ubl.AuthUser {
		at.user = who.UserID
	}
	return at
}

// use is a session for a call of the caller's: the one that is open, where its
// server is still what it was, else a new one. done gives it back.
func (p *Portal) use(ctx context.Context, who ubl.Identity, s *ubl.Server, number int64) (_ *session, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	sl, err := p.sessions.take(ctx, placeOf(who, s))
	if err != nil {
		return nil, nil, explain(err, nil)
	}
	defer sl.give()
	if err := p.ready(ctx, who, s.ServerID, sl, number); err != nil {
		return nil, nil, err
	}
	if done, err = sl.s.begin(); err != nil {
		return nil, nil, err
	}
	sl.s.usedAt.Store(int64(ubl.TimeOf(p.now())))
	return sl.s, done, nil
}

// ready sees to it that the slot has a session that can be used. Its turn is held.
func (p *Portal) ready(ctx context.Context, who ubl.Identity, serverID string, sl *slot, number int64) error {
	if sl.s != nil && !sl.s.stale() && sl.checked == number {
		return nil
	}
	if sl.checked == number && ubl.TimeOf(p.now()) < sl.downUntil {
		return sl.down
	}
	if s := sl.s; s != nil && sl.checked == number {
		now := ubl.TimeOf(p.now())
		if until, why := s.rests(now); now < until {
			p.retire(sl)
			sl.down, sl.downUntil = why, until
			return why
		}
	}
	access, err := p.openServer(ctx, who, serverID)
	if err != nil {
		return err
	}
	if sl.s != nil && !sl.s.stale() && sl.s.fits(access) {
		sl.checked = number
		return nil
	}
	p.retire(sl)
	s, err := p.open(ctx, who, access, func() { p.syncSoon(who, &access.Server) }, nil)
	if err != nil {
		sl.checked, sl.down, sl.downUntil = number, err, p.downUntil(err)
		return err
	}
	sl.s, sl.checked, sl.downUntil = s, number, 0
	return nil
}

// downUntil is when a failure is over at the soonest. A missing grant isn't one:
// the user may be back with it at once.
func (p *Portal) downUntil(err error) ubl.Time {
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		return 0
	}
	return ubl.TimeOf(p.now()).Add(downFor)
}

// fits reports whether the session may go on under access that was read later. A
// grant that it has renewed by itself is its own.
func (s *session) fits(now *ubl.ServerAccess) bool {
	was, grant := s.access, s.access.Grant
	if c, ok := s.guard.cred.(*userCredential); ok {
		grant = *c.sealed.Load()
	}
	return was.Server.URL == now.Server.URL && was.Server.DocumentURL == now.Server.DocumentURL && was.Server.Auth == now.Server.Auth && was.Server.Header == now.Server.Header &&
		string(was.Secret) == string(now.Secret) && string(grant) == string(now.Grant)
}

// retire lets go of the slot's session; its calls under way end first.
func (p *Portal) retire(sl *slot) {
	s := sl.s
	if s == nil {
		return
	}
	sl.s = nil
	if !p.spawn(func() {
		s.drain(p.callTimeout)
		s.close()
	}) {
		s.close()
	}
}

// tidy lets go of sessions that nobody has used for a while or that lost their
// stream of notifications, and of slots without one.
func (p *Portal) tidy() {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	now := ubl.TimeOf(p.now())
	for at, sl := range p.sessions.slots {
		if !sl.try() { // in use
			continue
		}
		if s := sl.s; s != nil && (s.stale() || len(s.calls) == 0 && ubl.Time(s.usedAt.Load()).Add(idleAfter) < now) {
			p.retire(sl)
		}
		if sl.s == nil && sl.downUntil < now {
			sl.gone = true
			delete(p.sessions.slots, at)
		}
		sl.give()
	}
}

// openServer reads what is needed to connect.
func (p *Portal) openServer(ctx context.Context, who ubl.Identity, serverID string) (*ubl.ServerAccess, error) {
	return ubl.Ask[*ubl.ServerAccess](ctx, p.asker, ubl.PortalName(who.TenantID), ubl.OpenServer{Who: who, ServerID: serverID})
}

// end says good-bye to all servers whose slots nobody holds; the others' sessions
// end with the portal's context.
func (ss *sessions) end() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	var closing sync.WaitGroup
	for at, sl := range ss.slots {
		if !sl.try() {
			continue
		}
		sl.gone = true
		delete(ss.slots, at)
		if s := sl.s; s != nil {
			sl.s = nil
			ss.panics.Go(&closing, "closing a session", s.close)
		}
		sl.give()
	}
	closing.Wait()
}
