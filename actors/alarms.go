package actors

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/turns"
)

const (
	// looksAtOnce is how many groups are looked into at a time.
	looksAtOnce = 16
	// Where an attempt found the store or an actor unavailable or overloaded, the group
	// is looked into again after firstRetry, each next time after twice that, up to lastLook.
	lastLook = time.Minute
	// clockEvery is how long a timer runs at most: it stands still while the machine sleeps.
	clockEvery = time.Minute
	// holdLook is how often the scheduler asks whether it may go on, see [Options.Hold].
	holdLook = 5 * time.Second
)

// alarms is the scheduler: it knows for each group with alarms when to look into it
// next, and nothing of the alarms themselves. It learns of groups when the node begins
// to lead their partition, and of new times from commits. One timer runs, until the
// earliest time; while nothing is due, nothing is done.
//
// A time may be too early, where an alarm was cleared: then the look finds the next one.
// It is never too late.
type alarms struct {
	rt     *Runtime
	shelf  Shelf
	ctx    context.Context // until close
	cancel context.CancelFunc
	work   sync.WaitGroup
	wake   chan struct{} // of the loop; holds one
	loads  chan struct{} // alarmLoads
	slots  chan struct{} // alarmsAtOnce
	pace   pace          // of what is due
	since  ubl.Time      // when the runtime began

	fired, failures atomic.Int64

	mu     sync.Mutex
	groups map[ubl.Group]*waiter // guarded by mu, and so are they
	queue  waiters               // those that nobody looks into now
	busy   int                   // looks under way
	slow   map[slowOne]bool      // errands that have given their place back
	room   *turns.Turns          // for those
}

func newAlarms(rt *Runtime, shelf Shelf) *alarms {
	s := &alarms{
		rt: rt, shelf: shelf, wake: make(chan struct{}, 1), groups: make(map[ubl.Group]*waiter),
		loads: make(chan struct{}, alarmLoads), slots: make(chan struct{}, alarmsAtOnce),
		slow: make(map[slowOne]bool), room: turns.New(slowAtOnce, slowOfTenant), since: ubl.TimeOf(rt.opts.Now()),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if shelf != nil {
		rt.opts.Panics.Go(&s.work, "waiting for alarms", s.run)
	}
	return s
}

// close ends all attempts; the next leader finds again what they were about.
func (s *alarms) close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
}

// set is told of a commit that has set an alarm, or may have.
func (s *alarms) set(g ubl.Group, at ubl.Time, doubt bool) {
	if s.shelf == nil {
		return
	}
	if doubt {
		at = ubl.TimeOf(s.rt.opts.Now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.queue.next()
	w := s.at(g, at)
	w.doubt = w.doubt || doubt
	if s.queue.next() != before {
		s.rouse()
	}
}

// at has a group looked into at a time, unless it is earlier; 0 is never.
func (s *alarms) at(g ubl.Group, at ubl.Time) *waiter {
	w := s.groups[g]
	if w == nil {
		w = &waiter{group: g, place: -1}
		s.groups[g] = w
		w.at = at
		if at != 0 {
			heap.Push(&s.queue, w)
		}
		return w
	}
	if w.from != nil && at != 0 {
		w.again = sooner(w.again, at) // the look may be past it
	}
	switch {
	case at == 0:
	case w.place < 0 && w.looked():
		w.again = sooner(w.again, at)
	case w.place < 0:
		w.at = at
		heap.Push(&s.queue, w)
	case at < w.at:
		w.at = at
		heap.Fix(&s.queue, w.place)
	}
	return w
}

// drop forgets groups that are no longer this node's.
func (s *alarms) drop(in func(ubl.Group) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g, w := range s.groups {
		if in(g) {
			delete(s.groups, g)
			if w.place >= 0 {
				heap.Remove(&s.queue, w.place)
			}
		}
	}
}

func (s *alarms) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run looks into groups as their times come.
func (s *alarms) run() {
	for s.ctx.Err() == nil {
		var timer <-chan time.Time
		s.rt.opts.Panics.Do("waiting for alarms", func() {
			if pause, any := s.start(); any {
				timer = time.After(pause)
			}
		})
		select {
		case <-s.ctx.Done():
		case <-s.wake:
		case <-timer:
		}
	}
}

// start begins to look into groups whose time has come, and is how long the next one
// has to wait, if any does. Who ends a look wakes the loop.
func (s *alarms) start() (pause time.Duration, any bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 && s.rt.opts.Hold() {
		return holdLook, true
	}
	now := s.rt.opts.Now()
	for len(s.queue) > 0 && s.busy < looksAtOnce {
		if wait := s.queue[0].at.Std().Sub(now); wait > 0 {
			return min(wait, clockEvery), true
		}
		w := heap.Pop(&s.queue).(*waiter)
		s.busy++
		doubt := w.doubt
		w.doubt = false
		s.rt.opts.Panics.Go(&s.work, "firing alarms", func() { s.look(w, doubt) })
	}
	return 0, false
}

// look fires a page of what is due in a group, and has it looked into again in time. The next
// page comes behind groups whose time has come meanwhile.
func (s *alarms) look(w *waiter, doubt bool) {
	found, err := findings{}, errors.New("the look has panicked")
	s.rt.opts.Panics.Do("firing alarms", func() { found, err = s.round(w.group, w.from, doubt) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	defer s.rouse()
	if s.groups[w.group] != w {
		return // dropped meanwhile
	}
	w.missed = sooner(w.missed, found.late)
	if w.from = found.from; w.from != nil {
		w.at = ubl.TimeOf(s.rt.opts.Now())
		heap.Push(&s.queue, w)
		return
	}
	again := sooner(found.next, w.again)
	missed, late := w.missed, w.late
	w.again, w.missed, w.late = 0, 0, 0
	switch {
	case err != nil || missed != 0:
		w.late = sooner(missed, late)
		w.doubt = w.doubt || doubt && err != nil
		again = sooner(again, ubl.TimeOf(s.rt.opts.Now()).Add(min(firstRetry<<min(w.tries, 10), lastLook)))
		w.tries++
	default:
		w.failed, w.tries = found.failed, 0
	}
	if w.at = again; again != 0 {
		heap.Push(&s.queue, w)
	} else if w.failed == 0 {
		delete(s.groups, w.group)
	}
}
