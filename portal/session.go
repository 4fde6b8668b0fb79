package portal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/panics"
)

const (
	// connectTimeout bounds opening a session, and everything about signing in.
	connectTimeout = 20 * time.Second
	// closeTimeout bounds saying good-bye to a server.
	closeTimeout = 3 * time.Second
	// maxCalls bounds how many calls one session has under way.
	maxCalls = 32
	// idleAfter is how long a session without calls is kept.
	idleAfter = 10 * time.Minute
)

// session is one MCP session with a server, shared by everyone who calls with the
// same credentials.
type session struct {
	panics *panics.Catcher
	access *ubl.ServerAccess // what it was opened with
	guard  *guard
	client *mcp.ClientSession // nil for an API
	pages  *http.Client       // for documents that are elsewhere
	post   *poster            // nil where the SDK makes the calls
	// program is what the session is with, nil for what is on the network. Its answers come within
	// timeout, 0 for the portal's own.
	program  *program
	timeout  time.Duration
	openedAt ubl.Time
	endedAt  atomic.Int64 // ubl.Time, 0 for not yet
	broken   atomic.Bool

	calls  chan struct{} // one for each under way
	usedAt atomic.Int64  // ubl.Time
	asks   *asker        // whom the server may ask; nil for nobody

	mu        sync.Mutex
	listeners map[string]*listener
	serial    int
	// listed are the server's resources at listedAt, 0 for never. listChanges counts how often
	// they were forgotten.
	listed      []ubl.OfferedResource
	listedAt    ubl.Time
	listChanges int
}

// listener hears of one call's progress, and nothing more once it is stopped.
type listener struct {
	mu sync.Mutex
	fn func(done, total float64, message string)
}

// open connects. It never takes longer than ctx, whatever the server does: what
// is still under way then ends on its own, since the guard is dead.
//
// asks is whom the server may ask, nil for nobody.
func (p *Portal) open(ctx context.Context, who ubl.Identity, a *ubl.ServerAccess, changed func(), asks *asker) (*session, error) {
	cred, err := p.credentialOf(a, who)
	if err != nil {
		return nil, err
	}
	s := &session{
		access: a, openedAt: ubl.TimeOf(p.now()), guard: newGuard(p.ctx, p.outside(who.TenantID), cred), panics: p.panics,
		calls: make(chan struct{}, maxCalls), listeners: map[string]*listener{}, asks: asks,
	}
	if a.Server.Kind == ubl.ServerOpenAPI { // each request stands by itself
		s.guard.api, s.pages = true, p.plainClient(who.TenantID)
		return s, nil
	}
	if a.Server.Kind == ubl.ServerStdio {
		if err := p.start(who, s); err != nil {
			s.guard.kill()
			return nil, err
		}
	}
	ctx, why := withReason(ctx)
	if err := p.connected(ctx, s, changed); err != nil {
		reason := cmp.Or(why.get(), s.reason(err))
		s.guard.kill()
		if s.program != nil {
			_ = s.program.Close()
		}
		return nil, explain(err, reason)
	}
	if !p.spawn(func() { s.watch(p.now) }) {
		s.close()
		return nil, errClosed
	}
	return s, nil
}

// watch waits for the end of the session, from either side.
func (s *session) watch(now func() time.Time) {
	stop := context.AfterFunc(s.guard.life, func() { _ = s.client.Close() })
	defer stop()
	_ = s.client.Wait()
	s.broken.Store(true)
	s.endedAt.Store(int64(ubl.TimeOf(now())))
	s.guard.kill()
	if s.program != nil {
		_ = s.program.Close()
	}
}

// connected waits for the client, but no longer than ctx: one that comes too late
// is closed by itself.
func (p *Portal) connected(ctx context.Context, s *session, changed func()) error {
	type opened struct {
		client *mcp.ClientSession
		post   *poster
		err    error
	}
	done := make(chan opened)
	if !p.spawn(func() {
		var o opened
		o.err = p.panics.Try("connecting to a server", func() (err error) {
			o.client, o.post, err = s.connect(ctx, p.version, changed)
			return err
		})
		select {
		case done <- o:
		case <-s.guard.life.Done():
			if o.err == nil {
				_ = o.client.Close()
			}
		}
	}) {
		return errClosed
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case o := <-done:
		s.client, s.post = o.client, o.post
		return o.err
	}
}

// connect says hello in the newest protocol that both sides speak.
func (s *session) connect(ctx context.Context, version string, changed func()) (*mcp.ClientSession, *poster, error) {
	me := &mcp.Implementation{Name: "ubl", Title: "UBL portal", Version: version}
	opts := &mcp.ClientOptions{
		Logger: slog.New(slog.DiscardHandler), // it logs what servers sent
		// The portal has no roots and, where nobody may be asked, asks neither a person nor a model.
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: s.asks == nil},
		// The goroutines are the SDK's.
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			s.panics.Do("a server's changes", changed)
		},
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) {
			s.panics.Do("a server's changes", changed)
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			s.panics.Do("a server's changes", func() {
				s.forgetResources()
				changed() // templates, too
			})
		},
		ProgressNotificationHandler: s.progress,
	}
	if s.asks != nil {
		opts.ElicitationHandler = s.elicited
	}
	client := mcp.NewClient(me, opts)
	if s.program != nil {
		opened, err := client.Connect(ctx, s.program, nil)
		return opened, nil, err
	}
	way := &http.Client{Transport: s.guard, CheckRedirect: sameOrigin}
	opened, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.access.Server.URL, MaxRetries: 1, MaxEventSize: maxAnswer, HTTPClient: way,
	}, nil)
	if err != nil {
		return nil, nil, err
	}
	if s.asks != nil { // the SDK asks and calls again
		return opened, nil, nil
	}
	post, err := newPoster(way, s.access.Server.URL, me, opened)
	if post != nil {
		post.panics = s.panics
	}
	return opened, post, err
}

// listen has fn called with the progress of the call that bears the token, but
// not after stop has returned.
func (s *session) listen(fn func(done, total float64, message string)) (token string, stop func()) {
	l := &listener{fn: fn}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	token = strconv.Itoa(s.serial)
	s.listeners[token] = l
	return token, func() {
		s.mu.Lock()
		delete(s.listeners, token)
		s.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.fn = nil
	}
}

// progress is called by the SDK, one notification after the other.
func (s *session) progress(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
	defer s.panics.Recover(nil, "a call's progress") // the goroutine is the SDK's
	token, _ := n.Params.ProgressToken.(string)
	s.mu.Lock()
	l := s.listeners[token]
	s.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fn != nil {
		l.fn(n.Params.Progress, n.Params.Total, s.guard.shown.get().redact(ubl.Plain(n.Params.Message)))
	}
}

// begin takes a place among the calls under way; done gives it back.
func (s *session) begin() (done func(), err error) {
	select {
	case s.calls <- struct{}{}:
		return func() { <-s.calls }, nil
	default:
		return nil, ubl.Errorf(ubl.CodeOverloaded, "too many calls of the server are under way")
	}
}

// drain waits until all places are free, but no longer than the longest call may
// take, and keeps them: no call begins any more.
func (s *session) drain(longest time.Duration) {
	late := time.NewTimer(longest)
	defer late.Stop()
	for range maxCalls {
		select {
		case s.calls <- struct{}{}:
		case <-late.C:
			return
		case <-s.guard.life.Done():
			return
		}
	}
}

// call calls a tool. Where a POST of our own is not enough, the SDK does it: for
// callers who want to see progress, with servers of older versions, and where the
// server wants other arguments in headers than its pinned definition says.
func (s *session) call(ctx context.Context, tool string, headers []paramHeader, c *call) (*ubl.ToolResult, error) {
	if s.post == nil || c.progress != nil {
		return s.bySDK(ctx, tool, c)
	}
	raw, err := s.post.call(ctx, tool, headers, c.args)
	switch {
	case mismatch(err):
		return s.bySDK(ctx, tool, c)
	case errors.Is(err, errNoAnswer):
		s.broken.Store(true)
		return nil, err
	case err != nil:
		return nil, err
	}
	return readResult(raw)
}

// mismatch reports that a server misses arguments in headers, and has done nothing.
func mismatch(err error) bool {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && wire.Code == mcp.CodeHeaderMismatch
}

// bySDK has the SDK call a tool. It puts arguments into headers for tools that the
// session has been shown, so where the server misses them, its list is read first.
func (s *session) bySDK(ctx context.Context, tool string, c *call) (*ubl.ToolResult, error) {
	params := &mcp.CallToolParams{Name: tool, Arguments: c.args}
	if c.progress != nil {
		token, stop := s.listen(c.told)
		defer stop()
		params.SetProgressToken(token)
	}
	result, err := s.client.CallTool(ctx, params)
	if mismatch(err) {
		if _, err = s.tools(ctx); err == nil {
			result, err = s.client.CallTool(ctx, params)
		}
	}
	if err != nil {
		return nil, err
	}
	return resultOf(result)
}

// stale reports whether the session should make room for another.
func (s *session) stale() bool {
	return s.broken.Load() || s.program != nil && s.program.silent.Load() || s.guard.life.Err() != nil || s.guard.deaf.Load() && len(s.calls) == 0
}

// close says good-bye, and cuts off what then is still under way.
func (s *session) close() {
	if s.client != nil {
		timer := time.AfterFunc(closeTimeout, s.guard.kill)
		defer timer.Stop()
		_ = s.client.Close()
	}
	s.guard.kill()
}

// do asks the server, and explains its failure: the SDK's own text quotes what the
// server sent.
func (s *session) do(ctx context.Context, fn func(context.Context, *session) error) error {
	ctx, why := withReason(ctx)
	err := s.timely(ctx, fn)
	if reason := s.reason(err); reason != nil {
		return explain(err, reason)
	}
	switch {
	case err == nil || lost(err):
		return err
	case s.guard.flooded.Load():
		return errFlood.Because(err)
	}
	return explain(err, why.get())
}

// timely bounds fn by the time that its operator gives a program; what a person takes to answer it isn't the program's.
func (s *session) timely(ctx context.Context, fn func(context.Context, *session) error) error {
	if s.timeout == 0 {
		return fn(ctx, s)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := startWatch(s.timeout, func() { cancel(context.DeadlineExceeded) })
	defer clock.pause()
	if s.asks != nil {
		s.asks.clock.Store(clock)
	}
	err := fn(ctx, s)
	if err != nil && context.Cause(ctx) == context.DeadlineExceeded {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// reason is why a program failed to answer; nil for what is no program, or failed otherwise. One
// that lets a call run out of time makes room for another, since it may hang.
func (s *session) reason(failed error) error {
	switch {
	case failed == nil || s.program == nil:
		return nil
	case errors.Is(failed, context.DeadlineExceeded):
		s.broken.Store(true)
		return s.program.reason()
	case errors.Is(failed, mcp.ErrConnectionClosed) || errors.Is(failed, io.EOF):
		return s.program.endsSoon()
	}
	return s.program.reason()
}

// lost reports whether the server has forgotten the session: nothing was done,
// and it can be tried again in a new one.
func lost(err error) bool { return errors.Is(err, mcp.ErrSessionMissing) }
