package limits

import (
	"net"
	"sync/atomic"
	"time"
)

// unknownIdle is how long a connection over which nobody has signed in may be silent.
const unknownIdle = 30 * time.Second

// full is said to a connection that has no place, before anything is read of it.
const full = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 76\r\n\r\n" +
	"Too many connections from this address (limit connections-ip): close some.\r\n"

// Listen is a listener that gives each address so many places, and proxies as many as
// they want. A connection without a place is told so and closed.
func (l *Limiter) Listen(ln net.Listener) net.Listener {
	if l == nil || l.table[ConnectionsIP] == 0 {
		return ln
	}
	return &listener{Listener: ln, limiter: l}
}

type listener struct {
	net.Listener
	limiter *Limiter
}

// Accept returns the next connection that has a place.
func (ln *listener) Accept() (net.Conn, error) {
	for {
		raw, err := ln.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := peerOf(raw.RemoteAddr().String())
		if ln.limiter.proxy(peer) {
			return raw, nil
		}
		release, err := ln.limiter.hold(holder{ConnectionsIP, network(peer)})
		if err == nil {
			return &Conn{Conn: raw, release: release}, nil
		}
		_ = raw.SetWriteDeadline(time.Now().Add(time.Second)) // the socket's buffer is empty: this doesn't wait
		_, _ = raw.Write([]byte(full))
		_ = raw.Close()
	}
}

// Conn is a connection that holds a place. Until somebody has signed in over it, it may
// be silent for a short while only.
type Conn struct {
	net.Conn
	release func()
	known   atomic.Bool
}

// Known says that somebody has signed in over the connection.
func (c *Conn) Known() { c.known.Store(true) }

// SetReadDeadline sets an earlier deadline while nobody has signed in.
func (c *Conn) SetReadDeadline(at time.Time) error {
	if soon := time.Now().Add(unknownIdle); !at.IsZero() && !c.known.Load() && at.After(soon) {
		at = soon
	}
	return c.Conn.SetReadDeadline(at)
}

// Close closes the connection and gives its place back.
func (c *Conn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
