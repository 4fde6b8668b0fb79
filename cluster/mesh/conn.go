package mesh

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// closeGrace is how long closing may wait to say goodbye. TLS alone would wait
// for five seconds where the peer has stopped reading.
const closeGrace = 250 * time.Millisecond

// conn is a connection with a node of the cluster.
type conn struct {
	*tls.Conn
	peer  string // the server at its other end; "" where gossip called whoever is there
	owner *conns
	once  sync.Once
	err   error
}

// Peer is the server at the other end of a connection that a layer has dialed or accepted.
func Peer(c net.Conn) string { return c.(*conn).peer }

// Close says goodbye where that is quick, and closes in any case.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.owner.remove(c)
		abort := time.AfterFunc(closeGrace, func() { c.NetConn().Close() })
		defer abort.Stop()
		c.err = c.Conn.Close()
	})
	return c.err
}

// conns are the open connections of one owner, which end with it: hashicorp/raft
// leaves those it has accepted or pooled open when its transport is closed.
type conns struct {
	mu     sync.Mutex
	open   map[*conn]struct{}
	closed bool
}

// own makes t, whose other end is peer, one of the connections; it is closed when there
// are no more to be.
func (s *conns) own(t *tls.Conn, peer string) (*conn, bool) {
	c := &conn{Conn: t, peer: peer, owner: s}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		if s.open == nil {
			s.open = map[*conn]struct{}{}
		}
		s.open[c] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		c.Close()
	}
	return c, !closed
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
}

// closeRefused closes connections whose peer isn't accepted any more.
func (s *conns) closeRefused(accepts func(*tls.Conn) bool) {
	s.mu.Lock()
	var refused []*conn
	for c := range s.open {
		if !accepts(c.Conn) {
			refused = append(refused, c)
		}
	}
	s.mu.Unlock()
	for _, c := range refused {
		c.Close()
	}
}

// closeAll closes every connection, at once, and those to come.
func (s *conns) closeAll() {
	s.mu.Lock()
	s.closed = true
	open := s.open
	s.open = nil
	s.mu.Unlock()
	var wg sync.WaitGroup
	for c := range open {
		wg.Go(func() { c.Close() })
	}
	wg.Wait()
}
