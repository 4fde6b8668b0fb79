package cluster

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"ubl"
)

// What a replica's scrub finds. A replica that meets damage is made anew, from its
// snapshot and log or from its leader's, if its group has other voters: it is
// distrusted, halts, and comes back as after a power loss. The only copy stays as it
// is, for whatever of it can be read.

// damaged is told of damage in a partition's file. It must not block.
func (n *Node) damaged(partition int, err error) {
	if n.opts.Storage.Damaged != nil {
		n.opts.Storage.Damaged(partition, err)
	}
	n.opts.Panics.Go(nil, "making a replica anew", func() { n.heal(partition, err) })
}

// remade is told that a replica's file was damaged when it was opened. The group's
// opening installs its snapshot, and Raft applies the log behind it.
func (n *Node) remade(partition int, kept string, cause error) {
	n.log.Error("a replica's file is damaged; the replica is rebuilt from its snapshot and log, or from its leader",
		"partition", partition, "kept", kept, "error", cause)
}

// healEvery is how often a replica is made anew at most: where all copies have the
// same damage, that mends nothing, and reads would stop one leader after the other.
const healEvery = time.Hour

// healing remembers when replicas were made anew.
type healing struct {
	mu   sync.Mutex
	last map[int]time.Time // by partition
}

// again notes the time, and says whether it is long enough ago.
func (h *healing) again(partition int, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, ok := h.last[partition]; ok && now.Sub(last) < healEvery {
		return false
	}
	if h.last == nil {
		h.last = make(map[int]time.Time)
	}
	h.last[partition] = now
	return true
}

func (n *Node) heal(partition int, err error) {
	g := n.group(partition)
	if g == nil || g.halted.Load() != nil {
		return
	}
	if len(g.configuration().voters) < 2 {
		n.log.Warn("a damaged replica is the only one, and stays as it is", "partition", partition)
		return
	}
	if n.healing.again(partition, time.Now()) {
		n.engine.Distrust(partition, err)
	}
}

func (g *group) scrub() *ubl.ClusterScrub {
	s := g.node.engine.PartitionStats(g.partition)
	return s.Scrub.Status(s.Damaged)
}

// differing remembers which replicas hold something else than the others.
type differing struct {
	mu   sync.Mutex
	seen map[int][]string // node ids by partition
}

// copies are the replicas of a partition with their scrubs, by node.
func copies(reports []*report, partition int) []ubl.ClusterReplica {
	var list []ubl.ClusterReplica
	for _, r := range reports {
		for _, p := range r.Replicas {
			if p.Partition == partition {
				list = append(list, ubl.ClusterReplica{NodeID: r.NodeID, Scrub: p.Scrub})
			}
		}
	}
	slices.SortFunc(list, func(a, b ubl.ClusterReplica) int { return cmp.Compare(a.NodeID, b.NodeID) })
	return list
}

// compare logs once where the digests of two replicas differ.
func (n *Node) compare(reports []*report) {
	n.differing.mu.Lock()
	defer n.differing.mu.Unlock()
	if n.differing.seen == nil {
		n.differing.seen = make(map[int][]string)
	}
	for p := range n.engine.Partitions() {
		nodes := ubl.Differing(copies(reports, p))
		if len(nodes) > 0 && !slices.Equal(nodes, n.differing.seen[p]) {
			n.log.Error("replicas of a partition hold different data", "partition", p, "nodes", nodes)
		}
		n.differing.seen[p] = nodes
	}
}

// Differing is which nodes' replicas of a partition hold something else than the
// others, as of the last time that this node asked them.
func (n *Node) Differing(partition int) []string {
	n.differing.mu.Lock()
	defer n.differing.mu.Unlock()
	return n.differing.seen[partition]
}
