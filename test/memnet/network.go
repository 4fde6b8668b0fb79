package memnet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Network is hosts that answer over pipes, each under a name of its own. The zero value
// has none.
type Network struct {
	mu    sync.Mutex
	hosts map[string]*Listener
}

// Start runs a host for as long as the test, and answers its URL.
func (n *Network) Start(t testing.TB, answer http.Handler) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts == nil {
		n.hosts = make(map[string]*Listener)
	}
	host := fmt.Sprintf("host%d.test:80", len(n.hosts)+1)
	l := Listen()
	n.hosts[host] = l
	s := &http.Server{Handler: answer}
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(l) }) // until it is closed
	t.Cleanup(func() { _ = s.Close(); running.Wait() })
	return "http://" + host
}

// Dial connects to a host, for [http.Transport]. An unknown host refuses.
func (n *Network) Dial(ctx context.Context, network, host string) (net.Conn, error) {
	n.mu.Lock()
	l := n.hosts[host]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("nobody listens at %s", host)}
	}
	return l.Dial(ctx, network, host)
}
