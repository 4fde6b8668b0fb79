package mesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// ErrUnknownServer is what Dial fails with when Resolve doesn't know where the
// server is.
var ErrUnknownServer = errors.New("nobody knows where that server is")

// dialServer calls a server wherever it is now. The connection belongs to owner.
func (m *Mesh) dialServer(ctx context.Context, r route, serverID string, owner *conns) (net.Conn, error) {
	addr, ok := m.o.Resolve(serverID)
	if !ok {
		return nil, fmt.Errorf("couldn't call %s: %w", serverID, ErrUnknownServer)
	}
	c, err := m.dial(ctx, r, addr, serverID, owner)
	if err != nil {
		return nil, fmt.Errorf("couldn't call %s at %s: %w", serverID, addr, err)
	}
	return c, nil
}

// dial calls whoever is at addr, or only target where one is given.
func (m *Mesh) dial(ctx context.Context, r route, addr, target string, owner *conns) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.o.HandshakeTimeout, errSlow)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	raw, err := (&net.Dialer{KeepAliveConfig: keepAlive()}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	t := tls.Client(raw, m.credentials.Load().config(m.o.Now, r.protocol))
	err = introduce(t, hello{r.partition, target, m.o.ServerID})
	if !stop() {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	m.gate.knows(hostOf(raw))
	if r.protocol == rpcProtocol {
		endSilent(raw)
	}
	c, ok := owner.own(t, target)
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// introduce says who is calling whom, and waits for the answer: only then has
// the other side looked at our certificate too.
func introduce(t *tls.Conn, h hello) error {
	preface, err := h.encode()
	if err != nil {
		return err
	}
	if err := t.Handshake(); err != nil {
		return err
	}
	if t.ConnectionState().NegotiatedProtocol == "" {
		return errProtocol
	}
	if _, err := t.Write(preface); err != nil {
		return err
	}
	var a [1]byte
	if _, err := io.ReadFull(t, a[:]); err != nil {
		return fmt.Errorf("couldn't read the answer: %w", err)
	}
	return answer(a[0]).err()
}

// Refuses reports whether nobody listens where a server is: every address of it refuses a
// connection at once, as the machine of a process does that has ended. Silence says
// nothing, nor does an address that nobody knows.
func (m *Mesh) Refuses(ctx context.Context, serverID string) bool {
	addr, ok := m.o.Resolve(serverID)
	if !ok {
		return false
	}
	all, err := resolve(ctx, addr)
	if err != nil {
		return false
	}
	for _, a := range all {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", a.String())
		if err == nil {
			_ = c.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return false
		}
	}
	return len(all) > 0
}
