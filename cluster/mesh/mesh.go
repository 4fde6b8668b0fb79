package mesh

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"ubl/panics"
)

// The protocols of the port. Each has its version in its name: a change of what
// is spoken gets another one.
const (
	raftProtocol   = "ubl-raft/1"
	beatProtocol   = "ubl-beat/1"
	rpcProtocol    = "ubl-rpc/1"
	gossipProtocol = "ubl-gossip/1"
)

// Options are what a node needs to speak with others. NodeID, ServerID,
// Credentials and Secret must be given.
type Options struct {
	// Listen is the HOST:PORT to listen on, TCP and UDP; port 0 picks one.
	Listen string
	// Advertise is the HOST:PORT that others dial (Listen); a name is resolved by
	// those who dial it, each time.
	Advertise string
	// NodeID is the operator's name for this node; ServerID is that of its data.
	NodeID, ServerID string
	Credentials      *Credentials
	// Secret gives the key of gossip, with an own PKI too.
	Secret Secret
	// ClusterID is the id of the cluster this node belongs to, empty before it
	// belongs to one. StartGossip and Gossip.UpdateMeta ask for it. Nil: none.
	ClusterID func() string
	// Resolve says where a server is now. It is asked for every Dial, by many at
	// once. Nil knows nobody.
	Resolve func(serverID string) (addr string, ok bool)
	// Called is told who calls, once it has proved itself and before its connection is
	// handed on. It must not block. Nil: nobody is told.
	Called func(serverID string)
	Log    *slog.Logger     // slog.Default
	Panics *panics.Catcher  // catches what panics over one connection
	Now    func() time.Time // time.Now; for certificates and logs
	// HandshakeTimeout is how long TLS and preface may take (5 s).
	HandshakeTimeout time.Duration
	// MaxHandshakes is how many may be pending (256); half of the places are kept for
	// hosts of known nodes. Where there is none, the longest pending gives way.
	MaxHandshakes int
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.HandshakeTimeout = cmp.Or(o.HandshakeTimeout, 5*time.Second)
	o.MaxHandshakes = cmp.Or(o.MaxHandshakes, 256)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ClusterID == nil {
		o.ClusterID = func() string { return "" }
	}
	if o.Called == nil {
		o.Called = func(string) {}
	}
	if o.Resolve == nil {
		o.Resolve = func(string) (string, bool) { return "", false }
	}
	return o
}

func (o Options) check() error {
	switch {
	case !validID(o.NodeID), !validID(o.ServerID):
		return errors.New("couldn't listen between nodes: node and server ids are 1 to 128 printable characters without spaces")
	case o.Credentials == nil:
		return errors.New("couldn't listen between nodes: there are no credentials")
	case len(o.Secret.all()) == 0:
		return errNoSecret
	}
	return nil
}

// route is what a connection is for.
type route struct {
	protocol  string
	partition uint16
}

// Mesh is a node's port to the others. Its methods may be called by many at once.
type Mesh struct {
	o         Options
	advertise string
	// credentials are the newest; see SetSecret.
	credentials atomic.Pointer[Credentials]
	tcp         net.Listener
	udp         *net.UDPConn
	gate        *gate
	refusals    *limiter
	rpc         conns // every gRPC connection, accepted or dialed

	ctx    context.Context // until Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	layers map[route]*layer // who takes the connections of a route
	gossip *Gossip          // the one that is running
	secret Secret           // the newest

	closing  sync.Once
	closeErr error
}

// Listen opens the port. Connections are refused until RaftLayer, GRPC and
// StartGossip say who takes them.
func Listen(o Options) (*Mesh, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	tcp, udp, err := bind(o.Listen)
	if err != nil {
		return nil, err
	}
	advertise, err := advertised(o.Advertise, hostPort(o.Listen, tcp), tcp.Addr().(*net.TCPAddr))
	if err != nil {
		return nil, errors.Join(err, tcp.Close(), udp.Close())
	}
	m := &Mesh{
		o: o, advertise: advertise, tcp: tcp, udp: udp,
		gate:     newGate(o.MaxHandshakes),
		refusals: newLimiter(o.Now),
		layers:   map[route]*layer{},
		secret:   o.Secret,
	}
	m.credentials.Store(o.Credentials)
	m.ctx, m.cancel = context.WithCancel(context.Background())
	o.Panics.Go(&m.wg, "accepting connections between nodes", m.accept)
	return m, nil
}

// hostPort is the address as it was written, with the port that was bound.
func hostPort(listen string, bound net.Listener) string {
	host, _, _ := net.SplitHostPort(listen)
	_, port, _ := net.SplitHostPort(bound.Addr().String())
	return net.JoinHostPort(host, port)
}

// Addr is the HOST:PORT that others dial.
func (m *Mesh) Addr() string { return m.advertise }

// Close ends gossip, every listener and every connection, and waits for them.
func (m *Mesh) Close() error {
	m.closing.Do(func() {
		m.cancel()
		m.closeErr = errors.Join(m.tcp.Close(), m.endGossip())
		for _, l := range m.openLayers() {
			l.Close()
		}
		m.rpc.closeAll()
		m.closeErr = errors.Join(m.closeErr, m.udp.Close())
		m.wg.Wait()
	})
	return m.closeErr
}

func (m *Mesh) endGossip() error {
	m.mu.Lock()
	g := m.gossip
	m.mu.Unlock()
	if g == nil {
		return nil
	}
	return g.Shutdown()
}

func (m *Mesh) openLayers() []*layer {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := make([]*layer, 0, len(m.layers))
	for _, l := range m.layers {
		open = append(open, l)
	}
	return open
}
