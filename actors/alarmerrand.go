package actors

import (
	"context"
	"errors"
	"time"

	"ubl"
)

const (
	// errandTurn is how long an errand keeps its place among those that are fired. One that
	// takes longer goes on without: what is due behind it doesn't wait for whom it waits for.
	errandTurn = 200 * time.Millisecond
	// slowAtOnce is how many errands go on so, and slowOfTenant how many of one tenant.
	// Any more keep their places.
	slowAtOnce, slowOfTenant = 256, 64
	// errandTimeout bounds one errand.
	errandTimeout = time.Minute
)

// Again is what an errand returns that is to be run again at a time. That is no failure,
// however often.
func Again(at ubl.Time) error { return again(at) }

type again ubl.Time

func (a again) Error() string { return "it is to be run again at " + ubl.Time(a).String() }

// errand is what an alarm leads to, for the scheduler to run.
type errand struct {
	run     func(context.Context) error
	setting uint64 // of the alarm
}

// fired ends an attempt that made no decision: it clears the alarm, sets it again, or puts it
// off where it has failed. Answers whether it was the last one.
type fired struct {
	key     string
	due     ubl.Time
	setting uint64   // of an errand's
	again   ubl.Time // when the errand is to be run again; 0 for never
	failed  ubl.Code // "" where it hasn't
}

// Cost is one act.
func (fired) Cost() int { return ubl.ActCost }

// errand answers what to run.
func (x *Entity[S, E]) errand(t *Turn, c fire, as armed, req ubl.Request) {
	run := x.hooks.Errand(c.key, req)
	if run == nil {
		x.setUnreceipted(t, c.key, nil)
		t.Reply(true)
		return
	}
	t.Later(func() (any, error) { return &errand{run, as.setting}, nil })
}

// fired does so where nothing on the way has cleared or moved the alarm.
func (x *Entity[S, E]) fired(t *Turn, c fired) {
	as, ok := x.armed(c.key, c.due)
	switch {
	case c.failed == "" && x.alarms[c.key].setting == c.setting && c.again > 0:
		x.setUnreceipted(t, c.key, &armed{Due: c.again, For: c.again, Wait: max(c.again-t.Now(), atOnce)})
	case c.failed == "" && x.alarms[c.key].setting == c.setting:
		x.setUnreceipted(t, c.key, nil)
	case ok && c.failed != "":
		t.Reply(x.putOff(t, c.key, as, c.failed))
		return
	case ok: // it was set again, or the actor has left memory meanwhile, which nothing tells apart
		t.Fail(ubl.Errorf(ubl.CodeUnavailable, "the alarm isn't the one whose errand was run: it is run again"))
		return
	}
	t.Reply(false)
}

// slowOne is an errand that has given its place back.
type slowOne struct {
	group ubl.Group
	due   due
}

// runErrand runs it, and returns when it has ended or has given its place back. It reports
// false where nothing came of it.
func (s *alarms) runErrand(g ubl.Group, d due, e *errand) bool {
	begun, done := time.Now(), make(chan bool, 1)
	s.rt.opts.Panics.Go(&s.work, "running an errand", func() {
		ok := false
		defer func() { done <- ok }()
		ok = s.endErrand(nameOf(g, d.local), d, e, s.tryErrand(e))
	})
	turn := time.NewTimer(errandTurn)
	defer turn.Stop()
	select {
	case ok := <-done:
		return ok
	case <-turn.C:
	}
	if !s.goOn(slowOne{g, d}) {
		return <-done
	}
	s.rt.opts.Panics.Go(&s.work, "waiting for an errand", func() {
		ok := <-done
		s.ended(slowOne{g, d}, ok, time.Since(begun))
	})
	return true
}

func (s *alarms) tryErrand(e *errand) error {
	ctx, cancel := context.WithTimeout(s.ctx, errandTimeout)
	defer cancel()
	return s.rt.opts.Panics.Try("running an errand", func() error { return e.run(ctx) })
}

// endErrand tells the actor what came of its errand. It reports false where the alarm is
// still due.
func (s *alarms) endErrand(to ubl.Name, d due, e *errand, err error) bool {
	ctx, cancel := context.WithTimeout(s.ctx, alarmTimeout)
	defer cancel()
	var at again
	if errors.As(err, &at) {
		err = nil
	}
	if err == nil {
		_, err = s.rt.Ask(ctx, to, fired{key: d.key, due: d.at, setting: e.setting, again: ubl.Time(at)})
	}
	if err != nil {
		return s.failed(ctx, to, d, err)
	}
	s.fired.Add(1)
	return true
}

// goOn has an errand go on without a place, if there is room for it. Its alarm is not fired
// again meanwhile.
func (s *alarms) goOn(one slowOne) bool {
	if !s.room.Try(one.group.Tenant) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow[one] = true
	return true
}

// ended has the alarm fired again where nothing came of its errand, after as long as that
// took: who is slow to say that they aren't there is asked less often.
func (s *alarms) ended(one slowOne, ok bool, took time.Duration) {
	s.room.Give(one.group.Tenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.slow, one)
	if !ok {
		s.at(one.group, ubl.TimeOf(s.rt.opts.Now()).Add(min(max(took, firstRetry), lastLook)))
		s.rouse()
	}
}

// withoutSlow are those that nobody runs an errand for by now.
func (s *alarms) withoutSlow(g ubl.Group, list []due) []due {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slow) == 0 {
		return list
	}
	var rest []due
	for _, d := range list {
		if !s.slow[slowOne{g, d}] {
			rest = append(rest, d)
		}
	}
	return rest
}
