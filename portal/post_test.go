package portal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
)

// modern serves 2026-07-28 as the SDK does, with one tool, x, whose calls are left
// to fn.
func modern(t *testing.T, schema string, fn func(w http.ResponseWriter, r *http.Request, call rpc)) string {
	t.Helper()
	return serve(t, modernHandler(t, schema, fn))
}

func modernHandler(t *testing.T, schema string, fn func(w http.ResponseWriter, r *http.Request, call rpc)) http.Handler {
	s, inner := eras[0].server(t)
	s.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(schema)}, echo)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") != "tools/call" {
			inner.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var call rpc
		if err := json.Unmarshal(body, &call); err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		fn(w, r, call)
	})
}

// TestSameAsSDK: a call that the portal posts by itself is what the SDK sends where
// its caller wants to see progress, but for its id and the token of that progress.
func TestSameAsSDK(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"text":{"type":"string","x-mcp-header":"Text"},"flag":{"type":"boolean","x-mcp-header":"flag"},"n":{"type":"integer","x-mcp-header":"N"},
		"in":{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Inner"}}},"other":{}}}`
	type sent struct {
		header http.Header
		body   map[string]any
	}
	var got sent
	w := newWorld(t)
	w.add(ubl.Server{ServerID: "ev", URL: modern(t, schema, func(w http.ResponseWriter, r *http.Request, call rpc) {
		got = sent{header: r.Header.Clone()}
		_ = json.NewDecoder(r.Body).Decode(&got.body)
		answerJSON(w, call, `{"content":[]}`)
	})}, "")
	w.allow("ev.x")
	for _, args := range []string{
		`{}`,
		`{"text":"plain","flag":true,"n":7,"in":{"text":"also"},"other":[1]}`,
		`{"text":"","flag":false,"n":-9007199254740991}`,
		`{"text":"größer","in":{"text":"\ttab "}}`,
		`{"text":"=?base64?YQ==?=","n":0,"in":{}}`,
		`{"text":"line\nbreak <&>","n":1e3}`,
		`{"other":{"text":"x"}}`,
	} {
		w.must("ev.x", args)
		ours := got
		if _, err := w.Call(t.Context(), w.house.Request(w.bob), "ev.x", json.RawMessage(args), "", func(float64, float64, string) {}); err != nil {
			t.Fatal(err)
		}
		theirs := got
		if ours.body["id"] == theirs.body["id"] {
			t.Error("both have the same id, so one of them wasn't ours")
		}
		for _, s := range []sent{ours, theirs} {
			s.header.Del("Content-Length") // of the id and the token
			delete(s.body, "id")
			delete(s.body["params"].(map[string]any)["_meta"].(map[string]any), "progressToken")
		}
		if !maps.EqualFunc(ours.header, theirs.header, func(a, b []string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Errorf("%s: the headers are\n%v, the SDK's are\n%v", args, ours.header, theirs.header)
		}
		if a, b := fmt.Sprint(ours.body), fmt.Sprint(theirs.body); a != b {
			t.Errorf("%s: the body is\n%s, the SDK's is\n%s", args, a, b)
		}
	}
}

// reply answers a call as raw HTTP would read: status and type, then the body with
// ID for the call's.
func reply(status int, kind, body string) func(http.ResponseWriter, *http.Request, rpc) {
	return func(w http.ResponseWriter, _ *http.Request, call rpc) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", string(call.ID)))
	}
}

// TestAnswers holds what a server of 2026-07-28 can answer a call with against what
// its caller gets, and against whether the server is greeted anew for the next.
func TestAnswers(t *testing.T) {
	const (
		asJSON, asStream = "application/json", "text/event-stream"
		result           = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"hi"}]}}`
		told             = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"secret"}}`
		content          = `[{"text":"hi","type":"text"}]`
	)
	large := strings.Repeat("x", 9<<20)
	for _, c := range []struct {
		name string
		fn   func(http.ResponseWriter, *http.Request, rpc)
		code ubl.Code
		want string // the content, or a part of the message
		anew bool
	}{
		{name: "JSON", fn: reply(200, asJSON, result), want: content},
		{name: "JSON with a charset", fn: reply(200, asJSON+"; charset=utf-8", result), want: content},
		{name: "a stream", fn: reply(200, asStream, "event: message\ndata: "+result+"\n\n"), want: content},
		{name: "a stream that tells things before", fn: reply(200, asStream, ": hello\n\nid: 1\nretry: 10\ndata:\n\n"+told+"\n\nevent: other\ndata: x\n\ndata: "+result+"\n\n"), want: content},
		{name: "lines of data, and of Windows", fn: reply(200, asStream, "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\r\ndata:\"result\":{\"content\":[]}}\r\n\r\n"), want: `[]`},
		{name: "no last empty line", fn: reply(200, asStream, "data: "+result), want: content},
		{name: "another's answer before", fn: reply(200, asStream, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\ndata: "+result+"\n\n"), want: content},
		{name: "an error", fn: reply(200, asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"secret"}}`), code: ubl.CodeUnavailable, want: "-32000"},
		{name: "an error in a stream", fn: reply(200, asStream, "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32602,\"message\":\"secret\"}}\n\n"), code: ubl.CodeValidation, want: "refuses the arguments"},
		{name: "an error with a status", fn: reply(404, asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"secret"}}`), code: ubl.CodeNotFound, want: "doesn't know"},
		{name: "asking for input", fn: reply(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{}}}`), code: ubl.CodeUnavailable, want: "asks for input"},
		{name: "an unknown block", fn: reply(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"hologram"}]}}`), code: ubl.CodeUnavailable},
		{name: "no result", fn: reply(200, asJSON, `{"jsonrpc":"2.0","id":ID}`), code: ubl.CodeUnavailable},
		{name: "a question in the middle", fn: reply(200, asStream, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}\n\n"), code: ubl.CodeUnavailable, anew: true},
		{name: "only another's answer", fn: reply(200, asJSON, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`), code: ubl.CodeUnavailable, anew: true},
		{name: "not JSON", fn: reply(200, asJSON, `{"jsonrpc":"2.0","id":`), code: ubl.CodeUnavailable, anew: true},
		{name: "not JSON in a stream", fn: reply(200, asStream, "data: secret\n\n"), code: ubl.CodeUnavailable, anew: true},
		{name: "HTML", fn: reply(200, "text/html", "<html>secret"), code: ubl.CodeUnavailable, anew: true},
		{name: "404", fn: reply(404, "text/plain", "secret"), code: ubl.CodeUnavailable, anew: true},
		{name: "401", fn: reply(401, "text/plain", "secret"), code: ubl.CodeForbidden, want: "credentials"},
		{name: "429", fn: reply(429, "text/plain", "secret"), code: ubl.CodeRateLimited, want: "less often"},
		{name: "500", fn: reply(500, "text/plain", "secret"), code: ubl.CodeUnavailable},
		{name: "503", fn: reply(503, asJSON, result), code: ubl.CodeUnavailable},
		{name: "too large", fn: reply(200, asJSON, large), code: ubl.CodeUnavailable, want: "larger"},
		{name: "too large a stream", fn: reply(200, asStream, "data: "+large), code: ubl.CodeUnavailable, want: "larger"},
		{name: "too large a comment", fn: reply(200, asStream, ":\n"+strings.Repeat(": "+large[:1<<16]+"\n", 200)), code: ubl.CodeUnavailable, want: "larger"},
		{name: "a stream that ends before", fn: reply(200, asStream, told+"\n\n"), code: ubl.CodeUnavailable},
		{name: "closing in the middle", fn: func(w http.ResponseWriter, r *http.Request, call rpc) {
			reply(200, asJSON, `{"jsonrpc":`)(w, r, call)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, code: ubl.CodeUnavailable},
		{name: "closing a stream", fn: func(w http.ResponseWriter, r *http.Request, call rpc) {
			reply(200, asStream, told+"\n\ndata: {")(w, r, call)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, code: ubl.CodeUnavailable},
		{name: "a stream that goes on after the answer", fn: func(w http.ResponseWriter, r *http.Request, call rpc) {
			reply(200, asStream, "data: "+result+"\n\n")(w, r, call)
			stream(w, r, func(int) string { return ": more\n\n" })
		}, want: content},
		{name: "slow", fn: func(_ http.ResponseWriter, r *http.Request, _ rpc) { <-r.Context().Done() }, code: ubl.CodeUnavailable, want: "in time"},
		{name: "a slow stream", fn: func(w http.ResponseWriter, r *http.Request, call rpc) {
			reply(200, asStream, told+"\n\n")(w, r, call)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, code: ubl.CodeUnavailable, want: "in time"},
		{name: "redirecting away", fn: func(w http.ResponseWriter, r *http.Request, _ rpc) {
			http.Redirect(w, r, "http://localhost:1/other", http.StatusTemporaryRedirect)
		}, code: ubl.CodeUnavailable, want: "redirects"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) {
				var calls atomic.Int32
				w.add(ubl.Server{ServerID: "ev", URL: w.network.Start(t, modernHandler(t, `{"type":"object"}`, func(w http.ResponseWriter, r *http.Request, call rpc) {
					if calls.Add(1) > 1 {
						answerJSON(w, call, `{"content":[]}`)
						return
					}
					c.fn(w, r, call)
				}))}, "")
				w.allow("ev.x")
				before := portal.Sessions(w.Portal)
				got, err := w.call("ev.x", `{}`)
				if ubl.CodeOf(err) != c.code {
					t.Fatalf("the call was answered %v, want %q", err, c.code)
				}
				if err == nil && string(got.Content) != c.want {
					t.Errorf("the result is %s", got.Content)
				}
				if err != nil {
					if m := ubl.AsError(err).Message; !strings.Contains(m, c.want) || strings.Contains(m, "secret") {
						t.Errorf("the caller is told %q", m)
					} else if c.code == ubl.CodeUnavailable && (ubl.AsError(err).RetryAfter() > 0 || !strings.Contains(m, "may have run")) {
						t.Errorf("a caller who obeys %q calls twice", m)
					}
				}
				w.must("ev.x", `{}`)
				if anew := !maps.Equal(portal.Sessions(w.Portal), before); anew != c.anew {
					t.Errorf("the server was greeted anew: %v", anew)
				}
				w.house.VerifyLedger(w.bob.TenantID)
			})
		})
	}
}

// TestModernSession: a server of 2026-07-28 that hands out a session although the
// version has none is shown it, and greeted again once it has forgotten it. The call
// is made once.
func TestModernSession(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	greeted, made := 0, 0
	inner := modern(t, `{"type":"object"}`, func(w http.ResponseWriter, r *http.Request, call rpc) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Mcp-Session-Id") != "s2" {
			http.NotFound(w, r)
			return
		}
		made++
		answerJSON(w, call, `{"content":[]}`)
	})
	target, err := url.Parse(inner)
	if err != nil {
		t.Fatal(err)
	}
	w.add(ubl.Server{ServerID: "ev", URL: serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "server/discover" {
			mu.Lock()
			greeted++
			rw.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", greeted))
			mu.Unlock()
		}
		forward(rw, r, target)
	}))}, "")
	w.allow("ev.x")
	w.must("ev.x", `{}`)
	mu.Lock()
	defer mu.Unlock()
	if greeted != 2 || made != 1 {
		t.Errorf("the server was greeted %d times, the call made %d times", greeted, made)
	}
}

// TestOtherHeaders: where a server wants other arguments in headers than the pinned
// definition says, the SDK finds out which.
func TestOtherHeaders(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[0])
	add := func(header string) {
		s.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"` + header + `}}}`)}, echo)
	}
	add("")
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.x")
	add(`,"x-mcp-header":"Text"`)
	other := w.node() // which hasn't been told, since it has no session yet
	if _, err := other.Call(t.Context(), w.house.Request(w.bob), "ev.x", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Error(err)
	}
}
