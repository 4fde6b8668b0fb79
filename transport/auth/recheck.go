package auth

import (
	"context"
	"time"

	"ubl"
)

// recheck asks a credential's home whether it still holds, if it is time to, and answers its
// agent's mandate. Agents are asked about each time; nobody else has one.
func (a *Authenticator) recheck(ctx context.Context, e *entry) (*ubl.Mandate, error) {
	now := ubl.TimeOf(a.now())
	if !e.claim(now) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	mandate, err := e.ask(ctx)
	switch {
	case err == nil:
		e.answered(now)
		return mandate, nil
	case refused(err):
		a.cache.drop(e)
		return nil, refusal(err)
	case e.every == 0 || now > ubl.Time(e.asked.Load()).Add(askGrace):
		e.due.Store(int64(now))
		return nil, err
	}
	e.due.Store(int64(now.Add(askSooner)))
	return nil, nil
}

// heardOf are the events that heard acts on.
var heardOf = []string{ubl.EventTokenRevoked, ubl.EventMemberLeft}

// heard drops what a ledger says was revoked, and what those had who left the tenant:
// their streams end before any later event. It is called by the feed and does
// not block.
func (a *Authenticator) heard(p ubl.Publication) {
	if p.Last == 0 {
		a.cache.doubt() // a revocation may have been missed
	}
	for i := range p.Events {
		switch ev := &p.Events[i]; {
		case ev.Kind == ubl.EventTokenRevoked:
			a.cache.revoke(ev.TenantID, ev.TokenID)
		case ev.Kind == ubl.EventMemberLeft && ev.RoomID == "":
			a.cache.depart(ev.TenantID, ev.UserID)
		}
	}
}

// askAgain asks about the credentials of long streams, which make no further
// requests: the feed may lose a revocation when a leader dies.
func (a *Authenticator) askAgain(ctx context.Context) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.panics.Do("asking about credentials", func() { a.askInUse(ctx) })
		case <-ctx.Done():
			return
		}
	}
}

func (a *Authenticator) askInUse(ctx context.Context) {
	for _, e := range a.cache.inUse() {
		_, err := a.recheck(ctx, e)
		if err != nil && !refused(err) {
			a.log.WarnContext(ctx, "couldn't ask about credentials in use", "error", err)
			return // whoever is next would wait in vain, too
		}
	}
}
