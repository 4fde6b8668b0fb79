package transport

import (
	"net/http"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// RequestIDHeader carries the request id, in requests and in every answer.
const RequestIDHeader = "X-Request-Id"

// hsts has browsers use https alone for a year. Names below this one are not ours to
// speak for.
var hsts = []string{"max-age=31536000"}

// exchange is one request with its answer as the outermost handler sees them.
// It is the ResponseWriter that all handlers get, and belongs to the request's
// goroutine.
type exchange struct {
	http.ResponseWriter
	request envelope.Request
	status  int
	bytes   int64
}

// WriteHeader notes the status.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= 200 {
		x.answer(status)
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.answer(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// answer begins the answer.
func (x *exchange) answer(status int) {
	x.status = status
	if x.request.Answering != nil {
		x.request.Answering(x.Header())
	}
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
		x.request = envelope.Request{ID: id, Key: key(r, id), Session: session(r), At: ubl.TimeOf(start)}
		w.Header()[RequestIDHeader] = []string{id}
		if s.secure {
			w.Header()["Strict-Transport-Security"] = hsts
		}
		r = r.WithContext(envelope.WithRequest(r.Context(), &x.request))

		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			s.finish(x, r, recover(), start)
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

// session is the one that the client names. One that isn't of the form is none here, and
// refused where there are answers to refuse with.
func session(r *http.Request) string {
	if h := r.Header[envelope.SessionHeader]; len(h) == 1 && ubl.ValidSession(h[0]) {
		return h[0]
	}
	return ""
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
// and gives both a time to arrive in. What brings the bytes of a file may be of any length, and
// puts off that time with each.
func (s *Server) bound(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	if r.ContentLength == 0 {
		return true
	}
	long := s.opts.Uploading != nil && s.opts.Uploading(r)
	if r.ContentLength > MaxBody && !long {
		envelope.WriteError(w, r, ubl.Errorf(ubl.CodeTooLarge, "the body is larger than %d bytes", MaxBody))
		return false
	}
	if r.ContentLength < 0 && !long {
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	}
	// Not the server's ReadTimeout, which would cut streams too. A writer
	// without deadlines is a test's.
	_ = http.NewResponseController(w).SetReadDeadline(now.Add(readTimeout))
	return true
}

// finish answers for a handler that panicked, and writes down how the request
// ended.
func (s *Server) finish(x *exchange, r *http.Request, panicked any, start time.Time) {
	abort := panicked == http.ErrAbortHandler
	if panicked != nil && !abort {
		failed := s.opts.Panics.Note(panicked, "a handler", "request_id", x.request.ID)
		if x.status == 0 {
			envelope.WriteError(x, r, ubl.AsError(failed))
		} else {
			abort = true // half an answer must not look like a whole one
		}
	}
	if x.status == 0 {
		x.status = http.StatusOK // what net/http sends for a handler that wrote nothing
	}
	end := s.opts.Now()
	ends := s.metrics.ending(r, x.status, s.opts.Log)
	ends.observe(end.Sub(start))
	ends.access(r.Context(), x, end, end.Sub(start))
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// noteCaller, behind authentication, keeps the caller for the access log.
func noteCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		envelope.RequestOf(r.Context()).Caller = envelope.CallerOf(r.Context())
		next.ServeHTTP(w, r)
	})
}
