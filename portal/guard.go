package portal

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
)

// Bounds of one session with a server. They hold whatever the server does.
const (
	// maxAnswer bounds the answer to one request, and one stream of notifications.
	maxAnswer = 8 << 20
	// maxRequests bounds how many requests a session has under way: a server that
	// floods us with questions makes us answer each.
	maxRequests = 64
	// maxResumes bounds how often answers that broke off are asked for again.
	maxResumes = 20
	// listenTimeout is how soon a stream of notifications must begin; servers that
	// have none sometimes don't answer at all.
	listenTimeout = 3 * time.Second
	// tellTimeout bounds requests that nobody waits for, as a notification.
	tellTimeout = 10 * time.Second
)

// Why a guard gives up. The SDK tells its callers only that something broke.
var (
	errTooLarge = ubl.Errorf(ubl.CodeUnavailable, "the server's answer is larger than %d MiB", maxAnswer>>20)
	errFlood    = ubl.Errorf(ubl.CodeUnavailable, "the server asks more than it answers")
	errRefused  = ubl.Errorf(ubl.CodeForbidden, "the server refuses the portal's credentials: an owner must set them again")
	errBusy     = ubl.Errorf(ubl.CodeRateLimited, "the server asks to be called less often")
	errClosed   = ubl.Errorf(ubl.CodeUnavailable, "the session with the server has ended")
)

// guard is the way of one session to its server: an http.RoundTripper below the
// SDK's client. It brings the credentials, and it bounds what a server can make us
// hold, wait for or do.
type guard struct {
	next http.RoundTripper
	cred credential
	// life ends with the session and takes everything under way with it.
	life context.Context
	kill context.CancelFunc

	// deaf is set once a stream of notifications has ended: the session goes on
	// answering, and is made anew when nothing is under way.
	deaf atomic.Bool

	requests atomic.Int32
	resumes  atomic.Int32

	mu    sync.Mutex
	cause error // the first reason why an answer was given up
}

func newGuard(ctx context.Context, next http.RoundTripper, cred credential) *guard {
	g := &guard{next: next, cred: cred}
	g.life, g.kill = context.WithCancel(ctx)
	return g
}

// because notes why an answer was given up, for whoever asked.
func (g *guard) because(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause == nil {
		g.cause = err
	}
	return err
}

// takeCause tells the reason, once.
func (g *guard) takeCause() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.cause
	g.cause = nil
	return err
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.life.Err() != nil {
		return nil, errClosed
	}
	if g.requests.Add(1) > maxRequests {
		g.requests.Add(-1)
		g.kill()
		return nil, g.because(errFlood)
	}
	sort := sortOf(req)
	if sort == resumes && g.resumes.Add(1) > maxResumes {
		g.requests.Add(-1)
		return nil, g.because(errFlood)
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(g.life, cancel)
	end := sync.OnceFunc(func() {
		stop()
		cancel()
		g.requests.Add(-1)
	})
	resp, err := g.send(req.WithContext(ctx), sort, cancel)
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = &answer{Reader: io.LimitReader(resp.Body, maxAnswer+1), close: resp.Body.Close, guard: g, ctx: ctx, end: end,
		listens: sort == listens && resp.StatusCode == http.StatusOK}
	return resp, nil
}

// sort of request, by what may be waited for.
type sort int

const (
	calls   sort = iota
	listens      // for notifications, as long as the session lives
	resumes      // an answer that broke off
	tells        // nobody waits
)

func sortOf(req *http.Request) sort {
	_, waits := req.Context().Deadline()
	switch {
	case req.Method == http.MethodGet && req.Header.Get("Last-Event-ID") != "":
		return resumes
	case req.Method == http.MethodGet, req.Header.Get("Mcp-Method") == "subscriptions/listen":
		return listens
	case !waits:
		return tells
	}
	return calls
}

// send asks, with credentials, and once more where they were refused and can be
// renewed. It returns with the head of the answer.
func (g *guard) send(req *http.Request, k sort, cancel func()) (*http.Response, error) {
	switch k {
	case listens:
		defer time.AfterFunc(listenTimeout, cancel).Stop()
	case tells:
		time.AfterFunc(tellTimeout, cancel) // its answer too
	}
	resp, err := g.try(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && g.cred.renew(req.Context()) {
		resp.Body.Close()
		resp, err = g.try(req)
	}
	if k == listens && (err != nil || resp.StatusCode != http.StatusOK) {
		return noStream(req, resp), nil
	}
	if err != nil || k != calls {
		return resp, err
	}
	return g.judge(resp)
}

// judge turns refusals that the SDK would only call by their number into reasons.
func (g *guard) judge(resp *http.Response) (*http.Response, error) {
	var err error
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		err = g.cred.refused()
	case http.StatusTooManyRequests:
		err = errBusy
	default:
		return resp, nil
	}
	resp.Body.Close()
	return nil, g.because(err)
}

// try sends a copy of the request with the credentials in it.
func (g *guard) try(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	if err := g.cred.authorize(req.Context(), out.Header); err != nil {
		return nil, g.because(err)
	}
	resp, err := g.next.RoundTrip(out)
	if errors.Is(err, errAddress) {
		return nil, g.because(errAddress)
	}
	return resp, err
}

// noStream answers for a server that gives no stream of notifications. That is
// allowed, and must not end the session, which the SDK would do.
func noStream(req *http.Request, resp *http.Response) *http.Response {
	if resp != nil {
		resp.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: req,
	}
}

// answer is the bounded body of an answer.
type answer struct {
	io.Reader
	read    int64
	close   func() error
	guard   *guard
	ctx     context.Context
	end     func()
	listens bool
}

// Read implements [io.Reader]. A stream of notifications that ends goes silent
// instead: the SDK would open it again and again, as fast as the server wants, and
// end the session over it.
func (a *answer) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	a.read += int64(n)
	if a.read > maxAnswer {
		err = errTooLarge
		if !a.listens {
			return 0, a.guard.because(err)
		}
		n = 0
	}
	if err == nil || !a.listens {
		return n, err
	}
	if n > 0 {
		return n, nil
	}
	a.guard.deaf.Store(true)
	<-a.ctx.Done()
	return 0, a.ctx.Err()
}

// Close implements [io.Closer].
func (a *answer) Close() error {
	defer a.end()
	return a.close()
}
