package transport_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"ubl"
	"ubl/transport"
	"ubl/transport/envelope"
)

// world is a server with a few routes that do what the real ones might.
type world struct {
	*transport.Server
	log  bytes.Buffer
	wait chan struct{} // /api/slow answers when it is closed
	in   chan struct{} // and says here that it has begun
}

func newWorld(change func(*transport.Options)) *world {
	w := &world{wait: make(chan struct{}), in: make(chan struct{}, 1)}
	o := transport.Options{
		Web:    http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, "the app at "+r.URL.Path) }),
		Log:    slog.New(slog.NewJSONHandler(&w.log, nil)),
		Public: func(r *http.Request) bool { return r.URL.Path == "/api/public" },
		Authenticate: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "" {
					envelope.WriteError(rw, r, ubl.Errorf(ubl.CodeUnauthorized, "the request needs a credential"))
					return
				}
				caller := &envelope.Caller{Identity: ubl.Identity{UserID: "u:ana", TenantID: "t:example.com"}}
				next.ServeHTTP(rw, r.WithContext(envelope.WithCaller(r.Context(), caller)))
			})
		},
		API: w.api,
	}
	if change != nil {
		change(&o)
	}
	w.Server = transport.New(o)
	return w
}

func (w *world) api(r chi.Router) {
	r.Get("/public", func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "public") })
	r.HandleFunc("/echo/{id}", func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			envelope.WriteError(rw, r, ubl.Errorf(ubl.CodeTooLarge, "more than %d bytes", tooLarge.Limit))
			return
		}
		envelope.Write(rw, http.StatusOK, map[string]any{"command": envelope.Command(r.Context(), ""), "bytes": len(body)})
	})
	r.Get("/panic", func(http.ResponseWriter, *http.Request) { panic("secret of the handler") })
	r.Get("/half", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "half")
		_ = http.NewResponseController(rw).Flush()
		panic("later")
	})
	r.Get("/slow", func(rw http.ResponseWriter, _ *http.Request) {
		w.in <- struct{}{}
		<-w.wait
		_, _ = io.WriteString(rw, "done")
	})
}

// do sends a request as a program on this machine would, with a credential;
// headers come as name, value, name, value.
func (w *world) do(method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, body)
	r.RemoteAddr = "127.0.0.1:1234"
	r.Header.Set("Authorization", "Bearer token-of-ana")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, r)
	return rec
}

// code is the error code of an answer in the envelope.
func code(t *testing.T, rec *httptest.ResponseRecorder) ubl.Code {
	t.Helper()
	var body envelope.ErrorBody
	if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
		t.Fatalf("not in the envelope: %s", rec.Body)
	}
	if body.RequestID == "" || body.RequestID != rec.Header().Get("X-Request-Id") || body.ServerTime == 0 || body.Error.Message == "" {
		t.Errorf("the envelope is not whole: %s", rec.Body)
	}
	return body.Error.Code
}

func TestRequestIDs(t *testing.T) {
	w := newWorld(nil)
	for _, c := range []struct {
		name    string
		headers []string
		id, key string // "" for a new one; key "=" for the id
	}{
		{"none given", nil, "", "="},
		{"a good one", []string{"X-Request-Id", "abc:123"}, "abc:123", "abc:123"},
		{"too short", []string{"X-Request-Id", "abc"}, "", "="},
		{"blanks", []string{"X-Request-Id", "abc def ghi"}, "", "="},
		{"two", []string{"X-Request-Id", "abc:123", "X-Request-Id", "abc:456"}, "", "="},
		{"a key", []string{"Idempotency-Key", "key-01"}, "", "key-01"},
		{"both", []string{"X-Request-Id", "abc:123", "Idempotency-Key", "key-01"}, "abc:123", "key-01"},
		{"a malformed key, which package api refuses", []string{"X-Request-Id", "abc:123", "Idempotency-Key", strings.Repeat("k", 129)}, "abc:123", "abc:123"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := w.do("GET", "/api/echo/1", nil, c.headers...)
			var got struct{ Command ubl.Request }
			if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			id := rec.Header().Get("X-Request-Id")
			if c.id == "" && (!strings.HasPrefix(id, "req:") || !ubl.ValidRequestID(id)) || c.id != "" && id != c.id {
				t.Errorf("request id = %q, want %q", id, c.id)
			}
			key := c.key
			if key == "=" {
				key = id
			}
			if got.Command.ID != id || got.Command.Key != key || got.Command.Who.UserID != "u:ana" {
				t.Errorf("command = %+v, want id %q and key %q", got.Command, id, key)
			}
		})
	}
}

func TestAnswersOutsideAPI(t *testing.T) {
	w := newWorld(nil)
	for _, c := range []struct {
		method, path string
		status       int
		code         ubl.Code
	}{
		{"GET", "/", 303, ""},
		{"HEAD", "/", 303, ""},
		{"GET", "/ui", 303, ""},
		{"GET", "/ui/", 200, ""},
		{"HEAD", "/ui/rooms/r:general", 200, ""},
		{"POST", "/ui/", 405, ubl.CodeMethodNotAllowed},
		{"GET", "/healthz", 200, ""},
		{"GET", "/readyz", 200, ""},
		{"GET", "/nowhere", 404, ubl.CodeNotFound},
		{"GET", "/debug/pprof/", 404, ubl.CodeNotFound},
		{"POST", "/healthz", 405, ubl.CodeMethodNotAllowed},
		{"GET", "/api/public", 200, ""},
	} {
		rec := w.do(c.method, c.path, nil)
		if rec.Code != c.status {
			t.Errorf("%s %s = %d, want %d", c.method, c.path, rec.Code, c.status)
		}
		if c.code != "" && code(t, rec) != c.code {
			t.Errorf("%s %s has code %s, want %s", c.method, c.path, code(t, rec), c.code)
		}
	}
}

// Browsers ask for the icon of any page at a path of their own.
func TestIcon(t *testing.T) {
	rec := newWorld(nil).do("GET", "/favicon.ico", nil)
	if to := rec.Header().Get("Location"); rec.Code != 302 || to != "/ui/icon-192.png" {
		t.Errorf("the icon = %d to %q, want 302 to the app's", rec.Code, to)
	}
	if rec := newWorld(func(o *transport.Options) { o.Web = nil }).do("GET", "/favicon.ico", nil); rec.Code != 404 {
		t.Errorf("the icon without the app = %d, want 404", rec.Code)
	}
}

func TestAPINeedsACaller(t *testing.T) {
	w := newWorld(nil)
	for path, status := range map[string]int{"/api/public": 200, "/api/echo/1": 401, "/api/nowhere": 401, "/healthz": 200} {
		r := httptest.NewRequest("GET", path, nil)
		rec := httptest.NewRecorder()
		w.Handler().ServeHTTP(rec, r)
		if rec.Code != status {
			t.Errorf("%s without a credential = %d, want %d", path, rec.Code, status)
		}
	}
}

func TestPanics(t *testing.T) {
	w := newWorld(nil)
	rec := w.do("GET", "/api/panic", nil, "X-Request-Id", "panic-1")
	if rec.Code != 500 || code(t, rec) != ubl.CodeInternal || strings.Contains(rec.Body.String(), "secret") {
		t.Errorf("a panic answers %d %s", rec.Code, rec.Body)
	}
	if log := w.log.String(); !strings.Contains(log, "secret of the handler") || !strings.Contains(log, `"request_id":"panic-1"`) || !strings.Contains(log, "server_test.go") {
		t.Errorf("the log does not tell the panic: %s", log)
	}
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("half an answer was made to look whole")
		}
	}()
	w.do("GET", "/api/half", nil)
}

func TestAccessLog(t *testing.T) {
	w := newWorld(nil)
	w.do("POST", "/api/echo/private-id?token=secret-query", strings.NewReader("body"), "X-Request-Id", "req-log-1")
	line := map[string]any{}
	if err := json.Unmarshal(w.log.Bytes(), &line); err != nil {
		t.Fatalf("not one line: %s", w.log.String())
	}
	for name, want := range map[string]any{"msg": "request", "level": "INFO", "request_id": "req-log-1", "method": "POST", "route": "/api/echo/{id}",
		"status": 200.0, "tenant": "t:example.com", "user": "u:ana"} {
		if line[name] != want {
			t.Errorf("%s = %v, want %v", name, line[name], want)
		}
	}
	if line["bytes"].(float64) < 10 || line["took"] == nil {
		t.Errorf("bytes or time are missing: %v", line)
	}
	for _, secret := range []string{"secret-query", "token-of-ana", "private-id"} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log has %s: %s", secret, w.log.String())
		}
	}
}

// plain hides a writer's type, as who wraps it does.
type plain struct{ http.ResponseWriter }

// TestAccessLogBehindAWrapper: whoever authenticates may hand on another writer.
func TestAccessLogBehindAWrapper(t *testing.T) {
	w := newWorld(func(o *transport.Options) {
		known := o.Authenticate
		o.Authenticate = func(next http.Handler) http.Handler {
			let := known(next)
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { let.ServeHTTP(plain{rw}, r) })
		}
	})
	w.do("GET", "/api/echo/1", nil)
	if log := w.log.String(); !strings.Contains(log, `"user":"u:ana"`) {
		t.Errorf("the log doesn't tell who it was: %s", log)
	}
}

func TestBodyLimit(t *testing.T) {
	w := newWorld(nil)
	exact, over := strings.Repeat("x", transport.MaxBody), strings.Repeat("x", transport.MaxBody+1)
	chunked := func(s string) io.Reader { return io.MultiReader(strings.NewReader(s)) } // hides the length
	for name, c := range map[string]struct {
		body   io.Reader
		status int
	}{
		"1 MiB":                    {strings.NewReader(exact), 200},
		"a byte more":              {strings.NewReader(over), 413},
		"1 MiB in chunks":          {chunked(exact), 200},
		"a byte more, in chunks":   {chunked(over), 413},
		"a length that never ends": {io.LimitReader(endless{}, 1<<40), 413},
	} {
		rec := w.do("POST", "/api/echo/1", c.body)
		if rec.Code != c.status {
			t.Errorf("%s = %d, want %d", name, rec.Code, c.status)
		}
		if c.status == 413 && code(t, rec) != ubl.CodeTooLarge {
			t.Errorf("%s has code %s", name, code(t, rec))
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadyz(t *testing.T) {
	broken := ubl.Errorf(ubl.CodeUnavailable, "the storage is closed")
	w := newWorld(func(o *transport.Options) { o.Ready = func() error { return broken } })
	rec := w.do("GET", "/readyz", nil)
	if rec.Code != 503 || code(t, rec) != ubl.CodeUnavailable || !strings.Contains(rec.Body.String(), "the storage is closed") || rec.Header().Get("Retry-After") == "" {
		t.Errorf("not ready = %d %s", rec.Code, rec.Body)
	}
	if rec := w.do("GET", "/healthz", nil); rec.Code != 200 {
		t.Errorf("alive but not ready = %d", rec.Code)
	}
	if rec := w.do("GET", "/readyz?traffic", nil); rec.Code != 503 {
		t.Errorf("not ready, to a balancer = %d", rec.Code)
	}
	w = newWorld(func(o *transport.Options) {
		o.Ready, o.Serves = func() error { return broken }, func() error { return nil }
	})
	all, some := w.do("GET", "/readyz", nil), w.do("GET", "/readyz?traffic", nil)
	if all.Code != 503 || some.Code != 200 || strings.TrimSpace(some.Body.String()) != `{"status":"degraded","reason":"the storage is closed"}` {
		t.Errorf("partly ready = %d, to a balancer %d %s", all.Code, some.Code, some.Body)
	}
	w = newWorld(nil)
	if err := w.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rec := w.do("GET", "/readyz", nil); rec.Code != 503 {
		t.Errorf("stopping = %d, want 503", rec.Code)
	}
}

func TestMetrics(t *testing.T) {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "ubl_test_gauge", Help: "of a part behind the server"})
	gauge.Set(7)
	w := newWorld(func(o *transport.Options) { o.Collectors = []prometheus.Collector{gauge} })
	w.do("GET", "/api/echo/1", nil)
	w.do("GET", "/api/echo/2", nil)
	w.do("BREW", "/api/echo/2", nil)
	w.do("GET", "/api/panic", nil)
	w.do("GET", "/nowhere/at/all", nil)
	text := w.do("GET", "/metrics", nil).Body.String()
	for _, line := range []string{
		`ubl_http_requests_total{method="GET",route="/api/echo/{id}",status="200"} 2`,
		`ubl_http_requests_total{method="GET",route="/api/panic",status="500"} 1`,
		`ubl_http_requests_total{method="GET",route="none",status="404"} 1`,
		`ubl_http_requests_total{method="other",route="none",status="405"} 1`,
		`ubl_http_request_duration_seconds_count{method="GET",route="/api/echo/{id}"} 2`,
		`ubl_http_requests_in_flight 1`,
		`ubl_test_gauge 7`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}

func TestMetricsAreNotPublic(t *testing.T) {
	w := newWorld(nil)
	get := func(h http.Handler, remote, host string, headers ...string) int {
		r := httptest.NewRequest("GET", "http://"+host+"/metrics", nil)
		r.RemoteAddr = remote
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	for name, got := range map[string]int{
		"another machine":                get(w.Handler(), "192.0.2.1:9", "ubl.example"),
		"a proxy on this machine":        get(w.Handler(), "127.0.0.1:9", "127.0.0.1", "X-Forwarded-For", "192.0.2.1"),
		"a rebound name":                 get(w.Handler(), "127.0.0.1:9", "evil.example:8080"),
		"a rebound name, admin listener": get(w.AdminHandler(), "[::1]:9", "evil.example:8080"),
	} {
		if got != 404 {
			t.Errorf("%s sees /metrics: %d", name, got)
		}
	}
	for name, got := range map[string]int{
		"this machine":                    get(w.Handler(), "127.0.0.1:9", "localhost:8080"),
		"this machine, IPv6":              get(w.Handler(), "[::1]:9", "[::1]:8080"),
		"the admin listener":              get(w.AdminHandler(), "127.0.0.1:9", "127.0.0.1:9090"),
		"the admin listener from outside": get(w.AdminHandler(), "192.0.2.1:9", "ubl.example:9090"),
	} {
		if got != 200 {
			t.Errorf("%s doesn't see /metrics: %d", name, got)
		}
	}
}
