package portal_test

import (
	"context"
	"encoding/json"
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
		case <-time.After(patience):
			t.Errorf("%s: nobody is told", c.name)
		}
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
	if _, err := w.call("ev.echo", `{"text":"a"}`); ubl.CodeOf(err) != ubl.CodeUnavailable || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("the call is answered %v", err)
	}
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
	if ubl.CodeOf(err) != ubl.CodeUnknownTool {
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
