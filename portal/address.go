package portal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	case u.Scheme == "https", u.Scheme == "http" && (p.allowHTTP || isLoopback(u.Hostname()) || isPrivate(u.Hostname())):
		return nil
	}
	return ubl.Errorf(ubl.CodeValidation, "%s: https only, or http to this machine or to a private network's address in figures", place)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// isPrivate reports whether a host is an address in a private network. A name is none:
// it may lead out of there any time.
func isPrivate(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && isInner(ip.Unmap().WithZone(""))
}

// isInner is true of loopback, private networks and those that aren't reachable from
// everywhere.
func isInner(ip netip.Addr) bool {
	return ip.IsLoopback() || ip.IsPrivate() || slices.ContainsFunc(local, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// isOwn is true of the addresses of this machine's network interfaces, a public one
// even: what listens there may be meant for its inside.
func isOwn(ip netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		at, ok := netip.AddrFromSlice(n.IP)
		return ok && at.Unmap() == ip
	})
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
		if isNamed(name, secretNames) || isNamed(name, keyNames) {
			return true
		}
	}
	return false
}

// secretNames are parts of the names that secrets go by, and keyNames of those that they go by in
// addresses: elsewhere a key is mostly none.
var (
	secretNames = []string{"token", "secret", "password", "credential"}
	keyNames    = []string{"key", "signature"}
)

func isNamed(name string, words []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

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

// local lists ranges that are private in effect: IANA's registries of special addresses
// say that they aren't reachable globally.
var local = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"),   // carriers' address translation
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("100::/64"),        // discarded
	netip.MustParsePrefix("2001:2::/48"),     // benchmarks
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("3fff::/20"),       // documentation
	netip.MustParsePrefix("5f00::/16"),       // segment routing
}

// Everywhere are the networks that have every address in them.
func Everywhere() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// CheckNetwork refuses a network that no tenant can be allowed to reach.
func CheckNetwork(n netip.Prefix) error {
	if !n.IsValid() || n.Masked() != n || n.Addr().Is4In6() {
		return errors.New("not a network, as 10.1.0.0/16 or fd12:3456::/32, without bits behind the prefix")
	}
	for _, p := range never {
		if p.Bits() <= n.Bits() && p.Contains(n.Addr()) {
			return errors.New("a network that the portal never reaches: clouds hand out credentials there, or nobody lives there")
		}
	}
	return nil
}

// reachable says whether the portal may talk to an address, of the private ones only to
// those in networks that are allowed.
func reachable(ip netip.Addr, allowed []netip.Prefix) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() {
		return false
	}
	for _, p := range never {
		if p.Contains(ip) {
			return false
		}
	}
	if isInner(ip) || isOwn(ip) {
		return slices.ContainsFunc(allowed, func(n netip.Prefix) bool { return n.Contains(ip) })
	}
	for _, c := range carrying {
		if b := ip.AsSlice(); c.prefix.Contains(ip) {
			inner, _ := netip.AddrFromSlice(b[c.at : c.at+4])
			return reachable(inner, allowed)
		}
	}
	return true
}

var (
	// errAddress refuses a connection before it is made. Only tenants that may go
	// everywhere hear of it.
	errAddress = ubl.Errorf(ubl.CodeForbidden, "the server's name leads to an address that the portal must not reach")
	// errUnreachable is all that other tenants hear where no connection comes about: a
	// refused address, a name that nobody knows and a server that is down look the same,
	// or errors would tell which names there are inside. Operators read the cause in the log.
	errUnreachable = ubl.Errorf(ubl.CodeUnavailable, "couldn't reach the server: it is down, its address is wrong, or the operator allows your organisation no servers there")
)

// outside is a way to other servers: connections are shared by tenants that may go to
// the same networks, and by no others.
type outside struct {
	*http.Transport
	dialer  net.Dialer
	allowed []netip.Prefix
	// even is how long a connection takes that doesn't come about, so that how long it
	// took tells nothing either. 0 says that errors are told as they are.
	even time.Duration
	log  *slog.Logger
}

// newOutside makes one. There is no proxy: it would hide where a name leads.
func newOutside(allowed []netip.Prefix, even time.Duration, log *slog.Logger) *outside {
	o := &outside{allowed: allowed, even: even, log: log}
	if !slices.ContainsFunc(Everywhere(), func(n netip.Prefix) bool { return !slices.Contains(allowed, n) }) {
		o.even = 0
	}
	o.dialer = net.Dialer{Timeout: dialTimeout, Control: o.control}
	o.Transport = &http.Transport{
		DialContext: o.dial, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: 90 * time.Second,
		MaxIdleConns: 200, MaxIdleConnsPerHost: 16, MaxResponseHeaderBytes: 64 << 10,
	}
	return o
}

// control checks an address after the name was resolved and before the connection is
// made, so that no answer of a name server gets around it.
func (o *outside) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !reachable(to.Addr(), o.allowed) {
		return errAddress
	}
	return nil
}

func (o *outside) dial(ctx context.Context, network, address string) (net.Conn, error) {
	over := time.NewTimer(o.even)
	defer over.Stop()
	c, err := o.dialer.DialContext(ctx, network, address)
	if err == nil || o.even == 0 {
		return c, err
	}
	o.tellOperators(ctx, address, err)
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	return nil, errUnreachable.Because(err)
}

// tellOperators logs why no connection came about, since the tenant isn't told. An
// address that was refused is a warning: only an operator can allow it. A dialler
// knows host and port, so that nothing secret of a URL or a header is in the line.
func (o *outside) tellOperators(ctx context.Context, address string, cause error) {
	level := slog.LevelDebug
	if errors.Is(cause, errAddress) {
		level = slog.LevelWarn
	}
	o.log.Log(ctx, level, "couldn't reach a server of tools; its tenant isn't told why", "address", address, "allowed", fmt.Sprint(o.allowed), "error", cause)
}

// outside is a tenant's way to other servers.
func (p *Portal) outside(t ubl.TenantID) *outside {
	if p.private == nil {
		return p.way(Everywhere())
	}
	return p.way(p.private(t))
}

// way is the way to the public and the networks that are allowed.
func (p *Portal) way(allowed []netip.Prefix) *outside {
	key := fmt.Sprint(allowed)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ways[key] == nil {
		p.ways[key] = newOutside(allowed, p.even, p.log)
	}
	return p.ways[key]
}

// dialTimeout bounds making a connection, resolving its name included, and the
// handshake on it.
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
	return pageClient(p.way(nil))
}

func pageClient(way http.RoundTripper) *http.Client {
	return &http.Client{Transport: bounded{way}, CheckRedirect: sameOrigin, Timeout: pageTimeout}
}

// isInside reports whether a connection leads to this machine or a private network.
func isInside(c net.Conn) bool {
	to, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && !reachable(to.Addr(), nil)
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
