package transport

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"ubl/limits"
	"ubl/transport/envelope"
)

type connKey struct{}

// withConn lets a request find the connection that it came over.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// asking is from where a request comes, and whether its address has been charged for it.
type asking struct {
	from    netip.Addr
	charged bool
}

type askingKey struct{}

// limitAddress charges an address for the requests of callers who don't sign in, and says
// how many tenants may be founded from it. People behind one address don't use up each
// other's places: who signs in is counted by themselves. Handlers for everybody stand
// behind strangers, which refuses; what failed to sign in, or came elsewhere, is charged
// afterwards, and held where the address has asked too often. Probes cost nothing.
func (s *Server) limitAddress(next http.Handler) http.Handler {
	l := s.opts.Limits
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		a := &asking{from: l.ClientOf(r)}
		ctx := context.WithValue(r.Context(), askingKey{}, a)
		if may := l.Founding(r, s.secure); may != nil {
			ctx = envelope.WithFounding(ctx, may)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
		if !a.charged && envelope.RequestOf(ctx).Caller == nil && l.Address(a.from) != nil {
			envelope.Hold(ctx)
		}
	})
}

// strangers refuses an address that asks too often without signing in.
func (s *Server) strangers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := r.Context().Value(askingKey{}).(*asking)
		if ok && envelope.RequestOf(r.Context()).Caller == nil {
			a.charged = true
			if err := s.opts.Limits.Address(a.from); err != nil {
				refuse(w, r, err)
				return
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
		by := s.opts.Limits.Of(c.Identity, s.opts.Limits.ClientOf(r))
		envelope.RequestOf(r.Context()).Answering = by.Tell
		if err := s.opts.Limits.Request(c.Identity); err != nil {
			refuse(w, r, err)
			return
		}
		c.Limited(by)
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
