package sse_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/test/events"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

// frame is one block of a stream.
type frame struct{ id, event, data, comment, retry string }

func (f frame) String() string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"id ", f.id}, {"", f.event}, {":", f.comment}, {"retry ", f.retry}} {
		if p.value != "" {
			parts = append(parts, p.name+p.value)
		}
	}
	return strings.Join(parts, " ")
}

// parse reads the complete blocks of a stream.
func parse(stream []byte) (out []frame) {
	for e := range events.All(bytes.NewReader(stream)) {
		out = append(out, frame{e.ID, e.Name, e.Data, e.Comment, e.Retry})
	}
	return out
}

// member is a caller of the tenant.
func member(user ubl.UserID) *envelope.Caller {
	return &envelope.Caller{Identity: ubl.Identity{UserID: user, TenantID: tenant}}
}

// handler routes as cmd/ubl does, for whom caller says.
func handler(hub *sse.Hub, caller func(*http.Request) *envelope.Caller) http.Handler {
	r := chi.NewRouter()
	r.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c := caller(r); c != nil {
				r = r.WithContext(envelope.WithCaller(r.Context(), c))
			}
			next.ServeHTTP(w, r)
		})
	})
	r.Get("/api/events/rooms/{roomId}", hub.Room)
	r.Get("/api/events", hub.Tenant)
	r.Get("/api/portal/logs/live", hub.Calls)
	return r
}

// stream is an open stream whose other end is in memory. It stands in for the
// connection: writes past its deadline fail, and while it is stalled nothing
// is read.
type stream struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	header   http.Header
	status   int
	body     bytes.Buffer
	flushed  int
	stalled  chan struct{} // non-nil while nobody reads
	deadline time.Time
}

// open starts a request; lastID, where not empty, is its Last-Event-ID.
func open(hub *sse.Hub, c *envelope.Caller, target, lastID string) *stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stream{cancel: cancel, done: make(chan struct{}), header: make(http.Header)}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		panic(err)
	}
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	go func() {
		defer close(s.done)
		handler(hub, func(*http.Request) *envelope.Caller { return c }).ServeHTTP(s, r)
	}()
	return s
}

// drop is the client going away; it returns what had been flushed.
func (s *stream) drop() []frame {
	s.cancel()
	<-s.done
	return s.frames()
}

func (s *stream) frames() []frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return parse(s.body.Bytes()[:s.flushed])
}

func (s *stream) stall(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on && s.stalled == nil {
		s.stalled = make(chan struct{})
	} else if !on && s.stalled != nil {
		close(s.stalled)
		s.stalled = nil
	}
}

func (s *stream) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Header implements http.ResponseWriter.
func (s *stream) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *stream) WriteHeader(status int) { s.status = status }

// Write implements http.ResponseWriter.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	stalled, deadline := s.stalled, s.deadline
	s.mu.Unlock()
	if stalled != nil {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		select {
		case <-stalled:
		case <-timer.C:
			return 0, fmt.Errorf("write: %w", os.ErrDeadlineExceeded)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body.Write(p)
}

// FlushError implements what http.ResponseController looks for.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushed = s.body.Len()
	return nil
}

// SetWriteDeadline implements what http.ResponseController looks for.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	return nil
}

// transcript is the frames in short, one a line.
func transcript(frames []frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

func wantTranscript(t *testing.T, got []frame, want string) {
	t.Helper()
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "") + "\n"
	if g := transcript(got); g != want {
		t.Errorf("the stream was\n%s\nwant\n%s", g, want)
	}
}
