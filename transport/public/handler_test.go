package public

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
)

// TestWhoGetsWhat: the table of what is answered, whoever asks.
func TestWhoGetsWhat(t *testing.T) {
	const (
		long   = "public, max-age=30, stale-while-revalidate=30"
		longer = "public, max-age=300, stale-while-revalidate=3600"
		brief  = "public, max-age=5"
		v1     = handbook + "/api/v1"
		never  = "no-store"
	)
	doc := handbook + "/documents/" + rules
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		house.shown["t:other|k:handbook"] = &shown{events: 1}
		h := New(Options{Asker: house, Feed: house, Host: "docs.example.com"})
		for _, test := range []struct {
			what, method, path string
			header             []string
			status             int
			has, cache         string
		}{
			{"a container", "GET", handbook, nil, 200, `"container_id":"k:handbook"`, long},
			{"its documents", "GET", handbook + "/documents", nil, 200, `"next_cursor":null`, long},
			{"behind a document", "GET", handbook + "/documents?cursor=d:rules", nil, 200, `"documents":[`, long},
			{"a document", "GET", doc, nil, 200, `"version":2`, long},
			{"an earlier version", "GET", doc + "?version=1", nil, 200, `"content":"Be kind."`, long},
			{"text that would be a page", "GET", doc, nil, 200, `Be \u003cb\u003ekinder`, long},
			{"an escaped name", "GET", strings.ReplaceAll(doc, ":", "%3A"), nil, 200, `"version":2`, long},
			{"a name of the same in another tenant", "GET", "/public/t:other/k:handbook", nil, 200, `"tenant_id":"t:other"`, long},
			{"its files", "GET", handbook + "/files", nil, 200, `"next_cursor":null`, long},
			{"behind a file", "GET", handbook + "/files?cursor=f:plan", nil, 200, `"files":[`, long},
			{"what is known of a file", "GET", handbook + "/files/f:plan", nil, 200, `"content_type":"text/html"`, long},
			{"a search", "GET", handbook + "/search?q=kinder", nil, 200, `"document_id":"d:rules"`, long},
			{"a search that finds nothing", "GET", handbook + "/search?q=cruel", nil, 200, `"documents":[]`, long},
			{"a search in what isn't public", "GET", "/public/t:acme/k:secret/search?q=kinder", nil, 404, "", brief},
			{"a commons", "GET", v1 + "/entries", nil, 200, `"total":1,"offset":0,"limit":20}`, longer},
			{"a part of it", "GET", v1 + "/entries?contentType=pattern&group=governance&release=r1&limit=100&offset=20", nil, 200, `"data":[],"total":1,"offset":20,"limit":100}`, longer},
			{"one of its entries", "GET", v1 + "/entries/pattern/cell%20governance", nil, 200, `{"data":{"id":"cell governance","contentType":"pattern"`, longer},
			{"a question to it", "GET", v1 + "/search?q=how+small&contentType=pattern&tags=a&tags=b&group=g&limit=20", nil, 200, `"snippet":"true how small type=pattern group=g tags=a tags=b`, longer},
			{"its description", "GET", v1 + "/openapi.json", nil, 200, `"openapi": "3.1.0"`, longer},
			{"no such entry", "GET", v1 + "/entries/pattern/none", nil, 404, "", brief},
			{"an entry outside", "GET", v1 + "/entries/pattern/..%2Fcells", nil, 404, "", brief},
			{"entries of one type in the path", "GET", v1 + "/entries/pattern", nil, 404, "", brief},
			{"below an entry", "GET", v1 + "/entries/pattern/cells/x", nil, 404, "", brief},
			{"a commons that isn't public", "GET", "/public/t:acme/k:secret/api/v1/entries", nil, 404, "", brief},
			{"its description", "GET", "/public/t:acme/k:secret/api/v1/openapi.json", nil, 404, "", brief},
			{"another version", "GET", handbook + "/api/v2/entries", nil, 404, "", brief},
			{"too many entries", "GET", v1 + "/entries?limit=101", nil, 400, "", never},
			{"none", "GET", v1 + "/entries?limit=0", nil, 400, "", never},
			{"behind the beginning", "GET", v1 + "/entries?offset=-1", nil, 400, "", never},
			{"a number in another spelling", "GET", v1 + "/entries?limit=+5", nil, 400, "", never},
			{"a type that is none", "GET", v1 + "/entries?contentType=A", nil, 400, "", never},
			{"a filter that isn't known", "GET", v1 + "/entries?tag=a", nil, 400, "", never},
			{"a filter twice", "GET", v1 + "/entries?group=a&group=b", nil, 400, "", never},
			{"an empty filter", "GET", v1 + "/entries?group=", nil, 400, "", never},
			{"a question of blanks", "GET", v1 + "/search?q=+", nil, 400, "", never},
			{"no question", "GET", v1 + "/search", nil, 400, "", never},
			{"too many results", "GET", v1 + "/search?q=a&limit=21", nil, 400, "", never},
			{"no such file", "GET", handbook + "/files/f:none", nil, 404, "", brief},
			{"a content of none", "GET", handbook + "/files/f:none/content", nil, 404, "", brief},
			{"something else of a file", "GET", handbook + "/files/f:plan/name", nil, 404, "", brief},
			{"below a content", "GET", handbook + "/files/f:plan/content/x", nil, 404, "", brief},
			{"a search for nothing", "GET", handbook + "/search", nil, 400, "", never},
			{"a search for blanks", "GET", handbook + "/search?q=+", nil, 400, "", never},
			{"a search for too much", "GET", handbook + "/search?q=" + strings.Repeat("x", ubl.MaxQueryChars+1), nil, 400, "", never},
			{"a question with conditions", "GET", handbook + "/search?q=kinder&match=any&where=tags:a&where=type:tag&from=2026-01-01&to=2026-12-31", nil, 200,
				`tags=a type=tag 2026-01-01 2026-12-31`, long},
			{"a match that is none", "GET", handbook + "/search?q=kinder&match=some", nil, 400, "", never},
			{"a condition that is none", "GET", handbook + "/search?q=kinder&where=a", nil, 400, "", never},
			{"too many conditions", "GET", handbook + "/search?q=kinder" + strings.Repeat("&where=a:b", ubl.MaxConditions+1), nil, 400, "", never},
			{"a day that is none", "GET", handbook + "/search?q=kinder&from=2026-02-30", nil, 400, "", never},
			{"days the wrong way round", "GET", handbook + "/search?q=kinder&from=2026-02-03&to=2026-02-02", nil, 400, "", never},
			{"a search for two things", "GET", handbook + "/search?q=kinder&q=cruel", nil, 400, "", never},
			{"conditions of a list", "GET", handbook + "/documents?where=a:b", nil, 400, "", never},
			{"a search with a limit", "GET", handbook + "/search?q=x&limit=5", nil, 400, "", never},
			{"a file's version", "GET", handbook + "/files/f:plan?version=1", nil, 400, "", never},
			{"by host", "GET", "/t:acme/k:handbook", []string{"Host", "docs.example.com"}, 200, `"container_id":"k:handbook"`, long},
			{"by host and port, in capitals", "GET", "/t:acme/k:handbook", []string{"Host", "Docs.Example.com:8080"}, 200, `"container_id":"k:handbook"`, long},
			{"by host with the prefix", "GET", handbook, []string{"Host", "docs.example.com"}, 404, "", brief},
			{"by another host without it", "GET", "/t:acme/k:handbook", []string{"Host", "evil.docs.example.com"}, 404, "", brief},
			{"the head", "HEAD", doc, nil, 200, "", long},
			{"what may be done", "OPTIONS", doc, nil, 204, "", ""},

			{"no such tenant", "GET", "/public/t:nobody/k:handbook", nil, 404, "", brief},
			{"no such container", "GET", "/public/t:acme/k:secret", nil, 404, "", brief},
			{"no such document", "GET", handbook + "/documents/d:none", nil, 404, "", brief},
			{"no such version", "GET", doc + "?version=3", nil, 404, "", brief},
			{"a room", "GET", "/public/t:acme/r:general", nil, 404, "", brief},
			{"a ledger", "GET", "/public/t:acme/ledger", nil, 404, "", brief},
			{"nothing", "GET", "/public/", nil, 404, "", brief},
			{"a tenant alone", "GET", "/public/t:acme", nil, 404, "", brief},
			{"something else inside", "GET", handbook + "/members", nil, 404, "", brief},
			{"below a document", "GET", doc + "/versions", nil, 404, "", brief},
			{"a slash behind", "GET", handbook + "/", nil, 404, "", brief},
			{"a slash too many", "GET", "/public//t:acme/k:handbook", nil, 404, "", brief},
			{"another actor's name inside", "GET", "/public/t:acme%7Ck:x/k:handbook", nil, 404, "", brief},
			{"a line break inside", "GET", "/public/t:acme%0d%0aSet-Cookie:x/k:handbook", nil, 404, "", brief},
			{"dots", "GET", "/public/t:acme/../t:acme/k:handbook", nil, 404, "", brief},

			{"an unknown query", "GET", handbook + "?x=1", nil, 400, "", never},
			{"a version of a list", "GET", handbook + "/documents?version=1", nil, 400, "", never},
			{"version 0", "GET", doc + "?version=0", nil, 400, "", never},
			{"a version in another spelling", "GET", doc + "?version=01", nil, 400, "", never},
			{"two versions", "GET", doc + "?version=1&version=2", nil, 400, "", never},
			{"a broken query", "GET", doc + "?%zz", nil, 400, "", never},
			{"a cursor that is none", "GET", handbook + "/documents?cursor=x", nil, 400, "", never},
			{"writing", "POST", doc, nil, 405, "", never},
			{"deleting", "DELETE", doc, nil, 405, "", never},
			{"a method of somebody's own", "PROPFIND", doc, nil, 405, "", never},
		} {
			// Cookies, credentials and the page that asks change nothing.
			plain := do(h, test.method, test.path, test.header...)
			w := do(h, test.method, test.path, append(test.header, "Cookie", "ubl=s3cr3t", "Authorization", "Bearer s3cr3t", "Origin", "https://evil.example")...)
			if w.Code != plain.Code || w.Body.String() != plain.Body.String() || !maps.EqualFunc(w.Header(), plain.Header(), func(a, b []string) bool { return strings.Join(a, ",") == strings.Join(b, ",") }) {
				t.Errorf("%s: with a credential answered %d %v %s, without %d %v %s", test.what, w.Code, w.Header(), w.Body, plain.Code, plain.Header(), plain.Body)
			}
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.has) || w.Header().Get("Cache-Control") != test.cache {
				t.Errorf("%s: answered %d, %q, %s; want %d, %q, %s", test.what, w.Code, w.Header().Get("Cache-Control"), w.Body, test.status, test.cache, test.has)
			}
			for name, want := range map[string]string{
				"Access-Control-Expose-Headers": "Accept-Ranges, Content-Disposition, Content-Range, Date, ETag, Retry-After, X-Request-Id",
				"Access-Control-Allow-Origin":   "*", "Access-Control-Allow-Credentials": "", "Set-Cookie": "", "Vary": "",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", test.what, name, got, want)
				}
			}
			if kind := w.Header().Get("Content-Type"); test.status != 204 && kind != "application/json" {
				t.Errorf("%s: comes as %q", test.what, kind)
			}
			if strings.Contains(w.Body.String(), "s3cr3t") || (w.Header().Get("Etag") != "") != (test.status == 200) {
				t.Errorf("%s: answered %v %s", test.what, w.Header(), w.Body)
			}
			if test.status == 405 && w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
				t.Errorf("%s: Allow is %q", test.what, w.Header().Get("Allow"))
			}
		}
	})
}

// TestNothingIsTold: whatever leads nowhere has one answer, and takes as long.
func TestNothingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Asker: newHouse(), Feed: newHouse()})
		want := get(h, "/public/t:acme/not-a-name").Body.String()
		for _, path := range []string{"/public/t:nobody/k:x", "/public/t:acme/k:secret", handbook + "/documents/d:none", handbook + "/documents/d:rules?version=9"} {
			began := time.Now()
			if w := get(h, path); w.Body.String() != want || time.Since(began) != absentAfter {
				t.Errorf("%s: answered %s after %s, want %s after %s", path, w.Body, time.Since(began), want, absentAfter)
			}
		}
		var body struct{ Error struct{ Code ubl.Code } }
		if json.Unmarshal([]byte(want), &body) != nil || body.Error.Code != ubl.CodeNotFound {
			t.Errorf("the answer is %s", want)
		}
	})
}

// TestHeadIsGet: HEAD answers the headers of GET, and no body.
func TestHeadIsGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := serve(t, newHouse())
		for _, path := range []string{handbook, handbook + "/documents/" + rules, handbook + "/documents/d:none", handbook + "?x=1"} {
			g, head := get(h, path), do(h, http.MethodHead, path)
			if head.Code != g.Code || head.Body.Len() != 0 {
				t.Errorf("%s: HEAD answers %d with %d bytes, GET %d", path, head.Code, head.Body.Len(), g.Code)
			}
			for name := range g.Header() {
				if head.Header().Get(name) != g.Header().Get(name) {
					t.Errorf("%s: %s is %q for HEAD, %q for GET", path, name, head.Header().Get(name), g.Header().Get(name))
				}
			}
		}
	})
}

// TestConditional: who has the answer isn't sent it again.
func TestConditional(t *testing.T) {
	h := serve(t, newHouse())
	path := handbook + "/documents/" + rules
	tag := get(h, path).Header().Get("Etag")
	other := get(h, path+"?version=1").Header().Get("Etag")
	if tag == "" || tag == other || tag[0] != '"' {
		t.Fatalf("the tags of two versions are %s and %s", tag, other)
	}
	for given, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, other: 200, strings.Trim(tag, `"`): 200, "": 200, ",,": 200,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := do(h, method, path, "If-None-Match", given)
			if w.Code != want || w.Header().Get("Etag") != tag || w.Header().Get("Cache-Control") == "" {
				t.Errorf("%s with %s: answered %d, %v; want %d", method, given, w.Code, w.Header(), want)
			}
			if want == 304 && (w.Body.Len() > 0 || w.Header().Get("Content-Length") != "") {
				t.Errorf("%s with %s: answered 304 with a body", method, given)
			}
		}
	}
	if w := do(h, http.MethodOptions, path, "Access-Control-Request-Method", "GET"); !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "If-None-Match") {
		t.Errorf("pages may not send If-None-Match: %v", w.Header())
	}
}

// TestLimits: who reads too much is told when to come back, whatever they do; for what is in no
// copy sooner.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all, asking error
		house := newHouse()
		h := New(Options{Asker: house, Feed: house, Count: func(*http.Request) (func() error, error) {
			return func() error { return asking }, all
		}})
		enough := ubl.Errorf(ubl.CodeRateLimited, "too much").Later(3 * time.Second)
		for range 2 {
			get(h, handbook)
		}
		asking = enough
		if w := get(h, handbook); w.Code != 200 {
			t.Errorf("a copy is answered %d", w.Code)
		}
		w := get(h, handbook+"/documents")
		if w.Code != 429 || w.Header().Get("Retry-After") != "3" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("what is in no copy is answered %d, %v", w.Code, w.Header())
		}
		all = enough
		for _, method := range []string{"GET", "OPTIONS", "POST"} {
			if w := do(h, method, handbook); w.Code != 429 {
				t.Errorf("%s is answered %d", method, w.Code)
			}
		}
	})
}
