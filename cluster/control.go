package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/cluster/placement"
)

// tableNote is the table's name among partition 0's notes.
const tableNote = "cluster"

const (
	// controlEvery is how often the leader of partition 0 looks at the cluster while there is
	// something to do, and restEvery, here and elsewhere, while there is nothing.
	controlEvery = 500 * time.Millisecond
	restEvery    = 2 * time.Second
	// reportTimeout is how long a node has to say how it stands; one that doesn't
	// counts as dead for the moment.
	reportTimeout = time.Second
)

// controller decides what nodes there are and where replicas live. It works on
// the leader of partition 0 only; every step is derived anew from what is, so
// that it may be interrupted anywhere.
type controller struct {
	node *Node

	changing sync.Mutex // one change of the table at a time
	led      signal     // this node leads partition 0 since a moment ago

	// Owned by run:
	lastSeen map[string]time.Time // by server id
	moved    time.Time            // the last transfer of a leadership
}

func (c *controller) run() {
	for pause := controlEvery; ; {
		select {
		case <-c.node.ctx.Done():
			return
		case <-c.led:
		case <-time.After(pause):
		}
		if c.node.engine.Epoch(0) == 0 {
			c.lastSeen, pause = nil, restEvery
			continue
		}
		pause = controlEvery
		ctx, cancel := context.WithTimeout(c.node.ctx, 2*changeTimeout)
		done := false
		err := c.node.opts.Panics.Try("deciding placement", func() (err error) {
			done, err = c.balance(ctx)
			return err
		})
		cancel()
		switch {
		case err == nil && done:
			pause = restEvery
		case err != nil && c.node.engine.Epoch(0) != 0 && c.node.ctx.Err() == nil:
			c.node.log.Debug("the cluster isn't as it should be yet", "error", err)
		}
	}
}

// balance does what is next; done tells that nothing was.
func (c *controller) balance(ctx context.Context) (done bool, err error) {
	t, v, err := c.look(ctx)
	if err != nil {
		return false, err
	}
	c.count(t, &v)
	if next := c.revised(ctx, t, v); next != t {
		return false, c.revise(ctx, v)
	}
	steps := placement.Plan(t, v)
	if len(steps) > 0 {
		return false, c.carryOut(ctx, steps)
	}
	return c.spread(ctx, t, v)
}

// look reads the table and asks everyone how they stand. A cluster that was
// just founded gets its first table.
func (c *controller) look(ctx context.Context) (*placement.Table, placement.View, error) {
	t, err := c.table(ctx)
	if err != nil {
		return nil, placement.View{}, err
	}
	return t, viewOf(c.node.gather(ctx), c.node.engine.Partitions()), nil
}

func (c *controller) table(ctx context.Context) (*placement.Table, error) {
	n := c.node
	text, version, err := n.engine.Note(0, tableNote)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the cluster's table: %w", err)
	}
	if version > 0 {
		return placement.Decode(text)
	}
	me := placement.Node{ID: n.opts.NodeID, Server: n.server, Addr: n.mesh.Addr()}
	t, err := placement.New(n.clusterID(), n.engine.Partitions(), me)
	if err != nil {
		return nil, err
	}
	return t, n.engine.PutNote(ctx, 0, tableNote, 0, t.Encode())
}

// change changes the table, on the leader of partition 0.
func (c *controller) change(ctx context.Context, fn func(*placement.Table, placement.View) (*placement.Table, error)) (*placement.Table, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	t, v, err := c.look(ctx)
	if err != nil {
		return nil, err
	}
	next, err := fn(t, v)
	if err != nil || next == t {
		return next, err
	}
	return next, c.node.engine.PutNote(ctx, 0, tableNote, t.Version, next.Encode())
}

// count notes who was seen, and says who has been away for long.
func (c *controller) count(t *placement.Table, v *placement.View) {
	now := c.node.opts.Now()
	if c.lastSeen == nil { // it leads since a moment ago: all may be about to change
		c.lastSeen = make(map[string]time.Time)
		c.moved = now
	}
	v.LongDead = make(map[string]bool)
	for _, n := range t.Nodes {
		if _, ok := c.lastSeen[n.Server]; !ok || v.Alive[n.Server] {
			c.lastSeen[n.Server] = now
		}
		v.LongDead[n.Server] = now.Sub(c.lastSeen[n.Server]) > c.node.opts.DeadAfter
	}
}

// revise brings the table up to date.
func (c *controller) revise(ctx context.Context, v placement.View) error {
	_, err := c.change(ctx, func(t *placement.Table, fresh placement.View) (*placement.Table, error) {
		fresh.LongDead = v.LongDead
		return c.revised(ctx, t, fresh), nil
	})
	return err
}

// revised is the table with the addresses of now, without nodes that have left,
// and with who should vote where; the same where that is as it was.
func (c *controller) revised(ctx context.Context, t *placement.Table, v placement.View) *placement.Table {
	next := c.addresses(t, v)
	for _, n := range next.Nodes {
		if without, err := next.Forget(n.ID, v); err == nil && c.farewell(ctx, n) {
			next = without
		}
	}
	if next = placement.Assign(next, v); next != t {
		next.Version = t.Version + 1
	}
	return next
}

// farewell puts on record that a node is taken out. Where that can't be done now
// the node stays a while longer, and nothing else waits for it.
func (c *controller) farewell(ctx context.Context, n placement.Node) bool {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	err := c.node.opts.Joined(ctx, n.ID, n.Server, false)
	if err != nil {
		c.node.log.Warn("couldn't put on record that a node is removed", "node_id", n.ID, "error", err)
	}
	return err == nil
}

// addresses takes over where members say they are now.
func (c *controller) addresses(t *placement.Table, v placement.View) *placement.Table {
	for _, m := range c.node.gossip.Members() {
		known, ok := t.Server(m.ServerID)
		if !ok || known.Addr == m.Addr || m.State != mesh.Alive {
			continue
		}
		known.Addr = m.Addr
		if next, err := t.Admit(placement.Join{Node: known, ClusterID: t.ClusterID, Partitions: t.Partitions}, v); err == nil {
			t = next
		}
	}
	return t
}

// carryOut does the steps, which are of different partitions, side by side.
func (c *controller) carryOut(ctx context.Context, steps []placement.Step) error {
	errs := make([]error, len(steps))
	var all sync.WaitGroup
	for i, s := range steps {
		c.node.opts.Panics.Go(&all, "changing placement", func() {
			if err := c.node.opts.Panics.Try("changing placement", func() error { return c.do(ctx, s) }); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s, err)
			} else {
				c.node.log.Debug("cluster step", "step", s.String())
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (c *controller) do(ctx context.Context, s placement.Step) error {
	n := c.node
	if s.ByLeader() {
		q := &changeRequest{Kind: int(s.Kind), Partition: s.Partition, Server: s.Server, Term: s.Term, Config: s.Config}
		if s.Leader == n.server {
			_, err := n.serveChange(ctx, q)
			return err
		}
		_, err := call[none](ctx, n, s.Leader, callChange, q)
		return err
	}
	q := &replicaRequest{Partition: s.Partition, Close: s.Kind == placement.CloseReplica, Config: s.Config}
	if s.Server == n.server {
		_, err := n.serveReplica(ctx, q)
		return err
	}
	_, err := call[none](ctx, n, s.Server, callReplica, q)
	return err
}

// spread moves one leadership, now and then; done tells that all are well spread. A node
// that is stopping gets none.
func (c *controller) spread(ctx context.Context, t *placement.Table, v placement.View) (done bool, err error) {
	s := placement.Leaders(t, v)
	if s == nil {
		return true, nil
	}
	now := c.node.opts.Now()
	if now.Sub(c.moved).Abs() < c.node.opts.SpreadEvery {
		return false, nil
	}
	c.moved = now
	return false, c.do(ctx, *s)
}

// Remove takes a node out of the cluster: its places go to others, then it is
// forgotten. It may be asked of any node. The leader of partition 0 decides, one removal
// after the other: it refuses one while another is under way, and one after which fewer
// than three nodes stay. Where keep is above 0 so many must stay, and no more is asked.
func (n *Node) Remove(ctx context.Context, nodeID string, keep int) error {
	leader, _ := n.routes.to(0)
	switch leader {
	case "":
		return ubl.Errorf(ubl.CodeUnavailable, "the cluster has no leader now")
	case n.server:
	default:
		_, err := call[none](ctx, n, leader, callLeave, &leaveRequest{NodeID: nodeID, Keep: keep})
		return err
	}
	_, err := n.control.change(ctx, func(t *placement.Table, _ placement.View) (*placement.Table, error) { return t.Leave(nodeID, keep) })
	switch {
	case errors.Is(err, placement.ErrUnknownNode):
		return ubl.Errorf(ubl.CodeNotFound, "there is no such node")
	case errors.Is(err, placement.ErrLastNode):
		return ubl.Errorf(ubl.CodeConflict, "the last node can't leave")
	case errors.Is(err, placement.ErrBusy):
		return ubl.Errorf(ubl.CodeConflict, "another node is being removed: wait until \"ubl cluster status\" no longer lists it, or say how many nodes must stay (--keep N)")
	case errors.Is(err, placement.ErrFew):
		return ubl.Errorf(ubl.CodeConflict, "too few nodes would stay: with two, either one that is down stops everything, and with one no other disk has the data. Add a node first, or say how many must stay (--keep N)")
	}
	return err
}

func (n *Node) serveLeave(ctx context.Context, q *leaveRequest) (*none, error) {
	if leader, _ := n.routes.to(0); leader != n.server {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "this node doesn't lead partition 0")
	}
	return &none{}, n.Remove(ctx, q.NodeID, q.Keep)
}
