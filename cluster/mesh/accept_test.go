package mesh

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl/test/poll"
)

// stranger opens a TCP connection to the mesh.
func stranger(t *testing.T, m *Mesh) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", m.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestStrangersGetNowhere: each is closed and logged, and none reaches a layer.
func TestStrangersGetNowhere(t *testing.T) {
	s := newSecret(t)
	ours := credentials(t, s, "n9@x")
	foreign := credentials(t, newSecret(t), "n9@x")
	own := func(change func(*tls.Config)) *tls.Config {
		c := ours.config(time.Now, raftProtocol)
		change(c)
		return c
	}
	for name, tc := range map[string]struct {
		config *tls.Config // nil: plain text
		send   string
		log    string
	}{
		"plain text":              {nil, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "first record does not look like a TLS handshake"},
		"no certificate":          {own(func(c *tls.Config) { c.Certificates = nil }), "", "didn't provide a certificate"},
		"a foreign certificate":   {own(func(c *tls.Config) { c.Certificates = []tls.Certificate{foreign.cert()} }), "", "unknown authority"},
		"a foreign authority":     {foreign.config(time.Now, raftProtocol), "", "bad certificate"},
		"no protocol":             {own(func(c *tls.Config) { c.NextProtos = nil }), "", "no protocol of ours"},
		"another protocol":        {own(func(c *tls.Config) { c.NextProtos = []string{"h2"} }), "", "unsupported application protocols"},
		"an old TLS":              {own(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }), "", "unsupported versions"},
		"no preface":              {own(func(*tls.Config) {}), "\x03abc", "the preface has version 3"},
		"a preface without names": {own(func(*tls.Config) {}), "\x01\x00\x00\x00\x00", "names no sender"},
		"another server":          {own(func(*tls.Config) {}), "\x01\x00\x00\x04n1@b\x04n9@x", "another server answers"},
		"whoever is there":        {own(func(*tls.Config) {}), "\x01\x00\x00\x00\x04n9@x", "another server answers"},
		"another partition":       {own(func(*tls.Config) {}), "\x01\x00\x05\x04n1@a\x04n9@x", "doesn't serve that partition"},
	} {
		t.Run(name, func(t *testing.T) {
			m, log := listen(t, s, &directory{}, "n1@a")
			layer := m.RaftLayer(0)
			var c net.Conn = stranger(t, m)
			if tc.config != nil {
				c = tls.Client(c, tc.config)
			}
			c.SetDeadline(time.Now().Add(time.Minute))
			c.Write([]byte(tc.send)) // what fails here is what the log must show
			poll.Within(t, beforeForgotten, "the log says "+tc.log, func() bool { return log.count(tc.log) == 1 })
			if tc.send == "" || tc.config == nil {
				ended(t, c)
			}
			layer.Close()
			if got, err := layer.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("it reached the layer: %v, %v", got, err)
			}
		})
	}
}

// TestCertificateForOneEndIsRefused: the other side judges what FromFiles would
// have refused on one's own.
func TestCertificateForOneEndIsRefused(t *testing.T) {
	p := newPKI(t)
	cert, key := p.node(plain)
	good, err := FromFiles(p.ca(), cert, key, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range bothEnds() {
		pair, err := tls.LoadX509KeyPair(p.node(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{use} }))
		if err != nil {
			t.Fatal(err)
		}
		half := &Credentials{cert: func() tls.Certificate { return pair }, roots: good.roots}
		s, d := newSecret(t), &directory{}
		a, _ := listen(t, s, d, "n1@a", func(o *Options) { o.Credentials = good })
		b, _ := listen(t, s, d, "n2@b", func(o *Options) { o.Credentials = half })
		a.RaftLayer(0)
		b.RaftLayer(0)
		if _, err := b.RaftLayer(0).Dial("n1@a", dialTime); err == nil {
			t.Errorf("usage %d: it may call", use)
		}
		if _, err := a.RaftLayer(0).Dial("n2@b", dialTime); err == nil {
			t.Errorf("usage %d: it may be called", use)
		}
	}
}

// TestStrangersAreLoggedOnceAMinute also shows how many were kept quiet.
func TestStrangersAreLoggedOnceAMinute(t *testing.T) {
	var now atomic.Int64
	m, log := listen(t, newSecret(t), &directory{}, "n1@a", func(o *Options) {
		o.Now = func() time.Time { return time.Unix(2e9, now.Load()) }
	})
	knock := func() {
		c := stranger(t, m)
		c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		ended(t, c)
		m.settled(t)
	}
	for range 5 {
		knock()
	}
	if n := log.count("refused a connection"); n != 1 {
		t.Fatalf("%d lines for five strangers:\n%s", n, log)
	}
	now.Add(int64(time.Minute))
	knock()
	if log.count("refused a connection") != 2 || log.count("suppressed=4") != 1 {
		t.Fatalf("after a minute:\n%s", log)
	}
}

// settled waits until no handshake is pending.
func (m *Mesh) settled(t *testing.T) {
	poll.Within(t, beforeForgotten, "the handshakes are over", func() bool {
		m.gate.mu.Lock()
		defer m.gate.mu.Unlock()
		return m.gate.pending.Len() == 0
	})
}

// TestPortScannersAreNotNews: who connects and goes says nothing.
func TestPortScannersAreNotNews(t *testing.T) {
	m, log := listen(t, newSecret(t), &directory{}, "n1@a")
	stranger(t, m).Close()
	m.settled(t)
	if log.String() != "" {
		t.Errorf("the log says %s", log)
	}
}

// TestSilentPeersAreEnded, in each phase, and cost the others nothing.
func TestSilentPeersAreEnded(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, log := listen(t, s, d, "n2@b", func(o *Options) { o.HandshakeTimeout = 5 * time.Second })
	echo(t, b.GRPC())

	silent := stranger(t, b)
	halfHello := stranger(t, b)
	halfHello.Write([]byte{22, 3, 1, 2, 0, 1})
	noPreface := tls.Client(stranger(t, b), credentials(t, s, "n9@x").config(time.Now, raftProtocol))
	if err := noPreface.Handshake(); err != nil {
		t.Fatal(err)
	}

	c, err := a.DialGRPC(t.Context(), "n2@b") // while they are pending
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	says(t, c)

	for _, c := range []net.Conn{silent, halfHello, noPreface} {
		ended(t, c)
	}
	b.settled(t)
	if log.count("the handshake took too long") != 1 { // once a minute
		t.Errorf("the log says %s", log)
	}
	says(t, c) // who got through has no deadline
}

// TestPendingHandshakesAreBounded: where there is no place the oldest gives way, so that
// silent connections keep nobody out, not even one from their own host.
func TestPendingHandshakesAreBounded(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, log := listen(t, s, d, "n2@b", func(o *Options) { o.MaxHandshakes, o.HandshakeTimeout = 8, time.Hour })
	echo(t, b.GRPC())
	for _, host := range []byte{1, 2, 3, 4} {
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, host)}}
		for range 4 {
			c, err := from.Dial("tcp", b.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
	}
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return log.count("too many handshakes") > 0 })
	for range 2 {
		c, err := a.DialGRPC(t.Context(), "n2@b") // from 127.0.0.1, as some of the silent ones
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		says(t, c)
	}
}

// TestGate: strangers leave half of the places to known hosts, and none of those gives
// way to a stranger.
func TestGate(t *testing.T) {
	g := newGate(8)
	g.knows("peer")
	var ended []string
	enter := func(host string) bool {
		return g.enter(host, func() { ended = append(ended, host) }) != nil
	}
	for i := range 20 {
		if !enter(fmt.Sprint("s", i)) {
			t.Fatal("a stranger isn't let in where another can give way")
		}
	}
	if g.strangers != 4 || g.pending.Len() != 4 || len(ended) != 16 || ended[0] != "s0" {
		t.Fatalf("%d strangers are pending; ended %v", g.strangers, ended)
	}
	ended = nil
	for range 4 {
		enter("peer")
	}
	if g.pending.Len() != 8 || len(ended) != 0 {
		t.Errorf("with the peer's there are %d; ended %v", g.pending.Len(), ended)
	}
	enter("stranger")
	enter("peer")
	if len(ended) != 2 || ended[0] != "s16" || ended[1] != "peer" {
		t.Errorf("ended %v", ended)
	}
}

// TestNobodyTakesTheConnection: a layer whose owner has stopped accepting holds
// no handshake for ever.
func TestNobodyTakesTheConnection(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, log := listen(t, s, d, "n2@b", func(o *Options) { o.HandshakeTimeout = 3 * time.Second })
	b.GRPC()
	c, err := a.DialGRPC(t.Context(), "n2@b")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ended(t, c)
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return log.count("nobody here took") == 1 })
}

// broken is a listener that can't accept.
type broken struct {
	net.Listener
	calls int
}

func (b *broken) Accept() (net.Conn, error) {
	b.calls++
	return nil, errors.New("too many open files")
}

func TestAcceptErrorsBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j := &broken{}, &journal{}
		m := &Mesh{tcp: l, o: Options{Log: j.logger()}, refusals: newLimiter(time.Now)}
		m.ctx, m.cancel = context.WithCancel(t.Context())
		m.wg.Go(m.accept)
		time.Sleep(30 * time.Second)
		m.cancel()
		m.wg.Wait()
		if l.calls < 30 || l.calls > 45 { // 5 ms, 10 ms, … 1 s, 1 s, …
			t.Errorf("%d tries in 30 s", l.calls)
		}
		if j.count("too many open files") != 1 {
			t.Errorf("the log says %s", j)
		}
	})
}

func TestListenRefusesBadOptions(t *testing.T) {
	s := newSecret(t)
	taken, _ := listen(t, s, &directory{}, "n1@a")
	good := Options{Listen: "127.0.0.1:0", NodeID: "n1", ServerID: "n1@a", Secret: s, Credentials: credentials(t, s, "n1@a")}
	for name, change := range map[string]func(*Options){
		"no address":        func(o *Options) { o.Listen = "" },
		"a taken port":      func(o *Options) { o.Listen = taken.Addr() },
		"no port":           func(o *Options) { o.Listen = "127.0.0.1" },
		"no node id":        func(o *Options) { o.NodeID = "" },
		"a bad server id":   func(o *Options) { o.ServerID = "n 1" },
		"no credentials":    func(o *Options) { o.Credentials = nil },
		"no secret":         func(o *Options) { o.Secret = Secret{} },
		"everywhere":        func(o *Options) { o.Listen = "0.0.0.0:0" },
		"advertised nobody": func(o *Options) { o.Advertise = ":7000" },
		"advertised all":    func(o *Options) { o.Advertise = "0.0.0.0:7000" },
		"advertised name":   func(o *Options) { o.Advertise = "node1" },
		"advertised port":   func(o *Options) { o.Advertise = "node1:raft" },
	} {
		o := good
		change(&o)
		if m, err := Listen(o); err == nil {
			m.Close()
			t.Errorf("%s: it listens on %s", name, m.Addr())
		}
	}
}

func TestAdvertisedAddress(t *testing.T) {
	s := newSecret(t)
	for _, tc := range []struct{ listen, advertise, want string }{
		{"127.0.0.1:0", "", "127.0.0.1:%d"},
		{"localhost:0", "", "localhost:%d"},
		{"0.0.0.0:0", "node1.example:0", "node1.example:%d"},
		{"127.0.0.1:0", "[2001:db8::1]:7000", "[2001:db8::1]:7000"},
	} {
		m, _ := listen(t, s, &directory{}, "n1@a", func(o *Options) { o.Listen, o.Advertise = tc.listen, tc.advertise })
		want := tc.want
		if port := m.tcp.Addr().(*net.TCPAddr).Port; want[len(want)-2:] == "%d" {
			want = fmt.Sprintf(want, port)
		}
		if m.Addr() != want {
			t.Errorf("%s, %s: advertises %s", tc.listen, tc.advertise, m.Addr())
		}
		if m.udp.LocalAddr().(*net.UDPAddr).Port != m.tcp.Addr().(*net.TCPAddr).Port {
			t.Errorf("TCP is on %s, UDP on %s", m.tcp.Addr(), m.udp.LocalAddr())
		}
	}
}
