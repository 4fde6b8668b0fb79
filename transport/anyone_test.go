package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl/limits"
	"ubl/transport"
)

// TestAnyone: what needs no identity is served below its path, and at every path of its host;
// to every page, whoever asks, and beside the limits of strangers. It is counted and logged
// like everything, without the path.
func TestAnyone(t *testing.T) {
	table, err := limits.Default().With(map[string]int64{"all": 0, "requests-ip": 1})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(func(o *transport.Options) {
		o.Anyone = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, "anyone's "+r.URL.Path) })
		o.AnyoneAt = func(r *http.Request) bool { return r.Host == "docs.example.com" }
		o.Limits = limits.New(table, nil, nil, nil)
	})
	for _, test := range []struct{ method, host, path, want string }{
		{"GET", "ubl.example.com", "/public/t:acme/k:s3cr3t", "anyone's /public/t:acme/k:s3cr3t"},
		{"GET", "docs.example.com", "/t:acme/k:s3cr3t", "anyone's /t:acme/k:s3cr3t"},
		{"GET", "docs.example.com", "/", "anyone's /"},
		{"GET", "docs.example.com", "/ui/", "anyone's /ui/"},
		{"GET", "docs.example.com", "/api/echo/1", "anyone's /api/echo/1"},
		{"GET", "docs.example.com", "/healthz", "anyone's /healthz"},
		{"GET", "docs.example.com", "/a%2Fb", "anyone's /a/b"},
		{"POST", "docs.example.com", "/api/echo/1", "anyone's /api/echo/1"},
		{"GET", "ubl.example.com", "/publicity", "there is nothing here"},
		{"GET", "ubl.example.com", "/ui/", "the app at /ui/"},
	} {
		for range 3 * limits.Burst { // strangers may ask as often once
			if strings.HasPrefix(test.want, "anyone's") {
				w.anyone(test.method, test.host, test.path)
			}
		}
		rec := w.anyone(test.method, test.host, test.path)
		if !strings.Contains(rec.Body.String(), test.want) {
			t.Errorf("%s %s at %s: answered %d %s, want %q", test.method, test.path, test.host, rec.Code, rec.Body, test.want)
		}
		if anyones := strings.HasPrefix(test.want, "anyone's"); anyones != (rec.Header().Get("Vary") == "") || rec.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s at %s: answered with %v", test.method, test.path, test.host, rec.Header())
		}
	}
	if log := w.log.String(); !strings.Contains(log, `"route":"/public/*"`) || strings.Contains(log, "s3cr3t") || strings.Contains(log, "u:ana") {
		t.Errorf("the log has %.500s", log)
	}
	rec := httptest.NewRecorder()
	w.AdminHandler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(rec.Body.String(), `ubl_http_requests_total{method="GET",route="/public/*",status="200"}`) {
		t.Error("the figures have no line for it")
	}
}

// anyone asks as another site's page has a browser with a credential ask.
func (w *world) anyone(method, host, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	r.Header.Set("Authorization", "Bearer token-of-ana")
	r.Header.Set("Origin", "https://elsewhere.example")
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, r)
	return rec
}
