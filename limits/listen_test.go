package limits

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// serve serves what signs in callers who ask for /me.
func serve(t *testing.T, l *Limiter) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	type key struct{}
	s := &http.Server{
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if c, ok := r.Context().Value(key{}).(*Conn); ok && r.URL.Path == "/me" {
				c.Known()
			}
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, c) },
	}
	go func() { _ = s.Serve(l.Listen(ln)) }()
	t.Cleanup(func() { _ = s.Close() })
	return ln.Addr().String()
}

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// asks signs in over a connection, and returns the status of the answer.
func asks(c net.Conn) string {
	_, _ = io.WriteString(c, "GET /me HTTP/1.1\r\nHost: x\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error()
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.Status[:3]
}

// TestConnections: an address has so many places, idle connections hold them where
// somebody has signed in, and a new one that finds none is told so. Proxies have as many
// as they want.
func TestConnections(t *testing.T) {
	at := serve(t, limited(t, &clock{}, map[string]int64{"connections-ip": 3}))
	var held []net.Conn
	for range 3 {
		c := dial(t, at)
		if said := asks(c); said != "200" {
			t.Fatalf("answered %q", said)
		}
		held = append(held, c)
	}
	if said := asks(dial(t, at)); said != "429" {
		t.Errorf("the fourth is answered %q", said)
	}
	_ = held[0].Close()
	for deadline := time.Now().Add(time.Minute); asks(dial(t, at)) != "200"; {
		if time.Now().After(deadline) {
			t.Fatal("a place that was given back is still taken")
		}
	}
	at = serve(t, limited(t, &clock{}, map[string]int64{"connections-ip": 1}, "127.0.0.0/8"))
	for range 5 {
		if said := asks(dial(t, at)); said != "200" {
			t.Fatalf("a proxy is answered %q", said)
		}
	}
}

// TestSilentConnectionsGiveWay: silent strangers hold all places, of their address or in
// all, and keep nobody out. Who has signed in stays.
func TestSilentConnectionsGiveWay(t *testing.T) {
	for _, limit := range []Name{ConnectionsIP, Connections} {
		t.Run(string(limit), func(t *testing.T) {
			l := limited(t, &clock{}, map[string]int64{string(limit): 3})
			at := serve(t, l)
			ana := dial(t, at)
			if got := asks(ana); got != "200" {
				t.Fatalf("Ana is answered %s", got)
			}
			var silent []net.Conn
			for range 5 {
				silent = append(silent, dial(t, at))
			}
			if got := asks(dial(t, at)); got != "200" {
				t.Fatalf("behind silent strangers Bob is answered %s", got)
			}
			if got := asks(ana); got != "200" {
				t.Errorf("Ana, who has signed in, had to give way: %s", got)
			}
			if _, err := silent[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the oldest stranger is still there: %v", err)
			}
			if n := l.Dropped()[limit]; n != 4 || l.Refused()[limit] != 0 {
				t.Errorf("%d were dropped and %d refused", n, l.Refused()[limit])
			}
		})
	}
}

// TestWhoGivesWay: where one address has no place left, strangers of others don't give
// way for it; where nobody has, the oldest of any does.
func TestWhoGivesWay(t *testing.T) {
	p := newPlaces(Table{ConnectionsIP: 1, Connections: 3})
	conn := func(who string) *Conn { return &Conn{places: p, who: who} }
	other, first, second, third, fourth := conn("b"), conn("a"), conn("a"), conn("c"), conn("d")
	for _, c := range []*Conn{other, first} {
		if met, _ := p.enter(c); met != "" {
			t.Fatalf("%s has met %s", c.who, met)
		}
	}
	if met, gone := p.enter(second); met != ConnectionsIP || gone != first {
		t.Errorf("met %s, and %+v gave way", met, gone)
	}
	second.Known()
	if met, gone := p.enter(conn("a")); met != ConnectionsIP || gone != nil {
		t.Errorf("with a signed-in one: met %s, and %+v gave way", met, gone)
	}
	p.enter(third)
	if met, gone := p.enter(fourth); met != Connections || gone != other {
		t.Errorf("with all places taken: met %s, and %+v gave way", met, gone)
	}
	for _, c := range []*Conn{other, first, second, third, fourth, fourth} {
		p.leave(c)
	}
	if p.open != 0 || p.strangers.Len() != 0 || len(p.addresses) != 0 {
		t.Errorf("left are %d, %d strangers, %d addresses", p.open, p.strangers.Len(), len(p.addresses))
	}
}

// TestRefusalIsHeard, though the client has sent more than the server reads.
func TestRefusalIsHeard(t *testing.T) {
	at := serve(t, limited(t, &clock{}, map[string]int64{"connections-ip": 1}))
	if got := asks(dial(t, at)); got != "200" {
		t.Fatal(got)
	}
	posts := strings.Repeat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n"+strings.Repeat("x", 4096), 8)
	for range 20 {
		c := dial(t, at)
		for i := 0; i < len(posts); i += 1024 { // some of it after the refusal
			if _, err := io.WriteString(c, posts[i:min(i+1024, len(posts))]); err != nil {
				t.Fatalf("sending ended with %v", err)
			}
		}
		_ = c.(*net.TCPConn).CloseWrite()
		if said, err := io.ReadAll(c); err != nil || string(said) != refusal(ConnectionsIP) {
			t.Fatalf("heard %q (%v)", said, err)
		}
	}
}

// TestFit: connections leave files for others.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		asked int64
		files uint64
		want  int64
	}{
		{20_000, 1024, 768}, {500, 1024, 500}, {0, 1024, 768}, {20_000, 1 << 20, 20_000},
		{20_000, 0, 20_000}, {0, 0, 0}, {0, 1<<64 - 1, 0}, {5, 1, 1},
	} {
		table := Table{Connections: c.asked}
		if got := table.Fit(c.files)[Connections]; got != c.want || table[Connections] != c.asked {
			t.Errorf("%d of %d files are %d, want %d", c.asked, c.files, got, c.want)
		}
	}
}
