package cluster

import (
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"ubl/panics"
)

// severable is a group's way to its peers, which can be cut: Raft ends only when
// all it has under way has ended, and a snapshot on its way to or from a node
// that was paused has minutes to arrive.
type severable struct {
	raft.StreamLayer

	panics *panics.Catcher

	mu    sync.Mutex
	cut   bool
	conns map[*keptConn]struct{}
}

func newSeverable(s raft.StreamLayer, c *panics.Catcher) *severable {
	return &severable{StreamLayer: s, panics: c, conns: make(map[*keptConn]struct{})}
}

// Dial implements raft.StreamLayer.
func (s *severable) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return s.keep(s.StreamLayer.Dial(to, timeout))
}

// Accept implements net.Listener.
func (s *severable) Accept() (net.Conn, error) { return s.keep(s.StreamLayer.Accept()) }

func (s *severable) keep(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	kept := &keptConn{Conn: c, of: s}
	s.conns[kept] = struct{}{}
	return kept, nil
}

// sever closes every connection, now and from now on.
func (s *severable) sever() {
	s.mu.Lock()
	s.cut = true
	var all []*keptConn
	for c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		// It says goodbye first, which may take a moment; who uses it is told by its
		// reads and writes.
		s.panics.Go(nil, "closing a connection", func() { _ = c.Close() })
	}
}

// keptConn is a connection that is known until it is closed.
type keptConn struct {
	net.Conn
	of *severable
}

// Close implements net.Conn.
func (c *keptConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
