package sse_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	r3labs "github.com/r3labs/sse/v2"

	"ubl"
	"ubl/test/events"
	"ubl/test/memnet"
	"ubl/test/poll"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

// tightListener gives its connections small buffers, so that a client that
// doesn't read is felt soon.
type tightListener struct{ net.Listener }

func (l tightListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(16 << 10)
	}
	return c, err
}

// serve runs the hub behind a real server, as u:ann for everyone.
func serve(t testing.TB, hub *sse.Hub) *httptest.Server {
	t.Helper()
	ann := member("u:ann")
	server := httptest.NewUnstartedServer(handler(hub, func(*http.Request) *envelope.Caller { return ann }))
	server.Listener = tightListener{server.Listener}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		if err := hub.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		server.Close()
	})
	return server
}

// dial opens a stream over a raw connection and reads nothing yet.
func dial(t testing.TB, server *httptest.Server, target string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", target); err != nil {
		t.Fatal(err)
	}
	return conn
}

// patience is how long a test waits for what must come. A thousand streams on a machine that
// has much else to do need more than a minute.
const patience = 5 * time.Minute

func TestAThousandListenersOfWhomTenNeverRead(t *testing.T) {
	const listeners, dead, messages = 1000, 10, 120
	// The dead stay until the end, and no stream ends because the machine is slow.
	w, hub := house(sse.Limits{WriteTimeout: time.Hour, AskTimeout: time.Hour})
	server := serve(t, hub)
	var live sync.WaitGroup
	for i := range listeners {
		conn := dial(t, server, general+"?from_seq=1")
		defer conn.Close()
		if i%(listeners/dead) != 0 {
			live.Go(func() { wantIDs(t, conn, 2, messages+1) })
		}
	}
	poll.Until(t, "all streams", func() bool { return hub.Stats().Streams == listeners })
	text := strings.Repeat("x", 4000)
	for range messages {
		w.send("r:general", "u:ann", text)
	}
	live.Wait()
	stats := hub.Stats()
	if stats.Streams != listeners || stats.Follows != 1 {
		t.Errorf("%d streams of %d follows, want %d of 1; ended: %v", stats.Streams, stats.Follows, listeners, stats.Ended)
	}
	if all := int64(listeners * messages); stats.Frames >= all {
		t.Errorf("%d events were taken: the dead have read", stats.Frames)
	}
}

// wantIDs reads a stream until it has had the ids from first to last, each
// once and in order.
func wantIDs(t *testing.T, conn net.Conn, first, last int) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, ok := strings.CutPrefix(lines.Text(), "id: ")
		if !ok {
			continue
		}
		if id != fmt.Sprint(first) {
			t.Errorf("got id %s, want %d", id, first)
			return
		}
		if first++; first > last {
			return
		}
	}
	t.Errorf("the stream ended before id %d: %v", first, lines.Err())
}

func TestADeadConnectionIsEnded(t *testing.T) {
	w, hub := house(sse.Limits{WriteTimeout: 100 * time.Millisecond})
	server := serve(t, hub)
	conn := dial(t, server, general)
	defer conn.Close()
	poll.Until(t, "the stream", func() bool { return hub.Stats().Streams == 1 })
	text := strings.Repeat("x", 8000)
	poll.Until(t, "its end", func() bool {
		w.send("r:general", "u:ann", text)
		return hub.Stats().Ended[sse.EndedSlow] == 1
	})
}

func TestAClientThatGoesIsForgotten(t *testing.T) {
	w, hub := house(sse.Limits{})
	server := serve(t, hub)
	conn := dial(t, server, general)
	poll.Until(t, "the stream", func() bool { return hub.Stats().Streams == 1 })
	conn.Close()
	poll.Until(t, "its end", func() bool { return hub.Stats().Ended[sse.EndedClient] == 1 })
	poll.Until(t, "the end of the subscription", func() bool { return w.subscriptions() == 0 })
}

// inBubble runs a test in a bubble, where time passes while nothing else happens: no
// machine is too slow for its deadlines.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// The deadlines of a server are made for requests that end, and over HTTP/2 a
// write deadline ends a stream that has nothing to write.
func TestStreamsOutliveDeadlines(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		inBubble(t, name, func(t *testing.T) {
			w, hub := house(sse.Limits{WriteTimeout: 5 * time.Second, Keepalive: 6 * time.Second})
			server := httptest.NewUnstartedServer(handler(hub, func(*http.Request) *envelope.Caller { return member("u:ann") }))
			server.EnableHTTP2 = http2
			server.Config.ReadTimeout = 4 * time.Second
			server.Config.WriteTimeout = 4 * time.Second
			memnet.ServeTLS(server)
			defer server.Close()
			answer, err := server.Client().Get(server.URL + general)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.Proto != name && answer.Proto != name+".0" {
				t.Fatalf("the protocol is %s", answer.Proto)
			}
			silences := 0
			for e := range events.All(answer.Body) {
				if e.Comment == "keepalive" {
					if silences++; silences == 3 {
						w.send("r:general", "u:ann", "still there?")
					}
				}
				if e.ID == "2" {
					return
				}
			}
			t.Errorf("the stream ended after %d silences: %v", silences, hub.Stats().Ended)
		})
	}
}

// A client can tell a stream that was ended from one that broke, even when
// nothing has been written for longer than a write may take.
func TestStreamsEndCleanly(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		inBubble(t, name, func(t *testing.T) {
			_, hub := house(sse.Limits{WriteTimeout: 50 * time.Millisecond})
			server := httptest.NewUnstartedServer(handler(hub, func(*http.Request) *envelope.Caller {
				ann := member("u:ann")
				ann.ExpiresAt = ubl.TimeOf(time.Now().Add(200 * time.Millisecond))
				return ann
			}))
			server.EnableHTTP2 = http2
			memnet.ServeTLS(server)
			defer server.Close()
			answer, err := server.Client().Get(server.URL + general)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Errorf("the stream broke: %v", err)
			}
			wantTranscript(t, parse(body), "retry 2000\nid 1")
		})
	}
}

// untilDone retries soon and for as long as its context lives. The client's
// own strategies don't look at it.
type untilDone struct{ ctx context.Context }

func (b untilDone) Reset() {}

func (b untilDone) NextBackOff() time.Duration {
	if b.ctx.Err() != nil {
		return -1 // stop
	}
	return time.Millisecond
}

// A client that nobody here wrote resumes over dropped connections, in a room
// and in a tenant.
func TestForeignClientResumes(t *testing.T) {
	for _, target := range []string{general, "/api/events"} {
		t.Run(target, func(t *testing.T) {
			w, hub := house(sse.Limits{})
			server := serve(t, hub)
			ctx, cancel := context.WithCancel(context.Background())
			client := r3labs.NewClient(server.URL+target, r3labs.ClientMaxBufferSize(1<<20))
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client.Connection = &http.Client{Transport: transport}
			client.ReconnectStrategy = untilDone{ctx}
			got := make(chan string, 1000)
			var done sync.WaitGroup
			done.Go(func() {
				for ctx.Err() == nil { // a clean end returns nil
					_ = client.SubscribeRawWithContext(ctx, func(e *r3labs.Event) {
						if len(e.Data) > 0 {
							got <- string(e.Data)
						}
					})
				}
			})
			poll.Until(t, "the stream", func() bool {
				return hub.Stats().Frames == 0 && hub.Stats().Streams == 1 && client.LastEventID.Load() != nil
			})
			const messages = 60
			for i := range messages {
				w.send("r:general", "u:ann", fmt.Sprint(i))
				switch i % 20 {
				case 10:
					// This client hands out an event that is cut off in the middle.
					poll.Until(t, "what was sent", func() bool { return len(got) == i+1 })
					server.CloseClientConnections()
				case 15:
					resumed := int64(i/20 + 1)
					poll.Until(t, "the client's return", func() bool {
						s := hub.Stats()
						return s.Ended[sse.EndedClient] == resumed && s.Streams == 1
					})
				}
			}
			for i := range messages {
				ev := w.told("r:general", int64(i+2))
				if data, want := receive(t, got), string(ev.AppendData(nil)); data != want {
					t.Fatalf("message %d is\n%s\nwant\n%s", i, data, want)
				}
			}
			cancel()
			done.Wait()
			if n := len(got); n != 0 {
				t.Errorf("%d events too many", n)
			}
		})
	}
}

func receive(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(patience):
		t.Fatal("no event came")
		return ""
	}
}

// A tenant's tokens are its own: a room of another tenant is as good as none.
func TestForeignTenantSeesNoRoom(t *testing.T) {
	_, hub := house(sse.Limits{})
	caller := member("u:ann")
	caller.Identity.TenantID = "t:elsewhere.example"
	s := open(hub, caller, general, "")
	<-s.done
	if s.status != http.StatusNotFound || !strings.Contains(s.body.String(), string(ubl.CodeNotFound)) {
		t.Errorf("got %d %s, want 404", s.status, s.body.String())
	}
}
