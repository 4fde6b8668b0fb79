package cluster

import (
	"errors"
	"sync"
	"time"
)

// drainTimeout bounds how long a stopping node waits for what is in flight.
const drainTimeout = 5 * time.Second

// leaveTimeout bounds how long a stopping node tells others that it goes.
const leaveTimeout = time.Second

// Resign gives every leadership away, so that others serve what this node is
// about to stop serving. It waits until each transfer is over, done or not.
func (n *Node) Resign() {
	n.stopping.Store(true)
	var all sync.WaitGroup
	for _, g := range n.allGroups() {
		n.opts.Panics.Go(&all, "handing a partition over", func() {
			if err := g.resign(); err != nil {
				n.log.Warn("couldn't hand a partition over", "partition", g.partition, "error", err)
			}
		})
	}
	all.Wait()
}

// closeGroups settles what is in flight and ends all groups, halted ones too.
func (n *Node) closeGroups() error {
	var groups []*group
	n.replicas.Lock() // one that is being opened is there then, and none is opened after it
	for p := range n.engine.Partitions() {
		if g := n.held(p); g != nil {
			groups = append(groups, g)
		}
	}
	n.replicas.Unlock()
	drained := make(chan struct{})
	n.opts.Panics.Go(nil, "settling what is in flight", func() {
		defer close(drained)
		n.engine.Drain()
	})
	select {
	case <-drained:
	case <-time.After(drainTimeout):
	}
	errs := make([]error, len(groups))
	var all sync.WaitGroup
	for i, g := range groups {
		n.opts.Panics.Go(&all, "closing a replica", func() {
			_ = g.resign() // else the others would have to wait for an election
			errs[i] = g.close()
		})
	}
	all.Wait()
	<-drained // what Raft left unanswered is answered by its end
	return errors.Join(errs...)
}

// Close stops the node. Its actors must have stopped.
func (n *Node) Close() error {
	n.cancel()
	var errs []error
	if n.rpc != nil {
		n.rpc.Stop()
	}
	if n.engine != nil {
		errs = append(errs, n.closeGroups())
	}
	n.beats.stop()
	if n.gossip != nil {
		if err := n.gossip.Leave(leaveTimeout); err != nil {
			n.log.Debug("others weren't told that this node stops", "error", err)
		}
	}
	errs = append(errs, n.conns.close())
	if n.mesh != nil {
		errs = append(errs, n.mesh.Close())
	}
	n.work.Wait()
	if n.engine != nil {
		errs = append(errs, n.engine.Close())
	}
	return errors.Join(errs...)
}
