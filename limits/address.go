package limits

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientOf is the address that a request came from: its peer's or, where that is a
// trusted proxy, the last one in X-Forwarded-For that is none of them. It is the zero
// Addr, which nothing is counted for, where a proxy doesn't say.
func (l *Limiter) ClientOf(r *http.Request) netip.Addr {
	peer := peerOf(r.RemoteAddr)
	if l == nil || !l.proxy(peer) {
		return peer
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return netip.Addr{} // what stands before it nobody vouches for
		}
		if a = a.Unmap().WithZone(""); !l.proxy(a) {
			return a
		}
	}
	return netip.Addr{}
}

// proxy reports whether an address is one of the operator's proxies.
func (l *Limiter) proxy(a netip.Addr) bool {
	return slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

func peerOf(address string) netip.Addr {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// network is what counts as one address: of IPv6 a customer gets a /64 or more.
func network(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return ""
	case a.Is6():
		p, _ := a.Prefix(64)
		return p.String()
	}
	return a.String()
}
