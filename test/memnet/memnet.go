// Package memnet joins clients and servers of a test by pipes in memory. In a bubble of
// testing/synctest, calls over it take no time but that of their timeouts.
package memnet

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Listener takes the connections that [Listener.Dial] makes. Safe for concurrent use.
type Listener struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen makes a listener. The caller closes it.
func Listen() *Listener {
	return &Listener{calls: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, for [http.Transport]: it looks at no address.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.calls <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It may be called twice.
func (l *Listener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

// Addr implements [net.Listener]. The certificate of httptest is good for it.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// ServeTLS starts a server of httptest, with its client, over a listener of its own.
func ServeTLS(s *httptest.Server) {
	l := Listen()
	_ = s.Listener.Close() // the port that httptest took
	s.Listener = l
	s.StartTLS()
	s.Client().Transport.(*http.Transport).DialContext = l.Dial
}
