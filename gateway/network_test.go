package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"ubl/test/memnet"
)

// Network joins the gateway and its providers by pipes in memory. In a bubble of
// synctest a call over it takes no time but that of its timeouts.
type Network struct {
	mu        sync.Mutex
	providers map[string]*memnet.Listener // by host
}

// Start runs a provider for as long as the test, and answers its URL.
func (n *Network) Start(t *testing.T, answer http.Handler) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.providers == nil {
		n.providers = make(map[string]*memnet.Listener)
	}
	host := fmt.Sprintf("provider%d.test:80", len(n.providers)+1)
	l := memnet.Listen()
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

func (n *Network) dial(ctx context.Context, network, host string) (net.Conn, error) {
	n.mu.Lock()
	l := n.providers[host]
	n.mu.Unlock()
	return l.Dial(ctx, network, host)
}
