package transport

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// ending is a way for requests to end: on a route, by a method, with a status. It
// has at hand what all of them are counted with, and how their lines in the
// access log begin: to work both out for each would cost more than the rest of
// counting and logging.
type ending struct {
	answered prometheus.Counter
	duration prometheus.Observer
	log      slog.Handler
}

// ending is that of a request. There are few by construction: they tell patterns,
// not paths, and methods that we know.
func (m *metrics) ending(r *http.Request, status int, log *slog.Logger) *ending {
	var room [128]byte
	key := append(strconv.AppendInt(room[:0], int64(status), 10), method(r.Method)...)
	rc := chi.RouteContext(r.Context())
	if rc != nil {
		for _, pattern := range rc.RoutePatterns {
			key = append(key, pattern...)
		}
	}
	m.mu.RLock()
	e := m.endings[string(key)]
	m.mu.RUnlock()
	if e == nil {
		e = m.newEnding(routeOf(rc), method(r.Method), status, log)
		m.mu.Lock()
		m.endings[string(key)] = e
		m.mu.Unlock()
	}
	return e
}

func (m *metrics) newEnding(route, method string, status int, log *slog.Logger) *ending {
	return &ending{
		answered: m.requests.WithLabelValues(route, method, strconv.Itoa(status)),
		duration: m.duration.WithLabelValues(route, method),
		log: log.Handler().WithAttrs([]slog.Attr{
			slog.String("method", method), slog.String("route", route), slog.Int("status", status),
		}),
	}
}

// observe counts one request.
func (e *ending) observe(took time.Duration) {
	e.answered.Inc()
	e.duration.Observe(took.Seconds())
}

// access writes the line of the access log. It has the route and never the
// path or the query: those can hold ids and secrets. What slog does beyond its
// handler is to find out who logs, and that is always here.
func (e *ending) access(ctx context.Context, x *exchange, at time.Time, took time.Duration) {
	if !e.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := slog.NewRecord(at, slog.LevelInfo, "request", 0)
	line.AddAttrs(slog.String("request_id", x.request.ID), slog.Int64("bytes", x.bytes), slog.Duration("took", took))
	if c := x.request.Caller; c != nil {
		line.AddAttrs(slog.String("tenant", string(c.Identity.TenantID)), slog.String("user", string(c.Identity.UserID)))
	}
	_ = e.log.Handle(ctx, line)
}

// method is the method, or "other" for one that a client made up.
func method(m string) string {
	known := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	if slices.Contains(known, m) {
		return m
	}
	return "other"
}

// routeOf is the pattern that a request matched, "none" without one.
func routeOf(rc *chi.Context) string {
	if rc != nil {
		if p := rc.RoutePattern(); p != "" {
			return p
		}
	}
	return "none"
}
