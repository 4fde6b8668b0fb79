package auth

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"ubl"
)

// Origin is the scheme, host and port of an address, spelled one way: in small letters,
// without the usual port. It is "" of what is no address of a web server.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	switch {
	case port != "" && port != usualPort(u.Scheme):
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host
}

// SameOrigin reports whether two addresses have one origin. The names of this machine for
// itself are one host.
func SameOrigin(a, b string) bool {
	a, b = Origin(a), Origin(b)
	if a == "" || a == b {
		return a != ""
	}
	own, other := ownPort(a), ownPort(b)
	return own != "" && own == other
}

// ownPort is the port of an http address by which this machine reaches itself, else "".
func ownPort(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && !ip.IsLoopback() {
		return ""
	}
	if u.Port() == "" {
		return usualPort(u.Scheme)
	}
	return u.Port()
}

func usualPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// ownOrigin refuses an origin that a command asked and that isn't this server's: neither that
// of the public URL, nor this machine at the port of the connection.
func (a *Authenticator) ownOrigin(r *http.Request, at string) error {
	if at == "" || at != Origin(at) {
		return ubl.Errorf(ubl.CodeValidation, "at is the origin that the program asks, as https://ubl.example.com; an old ubl doesn't say it: update it")
	}
	if SameOrigin(at, a.origin) || ownPort(at) != "" && ownPort(at) == portOf(localAddress(r)) {
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

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
