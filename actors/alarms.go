package actors

import (
	"container/heap"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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

const (
	// alarmPage is how many due alarms of a group are read at a time.
	alarmPage = 256
	// alarmsAtOnce is how many alarms are fired at a time, alarmsOfGroup how many of one
	// group: after a pause the late ones come one after the other.
	alarmsAtOnce, alarmsOfGroup = 16, 8
	// alarmTimeout bounds one attempt.
	alarmTimeout = 15 * time.Second
	// Where an attempt found the store or an actor unavailable or overloaded, the group
	// is looked into again after firstRetry, each next time after twice that, up to lastLook.
	lastLook = time.Minute
	// clockEvery is how long a timer runs at most: it stands still while the machine sleeps.
	clockEvery = time.Minute
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
	slots  chan struct{} // alarmsAtOnce

	fired, failures atomic.Int64

	mu     sync.Mutex
	groups map[ubl.Group]*waiter // guarded by mu, and so are they
	queue  waiters               // those that nobody looks into now
	busy   int                   // looks under way
}

// waiter is a group with alarms.
type waiter struct {
	group  ubl.Group
	at     ubl.Time // when to look into it
	place  int      // in the queue, -1 while it is looked into
	again  ubl.Time // when else, told during a look; 0 for never
	doubt  bool     // a commit failed, and may be durable all the same
	late   ubl.Time // since when an alarm is due that was tried in vain; 0 for none
	tries  int      // looks in a row with one
	failed int      // alarms that have failed for good
}

func newAlarms(rt *Runtime, shelf Shelf) *alarms {
	s := &alarms{
		rt: rt, shelf: shelf, wake: make(chan struct{}, 1), slots: make(chan struct{}, alarmsAtOnce),
		groups: make(map[ubl.Group]*waiter),
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

// Led has the runtime look for the alarms of a partition that this node leads from now
// on. It doesn't wait.
func (rt *Runtime) Led(partition int) {
	s := rt.alarms
	s.mu.Lock() // close waits for what begins before it
	defer s.mu.Unlock()
	if s.shelf == nil || s.ctx.Err() != nil {
		return
	}
	rt.opts.Panics.Go(&s.work, "learning of alarms", func() {
		for pause := firstRetry; s.shelf.Leads(partition) && s.learn(partition) != nil; pause = min(2*pause, lastLook) {
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
func (s *alarms) learn(partition int) error {
	groups, err := s.shelf.GroupsOf(s.ctx, partition)
	errs := []error{s.worthRetrying(err)}
	var unarmed []ubl.Name
	for _, g := range groups {
		some, err := s.learnGroup(g)
		unarmed = append(unarmed, some...)
		errs = append(errs, s.worthRetrying(err), s.worthRetrying(s.rt.followers.learn(g)))
	}
	s.rouse()
	for _, name := range unarmed { // one by one: the first start of a version may find many
		_, err := s.rt.Ask(s.ctx, name, adopt{})
		errs = append(errs, s.worthRetrying(err))
	}
	return errors.Join(errs...)
}

// worthRetrying is the error unless it would come again at once, as damage does.
func (s *alarms) worthRetrying(err error) error {
	if err == nil || passes(err) {
		return err
	}
	s.rt.opts.Log.Error("couldn't learn of alarms", "error", err)
	return nil
}

// passes tells an error after which the same attempt may succeed.
func passes(err error) bool {
	code := ubl.CodeOf(err)
	return code == ubl.CodeUnavailable || code == ubl.CodeOverloaded
}

func (s *alarms) learnGroup(g ubl.Group) (unarmed []ubl.Name, err error) {
	found, err := s.read(s.ctx, g, dueKey(0), 0)
	if err != nil {
		return nil, err
	}
	s.note(g, found)
	err = s.shelf.View(s.ctx, g, func(snap ubl.Snapshot) error {
		for _, f := range s.rt.opts.Families {
			if f.Unarmed == nil {
				continue
			}
			locals, err := f.Unarmed(snap)
			if err != nil {
				return err
			}
			for _, local := range locals {
				unarmed = append(unarmed, nameOf(g, local))
			}
		}
		return nil
	})
	return unarmed, err
}

// note takes in what a group was found to have.
func (s *alarms) note(g ubl.Group, found findings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found.next != 0 || found.failed > 0 {
		s.at(g, found.next).failed = found.failed
	}
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

// looked tells a group that is looked into from one that has only failed alarms.
func (w *waiter) looked() bool { return w.at != 0 }

// sooner is the earlier of two times, of which 0 is never.
func sooner(a, b ubl.Time) ubl.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
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
	now := s.rt.opts.Now()
	for len(s.queue) > 0 && s.busy < alarmsAtOnce {
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

// look fires what is due in a group, and has it looked into again in time.
func (s *alarms) look(w *waiter, doubt bool) {
	found, err := findings{}, errors.New("the look has panicked")
	s.rt.opts.Panics.Do("firing alarms", func() { found, err = s.round(w.group, doubt) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	defer s.rouse()
	if s.groups[w.group] != w {
		return // dropped meanwhile
	}
	again := sooner(found.next, w.again)
	late := w.late
	w.again, w.late = 0, 0
	switch {
	case err != nil || found.late != 0:
		w.late = sooner(found.late, late)
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

// findings are what a look into a group has found.
type findings struct {
	due    []due
	next   ubl.Time // when the next alarm is due; 0 for never
	late   ubl.Time // since when one is that was tried in vain; 0 for none
	failed int      // for good
}

// round fires all that is due in a group, a page after the other.
func (s *alarms) round(g ubl.Group, doubt bool) (findings, error) {
	if !s.shelf.Leads(s.rt.opts.Partition(g)) {
		return findings{}, nil // others look after it
	}
	if doubt { // a new lease waits until all commits before it are decided
		if a := s.rt.ask(s.ctx, g.Ledger(), opened{}); a.err != nil {
			return findings{}, a.err
		}
	}
	from, now := dueKey(0), ubl.TimeOf(s.rt.opts.Now())
	var late ubl.Time
	for {
		found, err := s.read(s.ctx, g, from, now)
		if err != nil {
			return findings{late: late}, err
		}
		late = sooner(late, s.fireAll(g, found.due))
		found.late = late
		if len(found.due) < alarmPage {
			return found, nil
		}
		from = append(found.due[alarmPage-1].record(), 0)
	}
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

// fireAll fires alarms side by side, and is since when the earliest is due that was
// tried in vain.
func (s *alarms) fireAll(g ubl.Group, list []due) (late ubl.Time) {
	var running sync.WaitGroup
	own, missed := make(chan struct{}, alarmsOfGroup), make([]bool, len(list))
	for i, d := range list {
		own <- struct{}{}
		s.slots <- struct{}{}
		s.rt.opts.Panics.Go(&running, "firing an alarm", func() {
			defer func() { <-s.slots; <-own }()
			missed[i] = true // where it panics
			missed[i] = !s.fire(g, d)
		})
	}
	running.Wait()
	for i, d := range list {
		if missed[i] {
			late = sooner(late, d.at)
		}
	}
	return late
}

// fire wakes one actor. It reports false where nothing came of it, so that the alarm is
// still due.
func (s *alarms) fire(g ubl.Group, d due) bool {
	ctx, cancel := context.WithTimeout(s.ctx, alarmTimeout)
	defer cancel()
	to := nameOf(g, d.local)
	woken, err := ubl.Ask[bool](ctx, s.rt, to, fire{key: d.key, due: d.at})
	if err == nil {
		if woken {
			s.fired.Add(1)
		}
		return true
	}
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

// nameOf is an actor of a group.
func nameOf(g ubl.Group, local string) ubl.Name {
	if local == "" {
		return ubl.TenantName(g.Tenant)
	}
	return ubl.Name(string(g.Tenant) + "|" + local)
}

// Failing lists the tenants of this node with alarms that have failed for good, sorted.
func (rt *Runtime) Failing() []ubl.TenantID {
	s, tenants := rt.alarms, make(map[ubl.TenantID]bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	for g, w := range s.groups {
		if w.failed > 0 {
			tenants[g.Tenant] = true
		}
	}
	return slices.Sorted(maps.Keys(tenants))
}

// AlarmStats are figures of the alarms of the groups that run at this node.
type AlarmStats struct {
	Groups   int           // that have any
	Failed   int           // alarms that are not tried any more
	Fired    int64         // since the start
	Failures int64         // attempts that failed since the start
	Late     time.Duration // of the alarm that has been due for longest
}

// AlarmStats counts.
func (rt *Runtime) AlarmStats() AlarmStats {
	s := rt.alarms
	stats := AlarmStats{Fired: s.fired.Load(), Failures: s.failures.Load()}
	now := rt.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Groups = len(s.groups)
	for _, w := range s.groups {
		stats.Failed += w.failed
		if since := sooner(w.at, w.late); since != 0 {
			stats.Late = max(stats.Late, now.Sub(since.Std()))
		}
	}
	return stats
}

// waiters is the queue, a heap by time.
type waiters []*waiter

// next is the earliest time, 0 where nobody waits.
func (q waiters) next() ubl.Time {
	if len(q) == 0 {
		return 0
	}
	return q[0].at
}

func (q waiters) Len() int           { return len(q) }
func (q waiters) Less(i, j int) bool { return q[i].at < q[j].at }
func (q waiters) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements [heap.Interface].
func (q *waiters) Push(w any) {
	w.(*waiter).place = len(*q)
	*q = append(*q, w.(*waiter))
}

// Pop implements [heap.Interface].
func (q *waiters) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	w.place = -1
	return w
}
