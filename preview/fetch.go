package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"ubl"
)

const (
	maxPage      = 512 << 10
	maxRedirects = 3
	// hostEvery and hostBurst are how often a host is asked, of maxHosts that are remembered.
	hostEvery = 500 * time.Millisecond
	hostBurst = 8
	maxHosts  = 4096

	agent = "UBL-LinkPreview/1.0"
)

var errHost = ubl.Errorf(ubl.CodeRateLimited, "the host is asked too often")

// get asks for an address. Only a good answer is none of the errors.
func (p *Previews) get(ctx context.Context, at, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil || fetchable(at) == nil {
		return nil, errors.New("not an address to fetch from")
	}
	if !p.mayAsk(req.URL.Hostname()) {
		return nil, errHost
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", accept)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("couldn't fetch it: status %d", resp.StatusCode)
	}
	return resp, nil
}

// follow says whether a redirect is followed. It brings nothing along that says where it came from.
func (p *Previews) follow(req *http.Request, via []*http.Request) error {
	req.Header.Del("Referer")
	switch {
	case len(via) > maxRedirects:
		return errors.New("too many redirects")
	case fetchable(req.URL.String()) == nil, via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
		return errors.New("the redirect leads where nothing is fetched from")
	case !p.mayAsk(req.URL.Hostname()):
		return errHost
	}
	return nil
}

// mayAsk counts a request to a host, and says whether it may be made.
func (p *Previews) mayAsk(host string) bool {
	limit, _ := p.hosts.SetIfAbsent(strings.ToLower(host), rate.NewLimiter(rate.Every(hostEvery), hostBurst))
	return limit.AllowN(p.Now(), 1)
}

// read reads an answer into a preview, and says where its picture is. A link may be one itself.
func (p *Previews) read(ctx context.Context, resp *http.Response, into *Preview) (image string) {
	contentType := resp.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(contentType)
	switch {
	case strings.HasPrefix(kind, "image/"):
		into.Image = p.picture(ctx, resp)
		return ""
	case kind != "text/html" && kind != "application/xhtml+xml":
		return ""
	}
	said := parse(io.LimitReader(resp.Body, maxPage), contentType)
	if said.signIn {
		return ""
	}
	into.Title, into.Description, into.SiteName = said.title, said.description, said.site
	if said.image == "" {
		return ""
	}
	at, err := resp.Request.URL.Parse(said.image)
	if err != nil {
		return ""
	}
	return at.String()
}
