package mesh

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/hashicorp/raft"
)

// layer takes the connections of one route: a net.Listener, and with Dial a
// raft.StreamLayer.
type layer struct {
	mesh     *Mesh
	route    route
	conns    *conns // those accepted and dialed
	keep     bool   // Close leaves them open, for who drains them
	accepted chan *conn
	ctx      context.Context // until Close
	cancel   context.CancelFunc
}

// RaftLayer opens a partition's Raft group on the port. Its addresses are
// server ids: Dial asks Options.Resolve where that server is. Close ends it
// with all its connections; then, or to replace it, it may be opened again.
func (m *Mesh) RaftLayer(partition int) raft.StreamLayer {
	if partition < 0 || partition > math.MaxUint16 {
		panic(fmt.Sprintf("there can be no partition %d", partition))
	}
	return m.open(route{raftProtocol, uint16(partition)}, &conns{}, false)
}

// BeatLayer opens the way of heartbeats on the port, which all groups share; its addresses
// are server ids, too. Peer tells who is at the other end of its connections. Nodes of
// earlier versions don't have it (see Member.Beats).
func (m *Mesh) BeatLayer() raft.StreamLayer {
	return m.open(route{protocol: beatProtocol}, &conns{}, false)
}

// GRPC is the listener for a gRPC server: TLS is done, so the server's transport
// credentials are the insecure ones. Close ends accepting alone, because a
// graceful stop drains what is open; Mesh.Close ends the connections.
func (m *Mesh) GRPC() net.Listener {
	return m.open(route{protocol: rpcProtocol}, &m.rpc, true)
}

// DialGRPC calls a server's gRPC server, for grpc.WithContextDialer.
func (m *Mesh) DialGRPC(ctx context.Context, serverID string) (net.Conn, error) {
	return m.dialServer(ctx, route{protocol: rpcProtocol}, serverID, &m.rpc)
}

// open makes a layer the taker of a route, in place of the one before.
func (m *Mesh) open(r route, owned *conns, keep bool) *layer {
	l := &layer{mesh: m, route: r, conns: owned, keep: keep, accepted: make(chan *conn)}
	l.ctx, l.cancel = context.WithCancel(m.ctx)
	m.mu.Lock()
	before := m.layers[r]
	m.layers[r] = l
	m.mu.Unlock()
	if before != nil {
		before.Close()
	}
	return l
}

// deliver hands a connection to Accept, or closes it.
func (l *layer) deliver(ctx context.Context, t *tls.Conn, peer string) error {
	c, ok := l.conns.own(t, peer)
	if !ok {
		return net.ErrClosed
	}
	select {
	case l.accepted <- c:
		return nil
	case <-l.ctx.Done():
	case <-ctx.Done():
	}
	c.Close()
	return errNoTaker
}

// Accept waits for the next connection. After Close it fails with net.ErrClosed.
func (l *layer) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close takes the layer off the port.
func (l *layer) Close() error {
	l.cancel()
	l.mesh.mu.Lock()
	if l.mesh.layers[l.route] == l {
		delete(l.mesh.layers, l.route)
	}
	l.mesh.mu.Unlock()
	if !l.keep {
		l.conns.closeAll()
	}
	return nil
}

// Addr is the server id, which is what Raft calls an address here.
func (l *layer) Addr() net.Addr { return serverAddr(l.mesh.o.ServerID) }

// Dial calls the same route at another server. The whole of it, TLS
// and preface too, may take the timeout, and at most HandshakeTimeout.
func (l *layer) Dial(server raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := l.ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(l.ctx, timeout, errSlow)
	}
	defer cancel()
	return l.mesh.dialServer(ctx, l.route, string(server), l.conns)
}

type serverAddr string

func (a serverAddr) Network() string { return "ubl" }
func (a serverAddr) String() string  { return string(a) }
