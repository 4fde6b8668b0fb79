package auth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// fetchEvery is how long an issuer's page, or the failure to get it, is
	// played back instead of fetched again. go-oidc fetches the keys for every
	// token with an unknown key; without this, forged tokens would make us
	// hammer the provider. New keys are seen that much later.
	fetchEvery = 5 * time.Second
	// fetchTimeout bounds one fetch.
	fetchTimeout = 5 * time.Second
	// maxPage bounds a discovery document and a key set.
	maxPage = 1 << 20
	// maxPages bounds how many are held: one issuer has two.
	maxPages = 8
)

// fetcher is the way to one issuer. It asks seldom, reads little, and goes over
// TLS except to this machine, redirects included.
type fetcher struct {
	next http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	pages map[string]page // by URL
}

// page is what a fetch brought.
type page struct {
	at   time.Time
	res  http.Response // without a body
	body []byte
	err  error
}

// newFetcher wraps a client; nil means a plain one.
func newFetcher(client *http.Client, now func() time.Time) (*fetcher, *http.Client) {
	own := http.Client{}
	if client != nil {
		own = *client
	}
	if own.Transport == nil {
		own.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: fetchTimeout}
	}
	if own.Timeout <= 0 || own.Timeout > fetchTimeout {
		own.Timeout = fetchTimeout
	}
	f := &fetcher{next: own.Transport, now: now, pages: map[string]page{}}
	own.Transport = f
	return f, &own
}

// RoundTrip answers with the page, played back if it is recent.
func (f *fetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	at := r.URL.String()
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.pages[at]
	if !ok || f.now().Sub(p.at) >= fetchEvery {
		p = f.fetch(r)
		if len(f.pages) >= maxPages {
			clear(f.pages)
		}
		f.pages[at] = p
	}
	if p.err != nil {
		return nil, p.err
	}
	res := p.res
	res.Body, res.Request = io.NopCloser(bytes.NewReader(p.body)), r
	return &res, nil
}

func (f *fetcher) fetch(r *http.Request) page {
	p := page{at: f.now()}
	if p.err = checkURL(r.URL); p.err != nil {
		return p
	}
	res, err := f.next.RoundTrip(r)
	if err != nil {
		p.err = err
		return p
	}
	defer res.Body.Close()
	p.res = *res
	p.body, p.err = io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	switch {
	case p.err != nil:
	case len(p.body) > maxPage:
		p.err = errors.New("the issuer's answer is too large")
	case res.StatusCode >= http.StatusBadRequest:
		p.err = fmt.Errorf("the issuer answered with status %d", res.StatusCode)
	}
	return p
}

// failing reports whether something could not be fetched of late.
func (f *fetcher) failing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pages {
		if p.err != nil && f.now().Sub(p.at) < fetchEvery {
			return true
		}
	}
	return false
}

// CloseIdleConnections lets http.Client close what lies below.
func (f *fetcher) CloseIdleConnections() {
	if t, ok := f.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// checkURL accepts https, and http to this machine: keys that anyone on the
// way can swap are no keys.
func checkURL(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return errors.New("an issuer must be reached over https (plain http only on this machine)")
	}
	return nil
}
