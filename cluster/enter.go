package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/cluster/placement"
	"ubl/storage"
)

const (
	// joinAgain is how often a node that isn't let in yet tries again.
	joinAgain = 500 * time.Millisecond
	// lookTries is how often a node with data looks for others before it founds.
	lookTries = 10
)

var errHoldsData = errors.New("the data directory holds data, and joining another cluster would mix it; join with an empty one")

// enter makes a node that is in no cluster a member of one: it founds it, or
// waits to be let in. A node with data only founds: its data becomes that of
// the others, which must hold none.
func (n *Node) enter(ctx context.Context, empty bool) error {
	switch {
	case len(n.opts.Join) == 0 && (!empty || n.opts.Expect <= 1):
		return n.foundHere()
	case !empty && n.opts.Expect == 0:
		return errHoldsData
	case !empty:
		return n.foundApart(ctx)
	}
	n.log.Info("looking for other nodes", "join", n.opts.Join)
	told := -1
	for try := 0; ; try++ {
		_, err := n.gossip.Join(n.opts.Join)
		if there := n.waiting(); n.opts.Expect > 0 && there != told {
			n.log.Info("waiting for new nodes before one of them founds the cluster", "expected", n.opts.Expect, "here", there)
			told = there
		}
		if err == nil {
			if n.mayFound() {
				return n.foundHere()
			}
			var in bool
			if in, err = n.askToJoin(ctx); in {
				return err
			}
		}
		if try%20 == 0 && err != nil {
			n.log.Warn("not let in yet", "error", err)
		}
		select {
		case <-time.After(joinAgain):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// foundApart founds a cluster with the data that is here, unless one of those it
// would be with is in a cluster already: that would make two.
func (n *Node) foundApart(ctx context.Context) error {
	for range lookTries {
		_, err := n.gossip.Join(n.opts.Join)
		if slices.ContainsFunc(n.gossip.Members(), func(m mesh.Member) bool { return m.State == mesh.Alive && m.ClusterID != "" }) {
			return errHoldsData
		}
		if err == nil { // whoever answers knows all
			break
		}
		select {
		case <-time.After(joinAgain):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
	return n.foundHere()
}

func (n *Node) foundHere() error {
	if err := n.found(); err != nil {
		return fmt.Errorf("couldn't found a cluster: %w", err)
	}
	n.waits.Store(int64(n.opts.Expect))
	return n.gossip.UpdateMeta()
}

// mayFound reports whether this node is the one of those that wait for each
// other that founds: the first by name, once all are there and none is in a
// cluster.
func (n *Node) mayFound() bool {
	if n.opts.Expect == 0 {
		return false
	}
	for _, m := range n.gossip.Members() {
		if m.State == mesh.Alive && (m.ClusterID != "" || m.NodeID < n.opts.NodeID) {
			return false
		}
	}
	return n.waiting() >= n.opts.Expect
}

// waiting counts the living nodes that wait for as many as this one, itself too.
func (n *Node) waiting() (count int) {
	for _, m := range n.gossip.Members() {
		if m.State == mesh.Alive && m.Expect == n.opts.Expect {
			count++
		}
	}
	return count
}

// askToJoin asks the members that gossip knows to be let in.
func (n *Node) askToJoin(ctx context.Context) (in bool, err error) {
	q := &joinRequest{NodeID: n.opts.NodeID, ServerID: n.server, Addr: n.mesh.Addr(), Partitions: n.partitions}
	for _, m := range n.gossip.Members() {
		if m.ClusterID == "" || m.State != mesh.Alive {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, attemptTimeout)
		var reply *joinReply
		reply, err = call[joinReply](asking, n, m.ServerID, callJoin, q)
		cancel()
		if err == nil {
			return true, n.admitted(reply)
		}
	}
	return false, err
}

// admitted keeps what the cluster has told a newcomer.
func (n *Node) admitted(reply *joinReply) error {
	if err := n.opts.Keep(reply.Shared); err != nil {
		return err
	}
	if err := n.forgetFounding(); err != nil {
		return err
	}
	member := &membership{Format: membershipFormat, ClusterID: reply.ClusterID, NodeID: n.opts.NodeID, ServerID: n.server}
	if err := member.write(n.opts.Dir); err != nil {
		return err
	}
	n.mu.Lock()
	n.member = member
	n.mu.Unlock()
	n.log.Info("joined a cluster", "cluster_id", reply.ClusterID, "node_id", n.opts.NodeID)
	return n.gossip.UpdateMeta()
}

// forgetFounding undoes what an interrupted founding has left: a group with this
// node as its only voter must not come to life.
func (n *Node) forgetFounding() error {
	if err := os.RemoveAll(filepath.Join(n.opts.Dir, raftDir)); err != nil {
		return err
	}
	store, err := storage.Open(n.opts.Dir, n.opts.plainStorage())
	if err != nil {
		return err
	}
	return errors.Join(store.MarkApplied(0), store.Close())
}

// serveJoin lets a node in, if this one leads partition 0, else it asks the one
// that does.
func (n *Node) serveJoin(ctx context.Context, q *joinRequest) (*joinReply, error) {
	leader, _ := n.routes.to(0)
	switch leader {
	case "":
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the cluster has no leader now")
	case n.server:
	default:
		return call[joinReply](ctx, n, leader, callJoin, q)
	}
	shared, err := n.opts.Shared(n.Alone())
	if err != nil {
		return nil, err
	}
	j := placement.Join{Node: placement.Node{ID: q.NodeID, Server: q.ServerID, Addr: q.Addr}, Partitions: q.Partitions}
	table, err := n.control.change(ctx, func(t *placement.Table, v placement.View) (*placement.Table, error) { return t.Admit(j, v) })
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeConflict, "%s", plainReason(err)).Because(err)
	}
	if err := n.opts.Joined(ctx, q.NodeID, q.ServerID, true); err != nil {
		return nil, fmt.Errorf("couldn't put on record that a node joins: %w", err)
	}
	return &joinReply{ClusterID: table.ClusterID, Shared: shared}, nil
}

// plainReason is why a change of the table was refused.
func plainReason(err error) string {
	known := []error{placement.ErrOtherCluster, placement.ErrOtherPartitions, placement.ErrNameTaken, placement.ErrGone,
		placement.ErrUnknownNode, placement.ErrLastNode, placement.ErrHolds}
	if i := slices.IndexFunc(known, func(e error) bool { return errors.Is(err, e) }); i >= 0 {
		return known[i].Error()
	}
	return "the cluster couldn't change its table now"
}
