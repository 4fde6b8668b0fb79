package portal_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
	"ubl/test/memnet"
	"ubl/test/poll"
)

// world is a house with the portal of a node, an owner and a member.
type world struct {
	*portal.Portal
	t          *testing.T
	house      *harness.House
	syncs      *syncs
	owner, bob ubl.Identity
	network    *memnet.Network // in a bubble
	leader     atomic.Pointer[portal.Portal]
}

// syncs passes commands on, and tells when a server's sync was recorded.
type syncs struct {
	ubl.Visitor
	mu   sync.Mutex
	done map[string]chan struct{} // closed with the first; by tenant and server
}

// Ask implements [ubl.Asker].
func (s *syncs) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	answer, err := s.Visitor.Ask(ctx, to, cmd)
	if record, ok := cmd.(ubl.RecordSync); ok && err == nil {
		done := s.of(record.Who.TenantID, record.ServerID)
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-done:
		default:
			close(done)
		}
	}
	return answer, err
}

func (s *syncs) of(t ubl.TenantID, server string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(t) + " " + server
	if s.done[key] == nil {
		s.done[key] = make(chan struct{})
	}
	return s.done[key]
}

// first waits until a server that was added has been asked for its tools, whatever came
// of it.
func (s *syncs) first(t *testing.T, tenant ubl.TenantID, server string) {
	t.Helper()
	select {
	case <-s.of(tenant, server):
	case <-time.After(patience):
		t.Fatalf("%s of %s is never synced", server, tenant)
	}
}

func newWorld(t *testing.T, change ...func(*portal.Options)) *world {
	t.Helper()
	w := &world{t: t, owner: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	w.house = harness.Open(t, harness.Options{Unsearched: true, Servers: w})
	w.syncs = &syncs{Visitor: w.house, done: map[string]chan struct{}{}}
	w.house.Enter(w.owner)
	w.house.Enter(w.bob)
	w.leads(w.node(change...))
	return w
}

// leads has a node lead the tenants from now on, and be the world's.
func (w *world) leads(p *portal.Portal) {
	w.Portal = p
	w.leader.Store(p)
}

// SyncServer implements [ubl.Syncer] by the node that leads.
func (w *world) SyncServer(ctx context.Context, t ubl.TenantID, server string) (*ubl.Server, error) {
	p := w.leader.Load()
	if p == nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "no node leads")
	}
	return p.SyncServer(ctx, t, server)
}

// pass lets time pass, and what is due then be done.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.house.Clock.Add(d)
	w.house.Alarms()
}

// inBubble runs a test in a bubble of synctest, where the portal's servers are in memory:
// what waits there takes no time, and comes in its turn on a machine of any speed.
func inBubble(t *testing.T, test func(t *testing.T, w *world), change ...func(*portal.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, append(change, allowHTTP)...)
		w.network = &memnet.Network{}
		portal.DialWith(w.Portal, w.network.Dial)
		test(t, w)
	})
}

// tools runs an MCP server of the SDK in the bubble.
func (w *world) tools(t *testing.T, e era) (*mcp.Server, string) {
	t.Helper()
	s, h := e.server(t)
	return s, w.network.Start(t, h)
}

func allowHTTP(o *portal.Options) { o.AllowHTTP = true }

// node is the portal of another node of the same house.
func (w *world) node(change ...func(*portal.Options)) *portal.Portal {
	w.t.Helper()
	return newNode(w.t, w.house, append([]func(*portal.Options){func(o *portal.Options) { o.Asker = w.syncs }}, change...)...)
}

func newNode(t testing.TB, house *harness.House, change ...func(*portal.Options)) *portal.Portal {
	t.Helper()
	o := portal.Options{
		Asker: house, Feed: house, Keys: func() [][]byte { return [][]byte{[]byte(strings.Repeat("k", 32))} }, Now: house.Clock.Now, Random: rand.Reader,
		PublicURL: "https://ubl.example",
	}
	for _, f := range change {
		f(&o)
	}
	p, err := portal.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}

// add makes a server known and waits for what a sync said of it.
func (w *world) add(s ubl.Server, secret string) *ubl.Server {
	w.t.Helper()
	if s.Name == "" {
		s.Name = "Server"
	}
	if s.Auth == "" {
		s.Auth = ubl.AuthNone
	}
	if _, err := w.Add(w.t.Context(), w.house.Request(w.owner), true, s, secret); err != nil {
		w.t.Fatalf("couldn't add %s: %v", s.ServerID, err)
	}
	if s.Auth == ubl.AuthUser {
		return nil
	}
	w.syncs.first(w.t, w.owner.TenantID, s.ServerID)
	return w.await(s.ServerID, func(s *ubl.Server) bool { return s.SyncedAt != nil })
}

// await waits until a server is as it should be.
func (w *world) await(id string, ok func(*ubl.Server) bool) (found *ubl.Server) {
	w.t.Helper()
	poll.Until(w.t, id+" is as it should be", func() bool {
		servers, err := w.Servers(w.t.Context(), w.owner)
		if err != nil {
			w.t.Fatal(err)
		}
		i := slices.IndexFunc(servers, func(s *ubl.Server) bool { return s.ServerID == id && ok(s) })
		if i >= 0 {
			found = servers[i]
		}
		return i >= 0
	})
	return found
}

// patience is how long a test waits for what should happen soon: the longest, a list of
// tools of 12 MB, takes a busy machine over half a minute under the race detector.
const patience = 2 * time.Minute

// allow opens tools to everyone.
func (w *world) allow(tools ...string) {
	w.t.Helper()
	for _, tool := range tools {
		harness.Must[*ubl.ToolAccess](w.house, ubl.TenantName(w.owner.TenantID),
			ubl.SetToolAccess{Request: w.house.Request(w.owner), Tool: tool, Allowed: true})
	}
}

// call calls as bob.
func (w *world) call(tool, args string) (*ubl.ToolResult, error) {
	return w.Call(w.t.Context(), w.house.Request(w.bob), tool, json.RawMessage(args), "", nil)
}

// must calls as bob and wants a result.
func (w *world) must(tool, args string) *ubl.ToolResult {
	w.t.Helper()
	r, err := w.call(tool, args)
	if err != nil {
		w.t.Fatalf("%s: %v", tool, err)
	}
	return r
}

// refused calls as bob and wants the error code.
func (w *world) refused(want ubl.Code, tool, args string) *ubl.Error {
	w.t.Helper()
	_, err := w.call(tool, args)
	if got := ubl.CodeOf(err); got != want {
		w.t.Fatalf("%s was answered %q (%v), want %q", tool, got, err, want)
	}
	return ubl.AsError(err)
}

// log is the newest rows of the tenant's log, newest first.
func (w *world) log() []*ubl.Call {
	w.t.Helper()
	page := harness.Must[*ubl.CallPage](w.house, ubl.PortalName(w.owner.TenantID), ubl.ReadCalls{Who: w.owner, Owner: true})
	return page.Calls
}

// names are those of the tools that someone is shown.
func (w *world) names(who ubl.Identity) []string {
	w.t.Helper()
	tools, err := w.Tools(w.t.Context(), who)
	if err != nil {
		w.t.Fatal(err)
	}
	names := []string{}
	for _, tool := range tools {
		names = append(names, tool.Tool)
	}
	return names
}

// sees waits until someone is shown these tools.
func (w *world) sees(who ubl.Identity, want ...string) {
	w.t.Helper()
	changed := make(chan struct{}, 1)
	defer w.Watch(who.TenantID, func() {
		select {
		case changed <- struct{}{}:
		default: // it will look
		}
	})()
	for late := time.After(patience); !slices.Equal(w.names(who), want); {
		select {
		case <-changed:
		case <-late:
			w.t.Fatalf("%s is shown %v, want %v", who.Email, w.names(who), want)
		}
	}
}

// serve runs a handler as a server of its own.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// era is a generation of the protocol, as the SDK serves it.
type era struct {
	name string
	opts mcp.StreamableHTTPOptions
}

var eras = []era{
	{"2026-07-28", mcp.StreamableHTTPOptions{Stateless: true}},
	{"2025-11-25", mcp.StreamableHTTPOptions{}},
	{"2025-11-25, JSON answers", mcp.StreamableHTTPOptions{JSONResponse: true}},
}

// tools runs an MCP server of the SDK.
func tools(t *testing.T, e era) (*mcp.Server, string) {
	t.Helper()
	s, h := e.server(t)
	return s, serve(t, h)
}

// server is one of the SDK, and what serves it. Its sessions end with the test, and so does what its
// tools still do: a session that is closed waits for them, and a caller's cancellation may be lost
// with the connection.
func (e *era) server(t *testing.T) (*mcp.Server, http.Handler) {
	s := mcp.NewServer(&mcp.Implementation{Name: "others", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			ctx, end := context.WithCancel(ctx)
			defer end()
			defer context.AfterFunc(t.Context(), end)()
			return next(ctx, method, r)
		}
	})
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close() // its client may have gone
		}
	})
	return s, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &e.opts)
}

// schema is the input schema of most tools here.
const schema = `{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer","minimum":1}},"required":["text"],"additionalProperties":false}`

// tool adds one with a plain handler.
func tool(s *mcp.Server, name string, fn func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
	s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(schema)}, fn)
}

// echo answers with its arguments.
func echo(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
}
