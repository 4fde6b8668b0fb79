package gateway

import (
	"net/http"
	"testing"

	"ubl/test/memnet"
)

// TransportOver is the gateway's own transport over a network in memory. In a bubble of
// synctest a call over it takes no time but that of its timeouts.
func TransportOver(t *testing.T, n *memnet.Network) *http.Transport {
	transport := newTransport()
	transport.Proxy, transport.DialContext = nil, n.Dial
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
