package limits

import (
	"container/list"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// unknownIdle is how long a connection over which nobody has signed in may be silent.
const unknownIdle = 30 * time.Second

// Bounds of a parting. A socket that is closed while it has input unread resets the
// connection, and the refusal is lost: so what comes is read for a moment. Partings are
// few at a time; beyond that connections are closed at once.
const (
	maxPartings  = 128
	partingTime  = time.Second
	partingBytes = 64 << 10
)

// refusal is said to a connection that has no place, before anything is read of it.
func refusal(met Name) string {
	text := "Too many connections from this address (limit connections-ip): close some.\r\n"
	if met == Connections {
		text = "Too many connections to this server (limit connections): try again later.\r\n"
	}
	return fmt.Sprintf("HTTP/1.1 429 Too Many Requests\r\nRetry-After: %d\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s",
		int(openAgain.Seconds()), len(text), text)
}

// Listen is a listener that has so many places in all, and so many for each address;
// proxies share those in all only. A connection for which nobody gives way is told so
// and closed.
func (l *Limiter) Listen(ln net.Listener) net.Listener {
	if l == nil || l.table[ConnectionsIP] == 0 && l.table[Connections] == 0 {
		return ln
	}
	return &listener{Listener: ln, limiter: l}
}

type listener struct {
	net.Listener
	limiter  *Limiter
	partings atomic.Int64
}

// Accept returns the next connection that has a place.
func (ln *listener) Accept() (net.Conn, error) {
	for {
		raw, err := ln.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{Conn: raw, places: ln.limiter.places}
		if peer := peerOf(raw.RemoteAddr().String()); ln.limiter.proxy(peer) {
			c.known.Store(true) // it brings many, who may have signed in
		} else {
			c.who = network(peer)
		}
		switch met, gone := c.places.enter(c); {
		case gone != nil:
			ln.limiter.dropped[met].Add(1)
			_ = gone.Close()
		case met != "":
			ln.limiter.refused[met].Add(1)
			ln.part(raw, met)
			continue
		}
		return c, nil
	}
}

// part refuses a connection. It doesn't wait.
func (ln *listener) part(raw net.Conn, met Name) {
	_ = raw.SetDeadline(time.Now().Add(partingTime))
	_, _ = io.WriteString(raw, refusal(met)) // the socket's buffer is empty: this doesn't wait
	half, ok := raw.(interface{ CloseWrite() error })
	if !ok || ln.partings.Add(1) > maxPartings {
		if ok {
			ln.partings.Add(-1)
		}
		_ = raw.Close()
		return
	}
	_ = half.CloseWrite()
	go func() {
		defer ln.partings.Add(-1)
		_, _ = io.CopyN(io.Discard, raw, partingBytes)
		_ = raw.Close()
	}()
}

// Conn is a connection that holds a place. Until somebody has signed in over it, it may
// be silent for a short while only, and gives way to others.
type Conn struct {
	net.Conn
	places *places
	who    string // the address; "" for one that has no bound of its own
	known  atomic.Bool
	// Guarded by the places' mu. The elements are nil where it is no stranger.
	held         bool
	inAll, inOwn *list.Element
}

// Known says that somebody has signed in over the connection.
func (c *Conn) Known() {
	if !c.known.Swap(true) {
		c.places.know(c)
	}
}

// SetReadDeadline sets an earlier deadline while nobody has signed in.
func (c *Conn) SetReadDeadline(at time.Time) error {
	if !at.IsZero() && !c.known.Load() {
		if soon := time.Now().Add(unknownIdle); at.After(soon) {
			at = soon
		}
	}
	return c.Conn.SetReadDeadline(at)
}

// Close closes the connection and gives its place back.
func (c *Conn) Close() error {
	defer c.places.leave(c)
	return c.Conn.Close()
}
