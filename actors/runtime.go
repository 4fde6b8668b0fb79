package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"ubl"
	"ubl/panics"
)

// Actor is one family's implementation behind a name. The runtime calls
// Receive for one command at a time.
type Actor interface {
	// Receive decides one command. It must answer the turn exactly once and must
	// not block on the network or on other actors.
	Receive(t *Turn, cmd ubl.Command)
}

// Releaser is an Actor that holds something outside memory, which it gives back
// when it leaves for idleness.
type Releaser interface{ Release() }

// Family is a kind of actor, registered in cmd/ubl.
type Family struct {
	// Name is for logs and metrics.
	Name string
	// Owns reports whether the family answers for a [ubl.Name]'s local part.
	Owns func(local string) bool
	// Open loads the actor from what is stored, or fails with not_found.
	Open func(ctx context.Context, env Env) (Actor, error)
	// Unarmed names the actors of a group, by the local parts of their names, for which a
	// version before alarms left something to wait for ([Kind.Adopt]). It is asked when a
	// node begins to lead, in a view of the store, and must be quick; nil where there are
	// none.
	Unarmed func(ubl.Snapshot) ([]string, error)
	// Follow has an actor of the family in each group follow its ledger; nil for none.
	Follow *Follow
}

// Env is what an actor knows of the world around it.
type Env struct {
	Name   ubl.Name
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
	// Ask asks other actors. Never from inside Receive: use [Turn.Later].
	Ask ubl.Asker
	// Panics starts what the actor does beside its mailbox.
	Panics *panics.Catcher
	// Usage is what the tenant stores.
	Usage *Usage

	replays chan struct{} // has room for those that may go on at a time; nil for no bound
}

// replaysAtOnce is how many states of the past a node makes at a time. Each takes as much
// memory as its actor, and reads all of its history.
const replaysAtOnce = 4

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
	replays   chan struct{} // see [Env]

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
	if opts.Wrote == nil {
		opts.Wrote = func(time.Duration) {}
	}
	if opts.Partition == nil {
		opts.Partition = func(ubl.Group) int { return 0 }
	}
	rt := &Runtime{
		opts: opts,
		system: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
			return slog.New(warnings{opts.Log.With("part", "protoactor").Handler()})
		})),
		dispatcher: newDispatcher(),
		groups:     make(map[ubl.Group]*group),
		partitions: make(map[int]*window),
		replays:    make(chan struct{}, replaysAtOnce),
		stop:       make(chan struct{}),
		swept:      make(chan struct{}),
	}
	rt.feed.panics = opts.Panics
	rt.followers = newFollowers(rt)
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

// Ask implements [ubl.Asker].
func (rt *Runtime) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	answer, _, err := rt.AskHere(ctx, to, cmd)
	return answer, err
}

// Visit implements [ubl.Visitor].
func (rt *Runtime) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	if err := rt.Full(to, cmd); err != nil {
		return nil, nil, err
	}
	entered, err := ubl.Ask[*ubl.Entered](ctx, rt, ubl.TenantName(in.Who.TenantID), in)
	if err != nil {
		return nil, nil, err
	}
	answer, err := rt.Ask(ctx, to, cmd)
	return entered, answer, err
}

// AskHere is Ask that also tells whether a commit of the command's own stands
// behind the answer. One without it, an error included, is final only as long as
// this node is the one to decide, which in a cluster is still to be confirmed. One
// with it needs nothing more: what [Turn.Later] reads after the commit is a state
// that has it, and so one of the time of the call.
func (rt *Runtime) AskHere(ctx context.Context, to ubl.Name, cmd ubl.Command) (value any, committed bool, err error) {
	if rt.closing.Load() {
		return nil, false, ubl.Errorf(ubl.CodeUnavailable, "the server is stopping")
	}
	if _, ok := cmd.(*Append); ok { // only a turn hands one to its LedgerShard
		return nil, false, ubl.Errorf(ubl.CodeInternal, "an append was asked of an actor")
	}
	for pause := firstPause; ; pause += firstPause {
		a := rt.ask(ctx, to, cmd)
		// A read that met a failing group is asked of the one that comes after:
		// reads go on where writes can't.
		if !errors.Is(a.err, errGroupOver) || cmd.Cost() > 0 || pause > lastPause {
			return a.value, a.committed, a.err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, false, ubl.AsError(ctx.Err())
		}
	}
}

// A read that meets failing groups waits between its attempts, each time one
// firstPause longer: a hundred attempts in a second.
const (
	firstPause = 200 * time.Microsecond
	lastPause  = 100 * firstPause
)

func (rt *Runtime) ask(ctx context.Context, to ubl.Name, cmd ubl.Command) answer {
	reply, ok := rt.replies.Get().(chan answer)
	if !ok {
		reply = make(chan answer, 1)
	}
	e := &envelope{ctx: ctx, cmd: cmd, reply: reply}
	if err := rt.deliver(to, e); err != nil {
		return answer{err: err}
	}
	select {
	case a := <-reply:
		rt.replies.Put(reply) // there is one answer, so nobody else has it now
		if a.later != nil {
			rt.runLater(to, cmd, &a)
		}
		return a
	case <-ctx.Done():
		return answer{err: rt.giveUp(ctx, e)}
	}
}

// giveUp is what a caller is told whose time is over. Where nobody has begun to decide,
// nobody will, and the caller is told that.
func (rt *Runtime) giveUp(ctx context.Context, e *envelope) error {
	if !e.state.CompareAndSwap(waiting, givenUp) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ubl.AsError(ctx.Err())
	}
	rt.refused[RefusedWaiting].Add(1)
	return ubl.Errorf(ubl.CodeOverloaded, "the command waited for too long; nothing was done").Because(ctx.Err())
}

// Full refuses a write that its actor has no room for now, before anything else is asked
// for it. An actor that isn't in memory has.
func (rt *Runtime) Full(to ubl.Name, cmd ubl.Command) error {
	if cmd.Cost() == 0 {
		return nil
	}
	c, ok := rt.cells.Load(to)
	if !ok {
		return nil
	}
	return c.(*cell).group.full(rt.opts.Now())
}

// runLater runs the rest of an answer for its caller. A panic there is the
// caller's alone.
func (rt *Runtime) runLater(to ubl.Name, cmd ubl.Command, a *answer) {
	defer func() {
		if p := recover(); p != nil {
			a.value, a.err = nil, rt.panicked(p, "a deferred answer", to, cmd)
		}
	}()
	a.value, a.err = a.later()
}

// panicked notes a panic over a command, and is what its caller is told.
func (rt *Runtime) panicked(p any, work string, at ubl.Name, cmd ubl.Command) error {
	return ubl.AsError(rt.opts.Panics.Note(p, work, "actor", at, "command", fmt.Sprintf("%T", cmd)))
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
}

// deliver puts the envelope into the mailbox of the name's cell, which it
// makes if need be.
func (rt *Runtime) deliver(to ubl.Name, e *envelope) error {
	for {
		c, err := rt.cell(to)
		if err != nil {
			return err
		}
		entered, err := c.enter(e)
		if err != nil {
			return err
		}
		if entered {
			return nil
		}
		if e.ctx.Err() != nil { // the cell was closing, and so was the caller
			return ubl.AsError(e.ctx.Err())
		}
	}
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
	for {
		select {
		case <-rt.stop:
			return
		case <-tick.C:
			before := rt.active.Load()
			rt.opts.Panics.Do("letting idle actors go", func() { rt.Passivate(rt.opts.Limits.IdleAfter) })
			if before-rt.active.Load() > manyActors {
				debug.FreeOSMemory() // an idle process might not collect garbage for minutes
			}
		}
	}
}

// manyActors leaving memory at once are worth a collection of their own.
const manyActors = 1000

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
