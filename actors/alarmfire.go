package actors

import (
	"context"
	"errors"
	"sync"
	"time"

	"ubl"
)

const (
	// alarmPage is how many due alarms of a group are read at a time.
	alarmPage = 256
	// alarmTurn is how many alarms of a group have a turn together.
	alarmTurn = 32
	// alarmsAtOnce is how many alarms are fired at a time, and alarmsOfGroup how many of one
	// group: one group that hangs holds up no other.
	alarmsAtOnce, alarmsOfGroup = 32, 16
	// alarmLoads is how many actors are loaded for alarms at a time: those of two turns, so
	// that the same goes for loading.
	alarmLoads = 2 * alarmTurn
	// alarmTimeout bounds one attempt.
	alarmTimeout = 15 * time.Second
)

// findings are what a look into a group has found.
type findings struct {
	due    []due
	from   []byte   // where the next page begins; nil where there is none
	next   ubl.Time // when the next alarm is due; 0 for never
	late   ubl.Time // since when one is that was tried in vain; 0 for none
	failed int      // for good
}

// round fires a page of what is due in a group.
func (s *alarms) round(g ubl.Group, from []byte, doubt bool) (findings, error) {
	if !s.shelf.Leads(s.rt.opts.Partition(g)) {
		return findings{}, nil // others look after it
	}
	if doubt { // a new lease waits until all commits before it are decided
		if a := s.rt.ask(s.ctx, g.Ledger(), opened{}); a.err != nil {
			return findings{}, a.err
		}
	}
	if from == nil {
		from = dueKey(0)
	}
	found, err := s.read(s.ctx, g, from, ubl.TimeOf(s.rt.opts.Now()))
	if err != nil {
		return findings{}, err
	}
	found.late = s.fireAll(g, s.withoutSlow(g, found.due))
	if len(found.due) == alarmPage {
		found.from = append(found.due[alarmPage-1].record(), 0)
	}
	return found, nil
}

// read finds a page of what is due in a group by now, and what comes after.
func (s *alarms) read(ctx context.Context, g ubl.Group, from []byte, now ubl.Time) (f findings, err error) {
	var bad error
	err = s.shelf.View(ctx, g, func(snap ubl.Snapshot) error {
		f = findings{}
		err := snap.Ascend(from, alarmsEnd(alarmsDue), func(k, _ []byte) bool {
			var d due
			if d, bad = readDue(k); bad != nil {
				return false
			}
			if d.at > now {
				f.next = d.at
				return false
			}
			f.due = append(f.due, d)
			return len(f.due) < alarmPage
		})
		return errors.Join(err, bad, snap.Ascend([]byte{'i', alarmsFailed}, alarmsEnd(alarmsFailed), func(_, _ []byte) bool {
			f.failed++
			return true
		}))
	})
	return f, err
}

// fireAll fires a page of alarms, and is since when the earliest is due that was tried in
// vain. It goes by turns, which follow each other at the node's pace.
func (s *alarms) fireAll(g ubl.Group, list []due) (late ubl.Time) {
	missed := make([]bool, len(list))
	var running sync.WaitGroup
	own := make(chan struct{}, alarmsOfGroup)
	for from := 0; from < len(list); from += alarmTurn {
		to := min(from+alarmTurn, len(list))
		s.pace.wait(s.ctx, to-from)
		s.load(g, list[from:to])
		for i := from; i < to; i++ {
			missed[i] = true // where it panics
			s.begin(&running, "firing an alarm", func() { missed[i] = !s.fire(g, list[i]) }, own, s.slots)
		}
	}
	running.Wait()
	for i, d := range list {
		if missed[i] {
			late = sooner(late, d.at)
		}
	}
	return late
}

// load has the actors of a turn in memory, before any of its alarms fires. A read behind a
// write has the store put the write into its file first, and what people write meanwhile
// waits for that: so these read side by side, and share it. Where an actor can't be
// loaded, to fire its alarm says why.
func (s *alarms) load(g ubl.Group, list []due) {
	ctx, cancel := context.WithTimeout(s.ctx, alarmTimeout)
	defer cancel()
	var running sync.WaitGroup
	for _, d := range list {
		s.begin(&running, "loading for an alarm", func() { s.rt.ask(ctx, nameOf(g, d.local), opened{}) }, s.loads)
	}
	running.Wait()
}

// begin does something on a goroutine of its own, once all slots have a place for it.
func (s *alarms) begin(running *sync.WaitGroup, what string, do func(), slots ...chan struct{}) {
	for _, slot := range slots {
		slot <- struct{}{}
	}
	s.rt.opts.Panics.Go(running, what, func() {
		defer func() {
			for _, slot := range slots {
				<-slot
			}
		}()
		do()
	})
}

// fire wakes one actor. It reports false where nothing came of it, so that the alarm is
// still due.
func (s *alarms) fire(g ubl.Group, d due) bool {
	ctx, cancel := context.WithTimeout(s.ctx, alarmTimeout)
	defer cancel()
	to := nameOf(g, d.local)
	answer, err := s.rt.Ask(ctx, to, fire{key: d.key, due: d.at})
	if e, ok := answer.(*errand); ok && err == nil {
		return s.runErrand(g, d, e)
	}
	if err != nil {
		return s.failed(ctx, to, d, err)
	}
	if answer == true {
		s.fired.Add(1)
	}
	return true
}

// failed has an alarm put off whose attempt has failed, unless the same attempt may succeed.
// It reports false where the alarm is still due.
func (s *alarms) failed(ctx context.Context, to ubl.Name, d due, err error) bool {
	if passes(err) {
		return false
	}
	s.failures.Add(1)
	s.rt.opts.Log.Warn("an alarm failed", "actor", to, "alarm", d.key, "error", err)
	last, err := ubl.Ask[bool](ctx, s.rt, to, fired{key: d.key, due: d.at, failed: ubl.CodeOf(err)})
	if last {
		s.rt.opts.Log.Error("an alarm has failed for good; its actor isn't woken for it any more", "actor", to, "alarm", d.key)
	}
	return err == nil
}

// passes tells an error after which the same attempt may succeed.
func passes(err error) bool {
	code := ubl.CodeOf(err)
	return code == ubl.CodeUnavailable || code == ubl.CodeOverloaded
}

// nameOf is an actor of a group.
func nameOf(g ubl.Group, local string) ubl.Name {
	if local == "" {
		return ubl.TenantName(g.Tenant)
	}
	return ubl.Name(string(g.Tenant) + "|" + local)
}
