package cluster

import (
	"context"
	"slices"
	"strings"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/cluster/placement"
)

// Status is how the whole cluster stands, as far as this node can tell.
func (n *Node) Status(ctx context.Context) (*ubl.ClusterStatus, error) {
	reports := n.gather(ctx)
	view := viewOf(reports, n.engine.Partitions())
	s := &ubl.ClusterStatus{ClusterID: n.clusterID(), NodeID: n.opts.NodeID}
	s.Nodes = n.nodes(newestTable(reports), reports)
	for p := range view.Partitions {
		part := partitionStatus(p, lastKnown(reports, p, view.Partitions[p]))
		part.Differ = n.Differing(p)
		lost := logLost(reports, p)
		for i := range part.Replicas {
			part.Replicas[i].LogLost = slices.Contains(lost, part.Replicas[i].NodeID)
		}
		for _, c := range copies(reports, p) {
			for i := range part.Replicas {
				if part.Replicas[i].NodeID == c.NodeID {
					part.Replicas[i].Scrub = c.Scrub
				}
			}
		}
		s.Partitions = append(s.Partitions, part)
	}
	for i := range s.Nodes {
		node := &s.Nodes[i]
		for _, p := range s.Partitions {
			if slices.Contains(p.Voters, node.NodeID) {
				node.Voters++
			}
			if p.Leader == node.NodeID {
				node.Leads++
			}
		}
	}
	return s, nil
}

// newestTable is the newest table that any node has; nil if none has one.
func newestTable(reports []*report) *placement.Table {
	var newest *placement.Table
	for _, r := range reports {
		if t, err := placement.Decode(r.Table); err == nil && (newest == nil || t.Version > newest.Version) {
			newest = t
		}
	}
	return newest
}

// nodes lists the members of the table with what gossip says of them.
func (n *Node) nodes(t *placement.Table, reports []*report) []ubl.ClusterNode {
	states := make(map[string]mesh.Member)
	for _, m := range n.gossip.Members() {
		if m.ClusterID == n.clusterID() {
			states[m.ServerID] = m
		}
	}
	if t == nil { // partition 0 can't be reached: gossip alone
		t = &placement.Table{}
		for _, m := range states {
			t.Nodes = append(t.Nodes, placement.Node{ID: m.NodeID, Server: m.ServerID, Addr: m.Addr})
		}
		slices.SortFunc(t.Nodes, func(a, b placement.Node) int { return strings.Compare(a.ID, b.ID) })
	}
	list := make([]ubl.ClusterNode, 0, len(t.Nodes))
	for _, node := range t.Nodes {
		state := "dead"
		if m, ok := states[node.Server]; ok {
			state = string(m.State)
		}
		at := slices.IndexFunc(reports, func(r *report) bool { return r.ServerID == node.Server })
		if state == string(mesh.Alive) && at < 0 {
			state = "suspect" // gossip hasn't noticed yet
		}
		status := ubl.ClusterNode{NodeID: node.ID, ServerID: node.Server, Address: node.Addr, State: state, Leaving: node.Leaving}
		if at >= 0 {
			status.SecretIDs, status.KeyIDs, status.DiskFull = reports[at].Secret, reports[at].Keys, reports[at].Full
			status.ClockOffset, status.Version, status.BackupAt = reports[at].ClockOffset, reports[at].Version, reports[at].BackupAt
		}
		list = append(list, status)
	}
	return list
}

// lastKnown is how a partition stands. While nobody leads it, its copies are those of
// the newest configuration that any of them has.
func lastKnown(reports []*report, p int, a placement.Actual) placement.Actual {
	if a.Leader != "" {
		return a
	}
	for _, r := range reports {
		for _, replica := range r.Replicas {
			if replica.Partition != p {
				continue
			}
			a.Term, a.Commit = max(a.Term, replica.Term), max(a.Commit, replica.Commit)
			if a.Voters == nil || replica.Config > a.Config {
				a.Config, a.Voters, a.Learners = replica.Config, replica.Voters, replica.Learners
			}
		}
	}
	return a
}

// logLost names the nodes whose replica's log lacks what it had acknowledged.
func logLost(reports []*report, p int) (nodes []string) {
	for _, r := range reports {
		if slices.ContainsFunc(r.Replicas, func(has replicaReport) bool { return has.Partition == p && has.LogLost }) {
			nodes = append(nodes, r.NodeID)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// mute names, for a partition without a leader, the nodes whose logs have lost entries,
// where too few voters are left without them to elect one; else none.
func mute(reports []*report, p int, a placement.Actual) []string {
	lost := logLost(reports, p)
	voters := nodesOf(lastKnown(reports, p, a).Voters)
	may := slices.DeleteFunc(slices.Clone(voters), func(id string) bool { return slices.Contains(lost, id) })
	if a.Leader != "" || len(lost) == 0 || len(may) > len(voters)/2 {
		return nil
	}
	return lost
}

func partitionStatus(p int, a placement.Actual) ubl.ClusterPartition {
	s := ubl.ClusterPartition{
		Partition: p, Leader: nodeOf(a.Leader), Term: int64(a.Term), CommitIndex: int64(a.Commit),
		Voters: nodesOf(a.Voters), Learners: nodesOf(a.Learners), Replicas: []ubl.ClusterReplica{},
	}
	for _, server := range slices.Sorted(slices.Values(a.Hosts)) {
		applied := a.Applied[server]
		lag := int64(0)
		if a.Commit > applied {
			lag = int64(a.Commit - applied)
		}
		s.Replicas = append(s.Replicas, ubl.ClusterReplica{NodeID: nodeOf(server), AppliedIndex: int64(applied), Lag: lag})
	}
	return s
}

func nodesOf(servers []string) []string {
	ids := make([]string, 0, len(servers))
	for _, s := range servers {
		ids = append(ids, nodeOf(s))
	}
	slices.Sort(ids)
	return ids
}

// PartitionFigures are what a node counts of a partition that it has, for metrics.
type PartitionFigures struct {
	Partition int
	// Halted: the replica couldn't be written or opened and takes no part now. The
	// rest is unknown then.
	Halted bool
	// Unopened is why it couldn't be opened, nil else.
	Unopened error
	// LogLost: the replica's log has lost entries that it had acknowledged. It doesn't vote
	// until it has them again.
	LogLost         bool
	Leads           bool
	Term            uint64
	Applied, Commit uint64
}

// Figures reads them.
func (n *Node) Figures() []PartitionFigures {
	var list []PartitionFigures
	for _, p := range n.had() {
		f := PartitionFigures{Partition: p}
		if g := n.group(p); g == nil {
			f.Halted, f.Unopened = true, n.unopened(p)
		} else {
			f.Leads, f.LogLost = n.engine.Epoch(p) != 0, !g.files.promise.whole()
			f.Term, f.Applied, f.Commit = g.raft.CurrentTerm(), g.raft.AppliedIndex(), g.raft.CommitIndex()
		}
		list = append(list, f)
	}
	return list
}

// States counts the nodes by how gossip sees them.
func (n *Node) States() map[string]int {
	states := map[string]int{}
	for _, m := range n.gossip.Members() {
		states[string(m.State)]++
	}
	return states
}

// Failing lists the tenants with alarms that have failed for good, sorted, as far as the
// nodes answer.
func (n *Node) Failing(ctx context.Context) (tenants []ubl.TenantID) {
	for _, r := range n.gather(ctx) {
		tenants = append(tenants, r.Failing...)
	}
	slices.Sort(tenants)
	return slices.Compact(tenants)
}
