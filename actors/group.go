package actors

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"ubl"
)

// errGroupOver marks what a failed commit took with it.
var errGroupOver = errors.New("the group is over")

// group is one tenant's cells, which share a ledger and so fail together.
type group struct {
	rt        *Runtime
	key       ubl.Group
	window    *window              // of its writes
	partition *window              // of its partition's
	cells     map[*cell]struct{}   // guarded by rt.mu
	ledger    atomic.Pointer[cell] // the newest LedgerShard cell
	usage     *Usage

	failed atomic.Pointer[error] // once set, the group is over
}

// newGroup is called with rt.mu held.
func (rt *Runtime) newGroup(key ubl.Group) *group {
	n := rt.opts.Partition(key)
	p := rt.partitions[n]
	if p == nil {
		p = newWindow(rt.opts.Limits.PartitionWrites, leastOfPartition, rt.opts.Limits.PartitionBytes)
		rt.partitions[n] = p
	}
	return &group{
		rt: rt, key: key, partition: p,
		window: newWindow(rt.opts.Limits.GroupWrites, leastOfGroup, rt.opts.Limits.GroupBytes),
		cells:  make(map[*cell]struct{}),
		usage:  &Usage{quota: rt.opts.Quota},
	}
}

func (g *group) err() error {
	if failed := g.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// fail ends the group because a commit of it failed.
func (g *group) fail(cause error) {
	if g.end(cause) {
		g.rt.opts.Log.Error("a commit failed; the group is loaded anew", "group", g.key.String(), "error", cause)
	}
}

// end ends the group: what its mailboxes hold is refused, and the next Ask loads
// its actors anew. It reports whether the group had not ended yet.
func (g *group) end(cause error) bool {
	told := ubl.Errorf(ubl.CodeUnavailable, "a write failed; its outcome is unknown until it is retried")
	if e, ok := errors.AsType[*ubl.Error](cause); ok && e.Code == ubl.CodeUnavailable {
		told = e // the store knows more, as of a full disk
	}
	var failed error = told.Because(fmt.Errorf("%w: %w", errGroupOver, cause))
	if !g.failed.CompareAndSwap(nil, &failed) {
		return false
	}

	rt := g.rt
	rt.mu.Lock()
	if rt.groups[g.key] == g {
		delete(rt.groups, g.key)
	}
	var gone []*cell
	for c := range g.cells {
		if rt.cells.CompareAndDelete(c.name, c) {
			rt.active.Add(-1)
			gone = append(gone, c)
		}
	}
	clear(g.cells)
	rt.mu.Unlock()
	for _, c := range gone {
		c.close()
	}
	return true
}

// others reports whether the group has cells besides its ledger.
func (g *group) others() bool {
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	return len(g.cells) > 1
}

// lonelyLedger is the group's ledger cell if nobody else is left.
func (g *group) lonelyLedger() *cell {
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	if len(g.cells) != 1 {
		return nil
	}
	for c := range g.cells {
		if c.isLedger() {
			return c
		}
	}
	return nil
}

// append hands an append to the group's own LedgerShard. It must not be looked
// up by name: once the group has failed, the name leads to the LedgerShard of
// the next one, which must not see what was decided on this one's state.
func (g *group) append(a *Append) {
	if l := g.ledger.Load(); l != nil {
		if entered, _ := l.enter(&a.env); entered {
			return
		}
	}
	a.Settle(ubl.Errorf(ubl.CodeUnavailable, "the ledger is closed"))
}

// take lets a write in, at the group's and at its partition's window, or refuses it.
func (g *group) take(now time.Time, bytes int) error {
	if !g.window.take(now, bytes, true) {
		return g.refuse(RefusedTenant, now, g.window)
	}
	if !g.partition.take(now, bytes, g.window.many()) {
		g.window.undo(bytes)
		return g.refuse(RefusedPartition, now, g.partition)
	}
	return nil
}

// full refuses what take would refuse now.
func (g *group) full(now time.Time) error {
	if g.window.full(now, true) {
		return g.refuse(RefusedTenant, now, g.window)
	}
	if g.partition.full(now, g.window.many()) {
		return g.refuse(RefusedPartition, now, g.partition)
	}
	return nil
}

// stale refuses a write that was let in at a time and has waited for too long, while
// others are late too.
func (g *group) stale(now, since time.Time) error {
	if now.Sub(since) < tooLate || !g.window.late() && !g.partition.late() {
		return nil
	}
	return g.refuse(RefusedLate, now, g.window)
}

// refuse counts a refusal. It says when to come back.
func (g *group) refuse(where Refusal, now time.Time, w *window) error {
	g.rt.refused[where].Add(1)
	return ubl.Errorf(ubl.CodeOverloaded, "too many writes are under way; nothing was done").Later(w.later(now))
}

// give ends a write that was let in at a time.
func (g *group) give(since time.Time, bytes int) {
	now := g.rt.opts.Now()
	g.window.give(now, since, bytes)
	g.partition.give(now, since, bytes)
	g.rt.opts.Wrote(now.Sub(since))
}
