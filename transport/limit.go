package transport

import (
	"context"
	"net"
	"net/http"

	"ubl/limits"
	"ubl/transport/envelope"
)

type connKey struct{}

// withConn lets a request find the connection that it came over.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// limitAddress refuses an address that asks too often, and says how many tenants may be
// founded from it. Probes are asked for by machines, and cost nothing.
func (s *Server) limitAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l := s.opts.Limits; l != nil && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			from := l.ClientOf(r)
			if err := l.Address(from); err != nil {
				refuse(w, r, err)
				return
			}
			if may := l.Founding(from); may != nil {
				r = r.WithContext(envelope.WithFounding(r.Context(), may))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// limitCaller, behind authentication, refuses who or whose tenant asks too often, and
// has the caller's way into the tenant, and their streams, pass the limits.
func (s *Server) limitCaller(next http.Handler) http.Handler {
	if s.opts.Limits == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := envelope.CallerOf(r.Context())
		if c == nil {
			next.ServeHTTP(w, r)
			return
		}
		if conn, ok := r.Context().Value(connKey{}).(*limits.Conn); ok {
			conn.Known()
		}
		if err := s.opts.Limits.Request(c.Identity); err != nil {
			refuse(w, r, err)
			return
		}
		from := s.opts.Limits.ClientOf(r)
		c.Limited(
			func(tool string) error { return s.opts.Limits.Act(c.Identity, tool) },
			func() (func(), error) { return s.opts.Limits.Stream(c.Identity, from) })
		next.ServeHTTP(w, r)
	})
}

// Streams gives each stream a place among those of its address, caller and tenant.
func Streams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := envelope.CallerOf(r.Context()); c != nil {
			release, err := c.Stream()
			if err != nil {
				refuse(w, r, err)
				return
			}
			defer release()
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers what a limit has refused.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	envelope.Hold(r.Context())
	envelope.WriteError(w, r, err)
}
