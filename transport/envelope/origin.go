package envelope

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"
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
	if !Loopback(u.Hostname()) {
		return ""
	}
	return cmp.Or(u.Port(), usualPort(u.Scheme))
}

// Loopback reports whether a host is a name of this machine for itself, or such an address.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func usualPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}
