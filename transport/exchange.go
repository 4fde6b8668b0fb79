package transport

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/envelope"
)

// RequestIDHeader carries the request id, in requests and in every answer.
const RequestIDHeader = "X-Request-Id"

// exchange is one request with its answer as the outermost handler sees them.
// It is the ResponseWriter that all handlers get, and belongs to the request's
// goroutine.
type exchange struct {
	http.ResponseWriter
	request envelope.Request
	caller  *envelope.Caller
	status  int
	bytes   int64
}

type exchangeKey struct{}

// WriteHeader notes the status.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= 200 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// Unwrap lets an http.ResponseController reach deadlines and flushing.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// outermost gives the request its id, bounds its body, and tells metrics and
// log how it ended.
func (s *Server) outermost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.opts.Now()
		x := &exchange{ResponseWriter: w}
		id := s.requestID(r)
		x.request = envelope.Request{ID: id, Key: key(r, id), At: ubl.TimeOf(start)}
		w.Header()[RequestIDHeader] = []string{id}
		r = r.WithContext(context.WithValue(envelope.WithRequest(r.Context(), &x.request), exchangeKey{}, x))

		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			s.finish(x, r, recover(), s.opts.Now().Sub(start))
		}()
		if s.bound(x, r, start) {
			next.ServeHTTP(x, r)
		}
	})
}

// requestID is the client's where it has the pattern, else a new one.
func (s *Server) requestID(r *http.Request) string {
	if h := r.Header[RequestIDHeader]; len(h) == 1 && ubl.ValidRequestID(h[0]) {
		return h[0]
	}
	id, err := ubl.NewRequestID(s.opts.Random)
	if err != nil {
		panic(err) // the random source is gone: nothing may go on without it
	}
	return id
}

// key is the idempotency key of the headers: the one given, else the request
// id, which may be the client's too. A malformed one is refused where it would
// count, by packages api and mcp.
func key(r *http.Request, id string) string {
	if h := r.Header[envelope.KeyHeader]; len(h) == 1 && ubl.ValidKey(h[0]) {
		return h[0]
	}
	return id
}

// bound refuses a body that says it is too large, cuts one that doesn't say,
// and gives both a time to arrive in.
func (s *Server) bound(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	if r.ContentLength == 0 {
		return true
	}
	if r.ContentLength > MaxBody {
		envelope.WriteError(w, r, ubl.Errorf(ubl.CodeTooLarge, "the body is larger than %d bytes", MaxBody))
		return false
	}
	if r.ContentLength < 0 {
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	}
	// Not the server's ReadTimeout, which would cut streams too. A writer
	// without deadlines is a test's.
	_ = http.NewResponseController(w).SetReadDeadline(now.Add(readTimeout))
	return true
}

// finish answers for a handler that panicked, and writes down how the request
// ended.
func (s *Server) finish(x *exchange, r *http.Request, panicked any, took time.Duration) {
	abort := panicked == http.ErrAbortHandler
	if panicked != nil && !abort {
		s.opts.Log.Error("a handler panicked", "request_id", x.request.ID, "panic", panicked, "stack", stack())
		if x.status == 0 {
			envelope.WriteError(x, r, ubl.Errorf(ubl.CodeInternal, "something went wrong inside; the request id finds it in the log"))
		} else {
			abort = true // half an answer must not look like a whole one
		}
	}
	if x.status == 0 {
		x.status = http.StatusOK // what net/http sends for a handler that wrote nothing
	}
	route := routeOf(r)
	s.metrics.observe(route, r.Method, x.status, took)
	s.access(r.Context(), x, r, route, took)
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// access writes the line of the access log. It has the route and never the
// path or the query: those can hold ids and secrets.
func (s *Server) access(ctx context.Context, x *exchange, r *http.Request, route string, took time.Duration) {
	if !s.opts.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("request_id", x.request.ID),
		slog.String("method", method(r.Method)),
		slog.String("route", route),
		slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes),
		slog.Duration("took", took),
	)
	if c := x.caller; c != nil {
		attrs = append(attrs, slog.String("tenant", string(c.Identity.TenantID)), slog.String("user", string(c.Identity.UserID)))
	}
	s.opts.Log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// noteCaller, behind authentication, keeps the caller for the access log.
func noteCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Not by the writer: others may have wrapped it.
		if x, ok := r.Context().Value(exchangeKey{}).(*exchange); ok {
			x.caller = envelope.CallerOf(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// routeOf is the pattern that the request matched, "none" without one.
func routeOf(r *http.Request) string {
	if rc := chi.RouteContext(r.Context()); rc != nil {
		if p := rc.RoutePattern(); p != "" {
			return p
		}
	}
	return "none"
}
