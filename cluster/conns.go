package cluster

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ubl"
)

const (
	keepaliveEvery   = 10 * time.Second
	keepaliveTimeout = 3 * time.Second
)

// reconnect tries a node that can't be reached again soon: it may just restart.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 2 * time.Second,
}

// conns are the connections to other nodes, one each.
type conns struct {
	node *Node

	mu     sync.Mutex
	open   map[string]*grpc.ClientConn
	closed bool
}

func (c *conns) to(server string) (*grpc.ClientConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "this node is stopping")
	}
	if conn := c.open[server]; conn != nil {
		return conn, nil
	}
	conn, err := c.node.dial(server)
	if err != nil {
		return nil, err
	}
	if c.open == nil {
		c.open = make(map[string]*grpc.ClientConn)
	}
	c.open[server] = conn
	return conn, nil
}

// drop closes the connection to a server; who asks it next gets a new one.
func (c *conns) drop(server string) {
	c.mu.Lock()
	conn := c.open[server]
	delete(c.open, server)
	c.mu.Unlock()
	if conn != nil {
		_ = conn.Close() // it is given up
	}
}

func (c *conns) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var all error
	for _, conn := range c.open {
		all = errors.Join(all, conn.Close())
	}
	return all
}

// asStatus carries an [ubl.Error]'s code and message over gRPC.
func asStatus(err error) error {
	if err == nil {
		return nil
	}
	e := ubl.AsError(err)
	code := codes.Unknown
	switch e.Code {
	case ubl.CodeUnavailable, ubl.CodeOverloaded:
		code = codes.Unavailable
	case ubl.CodeConflict:
		code = codes.Aborted
	case ubl.CodeNotFound:
		code = codes.NotFound
	}
	return status.Error(code, e.Message)
}

// fromStatus is the other way. What went wrong on the way is unavailable.
func fromStatus(server string, err error) error {
	s, _ := status.FromError(err)
	code := ubl.CodeUnavailable
	switch s.Code() {
	case codes.Aborted:
		code = ubl.CodeConflict
	case codes.NotFound:
		code = ubl.CodeNotFound
	case codes.Unknown, codes.Internal, codes.Unimplemented:
		code = ubl.CodeInternal
	}
	return ubl.Errorf(code, "%s", s.Message()).Because(fmt.Errorf("node %s: %w", server, err))
}
