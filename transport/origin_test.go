package transport_test

import (
	"strings"
	"testing"

	"ubl"
	"ubl/transport"
)

// Who may send what from a web page. The Host is 127.0.0.1:8080 unless a row
// says otherwise; https://app.example and the public URL are allowed.
func TestOrigins(t *testing.T) {
	w := newWorld(func(o *transport.Options) {
		o.AllowOrigins, o.PublicURL = []string{"https://app.example"}, "https://ubl.example/some/path"
	})
	for _, c := range []struct {
		name    string
		method  string
		headers []string
		status  int
		cors    string
	}{
		{"a program", "POST", nil, 200, ""},
		{"the server's own page", "POST", []string{"Origin", "http://127.0.0.1:8080"}, 200, ""},
		{"an allowed page", "POST", []string{"Origin", "https://app.example"}, 200, "https://app.example"},
		{"an allowed page in capitals", "POST", []string{"Origin", "HTTPS://APP.example"}, 200, "HTTPS://APP.example"},
		{"the public URL's page", "POST", []string{"Origin", "https://ubl.example", "Host", "ubl.example"}, 200, "https://ubl.example"},
		{"a foreign page", "POST", []string{"Origin", "https://evil.example"}, 403, ""},
		{"a foreign page that only reads gets no CORS header", "GET", []string{"Origin", "https://evil.example"}, 200, ""},
		{"a foreign page that deletes", "DELETE", []string{"Origin", "https://evil.example"}, 403, ""},
		{"a page that hides its origin", "POST", []string{"Origin", "null"}, 403, ""},
		{"another port of this machine", "POST", []string{"Origin", "http://127.0.0.1:3000"}, 403, ""},
		{"another name of this machine", "POST", []string{"Origin", "http://localhost:8080"}, 403, ""},
		{"a suffix of an allowed name", "POST", []string{"Origin", "https://evil-app.example"}, 403, ""},
		{"an allowed name as a prefix", "POST", []string{"Origin", "https://app.example.evil.example"}, 403, ""},
		{"an allowed name over plain HTTP", "POST", []string{"Origin", "http://app.example"}, 403, ""},
		{"a name that was rebound to us", "POST", []string{"Origin", "http://evil.example:8080", "Host", "evil.example:8080"}, 403, ""},
		{"localhost is never rebound", "POST", []string{"Origin", "http://localhost:8080", "Host", "localhost:8080"}, 200, ""},
		{"two origins", "POST", []string{"Origin", "https://app.example", "Origin", "https://evil.example"}, 403, ""},
		{"no origin, and the browser's word twice", "POST", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"no origin, but a browser says that the page is foreign", "POST", []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"no origin, and the page is ours", "POST", []string{"Sec-Fetch-Site", "same-origin"}, 200, ""},
		{"an allowed preflight", "OPTIONS", []string{"Origin", "https://app.example", "Access-Control-Request-Method", "POST"}, 204, "https://app.example"},
		{"a foreign preflight", "OPTIONS", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := w.do(c.method, "/api/echo/1", nil, c.headers...)
			if rec.Code != c.status || rec.Header().Get("Access-Control-Allow-Origin") != c.cors {
				t.Errorf("status %d, CORS %q; want %d, %q", rec.Code, rec.Header().Get("Access-Control-Allow-Origin"), c.status, c.cors)
			}
			if c.status == 403 && code(t, rec) != ubl.CodeOriginNotAllowed {
				t.Errorf("code = %s", code(t, rec))
			}
			// A page can't speak MCP without these; see package mcp.
			for _, name := range []string{"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"} {
				if allowed := rec.Header().Get("Access-Control-Allow-Headers"); c.status == 204 && !strings.Contains(allowed, name) {
					t.Errorf("a page may send %s, and not %s", allowed, name)
				}
			}
			if rec.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Error("a page may use the user's cookies")
			}
		})
	}
}
