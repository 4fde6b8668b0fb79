package portal

import (
	"context"
	"errors"
	"io"
	"maps"
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
	// maxResumes bounds how often one answer that broke off is asked for again.
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
	// shown are the credentials that the server was sent.
	shown shown
	// tasked are tools that can't be called here.
	tasked tasked
	// api says that each request is a call that is waited for.
	api bool
	// life ends with the session and takes everything under way with it.
	life context.Context
	kill context.CancelFunc

	// deaf is set once a stream of notifications has ended: the session goes on
	// answering, and is made anew when nothing is under way.
	deaf atomic.Bool

	requests atomic.Int32
	// flooded is set with the session's end where a server asked too much.
	flooded atomic.Bool
}

func newGuard(ctx context.Context, next http.RoundTripper, cred credential) *guard {
	g := &guard{next: next, cred: cred}
	g.life, g.kill = context.WithCancel(ctx)
	return g
}

// reason is why an answer was given up. It travels in the context of the call, since
// the SDK says only that reading failed.
type reason struct {
	mu      sync.Mutex
	err     error
	resumed int // how often the answer was asked for again
}

type reasonKey struct{}

// withReason has the guard note its reasons for a call.
func withReason(ctx context.Context) (context.Context, *reason) {
	r := new(reason)
	return context.WithValue(ctx, reasonKey{}, r), r
}

// note keeps the first reason for whoever called.
func note(ctx context.Context, err error) error {
	if r, ok := ctx.Value(reasonKey{}).(*reason); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = err
		}
	}
	return err
}

// resume counts that the answer to a call is asked for again, and says whether it
// may be.
func resume(ctx context.Context) bool {
	r, ok := ctx.Value(reasonKey{}).(*reason)
	if !ok {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resumed++
	return r.resumed <= maxResumes
}

// get is the reason; nil where there is none.
func (r *reason) get() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.life.Err() != nil {
		return nil, errClosed
	}
	if g.requests.Add(1) > maxRequests {
		g.requests.Add(-1)
		g.flooded.Store(true)
		g.kill()
		return nil, errFlood
	}
	what := calls
	if !g.api {
		what = waitOf(req)
	}
	if what == resumes && !resume(req.Context()) {
		g.requests.Add(-1)
		return nil, note(req.Context(), errFlood)
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(g.life, cancel)
	end := sync.OnceFunc(func() {
		stop()
		cancel()
		g.requests.Add(-1)
	})
	resp, err := g.send(req.WithContext(ctx), what, cancel)
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = &answer{Reader: io.LimitReader(copiedBody(ctx, resp), maxAnswer+1), close: resp.Body.Close, guard: g, ctx: ctx, end: end,
		listens: what == listens && resp.StatusCode == http.StatusOK}
	return resp, nil
}

// wait is what a request waits for, and so how long it may.
type wait int

const (
	calls   wait = iota
	listens      // for notifications, as long as the session lives
	resumes      // an answer that broke off
	tells        // nobody waits
)

func waitOf(req *http.Request) wait {
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
func (g *guard) send(req *http.Request, what wait, cancel func()) (*http.Response, error) {
	switch what {
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
	if what == listens && (err != nil || resp.StatusCode != http.StatusOK) {
		return noStream(req, resp), nil
	}
	if err != nil || what != calls {
		return resp, err
	}
	return g.judge(req.Context(), resp)
}

// judge turns refusals that the SDK would only call by their number into reasons.
func (g *guard) judge(ctx context.Context, resp *http.Response) (*http.Response, error) {
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
	return nil, note(ctx, err)
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
	proof := http.Header{}
	if err := g.cred.authorize(req.Context(), proof); err != nil {
		return nil, note(req.Context(), explain(err, nil))
	}
	g.shown.add(proof)
	maps.Copy(out.Header, proof)
	resp, err := g.next.RoundTrip(out)
	if e, ok := errors.AsType[*ubl.Error](err); ok { // no connection came about
		return nil, note(req.Context(), e)
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
			return 0, note(a.ctx, err)
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
