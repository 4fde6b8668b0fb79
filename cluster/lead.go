package cluster

import (
	"context"
	"errors"

	"github.com/hashicorp/raft"

	"ubl"
)

// lead follows whether this node leads the group.
func (g *group) lead() {
	for {
		select {
		case won := <-g.notify:
			g.node.opts.Panics.Do("losing a partition", g.lose)
			g.lookNow.raise()
			if won {
				g.node.opts.Panics.Do("winning a partition", g.win)
			}
		case <-g.seen:
			g.node.routes.changed(g.partition)
		case <-g.stop:
			g.lose()
			return
		}
	}
}

// win begins to serve the partition, once everything before is applied here.
func (g *group) win() {
	term := g.raft.CurrentTerm()
	err := g.await(g.raft.Barrier(0))
	if errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		g.halt(errStuckTransfer)
	}
	if err != nil {
		return // lost again; a notification follows
	}
	if g.raft.State() != raft.Leader || g.raft.CurrentTerm() != term {
		return
	}
	g.node.engine.Lead(g.partition, int64(term))
	if local := g.node.local.Load(); local != nil {
		(*local).Led(g.partition)
	}
	if g.partition == 0 {
		g.node.control.led.raise()
	}
	g.node.log.Info("leads a partition", "partition", g.partition, "term", term)
	g.node.routes.changed(g.partition)
}

// lose ends that: first nothing is written or read any more, then the actors
// stop, whose state others may change from now on.
func (g *group) lose() {
	if g.node.engine.Epoch(g.partition) == 0 {
		return
	}
	g.node.engine.Lead(g.partition, 0)
	g.node.evict(g.partition)
	g.node.log.Info("no longer leads a partition", "partition", g.partition)
	g.node.routes.changed(g.partition)
}

// leader is the server id of the group's leader as far as it is known here.
func (g *group) leader() string {
	_, id := g.raft.LeaderWithID()
	return string(id)
}

// confirm reports whether this node, which led in the given epoch, still led when
// confirm was called.
func (g *group) confirm(ctx context.Context, epoch int64) error {
	term, err := g.confirms.confirm(ctx)
	if err == nil && int64(term) != epoch {
		err = errOutvoted
	}
	if err != nil {
		return ubl.Errorf(ubl.CodeUnavailable, "another node may have taken over").Because(err)
	}
	return nil
}

// await is a future's outcome. Raft leaves some unanswered when it ends.
func (g *group) await(f raft.Future) error {
	done := make(chan error, 1)
	g.node.opts.Panics.Go(nil, "waiting for Raft", func() { done <- f.Error() })
	select {
	case err := <-done:
		return err
	case <-g.ended:
		return raft.ErrRaftShutdown
	}
}
