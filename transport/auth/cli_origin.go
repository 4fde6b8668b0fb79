package auth

import (
	"net"
	"net/http"

	"ubl"
	"ubl/transport/envelope"
)

// ownOrigin refuses an origin that a command asked and that isn't this server's: neither that
// of the public URL, nor this machine at the port of the connection.
func (a *Authenticator) ownOrigin(r *http.Request, at string) error {
	if at == "" || at != envelope.Origin(at) {
		return ubl.Errorf(ubl.CodeValidation, "at is the origin that the program asks, as https://ubl.example.com; an old ubl doesn't say it: update it")
	}
	_, port, err := net.SplitHostPort(localAddress(r))
	if envelope.SameOrigin(at, a.origin) || err == nil && envelope.SameOrigin(at, "http://localhost:"+port) {
		return nil
	}
	return ubl.Errorf(ubl.CodeOriginNotAllowed, "the program asked another address than this server's: another program may have passed its request on")
}

// localAddress is the address of this server that the connection of a request came to, "" where
// it came by none.
func localAddress(r *http.Request) string {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return at.String()
	}
	return ""
}
