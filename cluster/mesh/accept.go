package mesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

var (
	errSlow     = errors.New("the handshake took too long")
	errTooMany  = errors.New("too many handshakes are pending")
	errNoTaker  = errors.New("nobody here took the connection")
	errProtocol = errors.New("it asked for no protocol of ours")
)

// accept takes connections until Close. Nothing here waits for a peer.
func (m *Mesh) accept() {
	var pause time.Duration
	for {
		raw, err := m.tcp.Accept()
		if err == nil {
			pause = 0
			m.admit(raw)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		m.refuse("", fmt.Errorf("couldn't accept: %w", err))
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		select {
		case <-time.After(pause): // out of files, most likely
		case <-m.ctx.Done():
			return
		}
	}
}

func (m *Mesh) admit(raw net.Conn) {
	host := hostOf(raw)
	p := m.gate.enter(host, func() { raw.Close() })
	if p == nil {
		raw.Close()
		m.refuse(host, errTooMany)
		return
	}
	m.o.Panics.Go(&m.wg, "a connection between nodes", func() {
		defer m.gate.leave(p) // where it panics too
		err := m.receive(raw, host)
		if err != nil && m.gate.leave(p) {
			err = errTooMany
		}
		if err != nil {
			m.refuse(host, err)
		}
	})
}

// receive leads one connection from its first byte to who takes it.
func (m *Mesh) receive(raw net.Conn, host string) error {
	ctx, cancel := context.WithTimeoutCause(m.ctx, m.o.HandshakeTimeout, errSlow)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { raw.Close() }) // ends whatever waits for the peer, or panicked
	t := tls.Server(raw, m.credentials.Load().config(m.o.Now, raftProtocol, beatProtocol, rpcProtocol, gossipProtocol))
	l, peer, err := m.greet(t)
	if !stop() {
		return context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return err
	}
	m.gate.knows(host)
	if l.route.protocol == rpcProtocol {
		endSilent(raw)
	}
	m.o.Called(peer)
	return l.deliver(ctx, t, peer)
}

// greet finds out who is calling for what, and answers.
func (m *Mesh) greet(t *tls.Conn) (l *layer, peer string, err error) {
	if err := t.Handshake(); err != nil {
		return nil, "", err
	}
	protocol := t.ConnectionState().NegotiatedProtocol
	if protocol == "" { // a client that offers none gets through the handshake
		return nil, "", errProtocol
	}
	h, err := readHello(t)
	if err != nil {
		return nil, "", err
	}
	l, a := m.route(protocol, h)
	if _, err := t.Write([]byte{byte(a)}); err != nil {
		return nil, "", err
	}
	if a != welcome {
		return nil, "", fmt.Errorf("%s of %s for %s, partition %d: %w", protocol, h.sender, h.target, h.partition, a.err())
	}
	return l, h.sender, nil
}

// route says who takes a connection. Only gossip may come without a target: it
// finds out by calling.
func (m *Mesh) route(protocol string, h hello) (*layer, answer) {
	gossip := protocol == gossipProtocol
	switch {
	case gossip && h.sender == m.o.ServerID:
		return nil, itself
	case h.target != m.o.ServerID && !(gossip && h.target == ""):
		return nil, wrongServer
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.layers[route{protocol, h.partition}]; l != nil {
		return l, welcome
	}
	return nil, notServing
}

// refuse logs a refused connection, once a minute for each host.
func (m *Mesh) refuse(host string, err error) {
	if m.ctx.Err() != nil {
		return // they end because we do
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errItself) {
		m.o.Log.Debug("a connection between nodes ended early", "from", host, "error", err)
		return // a port that was looked at; our own address in a list of all nodes
	}
	if suppressed, ok := m.refusals.allow(host); ok {
		m.o.Log.Warn("refused a connection between nodes", "from", host, "error", clip(err.Error()), "suppressed", suppressed)
	}
}

// clip bounds what a stranger may write into the log.
func clip(text string) string {
	const most = 300
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

func hostOf(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return host
}
