package actors

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"ubl"
)

// envelope is a command on its way, with where to answer.
type envelope struct {
	ctx   context.Context
	cmd   ubl.Command
	reply chan answer // buffered, so that answering never blocks
	cost  int         // bytes of a write that was let in, until the turn's commit settles
	since time.Time   // when it was let in
	turn  Turn        // from when it is received
	state atomic.Int32
}

// The states of an envelope: a command is decided, or its caller gives up before that,
// and never both.
const (
	waiting = iota
	received
	givenUp
)

// answer is what a turn was answered with; later is run by the asker.
type answer struct {
	value any
	err   error
	later func() (any, error)
	// committed says that a commit of the turn's own stands behind it.
	committed bool
}

// cell is the place of one active name.
type cell struct {
	rt     *Runtime
	group  *group
	name   ubl.Name
	family *Family
	pid    *actor.PID

	mu      sync.Mutex
	waiting int  // commands entered and not yet received; guarded by mu
	closed  bool // nothing enters any more; guarded by mu

	pending  atomic.Int64 // commits not yet settled; rises only while a command is received
	gated    atomic.Int64 // answers that wait for a commit
	lastUsed atomic.Int64 // unix nanoseconds

	// Owned by the mailbox:
	actor  Actor     // nil until loaded, and again after a panic
	loaded time.Time // when that was
	last   *Append   // the newest commit, which answers wait for
}

func newCell(rt *Runtime, g *group, name ubl.Name, f *Family) *cell {
	c := &cell{rt: rt, group: g, name: name, family: f}
	c.touch()
	c.pid = rt.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if e, ok := ctx.Message().(*envelope); ok {
			c.receive(e)
		}
	}, actor.WithDispatcher(rt.dispatcher)))
	return c
}

// touch notes that the cell is used now.
func (c *cell) touch() time.Time {
	now := c.rt.opts.Now()
	c.lastUsed.Store(now.UnixNano())
	return now
}

func (c *cell) isLedger() bool { return c.name == c.group.key.Ledger() }

// enter puts the envelope into the mailbox. It reports false where the cell is
// closed, and an error where the command is refused for load.
func (c *cell) enter(e *envelope) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false, nil
	}
	// An append was admitted when its room was asked; refusing it now would
	// lose a room_seq.
	if _, admitted := e.cmd.(*Append); !admitted {
		if c.waiting >= c.rt.opts.Limits.MaxWaiting {
			c.rt.refused[RefusedMailbox].Add(1)
			return false, ubl.Errorf(ubl.CodeOverloaded, "too many commands are waiting for this actor")
		}
		if cost := e.cmd.Cost(); cost > 0 {
			now := c.rt.opts.Now()
			if err := c.group.take(now, cost); err != nil {
				return false, err
			}
			e.cost, e.since = cost, now
		} else if c.gated.Load()+int64(c.waiting) >= int64(c.rt.opts.Limits.MaxGated) {
			c.rt.refused[RefusedMailbox].Add(1)
			return false, ubl.Errorf(ubl.CodeOverloaded, "too many answers wait for this actor's writes")
		}
	}
	c.waiting++
	c.rt.system.Root.Send(c.pid, e)
	return true, nil
}

// leave takes a received command out of the count; the last one out of a
// closed cell stops the mailbox. A cell whose load failed goes at once, and so
// does a ledger opened for it alone: names that lead nowhere must not fill
// memory.
func (c *cell) leave(cmd ubl.Command) {
	_, forOther := cmd.(opened)
	empty := c.actor == nil // asked while the actor is still ours
	c.mu.Lock()
	c.waiting--
	stop := c.closed && c.waiting == 0
	c.mu.Unlock()
	if stop {
		c.rt.system.Root.Stop(c.pid)
	} else if empty || forOther && c.group.lonelyLedger() == c {
		c.passivate()
	}
}

// close shuts the cell; what has entered is still received.
func (c *cell) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	if c.waiting == 0 {
		c.rt.system.Root.Stop(c.pid)
	}
}

// passivate closes the cell if nothing waits and nothing is in flight. A
// LedgerShard stays as long as anyone else of its group is there.
func (c *cell) passivate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.waiting > 0 || c.pending.Load() > 0 || c.isLedger() && c.group.others() {
		return
	}
	c.closed = true
	if r, ok := c.actor.(Releaser); ok { // the mailbox is empty, so the actor is ours
		r.Release()
	}
	c.rt.forget(c)
	c.rt.system.Root.Stop(c.pid)
	if l := c.group.lonelyLedger(); l != nil && l != c {
		l.passivate()
	}
}

// receive runs one command in the mailbox.
func (c *cell) receive(e *envelope) {
	defer c.leave(e.cmd)
	c.touch()
	t := &e.turn
	t.cell, t.env = c, e
	defer t.finish()
	if err := e.ctx.Err(); err != nil { // nobody waits any more, and nothing is decided yet
		t.Fail(ubl.AsError(err))
		return
	}
	if err := c.load(e); err != nil {
		t.Fail(err)
		return
	}
	if err := c.begin(e); err != nil {
		t.Fail(err)
		return
	}
	defer c.recoverTurn(t)
	if _, ok := e.cmd.(opened); ok {
		t.Reply(nil)
		return
	}
	c.actor.Receive(t, e.cmd)
}

// begin refuses a write that has waited for too long, and what nobody waits for any
// more. From here on the command is decided. To wait until the actor is loaded is not to
// be late.
func (c *cell) begin(e *envelope) error {
	if e.cost > 0 {
		if e.since.Before(c.loaded) {
			e.since = c.loaded
		}
		if err := c.group.stale(c.rt.opts.Now(), e.since); err != nil {
			return err
		}
	}
	if !e.state.CompareAndSwap(waiting, received) {
		return ubl.AsError(context.Canceled) // its caller is gone
	}
	return nil
}

// recoverTurn turns a panic into an answer and has the actor loaded anew: what
// it holds in memory can no longer be believed.
func (c *cell) recoverTurn(t *Turn) {
	p := recover()
	if p == nil {
		return
	}
	c.actor = nil
	t.answered, t.draft = false, nil
	t.Fail(c.rt.panicked(p, "an actor, which is loaded again", c.name, t.env.cmd))
}

// opened asks a cell only to have loaded its actor.
type opened struct{}

// Cost is 0: it reads.
func (opened) Cost() int { return 0 }

// load opens the actor where it isn't, after its group's ledger.
func (c *cell) load(e *envelope) error {
	if err := c.group.err(); err != nil {
		return err
	}
	if c.actor != nil {
		return nil
	}
	if c.last != nil { // loaded anew after a panic: what is in flight comes first
		c.last.wait()
		if err := c.group.err(); err != nil {
			return err
		}
	}
	ctx, cancel := watchLoad(e.ctx, c.rt.stop, c.log())
	defer cancel()
	if !c.isLedger() {
		if a := c.rt.ask(ctx, c.group.key.Ledger(), opened{}); a.err != nil {
			return a.err
		}
	}
	a, err := c.open(ctx)
	if failed := c.group.err(); failed != nil { // the next group may have written while this one read
		return failed
	}
	if err != nil {
		return err
	}
	c.actor, c.loaded = a, c.rt.opts.Now()
	return nil
}

// asker reaches the actors of the cell's own group here, which is where they live as
// long as it does, and others wherever they are.
func (c *cell) asker() ubl.Asker {
	if c.rt.opts.Elsewhere == nil {
		return c.rt
	}
	return &divided{group: c.name.Group(), here: c.rt, elsewhere: c.rt.opts.Elsewhere}
}

// divided asks one group here and all others elsewhere.
type divided struct {
	group           ubl.Group
	here, elsewhere ubl.Asker
}

// Ask implements [ubl.Asker].
func (d *divided) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if to.Group() == d.group {
		return d.here.Ask(ctx, to, cmd)
	}
	return d.elsewhere.Ask(ctx, to, cmd)
}

func (c *cell) open(ctx context.Context) (a Actor, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = nil, c.rt.panicked(p, "loading an actor", c.name, opened{})
		}
	}()
	return c.family.Open(ctx, Env{
		Name: c.name, Now: c.rt.opts.Now, Random: c.rt.opts.Random, Ask: c.asker(), Panics: c.rt.opts.Panics,
		Log: c.log(), Usage: c.group.usage, Acts: c.rt.acts, replays: c.rt.replays, sends: c.rt.sends,
	})
}

func (c *cell) log() *slog.Logger { return c.rt.opts.Log.With("actor", string(c.name)) }
