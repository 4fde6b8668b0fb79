package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Network joins the gateway and its providers by pipes in memory. In a bubble of
// synctest a call over it takes no time but that of its timeouts.
type Network struct {
	mu        sync.Mutex
	providers map[string]*listener // by host
}

// Start runs a provider for as long as the test, and answers its URL.
func (n *Network) Start(t *testing.T, answer http.Handler) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.providers == nil {
		n.providers = make(map[string]*listener)
	}
	host := fmt.Sprintf("provider%d.test:80", len(n.providers)+1)
	l := &listener{calls: make(chan net.Conn), closed: make(chan struct{})}
	n.providers[host] = l
	s := &http.Server{Handler: answer}
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(l) }) // until it is closed
	t.Cleanup(func() { _ = s.Close(); running.Wait() })
	return "http://" + host + "/v1"
}

// Transport is the gateway's own, over this network.
func (n *Network) Transport(t *testing.T) *http.Transport {
	transport := newTransport()
	transport.Proxy, transport.DialContext = nil, n.dial
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func (n *Network) dial(ctx context.Context, _, host string) (net.Conn, error) {
	n.mu.Lock()
	l := n.providers[host]
	n.mu.Unlock()
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

// listener is where a provider takes its calls.
type listener struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }
