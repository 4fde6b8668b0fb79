package portal

import (
	"net/http"
	"net/netip"
)

// PublicClient fetches pages whose address a stranger has named: from public addresses alone,
// without following a redirect. How a page that can't be had fails, and when, tells nothing of
// what is inside.
func (p *Portal) PublicClient() *http.Client {
	c := pageClient(p.way(nil))
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// PublicTransport reaches public addresses, and the networks that are allowed. Callers follow
// redirects, and bound what they read, themselves.
func (p *Portal) PublicTransport(allowed []netip.Prefix) http.RoundTripper { return p.way(allowed) }
