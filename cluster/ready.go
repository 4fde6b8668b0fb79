package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/cluster/placement"
	"ubl/storage"
)

// Ready says why not every request can be served now.
func (n *Node) Ready() error {
	if n.removed.Load() {
		return errRemoved
	}
	var leaderless []string
	for p := range n.engine.Partitions() {
		if !n.led(p) {
			leaderless = append(leaderless, strconv.Itoa(p))
		}
	}
	if len(leaderless) == 0 {
		if err := n.begun(); err != nil {
			return err
		}
		return n.onTime()
	}
	why := ""
	h := n.heard.Load()
	if h != nil && len(h.full) > 0 {
		why = fmt.Sprintf("degraded: no room is left on the disk of %s: free some space; ", strings.Join(h.full, ", "))
	}
	if h != nil {
		for _, p := range slices.Sorted(maps.Keys(h.mute)) {
			why += fmt.Sprintf("too few replicas of partition %d may vote, since the logs of %s have lost entries: see the runbook (UBLLogLost); ", p, strings.Join(h.mute[p], ", "))
		}
	}
	alive, all := n.count(h)
	return ubl.Errorf(ubl.CodeUnavailable, "%sno leader for partitions %s; %d of %d nodes answer", why, strings.Join(leaderless, ", "), alive, all)
}

// errRemoved is what a node says that was removed, or whose place a wiped disk took over.
var errRemoved = ubl.Errorf(ubl.CodeUnavailable, "this node was removed from the cluster, or another took its place: stop it; with an empty data directory it can join again")

// heard is what the nodes said when a partition had no leader.
type heard struct {
	answered int
	full     []string         // ids of nodes whose disk is full
	mute     map[int][]string // by partition that can't elect a leader: nodes whose logs have lost entries
	table    *placement.Table
}

func heardFrom(reports []*report, partitions int) *heard {
	h := &heard{answered: len(reports), table: newestTable(reports), mute: make(map[int][]string)}
	for p, a := range viewOf(reports, partitions).Partitions {
		if nodes := mute(reports, p, a); len(nodes) > 0 {
			h.mute[p] = nodes
		}
	}
	for _, r := range reports {
		if r.Full {
			h.full = append(h.full, r.NodeID)
		}
	}
	slices.Sort(h.full)
	return h
}

// hear notes what the nodes said, and logs what only an operator can end.
func (n *Node) hear(h *heard) {
	before := n.heard.Swap(h)
	for p, nodes := range h.mute {
		if before == nil || !slices.Equal(before.mute[p], nodes) {
			n.log.Error("a partition can't elect a leader: too few of its replicas may vote, since the logs of others have lost entries that they had acknowledged; see the runbook (UBLLogLost)",
				"partition", p, "nodes", nodes)
		}
	}
}

// count is how many of the cluster's nodes answer, of how many. Before any was asked
// the former is as gossip knows, which takes some seconds to notice.
func (n *Node) count(h *heard) (alive, all int) {
	for _, m := range n.gossip.Members() {
		if m.ClusterID != n.clusterID() || m.State == mesh.Left {
			continue
		}
		all++
		if m.State == mesh.Alive {
			alive++
		}
	}
	t := n.storedTable()
	if h != nil {
		alive = h.answered
		if h.table != nil {
			t = h.table
		}
	}
	if t != nil {
		all = len(t.Nodes)
	}
	return alive, max(alive, all)
}

// Full reports whether replicas of this node don't work because its disk has no room.
func (n *Node) Full() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, err := range n.closed {
		if storage.OutOfRoom(err) {
			return true
		}
	}
	return false
}

// Serves says why requests had better go to another node. Unlike Ready it is
// content where some partition works: else one that has lost its quorum would
// take every node from the tenants of the others.
func (n *Node) Serves() error {
	if n.removed.Load() {
		return errRemoved
	}
	for p := range n.engine.Partitions() {
		if n.led(p) {
			return n.begun()
		}
	}
	return ubl.Errorf(ubl.CodeUnavailable, "no partition has a leader")
}

// led reports whether a partition has a leader that lives: of a partition that
// this node doesn't vote in, it knows who led it last.
func (n *Node) led(partition int) bool {
	leader, _ := n.routes.to(partition)
	return leader == n.server || slices.ContainsFunc(n.gossip.Members(), func(m mesh.Member) bool {
		return m.ServerID == leader && m.State == mesh.Alive
	})
}

// begun says what the node waits for after its start, before it takes requests.
// Once it has begun it stays so.
func (n *Node) begun() error {
	if !n.caughtUp.Load() {
		return ubl.Errorf(ubl.CodeUnavailable, "this node hasn't caught up with the others yet")
	}
	if want := min(int(n.waits.Load()), placement.MaxVoters); want > 1 {
		for _, g := range n.allGroups() {
			if len(g.configuration().voters) < want {
				return ubl.Errorf(ubl.CodeUnavailable, "other nodes are still joining")
			}
		}
		n.waits.Store(0)
	}
	return nil
}

// catchUpEvery is how often a node that has just started looks how far it is.
const catchUpEvery = 100 * time.Millisecond

// catchUp waits until the node's replicas have what their leaders had committed
// a moment ago: of a busy partition the newest is always on its way.
func (n *Node) catchUp() {
	tick := time.NewTicker(catchUpEvery)
	defer tick.Stop()
	for {
		var to map[int]uint64
		led := false
		n.opts.Panics.Do("catching up", func() {
			reports := n.gather(n.ctx)
			to, led = goals(n.server, newestTable(reports), viewOf(reports, n.engine.Partitions()))
		})
		select {
		case <-n.ctx.Done():
			return
		case <-tick.C:
		}
		if led && n.reached(to) {
			n.caughtUp.Store(true)
			return
		}
	}
}

// goals are how far a server's replicas must come, by partition: of those where
// it votes or should, and that somebody leads. led tells whether there are any
// of the latter; t may be nil.
func goals(server string, t *placement.Table, v placement.View) (to map[int]uint64, led bool) {
	to = make(map[int]uint64)
	for p, a := range v.Partitions {
		if a.Leader == "" {
			continue
		}
		led = true
		should := t != nil && p < len(t.Voters) && slices.Contains(t.Voters[p], server)
		if should || slices.Contains(a.Voters, server) {
			to[p] = a.Commit
		}
	}
	return to, led
}

// reached reports whether the node is that far. It waits for no replica that couldn't
// be opened: it passes requests on to others meanwhile.
func (n *Node) reached(to map[int]uint64) bool {
	for p, index := range to {
		if n.unopened(p) != nil {
			continue
		}
		if g := n.group(p); g == nil || !g.votes() || g.raft.AppliedIndex() < index {
			return false
		}
	}
	return true
}
