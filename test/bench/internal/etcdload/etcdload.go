// Package etcdload drives an etcd cluster through its official client: a
// closed loop of clients, spread evenly over the nodes, each putting one value
// after another under keys that are used once.
package etcdload

import (
	"context"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"ubl/test/bench/internal/load"
)

const (
	// dialTimeout bounds connecting to a node.
	dialTimeout = 10 * time.Second
	// grace is how much longer than the plan all puts may take in all; nothing
	// that is measured comes near it.
	grace = 20 * time.Second
)

// Options say what to do to whom.
type Options struct {
	Hosts   []string // HOST:PORT of each node
	Clients int
	Value   string
	load.Plan
}

// Run drives the cluster until the time is up. Each node has one connection,
// which its clients share, as etcd recommends: requests are streams of it.
//
// The numbers checked are etcd's own revisions, which rise by one with every
// put. In the end etcd is asked how many keys there are: it must be as many as
// puts that were acknowledged.
func Run(ctx context.Context, o Options) (load.Result, error) {
	conns, closeAll, err := dial(ctx, o.Hosts)
	if err != nil {
		return load.Result{}, err
	}
	defer closeAll()
	ctx, cancel := context.WithTimeout(ctx, o.Warm+o.Length+grace)
	defer cancel()
	run := "bench/" + strconv.FormatInt(time.Now().UnixNano(), 36) + "/"
	prefixes := 0
	sends, err := load.Spread(o.Clients, conns, func(c *clientv3.Client) (load.Send, error) {
		prefixes++
		return put(c, fmt.Sprintf("%s%d/", run, prefixes), o.Value), nil
	})
	if err != nil {
		return load.Result{}, err
	}
	r, err := load.Loop(ctx, o.Plan, sends)
	if err != nil {
		return load.Result{}, err
	}
	return r, count(ctx, conns[0], run, r.Sends)
}

// dial connects to every node and makes a first request, so that connecting
// is not part of anybody's put.
func dial(ctx context.Context, hosts []string) (conns []*clientv3.Client, closeAll func(), err error) {
	closeAll = func() {
		for _, c := range conns {
			c.Close() // nothing is under way
		}
	}
	for _, host := range hosts {
		c, err := clientv3.New(clientv3.Config{
			Endpoints: []string{"http://" + host}, DialTimeout: dialTimeout, Logger: zap.NewNop(),
		})
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("couldn't make a client for etcd: %w", err)
		}
		conns = append(conns, c)
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		_, err = c.Get(ctx, "bench")
		cancel()
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("couldn't read from etcd at %s: %w", host, err)
		}
	}
	return conns, closeAll, nil
}

// put writes under a new key each time.
func put(c *clientv3.Client, prefix, value string) load.Send {
	n := 0
	return func(ctx context.Context) (uint64, error) {
		n++
		reply, err := c.Put(ctx, prefix+strconv.Itoa(n), value)
		if err != nil {
			return 0, fmt.Errorf("a put was not acknowledged: %w", err)
		}
		return uint64(reply.Header.Revision), nil
	}
}

// count checks that every put acknowledged is a key of its own.
func count(ctx context.Context, c *clientv3.Client, prefix string, want int) error {
	reply, err := c.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("couldn't count etcd's keys: %w", err)
	}
	if reply.Count != int64(want) {
		return fmt.Errorf("etcd has %d keys after %d puts", reply.Count, want)
	}
	return nil
}
