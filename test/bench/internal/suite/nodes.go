package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ubl/test/bench/internal/proc"
)

// nodeCount is how many nodes a cluster has.
const nodeCount = 3

// node is one process of a cluster, which can be started again as it was.
type node struct {
	*proc.Server
	spec  proc.Spec
	admin string // HOST:PORT of its metrics
}

// cluster is the nodes of one server; a server alone is one, too.
type cluster struct {
	nodes []*node
	token string
}

// startNodes starts all nodes at once: none may be ready before it has seen
// the others.
func startNodes(ctx context.Context, nodes []*node, ready func(host string) error) (*cluster, error) {
	c := &cluster{nodes: nodes}
	for _, n := range nodes {
		if err := n.start(ctx); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	for _, n := range nodes {
		if err := n.await(ctx, ready); err != nil {
			return nil, errors.Join(err, c.stop(), n.Complaint())
		}
	}
	return c, nil
}

func (n *node) start(ctx context.Context) (err error) {
	n.Server, err = proc.Start(ctx, n.spec)
	return err
}

// await polls a node until it is ready or has ended.
func (n *node) await(ctx context.Context, ready func(host string) error) error {
	last := errors.New("no answer")
	for begin := time.Now(); time.Since(begin) < readyTimeout; {
		if last = ready(n.Host); last == nil {
			return nil
		}
		select {
		case <-n.Exited():
			return errors.Join(fmt.Errorf("%s ended before it was ready", n.spec.Name), n.Complaint())
		case <-ctx.Done():
			return fmt.Errorf("couldn't wait for %s: %w", n.spec.Name, context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
	return fmt.Errorf("%s was not ready in time: %w", n.spec.Name, last)
}

// stop ends the nodes that were started, all at once, as one would stop the
// whole cluster.
func (c *cluster) stop() error {
	ended := make(chan error, len(c.nodes))
	started := 0
	for _, n := range c.nodes {
		if n.Server != nil {
			started++
			go func() { ended <- n.Stop() }()
		}
	}
	var err error
	for range started {
		err = errors.Join(err, <-ended)
	}
	return err
}

// hosts are the nodes' addresses as the load generators take them.
func (c *cluster) hosts() string {
	hosts := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		hosts[i] = n.Host
	}
	return strings.Join(hosts, ",")
}

// pids are the nodes' process ids as the load generators take them.
func (c *cluster) pids() string {
	pids := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		pids[i] = strconv.Itoa(n.Pid())
	}
	return strings.Join(pids, ",")
}

// complaint is what the nodes have logged last.
func (c *cluster) complaint() error {
	var err error
	for _, n := range c.nodes {
		err = errors.Join(err, n.Complaint())
	}
	return err
}
