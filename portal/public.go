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

// PublicTransport is the same way for whoever follows redirects and bounds what is read. Beside
// public addresses it reaches the networks that the operator allows.
func (p *Portal) PublicTransport(allowed []netip.Prefix) http.RoundTripper { return p.way(allowed) }
