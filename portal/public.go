package portal

import "net/http"

// PublicClient fetches pages whose address a stranger has named: from public addresses alone,
// without following a redirect. How a page that can't be had fails, and when, tells nothing of
// what is inside.
func (p *Portal) PublicClient() *http.Client {
	c := pageClient(p.way(nil))
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}
