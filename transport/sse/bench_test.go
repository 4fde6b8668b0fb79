package sse_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl/test/poll"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

// BenchmarkFanout1000 sends events to 1,000 streams over loopback TCP: through
// a Hub, and through the least that can write the same bytes. An op is one
// event to all of them; the peer is the bar of design §6: the hub should reach
// 70 % of its events/s.
func BenchmarkFanout1000(b *testing.B) {
	text := strings.Repeat("x", 300)
	b.Run("hub", func(b *testing.B) {
		w, hub := house(sse.Limits{})
		ann := member("u:ann")
		server := httptest.NewServer(handler(hub, func(*http.Request) *envelope.Caller { return ann }))
		fanout(b, server, func() int { return hub.Stats().Streams }, func() { w.send("r:general", "u:ann", text) })
	})
	b.Run("bare", func(b *testing.B) {
		w, _ := house(sse.Limits{})
		bare := &bareFan{notify: make(chan struct{})}
		server := httptest.NewServer(bare)
		fanout(b, server, func() int { return int(bare.streams.Load()) }, func() {
			w.send("r:general", "u:ann", text)
			seq := w.head("r:general")
			ev := w.told("r:general", seq)
			bare.append(fmt.Appendf(nil, "id: %d\nevent: message.created\ndata: %s\n\n", seq, ev.AppendData(nil)))
		})
	})
}

// fanout opens the streams, publishes b.N events with at most ahead of them on
// their way, and waits until every stream has had every byte.
func fanout(b *testing.B, server *httptest.Server, streams func() int, publish func()) {
	const listeners, ahead = 1000, 256
	defer server.Close()
	defer server.CloseClientConnections()
	var received atomic.Int64 // events, over all streams
	var readers sync.WaitGroup
	conns := make([]net.Conn, listeners)
	for i := range conns {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		conns[i] = conn
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", general)
		readers.Go(func() { countEvents(conn, &received) })
	}
	poll.Until(b, "all streams", func() bool { return streams() == listeners })
	b.ResetTimer()
	for n := range int64(b.N) {
		for n*listeners-received.Load() > ahead*listeners {
			time.Sleep(50 * time.Microsecond)
		}
		publish()
	}
	poll.Until(b, "all events", func() bool { return received.Load() == int64(b.N)*listeners })
	b.StopTimer()
	b.ReportMetric(float64(b.N)*listeners/b.Elapsed().Seconds(), "events/s")
	for _, c := range conns {
		c.Close()
	}
	readers.Wait()
}

// countEvents counts as cheaply as it can: the mark is in every event once.
func countEvents(conn net.Conn, received *atomic.Int64) {
	mark := []byte("event: m")
	buf := make([]byte, 32<<10)
	kept := 0
	for {
		n, err := conn.Read(buf[kept:])
		if err != nil {
			return
		}
		chunk := buf[:kept+n]
		received.Add(int64(bytes.Count(chunk, mark)))
		// The mark may be cut in two: its beginning moves to the front.
		kept = copy(buf, chunk[len(chunk)-min(len(chunk), len(mark)-1):])
	}
}

// bareFan is the least that fans out over net/http: one log, an offset a
// stream, a channel that is closed when the log grows.
type bareFan struct {
	streams atomic.Int64
	mu      sync.RWMutex
	log     []byte
	notify  chan struct{}
}

func (f *bareFan) append(frame []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, frame...)
	close(f.notify)
	f.notify = make(chan struct{})
}

func (f *bareFan) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	offset := 0
	if out.Flush() != nil {
		return
	}
	f.streams.Add(1)
	for {
		f.mu.RLock()
		fresh, notify := f.log[offset:], f.notify
		f.mu.RUnlock()
		if len(fresh) == 0 {
			select {
			case <-notify:
			case <-r.Context().Done():
				return
			}
			continue
		}
		if _, err := w.Write(fresh); err != nil || out.Flush() != nil {
			return
		}
		offset += len(fresh)
	}
}
