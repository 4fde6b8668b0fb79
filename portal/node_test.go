package portal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
)

// TestForgottenSession: a server that has forgotten the session, as after a
// restart, is greeted again, and the call is made once.
func TestForgottenSession(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	alive, made := false, 0
	h := misbehave(func(w http.ResponseWriter, _ *http.Request, call rpc) {
		mu.Lock()
		defer mu.Unlock()
		if !alive {
			http.NotFound(w, nil)
			return
		}
		made++
		answerJSON(w, call, `{"content":[]}`)
	})
	greeted := 0
	w.add(ubl.Server{ServerID: "ev", URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" && r.Method == http.MethodPost {
			mu.Lock()
			greeted++
			alive = greeted > 1 // the first session is forgotten
			mu.Unlock()
		}
		h(w, r)
	}))}, "")
	w.allow("ev.x")
	w.must("ev.x", `{}`)
	mu.Lock()
	defer mu.Unlock()
	if greeted != 2 || made != 1 {
		t.Errorf("the server was greeted %d times, the call made %d times", greeted, made)
	}
}

// TestRestartedServer: a server that was down and is back is used again without
// anybody's doing.
func TestRestartedServer(t *testing.T) {
	w := newWorld(t)
	s, inner := tools(t, eras[1])
	tool(s, "echo", echo)
	var down atomic.Bool
	target, err := url.Parse(inner)
	if err != nil {
		t.Fatal(err)
	}
	w.add(ubl.Server{ServerID: "ev", URL: serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		forward(rw, r, target)
	}))}, "")
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	down.Store(true)
	w.refused(ubl.CodeUnavailable, "ev.echo", `{"text":"a"}`)
	w.sees(w.bob, "ev.echo") // the tools stay listed
	down.Store(false)
	w.house.Clock.Add(10 * time.Second)
	w.must("ev.echo", `{"text":"a"}`)
}

// TestManyCallers share one session, and a server takes so many calls at once.
func TestManyCallers(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[1])
	var sessions sync.Map
	release := make(chan bool)
	tool(s, "wait", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		sessions.Store(r.Session.ID(), true)
		select {
		case <-release:
		case <-t.Context().Done():
		}
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.wait")
	results := make(chan ubl.Code, 40)
	for range 40 {
		req := w.house.Request(w.bob)
		go func() {
			_, err := w.Call(t.Context(), req, "ev.wait", json.RawMessage(`{"text":"a"}`), "", nil)
			results <- ubl.CodeOf(err)
		}()
	}
	for range 8 { // those beyond 32 are refused at once
		if code := <-results; code != ubl.CodeOverloaded {
			t.Errorf("a call too many was answered %q", code)
		}
	}
	close(release)
	for range 32 {
		if code := <-results; code != "" {
			t.Errorf("a call was answered %q", code)
		}
	}
	n := 0
	sessions.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("there were %d sessions", n)
	}
}

// TestTidy: what nobody uses is let go, what is used is kept.
func TestTidy(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[1])
	tool(s, "echo", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	if slots, shops := portal.Tidy(w.Portal); slots != 1 || shops != 1 {
		t.Errorf("%d slots and %d tenants are kept", slots, shops)
	}
	cancel := w.Watch(w.bob.TenantID, func() {})
	w.house.Clock.Add(time.Hour)
	if slots, shops := portal.Tidy(w.Portal); slots != 0 || shops != 1 {
		t.Errorf("after an hour, %d slots and %d tenants are kept", slots, shops)
	}
	cancel()
	if _, shops := portal.Tidy(w.Portal); shops != 0 {
		t.Errorf("without a watcher, %d tenants are kept", shops)
	}
	w.must("ev.echo", `{"text":"a"}`)
}

// TestWatch: whoever lists tools hears of every change, made on any node.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[0])
	tool(s, "echo", echo)
	node := w.node()
	heard := make(chan bool, 100)
	defer node.Watch(w.bob.TenantID, func() { heard <- true })()
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"a server with tools", func() { w.add(ubl.Server{ServerID: "ev", URL: address}, "") }},
		{"access", func() { w.allow("ev.echo") }},
		{"a server removed", func() {
			if _, err := w.Remove(t.Context(), w.house.Request(w.owner), true, "ev"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		for len(heard) > 0 {
			<-heard
		}
		c.change()
		select {
		case <-heard:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: nobody is told", c.name)
		}
	}
}

// TestDailySync: a server is asked again once a day, by whichever node is first.
func TestDailySync(t *testing.T) {
	tenants := func(context.Context) ([]ubl.TenantID, error) {
		return []ubl.TenantID{ubl.CoreTenant, "t:example.com", "t:nobody.example"}, nil
	}
	w := newWorld(t, func(o *portal.Options) { o.Tenants = tenants })
	s, address := tools(t, eras[1])
	var lists atomic.Int32
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				lists.Add(1)
			}
			return next(ctx, method, r)
		}
	})
	tool(s, "a", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	other := w.node(func(o *portal.Options) { o.Tenants = tenants })
	before := lists.Load()
	portal.SyncDue(w.Portal, t.Context())
	portal.SyncDue(other, t.Context())
	if n := lists.Load() - before; n != 0 {
		t.Errorf("a fresh server was asked %d times", n)
	}
	w.house.Clock.Add(24 * time.Hour)
	portal.SyncDue(w.Portal, t.Context())
	portal.SyncDue(other, t.Context())
	if n := lists.Load() - before; n != 1 {
		t.Errorf("a server was asked %d times a day", n)
	}
}

// TestEndedTenant: nothing is synced under an Agreement that has ended.
func TestEndedTenant(t *testing.T) {
	w := newWorld(t, func(o *portal.Options) {
		o.Tenants = func(context.Context) ([]ubl.TenantID, error) { return []ubl.TenantID{"t:example.com"}, nil }
	})
	s, address := tools(t, eras[1])
	tool(s, "a", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	harness.Must[*ubl.AgreementView](w.house, ubl.TenantName(w.owner.TenantID), ubl.EndAgreement{Request: w.house.Request(w.owner)})
	head := func() int64 {
		return harness.Must[ubl.LedgerHead](w.house, ubl.LedgerName(w.owner.TenantID), ubl.GetLedgerHead{}).Seq
	}
	before := head()
	w.house.Clock.Add(24 * time.Hour)
	portal.SyncDue(w.Portal, t.Context())
	if grown := head() - before; grown != 0 {
		t.Errorf("%d atoms were written under an Agreement that has ended", grown)
	}
}

// flaky is a Visitor that can be made to fail.
type flaky struct {
	ubl.Visitor
	broken atomic.Bool
	logged atomic.Int32
}

func (f *flaky) fail() error {
	if f.broken.Load() {
		return ubl.Errorf(ubl.CodeUnavailable, "not now").Because(errors.New("broken"))
	}
	return nil
}

func (f *flaky) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	if err := f.fail(); err != nil {
		return nil, nil, err
	}
	return f.Visitor.Visit(ctx, in, to, cmd)
}

func (f *flaky) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	if c, ok := cmd.(ubl.LogCalls); ok {
		f.logged.Add(int32(len(c.Calls)))
	}
	return f.Visitor.Ask(ctx, to, cmd)
}

// deaf is a Visitor that loses every first answer and asks again, as a node does
// that forwards.
type deaf struct{ ubl.Visitor }

func (d deaf) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	_, _, _ = d.Visitor.Visit(ctx, in, to, cmd)
	return d.Visitor.Visit(ctx, in, to, cmd)
}

func (d deaf) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	_, _ = d.Visitor.Ask(ctx, to, cmd)
	return d.Visitor.Ask(ctx, to, cmd)
}

// TestLostAnswers: a call whose intent is on record is made, although the node heard
// so only when it asked again; a refusal is on record once.
func TestLostAnswers(t *testing.T) {
	w := newWorld(t, func(o *portal.Options) { o.Asker = deaf{o.Asker} })
	s, address := tools(t, eras[0])
	var made atomic.Int32
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		made.Add(1)
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo", "ev.none")
	req := w.house.Request(w.bob)
	if _, err := w.Call(t.Context(), req, "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Call(t.Context(), req, "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("the caller's second try was answered %v", err)
	}
	if n := made.Load(); n != 1 {
		t.Errorf("the call was made %d times", n)
	}
	w.refused(ubl.CodeNotFound, "ev.none", `{}`)
	if rows := w.log(); len(rows) != 2 || rows[0].Status != "denied" || rows[1].Status != "ok" {
		t.Errorf("%d rows are logged", len(rows))
	}
}

// TestSweptMeanwhile: where the sweep has ended a call, its caller isn't told that it
// went well.
func TestSweptMeanwhile(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[0])
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := w.house.Ask(ctx, ubl.PortalName(w.bob.TenantID), ubl.CloseCalls{Request: w.house.Request(ubl.Platform()), All: true}); err != nil {
			t.Error(err)
		}
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	w.refused(ubl.CodeUnavailable, "ev.echo", `{"text":"a"}`)
	if row := w.log()[0]; row.Status != "error" {
		t.Errorf("the call is on record as %s", row.Status)
	}
}

// TestLog: rows of our own tools reach the log in order, once, also over failures,
// and Close writes the rest.
func TestLog(t *testing.T) {
	f := &flaky{}
	w := newWorld(t, func(o *portal.Options) {
		f.Visitor = o.Asker
		o.Asker = f
	})
	row := func(i int) *ubl.Call {
		return &ubl.Call{At: ubl.TimeOf(w.house.Clock.Now()), Did: ubl.DidSend, Server: ubl.OwnServer, Capability: string(ubl.DidSend),
			UserID: w.bob.UserID, Status: "ok", RequestID: fmt.Sprintf("req:row-%d", i), DurationMS: int64(i)}
	}
	f.broken.Store(true)
	for i := range 150 {
		w.Log(w.bob.TenantID, row(i))
	}
	portal.Flush(w.Portal, t.Context())
	portal.Flush(w.Portal, t.Context())
	w.Log(w.bob.TenantID, row(150))
	f.broken.Store(false)
	portal.Flush(w.Portal, t.Context())
	if n := f.logged.Load(); n != 151 {
		t.Errorf("%d rows were written", n)
	}
	for i, got := range w.log() {
		if got.RequestID != fmt.Sprintf("req:row-%d", 150-i) {
			t.Fatalf("row %d from the end is %s", i, got.RequestID)
		}
	}

	// Too many are dropped, and nobody waits.
	f.broken.Store(true)
	for i := range portal.MaxRows + 10 {
		w.Log(w.bob.TenantID, row(i))
	}
	if n := portal.Waiting(w.Portal); n != portal.MaxRows {
		t.Errorf("%d rows wait", n)
	}
	for range 10 {
		portal.Flush(w.Portal, t.Context())
	}
	if n := portal.Waiting(w.Portal); n != 0 {
		t.Errorf("%d rows are tried for ever", n)
	}

	f.broken.Store(false)
	w.Log(w.bob.TenantID, row(200))
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.log()[0].RequestID; got != "req:row-200" {
		t.Errorf("after closing, the newest row is %s", got)
	}
}

// TestEffectOverFailures: an effect that can't be written at once is written when
// it can.
func TestEffectOverFailures(t *testing.T) {
	f := &flaky{}
	w := newWorld(t, func(o *portal.Options) {
		f.Visitor = o.Asker
		o.Asker = f
	})
	s, address := tools(t, eras[0])
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.broken.Store(true)
		time.AfterFunc(300*time.Millisecond, func() { f.broken.Store(false) })
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	r := w.must("ev.echo", `{"text":"a"}`)
	if row := w.log()[0]; row.N != r.N || row.Status != "ok" {
		t.Errorf("the call is on record as %+v", row)
	}
}

// TestClosed: after Close nothing goes out any more.
func TestClosed(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[1])
	tool(s, "echo", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.refused(ubl.CodeUnavailable, "ev.echo", `{"text":"a"}`)
	if row := w.log()[0]; row.Status != "error" {
		t.Errorf("the call is on record as %s", row.Status)
	}
}

// TestIsolation: a tenant's servers, tools and grants are its own.
func TestIsolation(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[0])
	tool(s, "echo", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	eve := harness.User("eve@example.org")
	w.house.Enter(eve)
	if names := w.names(eve); len(names) > 0 {
		t.Errorf("another tenant is shown %v", names)
	}
	_, err := w.Call(t.Context(), w.house.Request(eve), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil)
	if ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("another tenant was answered %v", err)
	}
	if servers, err := w.Servers(t.Context(), eve); err != nil || len(servers) > 0 {
		t.Errorf("another tenant has %d servers, %v", len(servers), err)
	}
}

// TestPrivateNetworks: where a tenant may not, its servers are not on this machine.
func TestPrivateNetworks(t *testing.T) {
	w := newWorld(t, func(o *portal.Options) { o.AllowPrivate = func(ubl.TenantID) []netip.Prefix { return nil } })
	portal.SetEven(w.Portal, time.Millisecond)
	_, address := tools(t, eras[1])
	got := w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	if got.Status != ubl.ServerDown || !strings.HasPrefix(got.Problem, "couldn't reach the server: ") {
		t.Errorf("the server is %s: %s", got.Status, got.Problem)
	}
	other := w.add(ubl.Server{ServerID: "no", URL: "https://no-such-name.invalid/mcp"}, "")
	if other.Problem != got.Problem || other.Status != got.Status {
		t.Errorf("a name inside is told from one that is nowhere: %q, %q", got.Problem, other.Problem)
	}
}
