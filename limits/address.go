package limits

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientOf is the address that a request came from: its peer's or, where that is a
// trusted proxy, the last one in X-Forwarded-For that is none of them. What a proxy
// writes that can't be read, or doesn't write, counts as the proxy's own address.
func (l *Limiter) ClientOf(r *http.Request) netip.Addr {
	from := peerOf(r.RemoteAddr)
	header := r.Header["X-Forwarded-For"]
	if l == nil || len(header) == 0 || !l.proxy(from) {
		return from
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(header, ","), ",")) {
		a, ok := readHop(hop)
		if !ok { // what stands before it nobody vouches for
			l.warnUnread(from)
			return from
		}
		if from = a; !l.proxy(a) {
			return a
		}
	}
	return from
}

// readHop reads an address as proxies write it: with a port, in brackets, or bare.
func readHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(text)
	return a.Unmap().WithZone(""), err == nil
}

// warnUnread tells the operator, once, that a proxy's requests count as its own.
func (l *Limiter) warnUnread(proxy netip.Addr) {
	l.unread.Do(func() {
		l.log.Warn("a trusted proxy writes into X-Forwarded-For what is no address; requests that came so count as its own: have it write the client's IP address",
			"proxy", proxy)
	})
}

// forwarding are the headers by which proxies say that they pass a request on.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via", "Cf-Connecting-Ip"}

// PassedOn reports whether a proxy says that it passed a request on.
func PassedOn(h http.Header) bool {
	return slices.ContainsFunc(forwarding, func(name string) bool { return len(h[name]) > 0 })
}

// passedOn reports whether a proxy passed a request on. It tells the operator, once, of
// one on this machine that they haven't named.
func (l *Limiter) passedOn(r *http.Request) bool {
	if !PassedOn(r.Header) {
		return false
	}
	if from := peerOf(r.RemoteAddr); from.IsLoopback() && !l.proxy(from) {
		l.nameless.Do(func() {
			l.log.Warn("a proxy on this machine passes requests on, and all its clients count as one address: start the server with --trusted-proxy",
				"proxy", from)
		})
	}
	return true
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

// NetworkOf is where a request came from, as what counts as one address. A nil Limiter knows too.
func (l *Limiter) NetworkOf(r *http.Request) string { return network(l.ClientOf(r)) }

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
