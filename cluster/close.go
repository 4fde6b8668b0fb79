package cluster

import (
	"errors"
	"sync"
	"time"
)

// leaveTimeout bounds how long a stopping node tells others that it goes.
const leaveTimeout = time.Second

// Resign gives every leadership away, so that others serve what this node is
// about to stop serving. It waits until each transfer is over, done or not.
func (n *Node) Resign() {
	n.stopping.Store(true)
	var all sync.WaitGroup
	for _, g := range n.allGroups() {
		all.Go(func() {
			if err := g.resign(); err != nil {
				n.log.Warn("couldn't hand a partition over", "partition", g.partition, "error", err)
			}
		})
	}
	all.Wait()
}

// Close stops the node. Its actors must have stopped.
func (n *Node) Close() error {
	n.cancel()
	var errs []error
	if n.rpc != nil {
		n.rpc.Stop()
	}
	if n.engine != nil {
		n.engine.Drain()
		for _, g := range n.allGroups() {
			errs = append(errs, g.close())
		}
	}
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
