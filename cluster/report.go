package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/cluster/placement"
)

// report is how a node stands.
type report struct {
	NodeID, ServerID, ClusterID string
	Stopping                    bool
	Full                        bool            // its disk has no room, and keeps replicas from working
	Secret                      []string        // the ids of its secret's keys; none from an earlier version
	Keys                        []string        // the ids of the keys that it signs with and accepts, likewise
	Replicas                    []replicaReport // of the partitions that it has
	Table                       []byte          // the cluster's table as this node has it; nil without partition 0
	Clock                       ubl.Time        // what its clock says; 0 from an earlier version
	ClockOffset                 int64           // how far that is ahead of the others' as it knows, in milliseconds
	Version                     string          // of the program; "" from an earlier version
	BackupAt                    *ubl.Time       // when the newest backup through the node was complete; nil for none
	Failing                     []ubl.TenantID  // tenants with alarms that have failed for good, where the node leads
}

type replicaReport struct {
	Partition       int
	Leader          string // server id, "" if not known
	Leads           bool   // this node does
	Lost            bool   // a quorum of the voters doesn't answer
	LogLost         bool   // its log lacks what it had acknowledged, so that it doesn't vote
	Term            uint64
	Applied, Commit uint64
	// Of the newest configuration here:
	Config           uint64
	Voters, Learners []string
	Scrub            *ubl.ClusterScrub
}

// configured is a Raft configuration.
type configured struct {
	index            uint64
	voters, learners []string
}

func (g *group) configuration() configured {
	future := g.raft.GetConfiguration()
	if future.Error() != nil {
		return configured{}
	}
	c := configured{index: g.configIndex.Load()} // the future doesn't tell it
	for _, s := range future.Configuration().Servers {
		if s.Suffrage == raft.Voter {
			c.voters = append(c.voters, string(s.ID))
		} else {
			c.learners = append(c.learners, string(s.ID))
		}
	}
	return c
}

// votes reports whether this node votes in the group.
func (g *group) votes() bool { return slices.Contains(g.configuration().voters, g.node.server) }

func (g *group) report() replicaReport {
	c := g.configuration()
	return replicaReport{
		Partition: g.partition, Leader: g.leader(), Leads: g.raft.State() == raft.Leader, Lost: g.lost.Load(), LogLost: !g.files.promise.whole(),
		Term: g.raft.CurrentTerm(), Applied: g.raft.AppliedIndex(), Commit: g.raft.CommitIndex(),
		Config: c.index, Voters: c.voters, Learners: c.learners, Scrub: g.scrub(),
	}
}

func (n *Node) report() *report {
	r := &report{NodeID: n.opts.NodeID, ServerID: n.server, ClusterID: n.clusterID(), Stopping: n.stopping.Load(), Full: n.Full(), Secret: n.SecretIDs(), Keys: n.opts.Keys(),
		Clock: ubl.TimeOf(n.opts.Now()), ClockOffset: n.ClockOffset().Milliseconds(),
		Version: n.opts.Version, BackupAt: n.opts.BackupAt()}
	if local := n.local.Load(); local != nil {
		r.Failing = (*local).Failing()
	}
	for _, g := range n.allGroups() {
		r.Replicas = append(r.Replicas, g.report())
		if g.partition == 0 {
			r.Table, _, _ = n.engine.Note(0, tableNote) // a file that can't be read now has none
		}
	}
	return r
}

func (n *Node) serveReport(context.Context, *none) (*report, error) { return n.report(), nil }

// gather asks every living node of the cluster how it stands, this one included.
func (n *Node) gather(ctx context.Context) (reports []*report) {
	n.eachReport(ctx, reportTimeout, func(r *report) { reports = append(reports, r) })
	n.compare(reports)
	return reports
}

// eachReport is gather for those who don't wait for silent nodes: fn gets each
// report when it comes, one at a time.
func (n *Node) eachReport(ctx context.Context, timeout time.Duration, fn func(*report)) {
	fn(n.report())
	n.askReports(ctx, timeout, n.others(), fn)
}

// others are the living nodes of the cluster, without this one.
func (n *Node) others() []mesh.Member {
	return slices.DeleteFunc(n.gossip.Members(), func(m mesh.Member) bool {
		return m.ServerID == n.server || m.ClusterID != n.clusterID() || m.State != mesh.Alive
	})
}

// askReports asks these nodes how they stand; fn is as with eachReport.
func (n *Node) askReports(ctx context.Context, timeout time.Duration, of []mesh.Member, fn func(*report)) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, m := range of {
		n.opts.Panics.Go(&all, "asking how a node stands", func() {
			r, err := call[report](ctx, n, m.ServerID, callReport, &none{})
			if err != nil || r.ServerID != m.ServerID {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			fn(r)
		})
	}
	all.Wait()
}

// viewOf is what the reports say together. Of several that claim to lead a
// partition the one of the newest term does.
func viewOf(reports []*report, partitions int) placement.View {
	v := placement.View{Alive: make(map[string]bool), Partitions: make([]placement.Actual, partitions)}
	for i := range v.Partitions {
		v.Partitions[i].Applied = make(map[string]uint64)
	}
	for _, r := range reports {
		v.Alive[r.ServerID] = !r.Stopping
		for _, p := range r.Replicas {
			if p.Partition < 0 || p.Partition >= partitions {
				continue
			}
			a := &v.Partitions[p.Partition]
			a.Hosts = append(a.Hosts, r.ServerID)
			a.Applied[r.ServerID] = p.Applied
			if p.Leads && p.Term >= a.Term {
				a.Leader, a.Term, a.Config, a.Commit = r.ServerID, p.Term, p.Config, p.Commit
				a.Voters, a.Learners = p.Voters, p.Learners
			}
		}
	}
	return v
}

// listenEvery is how often a node asks others about partitions that it has no
// replica of, or that have no leader: requests wait for the news.
const listenEvery = 250 * time.Millisecond

// listenToOthers learns where leaders are that this node's groups don't know,
// and remembers where nodes are, for a start without gossip.
func (n *Node) listenToOthers() {
	next := time.NewTimer(listenEvery)
	defer next.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-n.unsettled:
			// Not at once: most that changes is known here a moment later.
			next.Reset(listenEvery)
			select {
			case <-n.ctx.Done():
				return
			case <-next.C:
			}
		case <-n.gossip.Changed():
			n.opts.Panics.Do("remembering other nodes", n.rememberPeers)
		case <-next.C:
		}
		atRest := false
		n.opts.Panics.Do("listening to other nodes", func() { atRest = n.listenOnce() })
		pause := listenEvery
		if atRest {
			pause = restEvery
		}
		next.Reset(pause)
	}
}

// listenOnce asks the others, unless this node knows everything already and is at rest.
func (n *Node) listenOnce() (atRest bool) {
	if len(n.gossip.Members()) < 2 {
		n.rejoin()
	}
	known, allLed := true, true
	for p := range n.engine.Partitions() {
		g := n.group(p)
		known, allLed = known && g != nil && g.votes(), allLed && n.led(p)
	}
	if allLed {
		n.heard.Store(nil)
	}
	if known && allLed {
		return true
	}
	holders, led, reports := make(map[int]int), make(map[int]bool), []*report(nil)
	n.eachReport(n.ctx, n.opts.Timeout, func(r *report) {
		reports = append(reports, r)
		for _, p := range r.Replicas {
			if !p.Lost && slices.Contains(p.Voters, r.ServerID) {
				holders[p.Partition]++
			}
			if p.Leader != "" && slices.Contains(p.Voters, p.Leader) {
				led[p.Partition] = true
				n.routes.hear(p.Partition, p.Leader, p.Term)
			}
			if !p.Leads {
				n.routes.denied(p.Partition, r.ServerID)
			}
		}
	})
	for p := range n.engine.Partitions() {
		n.routes.listened(p, led[p], holders[p] > 0, time.Now())
	}
	if t := newestTable(reports); t != nil && slices.Contains(t.Gone, n.server) && !n.removed.Swap(true) {
		n.log.Error("this node was removed from the cluster", "error", errRemoved)
	}
	if !allLed {
		n.hear(heardFrom(reports, n.engine.Partitions()))
	}
	return false
}

// rejoin looks for the others where they were last, and where the operator says.
func (n *Node) rejoin() {
	n.mu.Lock()
	addrs := slices.Clone(n.opts.Join)
	for server, addr := range n.member.Peers {
		if server != n.server {
			addrs = append(addrs, addr)
		}
	}
	n.mu.Unlock()
	if len(addrs) == 0 {
		return
	}
	if _, err := n.gossip.Join(addrs); err != nil {
		n.log.Debug("no other node found", "error", err)
	}
}

func (n *Node) rememberPeers() {
	peers := make(map[string]string)
	for _, m := range n.gossip.Members() {
		if m.State == mesh.Alive && m.ClusterID == n.clusterID() {
			peers[m.ServerID] = m.Addr
		}
	}
	n.note(func(m *membership) (news bool) { return m.remember(peers) })
}

// note changes what the node remembers, on disk too where that is news. What
// can't be written is known until the node ends.
func (n *Node) note(change func(*membership) (news bool)) {
	n.noting.Lock()
	defer n.noting.Unlock()
	n.mu.Lock()
	news := change(n.member)
	copied := *n.member
	copied.Peers = maps.Clone(copied.Peers)
	n.mu.Unlock()
	if !news {
		return
	}
	if err := copied.write(n.opts.Dir); err != nil {
		n.log.Warn("couldn't note how the cluster stands", "error", err)
	}
}
