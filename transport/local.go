package transport

import (
	"net"
	"net/http"

	"ubl"
	"ubl/limits"
	"ubl/transport/envelope"
)

// directOnly hides a handler from everyone but programs on this machine. A
// request that a proxy passed on came from elsewhere, whatever its peer.
func directOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fromLoopback(r) || limits.PassedOn(r.Header) {
			hide(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// noRebinding keeps web pages out that made a browser on this machine believe
// that their own host name leads here (DNS rebinding).
func noRebinding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromLoopback(r) && !fixedHost(r.Host) {
			hide(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hide answers as if nothing were there.
func hide(w http.ResponseWriter, r *http.Request) {
	envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing here"))
}

func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
