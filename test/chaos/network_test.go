//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// network is where the nodes of a world live, numbered from 1.
type network interface {
	// add makes a place for node i.
	add(i int) error
	// addresses are where node i listens; called again it gives others, and the
	// old ones are no longer reached.
	addresses(i int) (addresses, error)
	// start starts a process in the place of node i; 0 is the clients' place.
	start(i int, cmd *exec.Cmd) error
	// dial connects from the place of node i.
	dial(ctx context.Context, i int, address string) (net.Conn, error)
	// listen listens beside each of the nodes up to i, and says where each of them
	// reaches that on its own machine.
	listen(i int) (all []net.Listener, at string, err error)
	// beside listens beside node i, and says where it reaches that on its own machine.
	beside(i int) (ln net.Listener, at string, err error)
	// cut drops what goes from one node to another, in silence; join ends that.
	cut(from, to int) error
	join(from, to int) error
	// unplug takes a node from everybody, clients included; plug ends that.
	unplug(i int) error
	plug(i int) error
	// slow delays and throttles what goes to and from a node; fast ends that.
	slow(i int, how slowness) error
	fast(i int) error
	// lacks says why cut and unplug can't be had; "" where they can.
	lacks() string
	close() error
}

// addresses are what a node is told to listen on.
type addresses struct{ api, admin, cluster string }

// slowness is what a bad line does.
type slowness struct {
	delay time.Duration
	kbit  int // a second
}

func (s slowness) String() string { return fmt.Sprintf("%d kbit/s, %s", s.kbit, s.delay) }

// newNetwork gives namespaces where the machine has them, else loopback.
func newNetwork(t *testing.T, onLoopback bool) network {
	if onLoopback {
		return &loopback{why: "it is on loopback"}
	}
	n, err := newNamespaces()
	if err == nil {
		return n
	}
	t.Logf("no network namespaces here, so no faults of the network: %v", err)
	return &loopback{why: fmt.Sprintf("no network namespaces: %v", err)}
}

// loopback has each node on an address of its own on this machine.
type loopback struct {
	why string
	mu  sync.Mutex
}

var errNoFaults = errors.New("loopback can't be cut")

func (l *loopback) add(int) error { return nil }

func (l *loopback) addresses(i int) (addresses, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out addresses
	for _, a := range []*string{&out.api, &out.admin, &out.cluster} {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", 10+i))
		if err != nil {
			return out, err
		}
		defer ln.Close() // after all three have been drawn
		*a = ln.Addr().String()
	}
	return out, nil
}

func (l *loopback) start(_ int, cmd *exec.Cmd) error { return cmd.Start() }

func (l *loopback) dial(ctx context.Context, _ int, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

func (l *loopback) listen(int) ([]net.Listener, string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	return []net.Listener{ln}, ln.Addr().String(), nil
}

func (l *loopback) beside(int) (net.Listener, string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	return ln, ln.Addr().String(), nil
}

func (l *loopback) cut(int, int) error       { return errNoFaults }
func (l *loopback) join(int, int) error      { return errNoFaults }
func (l *loopback) unplug(int) error         { return errNoFaults }
func (l *loopback) plug(int) error           { return errNoFaults }
func (l *loopback) slow(int, slowness) error { return errNoFaults }
func (l *loopback) fast(int) error           { return errNoFaults }
func (l *loopback) lacks() string            { return l.why }
func (l *loopback) close() error             { return nil }
