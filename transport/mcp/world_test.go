package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl"
	"ubl/actors/families"
	"ubl/actors/tenant"
	"ubl/test/harness"
	"ubl/test/leaks"
	"ubl/transport/api"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
	"ubl/transport/mcp/script"
)

// No test may leave a goroutine behind, but those that the search engine keeps
// for the process.
func TestMain(m *testing.M) {
	script.RunIfChild()
	leaks.Main(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

var (
	ana = harness.User("ana@acme.com")
	bob = harness.User("bob@acme.com")
	eve = harness.User("eve@other.org") // of another tenant
	// bot is a service of ana's, once [world.makeBot] has made it.
	bot = ubl.Identity{UserID: ubl.UserIDFor(tenant.ServiceIssuer, "c1", false), IsService: true, TenantID: ana.TenantID, Issuer: tenant.ServiceIssuer, Subject: "c1"}
)

// people are the callers by what they send as their credential.
var people = map[string]ubl.Identity{"ana": ana, "bob": bob, "eve": eve, "bot": bot}

// world is the real actors with the API's acts, and the MCP server over them.
type world struct {
	*harness.House
	*mcp.Server
	url    string
	client *http.Client
	serial atomic.Int64
	// ends says when credentials end; revoked ends them at once.
	ends    atomic.Int64
	revoked chan struct{}
	// holds is what is said of credentials that were ended.
	holds error
	// place gives a place to each stream; nil gives all of them.
	place func() (release func(), err error)
	// rate counts uses of tools that write; nil counts none.
	rate func(ubl.Rate) error
	// mandate bounds whoever calls; nil bounds nobody.
	mandate *ubl.Mandate
	// oneAddress says that credentials are good for one address.
	oneAddress bool
}

func newWorld(t testing.TB, change ...func(*mcp.Options)) *world {
	t.Helper()
	w := &world{House: harness.Open(t, harness.Options{}), revoked: make(chan struct{})}
	for _, who := range []ubl.Identity{ana, bob, eve} {
		w.Enter(who)
	}
	w.Server = w.node(t, change...)
	w.url = w.open(t, w.Server)
	w.client = newClient(t)
	return w
}

func (w *world) makeBot() {
	harness.Must[*ubl.ServiceToken](w.House, ubl.TenantName(ana.TenantID), ubl.CreateServiceToken{Request: w.Request(ana), Name: "bot", ClientID: bot.Subject, SecretHash: "00"})
}

// node makes an MCP server over the world's actors, as each node of a cluster
// has one.
func (w *world) node(t testing.TB, change ...func(*mcp.Options)) *mcp.Server {
	t.Helper()
	o := mcp.Options{
		Acts:  actsOf(envelope.Entering(w.Runtime)),
		Asker: envelope.Entering(w.Runtime), Feed: w.Runtime,
		SessionKeys: func() [][]byte { return [][]byte{bytes.Repeat([]byte("k"), 32)} }, Version: "test", Instructions: "Be kind.",
	}
	for _, f := range change {
		f(&o)
	}
	s, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// described are the API's tools, whose descriptions take a good part of a second to make under
// the race detector. All worlds have the same; each act asks the world that its context names.
var described = sync.OnceValue(func() []envelope.Act {
	return api.New(api.Options{Asker: named{}, Now: time.Now, Version: "test", Offers: families.All.Offers()}).Acts()
})

// named asks whom the context names under its own type.
type named struct{}

// Ask implements [ubl.Asker].
func (named) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	return ctx.Value(named{}).(ubl.Asker).Ask(ctx, to, cmd)
}

// actsOf are the API's tools over whom they are to ask.
func actsOf(asker ubl.Asker) []envelope.Act {
	acts := slices.Clone(described())
	for i := range acts {
		do, stream := acts[i].Do, acts[i].Stream
		acts[i].Do = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			return do(context.WithValue(ctx, named{}, asker), args)
		}
		if stream != nil {
			acts[i].Stream = func(ctx context.Context, args json.RawMessage, piece func(string)) (json.RawMessage, error) {
				return stream(context.WithValue(ctx, named{}, asker), args, piece)
			}
		}
	}
	return acts
}

// open serves a node on a port of its own.
func (w *world) open(t testing.TB, s *mcp.Server) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range map[string]http.Handler{"/mcp": s.Handler(), "/portal/mcp": s.PortalHandler()} {
		mux.Handle(path, w.middleware(s.Challenge(w.authenticate)(h)))
		mux.Handle(path+"/", w.middleware(s.Challenge(w.authenticate)(h)))
	}
	mux.Handle(mcp.MetadataPath, w.middleware(s.Metadata()))
	mux.Handle(mcp.MetadataPath+"/", w.middleware(s.Metadata()))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("channels didn't end: %v", err)
		}
	})
	return server.URL
}

// middleware gives requests what the transport does.
func (w *world) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if id == "" {
			id = fmt.Sprintf("req:%d", w.serial.Add(1))
		}
		req := &envelope.Request{ID: id, Key: id, At: ubl.TimeOf(w.Clock.Now())}
		next.ServeHTTP(rw, r.WithContext(envelope.WithRequest(r.Context(), req)))
	})
}

// authenticate knows people by their names.
func (w *world) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		who, ok := people[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !ok {
			envelope.WriteError(rw, r, ubl.Errorf(ubl.CodeUnauthorized, "the request needs a credential"))
			return
		}
		who.Mandate = w.mandate
		caller := &envelope.Caller{Identity: who, ExpiresAt: ubl.Time(w.ends.Load()), Revoked: w.revoked, Holds: func(context.Context) error { return w.holds }, OneAddress: w.oneAddress}
		caller.Limited(w)
		caller.Enters(ubl.Enter{Request: envelope.Command(envelope.WithCaller(r.Context(), caller), ""), Act: r.Method == "POST"}, w.Runtime)
		next.ServeHTTP(rw, r.WithContext(envelope.WithCaller(r.Context(), caller)))
	})
}

// Act implements [envelope.Limits].
func (w *world) Act(rate ubl.Rate) error {
	if w.rate == nil {
		return nil
	}
	return w.rate(rate)
}

// Stream implements [envelope.Limits].
func (w *world) Stream() (release func(), err error) {
	if w.place == nil {
		return func() {}, nil
	}
	return w.place()
}

// Streamed implements [envelope.Limits].
func (w *world) Streamed(int) time.Duration { return 0 }

func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// answer is an HTTP answer with the JSON-RPC message in it.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request as a person; headers come as name, value, name, value.
func (w *world) do(t testing.TB, method, url, who, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+who)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, unwrap(res.Header, string(data))}
}

// unwrap takes the messages out of a stream of events, one a line.
func unwrap(h http.Header, body string) string {
	if !strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
		return body
	}
	var out []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out = append(out, strings.TrimSpace(data))
		}
	}
	return strings.Join(out, "\n")
}

// meta is _meta of a modern request; more is added inside.
func meta(more string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}` + more + `}`
}

// modern sends a request of 2026-07-28. params are the members besides _meta.
func (w *world) modern(t testing.TB, who, method, name, params string, headers ...string) answer {
	t.Helper()
	if params != "" {
		params += ","
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta("") + `}}`
	headers = append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}, headers...)
	return w.do(t, "POST", w.url+"/mcp", who, body, headers...)
}

// begin begins a session of an older client and answers its id.
func (w *world) begin(t testing.TB, url, who, client string) string {
	t.Helper()
	a := w.do(t, "POST", url, who, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+client+`","version":"1"}}}`)
	if a.status != 200 || a.header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("initialize = %d %s", a.status, a.body)
	}
	return a.header.Get("Mcp-Session-Id")
}

// legacy sends a request in a session.
func (w *world) legacy(t testing.TB, who, session, method, params string, headers ...string) answer {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
	headers = append([]string{"Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25"}, headers...)
	return w.do(t, "POST", w.url+"/mcp", who, body, headers...)
}

const sendHello = `"name":"messenger.send","arguments":{"room_id":"r:general","type":"text","body":{"text":"hello"}}`
