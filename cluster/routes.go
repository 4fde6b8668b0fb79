package cluster

import (
	"sync"
)

// routes tell where each partition's leader is. Of partitions that this node
// votes in, its Raft group knows; of others, what their voters said.
type routes struct {
	node *Node

	mu    sync.Mutex
	heard []route         // of partitions that have no group here
	moved []chan struct{} // closed when a partition's leader may have changed
}

type route struct {
	leader string // server id, "" if not known
	term   uint64
}

func newRoutes(n *Node, partitions int) *routes {
	r := &routes{node: n, heard: make([]route, partitions), moved: make([]chan struct{}, partitions)}
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
	if leader == r.node.server && r.node.engine.Epoch(partition) == 0 {
		leader = "" // elected, and not ready yet
	}
	return leader, moved
}

// changed wakes all who wait for the partition's leader.
func (r *routes) changed(partition int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.moved[partition])
	r.moved[partition] = make(chan struct{})
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
		r.heard[partition] = route{leader, term}
	}
	r.mu.Unlock()
	if news && leader != old.leader {
		r.changed(partition)
	}
}
