package portal

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"ubl"
)

// maxURL bounds an address in bytes.
const maxURL = 2048

// checkURL refuses what the portal must not be sent to by a URL: other schemes,
// credentials, and plain HTTP to another machine. Where the name leads is checked
// when it is dialled.
func (p *Portal) checkURL(place, s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || len(s) > maxURL || u.Hostname() == "" || u.Opaque != "":
		return ubl.Errorf(ubl.CodeValidation, "%s: not an address of a server", place)
	case u.User != nil:
		return ubl.Errorf(ubl.CodeValidation, "%s: no credentials in the address: set them as the secret", place)
	case u.Fragment != "":
		return ubl.Errorf(ubl.CodeValidation, "%s: no fragment", place)
	case u.Scheme == "https", u.Scheme == "http" && (p.allowHTTP || isLoopback(u.Hostname())):
		return nil
	}
	return ubl.Errorf(ubl.CodeValidation, "%s: https only, or http to this machine", place)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// bringsKey reports whether the query of an address that was checked holds what is
// called like a secret. Other members are fine: some servers are told there what to
// offer.
func bringsKey(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return true
	}
	for name := range u.Query() {
		name = strings.ToLower(name)
		if slices.ContainsFunc(keyNames, func(word string) bool { return strings.Contains(name, word) }) {
			return true
		}
	}
	return false
}

// keyNames are parts of the names that secrets go by.
var keyNames = []string{"key", "token", "secret", "password", "credential", "signature"}

// originOf is the scheme and host of an address that was checked.
func originOf(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// never lists ranges that no server of tools lives in. Some of them are where
// clouds hand out credentials to whoever asks.
var never = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"), // link-local, metadata of most clouds
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("224.0.0.0/3"), // multicast, reserved, broadcast
	netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"),
	netip.MustParsePrefix("2001::/32"),      // Teredo: an IPv4 address in disguise
	netip.MustParsePrefix("64:ff9b:1::/48"), // NAT64 of a network's own, which holds one at any of four places
	netip.MustParsePrefix("ff00::/8"),
}

// carrying lists IPv6 ranges that hold an IPv4 address, and at which byte.
var carrying = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible
}

// shared is the range of carriers' address translation: private in effect.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// reachable says whether the portal may talk to an address.
func reachable(ip netip.Addr, private bool) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() {
		return false
	}
	for _, p := range never {
		if p.Contains(ip) {
			return false
		}
	}
	if ip.IsLoopback() || ip.IsPrivate() || shared.Contains(ip) {
		return private
	}
	for _, c := range carrying {
		if b := ip.AsSlice(); c.prefix.Contains(ip) {
			inner, _ := netip.AddrFromSlice(b[c.at : c.at+4])
			return reachable(inner, private)
		}
	}
	return true
}

// errAddress refuses a connection before it is made.
var errAddress = ubl.Errorf(ubl.CodeForbidden, "the server's name leads to an address that the portal must not reach")

// newOutside makes the way to the outside. The address is checked after the name
// was resolved and before the connection is made, so that no answer of a name
// server gets around it. There is no proxy: it would hide where a name leads.
func newOutside(private bool) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !reachable(to.Addr(), private) {
			return errAddress
		}
		return nil
	}}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: 90 * time.Second,
		MaxIdleConns: 200, MaxIdleConnsPerHost: 16, MaxResponseHeaderBytes: 64 << 10,
	}
}

// dialTimeout bounds making a connection, and the handshake on it.
const dialTimeout = 5 * time.Second

var errRedirect = errors.New("couldn't follow a redirect: it leads to another server")

// sameOrigin follows a redirect only where it stays with the server: a secret
// must not leave it.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || originOf(req.URL.String()) != originOf(via[0].URL.String()) {
		return errRedirect
	}
	return nil
}

// plainClient is for pages whose address an owner has set: metadata, tokens,
// registries. What it brings is bounded.
func (p *Portal) plainClient(t ubl.TenantID) *http.Client { return pageClient(p.outside(t)) }

// namedClient is for pages whose address a server of the tenant has named. Unless it
// is inside itself, it must not have us ask what is.
func (p *Portal) namedClient(t ubl.TenantID, inside bool) *http.Client {
	if inside {
		return p.plainClient(t)
	}
	return pageClient(p.public)
}

func pageClient(way http.RoundTripper) *http.Client {
	return &http.Client{Transport: bounded{way}, CheckRedirect: sameOrigin, Timeout: pageTimeout}
}

// isInside reports whether a connection leads to this machine or a private network.
func isInside(c net.Conn) bool {
	to, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && !reachable(to.Addr(), false)
}

const (
	pageTimeout = 10 * time.Second
	maxPage     = 2 << 20
)

// bounded cuts off answers that are larger than any honest page.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxPage)
	return resp, nil
}
