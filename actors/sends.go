package actors

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/turns"
)

// Attempts that are made at a time for the actors of a family, by a node and for one tenant.
const (
	sendsAtOnce = 64
	tenantSends = 8
)

// sends are the attempts of a node at what is [Outbound]. Each family has places of its own, so
// that one whose servers are slow holds up no other.
type sends struct {
	rt     *Runtime
	ctx    context.Context // until close
	cancel context.CancelFunc

	made, failed, running atomic.Int64

	mu      sync.Mutex
	places  map[string]*turns.Turns // by the name of a family
	work    sync.WaitGroup          // begun with mu held
	waiting map[outboundOf]ubl.Time
	full    map[ubl.Group]bool // those that found no place
}

// outboundOf names an outbound.
type outboundOf struct {
	of  ubl.Name
	key string
}

func newSends(rt *Runtime) *sends {
	s := &sends{
		rt: rt, places: make(map[string]*turns.Turns), waiting: make(map[outboundOf]ubl.Time), full: make(map[ubl.Group]bool),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// close ends all attempts. Whoever leads next makes others when their leases have ended.
func (s *sends) close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
}

// take takes one of a family's places for an attempt, if one is free; run or give gives it
// back. Who finds none is looked after again once there is one.
func (s *sends) take(family string, of ubl.Name) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := of.Group()
	if s.places[family] == nil {
		s.places[family] = turns.New(sendsAtOnce, tenantSends)
	}
	if !s.places[family].Try(g.Tenant) {
		s.full[g] = true
		return false
	}
	s.running.Add(1)
	return true
}

func (s *sends) give(family string, of ubl.Name) {
	s.running.Add(-1)
	s.mu.Lock()
	s.places[family].Give(of.Group().Tenant)
	full := s.full
	s.full = make(map[ubl.Group]bool)
	s.mu.Unlock()
	for g := range full {
		s.rt.alarms.set(g, ubl.TimeOf(s.rt.opts.Now()), false)
	}
}

// run makes an attempt on a goroutine of its own.
func (s *sends) run(family string, of ubl.Name, attempt func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	s.rt.opts.Panics.Go(&s.work, "doing something outside", func() {
		defer s.give(family, of)
		attempt(s.ctx)
	})
}

// count counts an attempt.
func (s *sends) count(err error) {
	s.made.Add(1)
	if err != nil {
		s.failed.Add(1)
	}
}

// wait notes what is attempted again, and since when it should have been done; forget ends
// that.
func (s *sends) wait(of ubl.Name, key string, since ubl.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[outboundOf{of, key}] = since
}

func (s *sends) forget(of ubl.Name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, outboundOf{of, key})
}

// drop forgets what others look after now.
func (s *sends) drop(in func(ubl.Group) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.waiting, func(o outboundOf, _ ubl.Time) bool { return in(o.of.Group()) })
	maps.DeleteFunc(s.full, func(g ubl.Group, _ bool) bool { return in(g) })
}

// OutboxStats are figures of what this node does outside.
type OutboxStats struct {
	Attempts int64         // since the start
	Failures int64         // of these
	Running  int64         // under way, or about to be
	Waiting  int           // for another attempt
	Late     time.Duration // of what should have been done for longest
}

// OutboxStats counts.
func (rt *Runtime) OutboxStats() OutboxStats {
	s, now := rt.sends, rt.opts.Now()
	stats := OutboxStats{Attempts: s.made.Load(), Failures: s.failed.Load(), Running: s.running.Load()}
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Waiting = len(s.waiting)
	for _, since := range s.waiting {
		stats.Late = max(stats.Late, now.Sub(since.Std()))
	}
	return stats
}
