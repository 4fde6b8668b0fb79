package actors

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
)

const (
	// followersAtOnce is how many ledgers are followed at a time.
	followersAtOnce = 4
	// followTimeout bounds one page of a ledger, and what it leads to outside.
	followTimeout = time.Minute
)

// followers are the scheduler of what follows ledgers: it knows which ledgers have acts
// that a follower hasn't had. It learns of them from commits, and when the node begins to
// lead their partition. It keeps nothing of the others.
type followers struct {
	rt     *Runtime
	kinds  []*following
	ctx    context.Context // until close
	cancel context.CancelFunc
	work   sync.WaitGroup
	slots  chan struct{} // followersAtOnce

	mu     sync.Mutex
	behind map[ledgerOf]*lagging // guarded by mu
}

// following is a family that follows, and what its actors have done since the start.
type following struct {
	*Follow
	delivered, failures atomic.Int64
}

type ledgerOf struct {
	group ubl.Group
	kind  *following
}

// lagging is a ledger that a follower is behind of.
type lagging struct {
	since   time.Time   // by the runtime's clock
	atoms   int64       // how many, when it was last looked
	upTo    int64       // where the follower was then
	timer   *time.Timer // of the next look
	looking bool
	rested  bool // since the last page, or since the first act
	again   bool // there was more during a look
	tries   int  // looks in a row that failed
}

func newFollowers(rt *Runtime) *followers {
	s := &followers{rt: rt, slots: make(chan struct{}, followersAtOnce), behind: make(map[ledgerOf]*lagging)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, f := range rt.opts.Families {
		if f.Follow != nil {
			s.kinds = append(s.kinds, &following{Follow: f.Follow})
		}
	}
	return s
}

// close ends all looks; what they were about is found again by the next node that leads.
func (s *followers) close() {
	s.mu.Lock()
	s.cancel()
	s.forget(func(ubl.Group) bool { return true })
	s.mu.Unlock()
	s.work.Wait()
}

// committed is told of acts that are durable, or may be. What closes another act may be called
// otherwise: the effect that it leaves is of any act.
func (s *followers) committed(g ubl.Group, acts []*Act) {
	for _, k := range s.kinds {
		if slices.ContainsFunc(acts, func(a *Act) bool { return a.Closes != nil || slices.Contains(k.Dids, a.Did) }) {
			s.mu.Lock()
			s.note(ledgerOf{g, k}, k.Every)
			s.mu.Unlock()
		}
	}
}

// learn has a group looked into by followers that are behind of it.
func (s *followers) learn(g ubl.Group) error {
	shelf := s.rt.opts.Shelf
	for _, k := range s.kinds {
		behind := false
		seq, err := k.cursorOf(s.ctx, shelf, g)
		if err == nil {
			err = shelf.View(s.ctx, g, func(snap ubl.Snapshot) (err error) {
				behind, err = source{follow: k.Follow}.any(snap, seq)
				return err
			})
		}
		if err != nil {
			return err
		}
		if behind {
			s.mu.Lock()
			s.note(ledgerOf{g, k}, 0)
			s.mu.Unlock()
		}
	}
	return nil
}

// note has a ledger looked into after a while, unless it will be anyway.
func (s *followers) note(l ledgerOf, after time.Duration) {
	if s.ctx.Err() != nil || s.rt.opts.Shelf == nil {
		return
	}
	b := s.behind[l]
	switch {
	case b == nil:
		b = &lagging{since: s.rt.opts.Now()}
		s.behind[l] = b
		s.lookIn(l, b, after)
	case b.looking:
		b.again = true
	}
}

func (s *followers) lookIn(l ledgerOf, b *lagging, after time.Duration) {
	b.timer = time.AfterFunc(after, func() { s.begin(l, b) })
}

// begin looks into a ledger, unless it was forgotten meanwhile.
func (s *followers) begin(l ledgerOf, b *lagging) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil && s.behind[l] == b {
		b.looking = true
		s.rt.opts.Panics.Go(&s.work, "following a ledger", func() { s.look(l, b) })
	}
}

// forget drops ledgers. Call it with mu held.
func (s *followers) forget(in func(ubl.Group) bool) {
	for l, b := range s.behind {
		if in(l.group) {
			b.timer.Stop()
			delete(s.behind, l)
		}
	}
}

// drop forgets the ledgers that are no longer this node's.
func (s *followers) drop(in func(ubl.Group) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(in)
}

// look has a follower catch up, and looks again later where it couldn't.
func (s *followers) look(l ledgerOf, b *lagging) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.ctx.Done():
		return
	}
	var rest time.Duration
	early := false // it rests before it reads
	err := s.rt.opts.Panics.Try("following a ledger", func() (err error) {
		if !b.rested && l.kind.Rest != nil {
			rest = l.kind.Rest(l.group)
			early = rest > 0
		}
		if !early {
			rest, err = s.catchUp(l, b)
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behind[l] != b {
		return // dropped meanwhile
	}
	b.looking, b.rested = false, rest > 0
	switch {
	case err != nil:
		l.kind.failures.Add(1)
		s.lookIn(l, b, min(firstRetry<<min(b.tries, 10), lastLook))
		b.tries++
	case early:
		b.again = false
		s.lookIn(l, b, rest)
	case b.again:
		b.again, b.tries, b.since = false, 0, s.rt.opts.Now()
		s.lookIn(l, b, max(rest, l.kind.Every))
	case rest > 0 && b.atoms > 0: // it holds nobody's place meanwhile
		b.tries = 0
		s.lookIn(l, b, rest)
	default:
		delete(s.behind, l)
	}
}

// catchUp has a follower take in pages of a ledger, up to its head or up to a rest.
func (s *followers) catchUp(l ledgerOf, b *lagging) (rest time.Duration, err error) {
	to := nameOf(l.group, l.kind.Local)
	for s.rt.opts.Shelf.Leads(s.rt.opts.Partition(l.group)) {
		ctx, cancel := context.WithTimeout(s.ctx, followTimeout)
		done, err := ubl.Ask[followed](ctx, s.rt, to, follow{})
		cancel()
		if err != nil {
			if !passes(err) {
				s.rt.opts.Log.Warn("a ledger couldn't be followed", "actor", to, "error", err)
			}
			s.measure(l, b)
			return 0, err
		}
		l.kind.delivered.Add(int64(done.delivered - done.failed))
		l.kind.failures.Add(int64(done.failed))
		s.mu.Lock()
		before := b.upTo
		b.upTo, b.atoms = done.upTo, max(done.head-done.upTo, 0)
		s.mu.Unlock()
		if l.kind.Rest != nil {
			rest = l.kind.Rest(l.group)
		}
		switch {
		case done.upTo >= done.head:
			return rest, nil
		case done.upTo == before: // loaded again and again, or something else is amiss: not at full speed
			return 0, ubl.Errorf(ubl.CodeUnavailable, "the follower takes nothing in")
		case rest > 0:
			return rest, nil
		}
	}
	return 0, nil
}

// measure notes how far a follower is behind that has taken nothing in.
func (s *followers) measure(l ledgerOf, b *lagging) {
	var head ubl.LedgerHead
	seq, err := l.kind.cursorOf(s.ctx, s.rt.opts.Shelf, l.group)
	if err == nil {
		err = s.rt.opts.Shelf.View(s.ctx, l.group, func(snap ubl.Snapshot) (err error) {
			head, err = snap.Head()
			return err
		})
	}
	if err != nil {
		return // the next look may tell
	}
	s.mu.Lock()
	b.atoms = max(head.Seq-seq, 0)
	s.mu.Unlock()
}

// FollowStats are figures of what follows the ledgers of the groups that run at this node.
type FollowStats struct {
	Groups    int           // whose follower is behind
	Atoms     int64         // that it is behind, when it last looked
	Late      time.Duration // of the one that has been behind for longest
	Delivered int64         // entries, since the start
	Failures  int64         // attempts that failed since the start; those of parked subjects are alarms'
}

// FollowStats counts, by the names of those that follow.
func (rt *Runtime) FollowStats() map[string]FollowStats {
	s := rt.followers
	now := rt.opts.Now()
	stats := make(map[string]FollowStats)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds {
		of := FollowStats{Delivered: k.delivered.Load(), Failures: k.failures.Load()}
		for l, b := range s.behind {
			if l.kind == k {
				of.Groups++
				of.Atoms += b.atoms
				of.Late = max(of.Late, now.Sub(b.since))
			}
		}
		stats[k.Name] = of
	}
	return stats
}
