package oauth

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of clients' documents (Client ID Metadata Documents).
const (
	documentTime  = 5 * time.Second
	minKept       = time.Minute
	usuallyKept   = 10 * time.Minute
	maxKept       = 24 * time.Hour
	maxDocuments  = 1000
	documentTurns = 8 // that are fetched at a time
	turnsOfOne    = 2 // of them for who asks from one address
)

// documents are those that were fetched lately. Whoever asks fetches; its mutex guards them.
type documents struct {
	server *Server

	mu    sync.Mutex
	kept  map[string]keptDocument
	taken map[string]int // turns, by where who asks is
	all   int            // turns that are taken
}

type keptDocument struct {
	client *client
	until  time.Time
}

func (d *documents) init(s *Server) {
	d.server, d.kept, d.taken = s, map[string]keptDocument{}, map[string]int{}
}

// isDocument reports whether a client id is the address of a document.
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// documentURL refuses addresses that can be no client's. Its host is a name, which people are
// shown: figures tell them nothing, and may be of an inner network.
func documentURL(id string) (*url.URL, bool) {
	u, err := url.Parse(id)
	if err != nil || len(id) > maxURL || !plainText(id) || u.Scheme != "https" || !goodHost(u) || inFigures(u) || u.User != nil || strings.Contains(id, "#") || u.RawQuery != "" || u.ForceQuery {
		return nil, false
	}
	return u, u.Path != "" && u.Path != "/" && path.Clean(u.Path) == strings.TrimSuffix(u.Path, "/")
}

func inFigures(u *url.URL) bool {
	_, err := netip.ParseAddr(u.Hostname())
	return err == nil
}

// find is the client whose document is at an address. count is asked before anything is fetched.
// Who asks is somewhere (from), and may have a part of the turns.
func (d *documents) find(ctx context.Context, id, from string, count func() error) (*client, error) {
	u, ok := documentURL(id)
	if !ok {
		return nil, notThisClient("the client id is no address that a client's document may have: https, a name and a path, without user, query or fragment")
	}
	if c := d.known(id); c != nil {
		return c, nil
	}
	if err := count(); err != nil {
		return nil, err
	}
	if !d.turn(from) {
		return nil, &problem{unavailable, "too many clients are being looked up: try again", http.StatusServiceUnavailable}
	}
	defer d.done(from)
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	c, lasts, err := d.fetch(ctx, u, id)
	if err != nil {
		return nil, err
	}
	d.keep(id, c, d.server.Now().Add(lasts))
	return c, nil
}

// turn takes a turn to fetch, where there is one; done gives it back.
func (d *documents) turn(from string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all >= documentTurns || d.taken[from] >= turnsOfOne {
		return false
	}
	d.all++
	d.taken[from]++
	return true
}

func (d *documents) done(from string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all--
	if d.taken[from]--; d.taken[from] == 0 {
		delete(d.taken, from)
	}
}

func (d *documents) known(id string) *client {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.kept[id]
	if !ok || !d.server.Now().Before(k.until) {
		return nil
	}
	return k.client
}

// keep makes room where there is none: what is over goes first, then any.
func (d *documents) keep(id string, c *client, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.server.Now()
	for other, k := range d.kept {
		if len(d.kept) < maxDocuments {
			break
		}
		if !now.Before(k.until) {
			delete(d.kept, other)
		}
	}
	for other := range d.kept {
		if len(d.kept) < maxDocuments {
			break
		}
		delete(d.kept, other)
	}
	d.kept[id] = keptDocument{c, until}
}

// fetch reads a client's document, and for how long it may be kept. What is wrong with it isn't
// told: it may be what an inner server says.
func (d *documents) fetch(ctx context.Context, u *url.URL, id string) (*client, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, 0, noDocument()
	}
	req.Header.Set("Accept", "application/json")
	resp, err := d.server.Pages.Do(req)
	if err != nil {
		return nil, 0, noDocument()
	}
	defer resp.Body.Close()
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || resp.StatusCode != http.StatusOK || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, 0, noDocument()
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata+1))
	if err != nil || len(data) > maxMetadata {
		return nil, 0, noDocument()
	}
	var doc said
	if json.Unmarshal(data, &doc) != nil || doc.ID != id {
		return nil, 0, noDocument()
	}
	if p := doc.check(); p != nil {
		return nil, 0, notThisClient("the client's document is not one that this server can use: " + p.Says)
	}
	if doc.Auth != "" && doc.Auth != authNone { // there is no secret between us
		return nil, 0, notThisClient("the client's document is not one that this server can use: token_endpoint_auth_method is none there")
	}
	return &client{ID: id, Name: doc.name(), Redirects: doc.Redirects, Host: u.Host, Auth: authNone}, lasting(resp.Header), nil
}

func noDocument() *problem {
	return notThisClient("the client's document couldn't be read: its address must answer JSON of 16 KiB at most, in five seconds and without a redirect, whose client_id is the address")
}

// lasting is how long a page may be kept, within our bounds.
func lasting(h http.Header) time.Duration {
	for part := range strings.SplitSeq(strings.ToLower(h.Get("Cache-Control")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "no-store", "no-cache":
			return minKept
		case "max-age":
			if n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil {
				return min(max(time.Duration(n)*time.Second, minKept), maxKept)
			}
		}
	}
	return usuallyKept
}
