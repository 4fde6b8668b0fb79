package room

import (
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// callTold is how often the room tells who is in a call, where nothing changes: for who opens the
// room meanwhile.
const callTold = 10 * time.Second

// inCall is who is in the room's call. It lives in memory alone. A room that was loaded again
// knows nobody, until browsers say that they are still there: so nothing counts as over until
// they have had the time for that.
type inCall struct {
	callID  string
	known   ubl.Time // when nobody was known to be there yet
	whole   bool     // the call was begun since the room was loaded, so nobody unknown is in it
	callers []*caller
	told    ubl.Time
}

// caller is a browser in the call, and the signals that wait for it.
type caller struct {
	ubl.Caller
	until ubl.Time
	waits []ubl.Signal
	n     int64 // of the newest that waited, before a restart, too

	sent  int      // signals
	since ubl.Time // when they began to count
}

// of begins with another call, and forgets who is gone.
func (c *inCall) of(callID string, now ubl.Time) {
	if c.callID != callID {
		*c = inCall{callID: callID, known: now, whole: c.whole && c.callID == ""}
	}
	c.callers = slices.DeleteFunc(c.callers, func(one *caller) bool { return one.until <= now })
}

// busy reports whether somebody is in a call, or may be.
func (c *inCall) busy(callID string, now ubl.Time) bool {
	c.of(callID, now)
	return len(c.callers) > 0 || !c.whole && now < c.known.Add(ubl.CallLease)
}

// until is when a call may be over at the earliest: 0 where it is.
func (c *inCall) until(callID string, now ubl.Time) ubl.Time {
	c.of(callID, now)
	var last ubl.Time
	if heard := c.known.Add(ubl.CallLease); heard > now {
		last = heard
	}
	for _, one := range c.callers {
		last = max(last, one.until)
	}
	return last
}

func (c *inCall) find(session string) *caller {
	if i := slices.IndexFunc(c.callers, func(one *caller) bool { return one.Session == session }); i >= 0 {
		return c.callers[i]
	}
	return nil
}

// be takes a browser in, or lets it go, and reports whether that changes who is there.
func (c *inCall) be(b ubl.BeInRoomCall, now ubl.Time) (changed bool, err error) {
	one := c.find(b.Session)
	switch {
	case one != nil && one.UserID != b.Who.UserID:
		return false, ubl.Errorf(ubl.CodeForbidden, "the session is another member's")
	case b.Leaves:
		c.callers = slices.DeleteFunc(c.callers, func(o *caller) bool { return o == one })
		return one != nil, nil
	case one == nil && len(c.callers) >= ubl.MaxInCall && !c.yield(b.Who.UserID):
		return false, ubl.Errorf(ubl.CodeConflict, "the call is full: %d are in it", ubl.MaxInCall)
	case one == nil:
		one, changed = &caller{Caller: ubl.Caller{Session: b.Session, UserID: b.Who.UserID}, n: b.After, since: now}, true
		c.callers = append(c.callers, one)
	}
	one.until = now.Add(ubl.CallLease)
	one.waits = slices.DeleteFunc(one.waits, func(s ubl.Signal) bool { return s.N <= b.After })
	return changed, nil
}

// yield gives up the place of somebody's browser that was heard of least lately, as one that was
// closed without a word, and reports whether there was one.
func (c *inCall) yield(who ubl.UserID) bool {
	var old *caller
	for _, one := range c.callers {
		if one.UserID == who && (old == nil || one.until < old.until) {
			old = one
		}
	}
	c.callers = slices.DeleteFunc(c.callers, func(one *caller) bool { return one == old })
	return old != nil
}

// pass has signals wait for those they are to, and reports whether there are any. Who has left
// gets none, and who doesn't take what waits gets no more.
func (c *inCall) pass(from *caller, signals []ubl.Signal, now ubl.Time) (passed bool, err error) {
	if now >= from.since.Add(ubl.SignalsIn) {
		from.sent, from.since = 0, now
	}
	if from.sent += len(signals); from.sent > ubl.SignalsFor {
		return false, ubl.Errorf(ubl.CodeRateLimited, "a browser sends %d signals in %s", ubl.SignalsFor, ubl.SignalsIn)
	}
	for _, s := range signals {
		to := c.find(s.To)
		if to == nil || to == from || len(to.waits) >= ubl.MaxSignals {
			continue
		}
		to.n++
		to.waits = append(to.waits, ubl.Signal{Data: s.Data, From: from.Session, N: to.n})
		passed = true
	}
	return passed, nil
}

// now is who is there.
func (c *inCall) now() ubl.InCall {
	in := ubl.InCall{CallID: c.callID, News: []string{}, People: []ubl.Caller{}}
	for _, one := range c.callers {
		in.People = append(in.People, one.Caller)
		if len(one.waits) > 0 {
			in.News = append(in.News, one.Session)
		}
	}
	return in
}

// beInCall takes in what a browser says about itself and to others, and answers what waits for it.
func (r *Room) beInCall(t *actors.Turn, c ubl.BeInRoomCall) {
	news, err := r.beenInCall(t, c)
	if err != nil {
		t.Fail(err)
		return
	}
	t.Reply(news)
}

func (r *Room) beenInCall(t *actors.Turn, c ubl.BeInRoomCall) (*ubl.CallNews, error) {
	if err := r.State.mayCall(c.Who); err != nil {
		return nil, err
	}
	if err := checkSignals(c); err != nil {
		return nil, err
	}
	if c.CallID == "" || r.State.Call.CallID != c.CallID {
		return nil, errCallEnded()
	}
	now, in := t.Now(), &r.inCall
	in.of(c.CallID, now)
	changed, err := in.be(c, now)
	if err != nil {
		return nil, err
	}
	me, news := in.find(c.Session), &ubl.CallNews{Signals: []ubl.Signal{}}
	if me != nil {
		passed, err := in.pass(me, c.Signals, now)
		if err != nil {
			return nil, err
		}
		changed, news.Signals = changed || passed, slices.Clone(me.waits)
	}
	news.InCall = in.now()
	if changed || now >= in.told.Add(callTold) {
		in.told = now
		t.Tell(ubl.Event{Kind: ubl.EventRoomCall, TenantID: r.tenant, RoomID: r.id, TS: now, Payload: ubl.InCallPayload(news.InCall)})
	}
	return news, nil
}

// checkSignals refuses a browser without a name, and signals that are too many or too long.
func checkSignals(c ubl.BeInRoomCall) error {
	switch {
	case !ubl.ValidCaller(c.Session):
		return ubl.Errorf(ubl.CodeValidation, "session is not 8 to 40 of A-Z, a-z, 0-9, _, . and -")
	case len(c.Signals) > ubl.MaxSignals:
		return ubl.Errorf(ubl.CodeTooLarge, "signals are more than %d", ubl.MaxSignals)
	case c.Leaves && len(c.Signals) > 0:
		return ubl.Errorf(ubl.CodeValidation, "who leaves sends no signals")
	}
	for _, s := range c.Signals {
		switch {
		case s.From != "" || s.N != 0 || s.Data == "" || !ubl.ValidCaller(s.To):
			return ubl.Errorf(ubl.CodeValidation, "a signal has data, and to is the session that it is for")
		case len(s.Data) > ubl.MaxSignal:
			return ubl.Errorf(ubl.CodeTooLarge, "a signal is longer than %d bytes", ubl.MaxSignal)
		}
	}
	return nil
}
