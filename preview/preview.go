package preview

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"ubl"
	"ubl/panics"
	"ubl/turns"
)

const (
	// patience is how long a page may take, and then its picture.
	patience = 5 * time.Second
	// fresh is how old a preview may be; stale how old nothing may be, and what is to be kept nowhere.
	fresh = 6 * time.Hour
	stale = 10 * time.Minute
	// cacheBytes is how much memory previews take.
	cacheBytes = 32 << 20
	// places is how many fetches are under way, and placesEach how many of a tenant.
	places, placesEach = 16, 4
)

// Preview is what a page says of itself.
type Preview struct {
	URL  string // the link as the message has it
	Host string // of the link, which a page can't choose
	// Title is the host's name where the page has none. SiteName and Description may be "".
	Title, Description, SiteName string
	Image                        *Image // nil for none
}

// Options are what [Previews] are made of.
type Options struct {
	// Transport is the way to pages: a guarded one, since strangers name them.
	Transport http.RoundTripper
	// Own is the host that this server is reached by: nobody fetches from themselves.
	Own    string
	Now    func() time.Time
	Log    *slog.Logger
	Panics *panics.Catcher
}

// Previews fetches previews and keeps the newest in memory. Safe for concurrent use.
type Previews struct {
	Options
	client   *http.Client
	made     *otter.Cache[key, kept]
	making   singleflight.Group
	hosts    *otter.Cache[string, *rate.Limiter]
	places   *turns.Turns
	decoding chan struct{}
}

type key struct {
	tenant ubl.TenantID
	link   string
}

// kept is a preview, nil for none, and until when it holds.
type kept struct {
	*Preview
	until time.Time
}

// New has none yet.
func New(o Options) *Previews {
	p := &Previews{
		Options: o, places: turns.New(places, placesEach), decoding: make(chan struct{}, 1),
		hosts: otter.Must(&otter.Options[string, *rate.Limiter]{MaximumSize: maxHosts}),
		made: otter.Must(&otter.Options[key, kept]{
			MaximumWeight: cacheBytes,
			Weigher: func(k key, v kept) uint32 {
				weight := 512 + 2*len(k.link)
				if v.Preview != nil && v.Image != nil {
					weight += len(v.Image.Data)
				}
				return uint32(weight)
			},
		}),
	}
	p.client = &http.Client{Transport: o.Transport, CheckRedirect: p.follow}
	return p
}

// Of are the previews of a message's links, in their order, without those that have none. Who asks
// has been allowed to read the message. It waits for at most two times five seconds.
func (p *Previews) Of(ctx context.Context, tenant ubl.TenantID, text string) (list []*Preview) {
	var making []<-chan singleflight.Result
	for _, link := range Links(text) {
		making = append(making, p.one(ctx, key{tenant, link}))
	}
	for _, result := range making {
		select {
		case r := <-result:
			if made, _ := r.Val.(*Preview); made != nil {
				list = append(list, made)
			}
		case <-ctx.Done():
			return list
		}
	}
	return list
}

// one is a preview from memory, or made now for all who wait for it.
func (p *Previews) one(ctx context.Context, k key) <-chan singleflight.Result {
	if v, ok := p.made.GetIfPresent(k); ok && p.Now().Before(v.until) {
		done := make(chan singleflight.Result, 1)
		done <- singleflight.Result{Val: v.Preview}
		return done
	}
	// Others may wait for the same one, so it outlives this request.
	return p.making.DoChan(string(k.tenant)+" "+k.link, func() (any, error) {
		made, age, err := p.make(context.WithoutCancel(ctx), k)
		if err != nil {
			made = nil
			p.Log.Debug("couldn't make a preview of a link", "tenant", k.tenant, "error", err)
		}
		if age > 0 {
			p.made.Set(k, kept{made, p.Now().Add(age)})
		}
		return made, nil
	})
}

// make makes a preview, and says how long it holds: 0 for what is asked for again at once.
func (p *Previews) make(ctx context.Context, k key) (made *Preview, age time.Duration, err error) {
	defer p.Panics.Recover(&err, "a preview of a link")
	age = stale
	u := fetchable(k.link)
	if u == nil || p.Own != "" && strings.EqualFold(u.Host, p.Own) {
		return nil, age, nil
	}
	reading, end := context.WithTimeout(ctx, patience)
	defer end()
	if err := p.places.Take(reading, k.tenant); err != nil {
		return nil, 0, err
	}
	defer p.places.Give(k.tenant)
	resp, err := p.get(reading, u.String(), "text/html, application/xhtml+xml, image/*;q=0.5")
	if err != nil {
		if ubl.CodeOf(err) == ubl.CodeRateLimited {
			age = 0
		}
		return nil, age, err
	}
	defer resp.Body.Close()
	made = &Preview{URL: k.link, Host: hostOf(u)}
	if at := p.read(reading, resp, made); at != "" {
		looking, end := context.WithTimeout(ctx, patience)
		defer end()
		made.Image = p.image(looking, at)
	}
	if made.Title == "" && made.Description == "" && made.Image == nil {
		return nil, age, nil
	}
	if made.Title == "" {
		made.Title = made.Host
	}
	if !strings.Contains(strings.ToLower(resp.Header.Get("Cache-Control")), "no-store") {
		age = fresh
	}
	return made, age, nil
}

// hostOf is the host of an address as people see it.
func hostOf(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }
