package actors

import (
	"context"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"ubl"
	"ubl/offer"
	"ubl/panics"
)

// Options configure a [Runtime]. Families, Now and Random are required.
type Options struct {
	Families []Family
	Now      func() time.Time
	Random   io.Reader
	// Log defaults to discarding.
	Log *slog.Logger
	// Panics catches what panics in actors, in their answers and in listeners.
	Panics *panics.Catcher
	// Quota bounds what a tenant stores; nil for no bound.
	Quota ubl.Quota
	// Partition tells which partition a group is on, for admission; nil puts
	// all on one.
	Partition func(ubl.Group) int
	// Elsewhere reaches the actors of other groups, which may live at other nodes; nil
	// means that all live here.
	Elsewhere ubl.Asker
	// Hold reports whether no alarm is to be fired now, because the clock can't be
	// believed; nil for never. It must not block.
	Hold func() bool
	// Shelf is where alarms are found; nil for a runtime that fires none.
	Shelf  Shelf
	Limits Limits
	// Wrote is told how long each write that was let in was under way, from its place in
	// the mailbox to its commit; nil for nobody. It must not block.
	Wrote func(time.Duration)
}

// Runtime finds, loads and runs actors by name. It implements [ubl.Asker] and
// [ubl.Feed].
type Runtime struct {
	feed
	opts       Options
	acts       []offer.Act // of all families
	system     *actor.ActorSystem
	dispatcher *dispatcher

	cells  sync.Map // ubl.Name → *cell
	mu     sync.Mutex
	groups map[ubl.Group]*group // guarded by mu
	// partitions holds the window of each; guarded by mu.
	partitions map[int]*window

	replies sync.Pool // of chan answer, empty

	alarms    *alarms
	followers *followers
	sends     *sends
	replays   replays // see [Env]

	active  atomic.Int64
	refused [len(refusals)]atomic.Int64 // for load, by Refusal
	closing atomic.Bool
	stop    chan struct{}
	swept   chan struct{}
}

// New starts a runtime. Close it.
func New(opts Options) *Runtime {
	opts.Limits = opts.Limits.withDefaults()
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Hold == nil {
		opts.Hold = func() bool { return false }
	}
	if opts.Wrote == nil {
		opts.Wrote = func(time.Duration) {}
	}
	if opts.Partition == nil {
		opts.Partition = func(ubl.Group) int { return 0 }
	}
	rt := &Runtime{
		opts: opts, acts: Acts(opts.Families),
		system: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
			return slog.New(warnings{opts.Log.With("part", "protoactor").Handler()})
		})),
		dispatcher: newDispatcher(),
		groups:     make(map[ubl.Group]*group),
		partitions: make(map[int]*window),
		replays:    newReplays(),
		stop:       make(chan struct{}),
		swept:      make(chan struct{}),
	}
	rt.feed.panics = opts.Panics
	rt.followers = newFollowers(rt)
	rt.sends = newSends(rt)
	rt.alarms = newAlarms(rt, opts.Shelf)
	opts.Panics.Go(nil, "sweeping idle actors", rt.sweep)
	return rt
}

// warnings lets warnings and worse through: what protoactor does otherwise is
// no operator's business.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Stats are the runtime's figures as of now.
type Stats struct {
	Active  int64 // actors in memory
	Waiting int64 // commands in mailboxes
	Groups  int64
	Refused map[string]int64 // for load since the start, by place
}

// Stats counts.
func (rt *Runtime) Stats() Stats {
	s := Stats{Active: rt.active.Load(), Refused: make(map[string]int64, len(refusals))}
	for where, name := range refusals {
		s.Refused[name] = rt.refused[where].Load()
	}
	rt.cells.Range(func(_, v any) bool {
		c := v.(*cell)
		c.mu.Lock()
		s.Waiting += int64(c.waiting)
		c.mu.Unlock()
		return true
	})
	rt.mu.Lock()
	s.Groups = int64(len(rt.groups))
	rt.mu.Unlock()
	return s
}

// Evict stops the actors of the groups at once: what is in flight fails, with
// the outcome unknown, and so does what waits. Others may have taken over.
func (rt *Runtime) Evict(cause error, in func(ubl.Group) bool) {
	rt.mu.Lock()
	var gone []*group
	for key, g := range rt.groups {
		if in(key) {
			gone = append(gone, g)
		}
	}
	rt.mu.Unlock()
	for _, g := range gone {
		g.end(cause)
	}
	rt.alarms.drop(in)
	rt.followers.drop(in)
	rt.sends.drop(in)
}

// cell is the active cell of the name.
func (rt *Runtime) cell(name ubl.Name) (*cell, error) {
	if v, ok := rt.cells.Load(name); ok {
		return v.(*cell), nil
	}
	family := rt.family(name)
	if family == nil {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such actor")
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if v, ok := rt.cells.Load(name); ok {
		return v.(*cell), nil
	}
	key := name.Group()
	g := rt.groups[key]
	if g == nil {
		g = rt.newGroup(key)
		rt.groups[key] = g
	}
	c := newCell(rt, g, name, family)
	g.cells[c] = struct{}{}
	if c.isLedger() {
		g.ledger.Store(c)
	}
	rt.cells.Store(name, c)
	rt.active.Add(1)
	return c, nil
}

// lettersOf is who answers for the dead letters of a name: its actor, or, where no family has
// the name any more, the Tenant, who can give them up and can't have them tried.
func (rt *Runtime) lettersOf(name ubl.Name, cmd ubl.Command) (ubl.Name, error) {
	if rt.family(name) != nil {
		return name, nil
	}
	switch cmd.(type) {
	case ubl.Redrive:
		return name, ubl.Errorf(ubl.CodeConflict, "this version of the program has no %q, so nothing can try it again: discard the dead letter, or redrive it with a version that has it", name.Local())
	case ubl.Discard:
		return ubl.TenantName(name.Group().Tenant), nil
	}
	return name, nil
}

func (rt *Runtime) family(name ubl.Name) *Family {
	local := name.Local()
	for i := range rt.opts.Families {
		if rt.opts.Families[i].Owns(local) {
			return &rt.opts.Families[i]
		}
	}
	return nil
}

// forget takes a closed cell out, and its group with the last one.
func (rt *Runtime) forget(c *cell) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if !rt.cells.CompareAndDelete(c.name, c) {
		return // its group failed and was forgotten whole
	}
	rt.active.Add(-1)
	delete(c.group.cells, c)
	if len(c.group.cells) == 0 && rt.groups[c.group.key] == c.group {
		delete(rt.groups, c.group.key)
	}
}

// sweep lets idle cells go.
func (rt *Runtime) sweep() {
	defer close(rt.swept)
	tick := time.NewTicker(rt.opts.Limits.IdleAfter / 4)
	defer tick.Stop()
	var stopped <-chan time.Time
	for {
		select {
		case <-rt.stop:
			return
		case <-tick.C:
			before := rt.active.Load()
			rt.opts.Panics.Do("letting idle actors go", func() { rt.Passivate(rt.opts.Limits.IdleAfter) })
			if before-rt.active.Load() > manyActors {
				stopped = time.After(stopTime)
			}
		case <-stopped:
			debug.FreeOSMemory() // an idle process might not collect garbage for minutes
		}
	}
}

const (
	// manyActors leaving memory at once are worth a collection of their own.
	manyActors = 1000
	// stopTime is how long they may take to stop, which they do on goroutines of their
	// own. What little is left of each until then would keep most of their memory.
	stopTime = time.Second
)

// Passivate lets go every actor that has been idle for the duration. A
// LedgerShard stays as long as anyone else of its group is there.
func (rt *Runtime) Passivate(idle time.Duration) {
	before := rt.opts.Now().Add(-idle).UnixNano()
	for _, ledgers := range []bool{false, true} {
		rt.cells.Range(func(_, v any) bool {
			c := v.(*cell)
			if c.isLedger() == ledgers && c.lastUsed.Load() <= before {
				c.passivate()
			}
			return true
		})
	}
}

// century is longer than any clock is set back: actors that were used before that are to
// leave at a stop, too.
const century = 100 * 365 * 24 * time.Hour

// Close refuses new commands, waits until everything accepted is settled and
// answered, and stops all actors.
func (rt *Runtime) Close(ctx context.Context) error {
	rt.closing.Store(true)
	close(rt.stop)
	<-rt.swept
	rt.alarms.close()
	rt.followers.close()
	rt.sends.close()
	defer rt.dispatcher.close()
	defer rt.system.Shutdown()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for rt.active.Load() > 0 {
		rt.Passivate(-century)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
