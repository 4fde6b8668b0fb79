package gateway

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"ubl"
)

// provider is a Provider that can be asked.
type provider struct {
	Provider
	key    key
	client *http.Client
	// restsUntil is when it may be asked again, in milliseconds since 1970.
	restsUntil atomic.Int64
}

func newProvider(c Provider, key key, client *http.Client) *provider {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.FirstToken == 0 {
		c.FirstToken = defaultFirstToken
	}
	c.URL = strings.TrimRight(c.URL, "/")
	return &provider{Provider: c, key: key, client: client}
}

// resting is how long the provider still wants to be left alone.
func (p *provider) resting(now time.Time) time.Duration {
	return time.Duration(p.restsUntil.Load()-now.UnixMilli()) * time.Millisecond
}

func (p *provider) rest(now time.Time, d time.Duration) {
	if d > 0 {
		p.restsUntil.Store(now.Add(d).UnixMilli())
	}
}

// ask makes one call. The answer beside a failure is what came before it.
func (p *provider) ask(ctx context.Context, r Request, model string, onDelta func(string)) (*Answer, *failure) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	into := &assembly{onDelta: onDelta, begun: func() {}}
	if onDelta != nil {
		waiting := time.AfterFunc(p.FirstToken, func() { stop(errFirstToken) })
		defer waiting.Stop()
		into.begun = func() { waiting.Stop() }
	}
	failed := p.call(ctx, r, model, into)
	if failed != nil && !into.any {
		return nil, failed
	}
	a := into.answer()
	a.Usage = p.usage(r, model, a, into.usage)
	if failed != nil {
		return a, failed.finally()
	}
	return a, nil
}

// call sends the request and reads the answer into the assembly.
func (p *provider) call(ctx context.Context, r Request, model string, into *assembly) *failure {
	body, err := p.encode(r, model, into.onDelta != nil)
	if err != nil {
		return p.fail(ubl.CodeInternal, "couldn't be asked").because(err).finally()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return p.fail(ubl.CodeInternal, "couldn't be asked").because(err).finally()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.key != "" {
		req.Header.Set("Authorization", "Bearer "+string(p.key))
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return p.broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return p.refused(resp)
	}
	// Some servers stream only when they like, so the answer says what it is.
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
	case "application/json":
		return p.readWhole(ctx, resp.Body, into)
	case "text/event-stream":
		return p.readStream(ctx, resp.Body, into)
	}
	return p.fail(ubl.CodeUnavailable, "answered with something that is neither JSON nor a stream").reason("content_type")
}

// maxUsage is the most tokens that one call can have used.
const maxUsage = 100_000_000

// usage is what the provider said, or an estimate.
func (p *provider) usage(r Request, model string, a *Answer, said *wireUsage) ubl.Usage {
	u := ubl.Usage{Provider: p.Name, Model: model}
	if said != nil && plausible(said.PromptTokens) && plausible(said.CompletionTokens) && said.PromptTokens > 0 {
		u.PromptTokens, u.CompletionTokens = said.PromptTokens, said.CompletionTokens
	} else {
		u.PromptTokens, u.CompletionTokens, u.Estimated = EstimatePrompt(r), estimateAnswer(a), true
	}
	const million = 1_000_000
	u.CostMicros = (u.PromptTokens*p.PromptPrice + u.CompletionTokens*p.CompletionPrice + million - 1) / million
	return u
}

func plausible(n int64) bool { return n >= 0 && n <= maxUsage }
