// Package etcdload drives an etcd cluster through the cheapest client that
// speaks its protocol: a closed loop of clients, spread evenly over the nodes,
// each putting one value after another under keys that are used once.
//
// As in the official client, all clients share one connection a node. That one
// takes more than twice the CPU time of ready-made HTTP, which drives UBL, and
// the servers would miss it on the same cores.
package etcdload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawgrpc"
)

// grace is how much longer than the plan all puts may take in all; nothing
// that is measured comes near it.
const grace = 20 * time.Second

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
	ctx, cancel := context.WithTimeout(ctx, o.Warm+o.Length+grace)
	defer cancel()
	run := "bench/" + strconv.FormatInt(time.Now().UnixNano(), 36) + "/"
	var conns []*rawgrpc.Conn
	for i, host := range o.Hosts {
		conn, err := connect(ctx, host, fmt.Sprintf("%sfirst/%d/", run, i), o.Value)
		if err != nil {
			return load.Result{}, err
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	prefixes := 0
	sends, err := load.Spread(o.Clients, conns, func(c *rawgrpc.Conn) (load.Send, error) {
		prefixes++
		return put(c.Caller(), newPuts(fmt.Sprintf("%s%d/", run, prefixes), o.Value)), nil
	})
	if err != nil {
		return load.Result{}, err
	}
	r, err := load.Loop(ctx, o.Plan, sends)
	if err != nil {
		return load.Result{}, err
	}
	return r, count(ctx, o.Hosts[0], run, r.Sends+len(conns))
}

// connect connects to a node and puts once, so that neither connecting nor the first
// headers are part of anybody's put. The connection ends with ctx.
func connect(ctx context.Context, host, prefix, value string) (*rawgrpc.Conn, error) {
	conn, err := rawgrpc.Dial(host, putPath)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, conn.Close)
	if _, err := put(conn.Caller(), newPuts(prefix, value))(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("couldn't write to etcd at %s: %w", host, err)
	}
	return conn, nil
}

// put writes under a new key each time.
func put(c *rawgrpc.Caller, requests *puts) load.Send {
	return func(context.Context) (uint64, error) {
		reply, err := c.Do(requests.next())
		if refused, ok := errors.AsType[*rawgrpc.Status](err); ok {
			return 0, &load.Refusal{Reply: refused.Error()}
		}
		if err != nil {
			return 0, fmt.Errorf("a put was not acknowledged: %w", err)
		}
		return revision(reply)
	}
}

// count checks that every put acknowledged is a key of its own.
func count(ctx context.Context, host, prefix string, want int) error {
	conn, err := rawgrpc.Dial(host, rangePath)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)()
	reply, err := conn.Caller().Do(countOf(prefix))
	if err != nil {
		return fmt.Errorf("couldn't count etcd's keys: %w", err)
	}
	keys, err := number(reply, rangeCount)
	if err == nil && keys != uint64(want) {
		err = fmt.Errorf("etcd has %d keys after %d puts", keys, want)
	}
	return err
}
