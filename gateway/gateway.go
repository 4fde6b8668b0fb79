package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"ubl"
)

// Options of a gateway.
type Options struct {
	Config Config
	// Env reads an environment variable, for keys.
	Env func(name string) string
	// Now is the time of the cache and of providers that want to be left alone.
	Now func() time.Time
	Log *slog.Logger // nil for none
	// Transport carries the requests; nil for one of the gateway's own.
	Transport http.RoundTripper
}

// Gateway asks models. Safe for concurrent use.
type Gateway struct {
	checks    Checks
	providers []*provider
	cache     *cache // nil where it is off
	now       func() time.Time
	log       *slog.Logger
}

// New reads the keys and opens nothing else.
func New(o Options) (*Gateway, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	g := &Gateway{checks: o.Config.Checks, now: o.Now, log: o.Log}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if !o.Config.Cache.Off {
		g.cache = newCache(o.Config.Cache, o.Now)
	}
	client := &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if client.Transport == nil {
		client.Transport = newTransport()
	}
	for _, c := range o.Config.Providers {
		key, err := c.readKey(o.Env)
		if err != nil {
			return nil, err
		}
		g.providers = append(g.providers, newProvider(c, key, client))
	}
	return g, nil
}

// newTransport asks for no compression: a stream is wanted as it comes, and
// nothing may be larger than what was read.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,

		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}
}

// CheckBefore looks at a text on its way into a model, CheckAfter at one on its
// way out.
func (g *Gateway) CheckBefore(text string) ubl.CheckResult { return g.checks.Before.Look(text) }

// CheckAfter looks at a text on its way out of a model.
func (g *Gateway) CheckAfter(text string) ubl.CheckResult { return g.checks.After.Look(text) }

// Withholds reports whether an answer may be blocked: then no part of it may be
// passed on before CheckAfter has seen all of it.
func (g *Gateway) Withholds() bool { return g.checks.After.Blocks() }

// Serves refuses a model that nobody could be asked for: unavailable where there
// is no provider at all, with how to add one, else validation_error.
func (g *Gateway) Serves(model string) error {
	if len(g.providers) == 0 {
		return ubl.Errorf(ubl.CodeUnavailable, "no model provider is configured: name one under gateway.providers"+
			" in the YAML file of --config or UBL_CONFIG, with name, url, models, and key-file or key-variable")
	}
	for _, p := range g.providers {
		if p.serves(model) != "" {
			return nil
		}
	}
	e := ubl.Errorf(ubl.CodeValidation, "no model provider serves that model")
	e.Details = map[string]string{"model": "is under no provider's models"}
	return e
}

// Complete asks the providers that serve the model. onDelta, unless nil, is
// called with each part of the text as it comes; the whole text is the sum of the
// parts. Where it fails after the first token, the answer is what came until then,
// with its estimated usage, beside the error; else it is nil.
func (g *Gateway) Complete(ctx context.Context, r Request, onDelta func(string)) (*Answer, error) {
	if err := g.Serves(r.Model); err != nil {
		return nil, err
	}
	id, cacheable := cacheKey(r)
	cacheable = cacheable && g.cache != nil
	if cacheable {
		if a, ok := g.cache.get(id); ok {
			if onDelta != nil && a.Text != "" {
				onDelta(a.Text)
			}
			return a, nil
		}
	}
	a, err := g.ask(ctx, r, onDelta)
	if err == nil && cacheable {
		g.cache.put(id, a)
	}
	return a, err
}

// ask asks one provider after the other.
func (g *Gateway) ask(ctx context.Context, r Request, onDelta func(string)) (*Answer, error) {
	var last *failure
	for _, p := range g.providers {
		model := p.serves(r.Model)
		if model == "" {
			continue
		}
		if wait := p.resting(g.now()); wait > 0 {
			last = p.fail(ubl.CodeRateLimited, "wants to be left alone for a while").wait(wait)
			continue
		}
		a, failed := p.ask(ctx, r, model, onDelta)
		if failed == nil {
			return a, nil
		}
		if err := ctx.Err(); err != nil {
			return a, ubl.AsError(err)
		}
		g.log.Warn("a model provider failed", "provider", p.Name, "error", failed.Error)
		p.rest(g.now(), failed.after)
		if last = failed; failed.final {
			return a, failed.Error
		}
	}
	return nil, last.Error
}
