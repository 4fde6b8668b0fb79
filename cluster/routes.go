package cluster

import (
	"sync"
	"sync/atomic"
	"time"
)

// routes tell where each partition's leader is. Of partitions that this node
// votes in, its Raft group knows; of others, what their voters said.
type routes struct {
	node  *Node
	began time.Time

	mu    sync.Mutex
	heard []route         // of partitions that have no group here
	led   []atomic.Bool   // a partition has had a leader since the node's start
	moved []chan struct{} // closed when a partition's leader may have changed
}

type route struct {
	leader string // server id, "" if not known
	term   uint64
	// Since when nobody who has the partition names a leader, zero while somebody
	// does, and whether they say, or it took so long, that none can be elected.
	unled time.Time
	lost  bool
}

func newRoutes(n *Node, partitions int) *routes {
	r := &routes{node: n, began: time.Now(), heard: make([]route, partitions), led: make([]atomic.Bool, partitions), moved: make([]chan struct{}, partitions)}
	for i := range r.moved {
		r.moved[i] = make(chan struct{})
	}
	return r
}

// to is the leader of a partition, "" if none is known, and a channel that is
// closed when that may have changed.
func (r *routes) to(partition int) (leader string, moved <-chan struct{}) {
	r.mu.Lock()
	moved, leader = r.moved[partition], r.heard[partition].leader
	r.mu.Unlock()
	if g := r.node.group(partition); g != nil {
		if here := g.leader(); here != "" || g.votes() {
			leader = here
		}
	}
	if leader != "" {
		r.led[partition].Store(true)
	}
	if leader == r.node.server && r.node.engine.Epoch(partition) == 0 {
		leader = "" // elected, and not ready yet
	}
	return leader, moved
}

// startTimeouts is for how many Timeouts a node that has just started waits for the
// others before it says that they are away: they may start at this moment, too.
const startTimeouts = 3

// lost reports whether a partition has no leader and too few of its voters are up
// to elect one.
func (r *routes) lost(partition int) bool {
	g := r.node.group(partition)
	voting := g != nil && g.votes()
	if !r.led[partition].Load() && time.Since(r.began) < startTimeouts*r.node.opts.Timeout {
		return false
	}
	if voting {
		return g.lost.Load()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard[partition].lost
}

// changed wakes all who wait for the partition's leader.
func (r *routes) changed(partition int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.moved[partition])
	r.moved[partition] = make(chan struct{})
	r.node.unsettled.raise()
}

// listened takes what came of asking the others about a partition: whether anybody
// named its leader, and whether anybody has it who may come to know one.
func (r *routes) listened(partition int, led, hoped bool, now time.Time) {
	r.mu.Lock()
	h := &r.heard[partition]
	before, timeout := *h, r.node.opts.Timeout
	if led {
		h.unled, h.lost = time.Time{}, false
	} else {
		if h.unled.IsZero() {
			h.unled = now
		}
		if now.Sub(h.unled) >= timeout { // one answer that came late says nothing
			h.leader = ""
		}
		h.lost = !hoped && now.Sub(h.unled) >= 2*timeout
	}
	news := h.leader != before.leader || h.lost != before.lost
	r.mu.Unlock()
	if news {
		r.changed(partition)
	}
}

// denied takes that a server says itself that it doesn't lead a partition.
func (r *routes) denied(partition int, server string) {
	r.mu.Lock()
	wrong := r.heard[partition].leader == server
	if wrong {
		r.heard[partition].leader = ""
	}
	r.mu.Unlock()
	if wrong {
		r.changed(partition)
	}
}

// hear takes what another node says of a partition's leader.
func (r *routes) hear(partition int, leader string, term uint64) {
	r.mu.Lock()
	old := r.heard[partition]
	news := term > old.term || term == old.term && leader != "" && leader != old.leader
	if news {
		r.heard[partition].leader, r.heard[partition].term = leader, term
	}
	r.mu.Unlock()
	if news && leader != old.leader {
		r.changed(partition)
	}
}
