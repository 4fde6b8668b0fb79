package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ubl/transport/web"
)

func handler(t *testing.T, dir string) http.Handler {
	t.Helper()
	h, err := web.Handler(web.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request with headers given as name, value.
func ask(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost"+path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// script is the path of the app's main script, as index.html has it.
func script(t *testing.T, h http.Handler) string {
	t.Helper()
	found := regexp.MustCompile(`src="(/ui/assets/index-[^"]+\.js)"`).FindStringSubmatch(body(t, ask(h, "GET", "/ui/")))
	if found == nil {
		t.Fatal("index.html names no script")
	}
	return found[1]
}

// A path is a file's, or the app's and then answered with index.html, or nothing.
func TestPaths(t *testing.T) {
	h := handler(t, "")
	index := body(t, ask(h, "GET", "/ui/"))
	for path, kind := range map[string]string{
		"/ui/":                              "text/html; charset=utf-8",
		"/ui/rooms/r:general":               "text/html; charset=utf-8",
		"/ui/rooms/r:general/":              "text/html; charset=utf-8",
		"/ui/rooms/r:release-1.2":           "text/html; charset=utf-8",
		"/ui/workspaces/w:a/d:plan.md":      "text/html; charset=utf-8",
		"/ui/servers/weather/forecast.now":  "text/html; charset=utf-8",
		"/ui/index.html":                    "text/html; charset=utf-8",
		"/ui/sw.js":                         "text/javascript; charset=utf-8",
		"/ui/manifest.webmanifest":          "application/manifest+json",
		"/ui/icon.svg":                      "image/svg+xml",
		"/ui/icon-192.png":                  "image/png",
		"/ui/page.css":                      "text/css; charset=utf-8",
		script(t, h):                        "text/javascript; charset=utf-8",
		"/ui/assets/":                       "",
		"/ui/assets/none":                   "",
		"/ui/assets/index-00000000.js":      "",
		"/ui/favicon.ico":                   "",
		"/ui/rooms/../../../etc/passwd":     "",
		"/ui/%2e%2e/%2e%2e/etc/passwd":      "",
		"/ui//etc/passwd":                   "",
		"/ui/rooms/..%2f..%2fweb.go":        "",
		"/ui/assets/..%2f..%2fweb.go":       "",
		"/ui/./index.html":                  "",
		"/ui/assets/%00":                    "",
		"/ui/assets/..%5c..%5cwindows.html": "",
	} {
		r := ask(h, "GET", path)
		if kind == "" {
			if r.StatusCode != 404 || !strings.Contains(body(t, r), `"code":"not_found"`) {
				t.Errorf("%s = %d, want a 404 in the envelope", path, r.StatusCode)
			}
			continue
		}
		if got := r.Header.Get("Content-Type"); r.StatusCode != 200 || got != kind {
			t.Errorf("%s = %d %s, want 200 %s", path, r.StatusCode, got, kind)
		}
		if strings.HasPrefix(kind, "text/html") && body(t, r) != index {
			t.Errorf("%s is not answered with index.html", path)
		}
	}
}

// Every answer carries the policy, and the pages keep to it.
func TestNothingInlineNothingFromElsewhere(t *testing.T) {
	h := handler(t, "")
	for _, path := range []string{"/ui/", "/ui/sw.js", "/ui/icon.svg", "/ui/rooms/r:a", script(t, h)} {
		r := ask(h, "GET", path)
		policy := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy %q allows too much", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s = %q, want %q", path, name, got, want)
			}
		}
	}
	index := body(t, ask(h, "GET", "/ui/"))
	for _, against := range []string{`<script[^>]*>[^<]`, `<style`, ` style=`, ` on[a-z]+=`, `(src|href)="(https?:)?//`} {
		if found := regexp.MustCompile(against).FindString(index); found != "" {
			t.Errorf("index.html has %q, which the policy forbids", found)
		}
	}
}

// Hashed files are kept for good; others are asked about, and answered 304.
func TestCaching(t *testing.T) {
	h := handler(t, "")
	for path, want := range map[string]string{
		"/ui/": "no-cache", "/ui/sw.js": "no-cache", "/ui/icon-192.png": "no-cache", "/ui/rooms/r:a": "no-cache",
		script(t, h): "public, max-age=31536000, immutable",
	} {
		for _, encoding := range []string{"gzip", "identity"} {
			first := ask(h, "GET", path, "Accept-Encoding", encoding)
			tag := first.Header.Get("ETag")
			if got := first.Header.Get("Cache-Control"); got != want || tag == "" {
				t.Errorf("%s: Cache-Control %q, ETag %q; want %q and a tag", path, got, tag, want)
			}
			again := ask(h, "GET", path, "Accept-Encoding", encoding, "If-None-Match", tag)
			if again.StatusCode != 304 || body(t, again) != "" {
				t.Errorf("%s (%s): a known tag is answered %d, want 304", path, encoding, again.StatusCode)
			}
			if changed := ask(h, "GET", path, "Accept-Encoding", encoding, "If-None-Match", `"other"`); changed.StatusCode != 200 {
				t.Errorf("%s (%s): another tag is answered %d, want 200", path, encoding, changed.StatusCode)
			}
		}
	}
}

// Texts are compressed for those who say so, and are the same text.
func TestCompression(t *testing.T) {
	h := handler(t, "")
	path := script(t, h)
	plain := body(t, ask(h, "GET", path))
	for accept, packed := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "deflate, gzip;q=1.0": true, "gzip; q=0": false, "gzip;q=0.000": false, "br": false, "": false,
	} {
		r := ask(h, "GET", path, "Accept-Encoding", accept)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != packed || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: packed %t, Vary %q; want %t and Vary", accept, got, r.Header.Get("Vary"), packed)
			continue
		}
		text := body(t, r)
		if packed {
			z, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if text != plain {
			t.Errorf("%q: the text is another", accept)
		}
	}
	if r := ask(h, "GET", "/ui/icon-192.png", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Error("an image was compressed once more")
	}
	if r := ask(h, "HEAD", path, "Accept-Encoding", "gzip"); r.StatusCode != 200 || body(t, r) != "" {
		t.Errorf("HEAD = %d with a body, want 200 without", r.StatusCode)
	}
}

// The first load is what index.html names, compressed.
func TestFirstLoadIsSmall(t *testing.T) {
	h := handler(t, "")
	index := body(t, ask(h, "GET", "/ui/"))
	total := 0
	for _, found := range regexp.MustCompile(`(?:src|href)="(/ui/assets/[^"]+)"`).FindAllStringSubmatch(index, -1) {
		size := len(body(t, ask(h, "GET", found[1], "Accept-Encoding", "gzip")))
		t.Logf("%s: %d bytes", found[1], size)
		total += size
	}
	if total == 0 || total > 70_000 {
		t.Errorf("the first load has %d bytes of script and style, want at most 70,000", total)
	}
}

// A folder is read at each request, and nobody gets out of it.
func TestDirectory(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret.html"), "secret")
	write(t, filepath.Join(dir, "index.html"), "one")
	if err := os.Symlink(filepath.Join(outside, "secret.html"), filepath.Join(dir, "out.html")); err != nil {
		t.Fatal(err)
	}
	h := handler(t, dir)
	if got := body(t, ask(h, "GET", "/ui/rooms/r:a")); got != "one" {
		t.Errorf("got %q, want the folder's index.html", got)
	}
	write(t, filepath.Join(dir, "index.html"), "two")
	write(t, filepath.Join(dir, "assets", "index-1.js"), "1")
	if got := body(t, ask(h, "GET", "/ui/")); got != "two" {
		t.Errorf("got %q, want the file as it is now", got)
	}
	if r := ask(h, "GET", "/ui/assets/index-1.js"); r.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("a file that may change is kept: %q", r.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/ui/out.html", "/ui/..%2f" + filepath.Base(outside) + "%2fsecret.html", "/ui/assets/", "/ui/none.js"} {
		if r := ask(h, "GET", path); r.StatusCode != 404 {
			t.Errorf("%s = %d %q, want 404", path, r.StatusCode, body(t, r))
		}
	}
	if _, err := web.Handler(web.Options{Dir: filepath.Join(dir, "none")}); err == nil {
		t.Error("a folder that isn't there was taken")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
