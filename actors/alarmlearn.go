package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ubl"
)

// Shelf is where the scheduler of alarms finds them: the store of this node.
type Shelf interface {
	ubl.Reader
	// GroupsOf lists the groups of a partition that have data. Groups may come with an
	// error: those that damage doesn't hide.
	GroupsOf(ctx context.Context, partition int) ([]ubl.Group, error)
	// Leads tells whether a partition's actors run at this node.
	Leads(partition int) bool
}

// Led has the runtime look for the alarms of a partition that this node leads from now
// on. It doesn't wait.
func (rt *Runtime) Led(partition int) { rt.led(partition, false) }

// LedAlone is Led for a node that is alone and starts: of a run before it nothing can be
// under way, so that the leases which that run held ([Outbound].Lease) end.
func (rt *Runtime) LedAlone(partition int) { rt.led(partition, true) }

func (rt *Runtime) led(partition int, alone bool) {
	s := rt.alarms
	s.mu.Lock() // close waits for what begins before it
	defer s.mu.Unlock()
	if s.shelf == nil || s.ctx.Err() != nil {
		return
	}
	rt.opts.Panics.Go(&s.work, "learning of alarms", func() {
		for pause := firstRetry; s.shelf.Leads(partition) && s.learn(partition, alone) != nil; pause = min(2*pause, lastLook) {
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	})
}

// learn finds when to look into each group of a partition. It fails where that is worth
// another try.
func (s *alarms) learn(partition int, alone bool) error {
	groups, err := s.shelf.GroupsOf(s.ctx, partition)
	errs := []error{s.worthRetrying(err)}
	var wanting []want
	for _, g := range groups {
		some, err := s.learnGroup(g, alone)
		wanting = append(wanting, some...)
		errs = append(errs, s.worthRetrying(err), s.worthRetrying(s.rt.followers.learn(g)))
	}
	s.rouse()
	for _, w := range wanting { // one by one: the first start of a version may find many
		if _, err := s.rt.Ask(s.ctx, w.of, w.ask); err != nil {
			errs = append(errs, s.worthRetrying(fmt.Errorf("%s: %w", w.of, err)))
		}
	}
	return errors.Join(errs...)
}

// want is what an actor is asked by a node that begins to lead it.
type want struct {
	of  ubl.Name
	ask ubl.Command
}

// worthRetrying is the error unless it would come again at once, as damage does.
func (s *alarms) worthRetrying(err error) error {
	if err == nil || passes(err) {
		return err
	}
	s.rt.opts.Log.Error("couldn't learn of alarms", "error", err)
	return nil
}

func (s *alarms) learnGroup(g ubl.Group, alone bool) (wanting []want, err error) {
	found, err := s.read(s.ctx, g, dueKey(0), 0)
	if err != nil {
		return nil, err
	}
	s.note(g, found)
	err = s.shelf.View(s.ctx, g, func(snap ubl.Snapshot) error {
		wanting = nil
		for _, f := range s.rt.opts.Families {
			unarmed, err := named(f.Unarmed, snap)
			if err != nil {
				return err
			}
			for _, local := range unarmed {
				wanting = append(wanting, want{nameOf(g, local), adopt{}})
			}
			if !alone {
				continue
			}
			leased, err := named(f.Leased, snap)
			if err != nil {
				return err
			}
			for _, local := range leased {
				wanting = append(wanting, want{nameOf(g, local), orphaned{s.since}})
			}
		}
		return nil
	})
	return wanting, err
}

// named are the actors that a family names, none where it doesn't say.
func named(by func(ubl.Snapshot) ([]string, error), snap ubl.Snapshot) ([]string, error) {
	if by == nil {
		return nil, nil
	}
	return by(snap)
}

// note takes in what a group was found to have.
func (s *alarms) note(g ubl.Group, found findings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found.next != 0 || found.failed > 0 {
		s.at(g, found.next).failed = found.failed
	}
}
