package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// maxPacket is the largest datagram that is read; memberlist sends up to 1,400 bytes.
const maxPacket = 64 << 10

// transport is memberlist's transport over the mesh: datagrams on the UDP
// socket, streams on the port.
type transport struct {
	mesh    *Mesh
	layer   *layer
	packets chan *memberlist.Packet
	streams chan net.Conn
	ctx     context.Context // until Shutdown
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

var _ memberlist.NodeAwareTransport = (*transport)(nil)

func (m *Mesh) newTransport() (*transport, error) {
	t := &transport{
		mesh: m, layer: m.open(route{protocol: gossipProtocol}, &conns{}, false),
		packets: make(chan *memberlist.Packet), streams: make(chan net.Conn),
	}
	t.ctx, t.cancel = context.WithCancel(m.ctx)
	if err := m.udp.SetReadDeadline(time.Time{}); err != nil { // an earlier Shutdown set it
		return nil, errors.Join(err, t.layer.Close())
	}
	m.o.Panics.Go(&t.wg, "reading gossip", t.readPackets)
	m.o.Panics.Go(&t.wg, "accepting gossip", t.acceptStreams)
	return t, nil
}

// FinalAdvertiseAddr is the advertised address with its name resolved, because
// gossip deals in IP addresses.
func (t *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.mesh.o.HandshakeTimeout)
	defer cancel()
	addrs, err := resolve(ctx, t.mesh.advertise)
	if err != nil {
		return nil, 0, err
	}
	best := addrs[0]
	for _, a := range addrs {
		if a.Addr().Is4() && !best.Addr().Is4() {
			best = a
		}
	}
	return net.IP(best.Addr().AsSlice()), int(best.Port()), nil
}

// resolve looks a HOST:PORT up, anew each time: what a name stands for changes.
func resolve(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("couldn't use %q: its port must be a number", addr)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("couldn't look %s up: %w", host, err)
	}
	addrs := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		addrs[i] = netip.AddrPortFrom(ip.Unmap(), uint16(n))
	}
	return addrs, nil
}

// WriteTo and WriteToAddress send one datagram.
func (t *transport) WriteTo(b []byte, addr string) (time.Time, error) {
	if t.ctx.Err() != nil {
		return time.Time{}, net.ErrClosed
	}
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, err
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	_, err = t.mesh.udp.WriteToUDPAddrPort(b, to)
	return t.mesh.o.Now(), err
}

func (t *transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, a.Addr)
}

// DialTimeout and DialAddressTimeout open a stream; the latter only to the
// server of that name.
func (t *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(t.ctx, timeout, errSlow)
	defer cancel()
	return t.mesh.dial(ctx, t.layer.route, a.Addr, a.Name, t.layer.conns)
}

// PacketCh and StreamCh are what comes in.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }
func (t *transport) StreamCh() <-chan net.Conn           { return t.streams }

// Shutdown ends the streams and leaves the socket, which is the mesh's.
func (t *transport) Shutdown() error {
	t.cancel()
	err := errors.Join(t.mesh.udp.SetReadDeadline(time.Unix(1, 0)), t.layer.Close())
	t.wg.Wait()
	return err
}

func (t *transport) readPackets() {
	buf := make([]byte, maxPacket)
	for t.ctx.Err() == nil {
		n, from, err := t.mesh.udp.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			t.pause()
			continue
		}
		p := &memberlist.Packet{
			Buf:  append([]byte(nil), buf[:n]...),
			From: net.UDPAddrFromAddrPort(from), Timestamp: t.mesh.o.Now(),
		}
		select {
		case t.packets <- p:
		case <-t.ctx.Done():
		}
	}
}

// pause keeps an error that stays from filling a core.
func (t *transport) pause() {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-t.ctx.Done():
	}
}

func (t *transport) acceptStreams() {
	for {
		c, err := t.layer.Accept()
		if err != nil {
			return
		}
		select {
		case t.streams <- c:
		case <-t.ctx.Done():
			c.Close()
		}
	}
}
