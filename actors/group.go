package actors

import (
	"errors"
	"fmt"
	"sync/atomic"

	"ubl"
)

// errGroupOver marks what a failed commit took with it.
var errGroupOver = errors.New("the group is over")

// group is one tenant's cells, which share a ledger and so fail together.
type group struct {
	rt        *Runtime
	key       ubl.Group
	credits   *credits
	partition *credits
	cells     map[*cell]struct{}   // guarded by rt.mu
	ledger    atomic.Pointer[cell] // the newest LedgerShard cell

	failed atomic.Pointer[error] // once set, the group is over
}

// newGroup is called with rt.mu held.
func (rt *Runtime) newGroup(key ubl.Group) *group {
	n := rt.opts.Partition(key)
	p := rt.partitions[n]
	if p == nil {
		p = &credits{count: rt.opts.Limits.PartitionWrites, bytes: rt.opts.Limits.PartitionBytes}
		rt.partitions[n] = p
	}
	return &group{
		rt: rt, key: key, partition: p,
		credits: &credits{count: rt.opts.Limits.GroupWrites, bytes: rt.opts.Limits.GroupBytes},
		cells:   make(map[*cell]struct{}),
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

// take takes credits of the group and its partition, both or none.
func (g *group) take(bytes int) bool {
	if !g.credits.take(bytes) {
		return false
	}
	if !g.partition.take(bytes) {
		g.credits.give(bytes)
		return false
	}
	return true
}

func (g *group) give(bytes int) {
	g.credits.give(bytes)
	g.partition.give(bytes)
}
