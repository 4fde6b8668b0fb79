package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"ubl"
	"ubl/cluster/placement"
	"ubl/durable"
)

// errStops is the refusal to open a replica at a node that stops.
var errStops = ubl.Errorf(ubl.CodeUnavailable, "this node stops")

// startReplica starts this node's part in a partition's group; it may be
// started already.
func (n *Node) startReplica(partition int) error {
	n.replicas.Lock()
	defer n.replicas.Unlock()
	if n.ctx.Err() != nil {
		return errStops
	}
	if n.held(partition) != nil {
		return nil
	}
	g, err := n.openGroup(partition)
	n.mu.Lock()
	if err != nil {
		n.closed[partition] = err
	} else {
		n.groups[partition] = g
		delete(n.closed, partition)
	}
	n.mu.Unlock()
	if err != nil {
		return err
	}
	n.routes.changed(partition)
	return nil
}

// endReplica ends it and deletes what it had.
func (n *Node) endReplica(partition int, config uint64) error {
	n.replicas.Lock()
	defer n.replicas.Unlock()
	g := n.held(partition)
	if g == nil {
		return nil
	}
	c := g.configuration()
	if c.index > config || slices.Contains(append(c.voters, c.learners...), n.server) && c.index == config {
		return ubl.Errorf(ubl.CodeConflict, "the partition's configuration isn't as it was")
	}
	if err := g.close(); err != nil {
		return err
	}
	n.drop(g)
	if err := n.engine.Reset(partition); err != nil { // before the log, which says what it has
		return err
	}
	return os.RemoveAll(groupDir(n.opts.Dir, partition))
}

// drop takes a group out of the node's, if it is still there.
func (n *Node) drop(g *group) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.groups[g.partition] == g {
		delete(n.groups, g.partition)
	}
}

// serveReplica opens or closes a replica, for the leader of partition 0.
func (n *Node) serveReplica(_ context.Context, q *replicaRequest) (*none, error) {
	if q.Partition < 0 || q.Partition >= n.engine.Partitions() {
		return nil, ubl.Errorf(ubl.CodeValidation, "there is no such partition")
	}
	if !q.Close {
		return &none{}, n.startReplica(q.Partition)
	}
	return &none{}, n.endReplica(q.Partition, q.Config)
}

// changeTimeout bounds one change of a group's configuration.
const changeTimeout = 5 * time.Second

// serveChange changes a group that this node leads, if it is still as the step
// says.
func (n *Node) serveChange(_ context.Context, q *changeRequest) (*none, error) {
	g := n.group(q.Partition)
	if g == nil || g.raft.State() != raft.Leader || n.engine.Epoch(q.Partition) != int64(q.Term) {
		return nil, ubl.Errorf(ubl.CodeConflict, "this node doesn't lead the partition in that term")
	}
	id, addr := raft.ServerID(q.Server), raft.ServerAddress(q.Server)
	var err error
	switch placement.Kind(q.Kind) {
	case placement.AddLearner:
		err = g.await(g.raft.AddNonvoter(id, addr, q.Config, changeTimeout))
	case placement.Promote:
		err = g.await(g.raft.AddVoter(id, addr, q.Config, changeTimeout))
	case placement.Remove:
		err = g.await(g.raft.RemoveServer(id, q.Config, changeTimeout))
	case placement.TransferLeader:
		err = g.handOver(id)
	default:
		return nil, ubl.Errorf(ubl.CodeValidation, "there is no such change")
	}
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the change was not made").Because(err)
	}
	return &none{}, nil
}

// reopen brings back a replica that was halted, once its disk takes writes.
func (n *Node) reopen(g *group) {
	if err := g.resign(); err != nil {
		n.log.Debug("couldn't hand a partition over", "partition", g.partition, "error", err)
	}
	if err := g.close(); err != nil {
		n.log.Warn("couldn't close a replica", "partition", g.partition, "error", err)
	}
	select {
	case <-g.closed: // not before: two can't have one log
	case <-n.ctx.Done():
		return
	}
	n.replicas.Lock() // it may still be starting
	n.drop(g)
	n.setUnopened(g.partition, *g.halted.Load())
	n.replicas.Unlock()
	n.startLater(g.partition)
}

// startLater starts a replica as soon as its disk takes writes and it can be
// opened.
func (n *Node) startLater(partition int) {
	for told := ""; ; {
		select {
		case <-n.ctx.Done():
			return
		case <-time.After(reopenAgain):
		}
		err := n.opts.probe(n.opts.Dir, partition)
		if err == nil {
			err = n.startReplica(partition)
		} else {
			n.setUnopened(partition, err)
		}
		if err == nil {
			n.log.Info("a replica works again", "partition", partition)
			return
		}
		if err.Error() != told {
			told = err.Error()
			n.log.Warn("a replica still can't work", "partition", partition, "error", err)
		}
	}
}

const (
	// reopenAgain is how often a halted replica tries to come back.
	reopenAgain = 3 * time.Second
	// probeBytes must fit on the disk before one does.
	probeBytes = 8 << 20
)

// probe reports whether the disk takes writes. Each partition has a file of its
// own: on a full disk many are halted together, and try together.
func probe(dir string, partition int) error {
	path := filepath.Join(dir, fmt.Sprintf("probe-%d", partition))
	err := durable.Write(path, make([]byte, probeBytes))
	return errors.Join(err, os.Remove(path))
}
