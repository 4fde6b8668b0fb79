package portal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
)

// rpc is a request as a hostile server reads it.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// misbehave serves the two messages that open a session of 2025-11-25 and a list
// of one tool, and leaves calls to fn.
func misbehave(fn func(w http.ResponseWriter, r *http.Request, call rpc)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var call rpc
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		switch call.Method {
		case "server/discover":
			w.WriteHeader(http.StatusNotFound)
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			answerJSON(w, call, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"bad","version":"1"}}`)
		case "tools/list":
			answerJSON(w, call, `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			fn(w, r, call)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}

func answerJSON(w http.ResponseWriter, call rpc, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
}

// stream writes server-sent events until the client goes.
func stream(w http.ResponseWriter, r *http.Request, event func(n int) string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for n := 0; r.Context().Err() == nil; n++ {
		if _, err := io.WriteString(w, event(n)); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// paged serves pages of tools, each a JSON list, one after the other.
func paged(pages ...string) http.HandlerFunc {
	rest := misbehave(func(w http.ResponseWriter, _ *http.Request, call rpc) { answerJSON(w, call, `{"content":[]}`) })
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var call struct {
			rpc
			Params struct {
				Cursor int `json:",string"`
			}
		}
		if _ = json.Unmarshal(body, &call); call.Method != "tools/list" {
			r.Body = io.NopCloser(bytes.NewReader(body))
			rest(w, r)
			return
		}
		n := call.Params.Cursor
		next := ""
		if n+1 < len(pages) {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, n+1)
		}
		answerJSON(w, call.rpc, `{"tools":`+pages[n]+next+`}`)
	}
}

// TestLongLists: a server whose tools are too many, too large or of impossible names
// has those that fit, and its owners are told how many don't.
func TestLongLists(t *testing.T) {
	described := func(name string, size int) string {
		return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, strings.Repeat("x", size))
	}
	pages := []string{"[" + described("large", 100<<10) + "," + described(strings.Repeat("n", 1<<20), 1) + "]"}
	const each = 60 << 10
	for page := range 2 { // 12 MiB together
		var list []string
		for i := range 100 {
			list = append(list, described(fmt.Sprintf("t%d-%02d", page, i), each))
		}
		pages = append(pages, "["+strings.Join(list, ",")+"]")
	}
	inBubble(t, func(t *testing.T, w *world) { longLists(t, w, each, pages) })
}

func longLists(t *testing.T, w *world, each int, pages []string) {
	got := w.add(ubl.Server{ServerID: "ev", URL: w.network.Start(t, paged(pages...))}, "")
	fit := ubl.MaxDefinitions / (each + 100) // about as many
	if got.Status != ubl.ServerUp || got.Tools < fit-1 || got.Tools > fit+1 || got.Problem[:len("tools left out: ")] != "tools left out: " {
		t.Errorf("the server is %s with %d tools, want about %d: %s", got.Status, got.Tools, fit, got.Problem)
	}
	if want := fmt.Sprintf("tools left out: %d ", 202-got.Tools); !strings.HasPrefix(got.Problem, want) {
		t.Errorf("owners are told %q, want %q", got.Problem, want)
	}
}

// TestHostileCalls: whatever a server does with a call, the caller is told within
// the deadline, the effect is on record, and another server answers meanwhile.
func TestHostileCalls(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name string
		code ubl.Code
		want string
		fn   func(w http.ResponseWriter, r *http.Request, call rpc)
	}{
		{"slow head", ubl.CodeUnavailable, "in time", func(_ http.ResponseWriter, r *http.Request, _ rpc) { <-r.Context().Done() }},
		{"slow body", ubl.CodeUnavailable, "in time", func(w http.ResponseWriter, r *http.Request, call rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
		{"huge", ubl.CodeUnavailable, "larger", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, call.ID)
			for range 16 {
				if _, err := io.WriteString(w, big); err != nil {
					return
				}
			}
			io.WriteString(w, `"}]}}`)
		}},
		{"huge event", ubl.CodeUnavailable, "larger", func(w http.ResponseWriter, r *http.Request, _ rpc) {
			stream(w, r, func(n int) string { return map[bool]string{true: "data: "}[n == 0] + big })
		}},
		{"endless comments", ubl.CodeUnavailable, "larger", func(w http.ResponseWriter, r *http.Request, _ rpc) {
			stream(w, r, func(int) string { return ": " + big[:64<<10] + "\n\n" })
		}},
		{"endless notifications", ubl.CodeUnavailable, "larger", func(w http.ResponseWriter, r *http.Request, _ rpc) {
			stream(w, r, func(n int) string {
				return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"1\",\"progress\":%d,\"message\":%q}}\n\n", n, big[:32<<10])
			})
		}},
		{"endless questions", ubl.CodeUnavailable, "asks more", func(w http.ResponseWriter, r *http.Request, _ rpc) {
			stream(w, r, func(n int) string {
				return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"ping\"}\n\n", n)
			})
		}},
		{"closing in the middle", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"jsonrpc\"")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
		{"closing before the answer", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
		}},
		{"not JSON", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":`)
		}},
		{"a result of another form", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			answerJSON(w, call, `{"content":"text","isError":"no"}`)
		}},
		{"no result", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s}`, call.ID)
		}},
		{"nulls", "", "", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			answerJSON(w, call, `{"content":null,"structuredContent":null}`)
		}},
		{"null blocks", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			answerJSON(w, call, `{"content":[null]}`)
		}},
		{"an unknown block", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			answerJSON(w, call, `{"content":[{"type":"hologram"}]}`)
		}},
		{"deep", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			answerJSON(w, call, `{"content":[],"structuredContent":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`)
		}},
		{"another's answer", ubl.CodeUnavailable, "in time", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			call.ID = json.RawMessage(`4711`)
			answerJSON(w, call, `{"content":[]}`)
		}},
		{"asking for input", ubl.CodeUnavailable, "asks for input", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			answerJSON(w, call, `{"resultType":"input_required","inputRequests":{}}`)
		}},
		{"HTML", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, _ rpc) { io.WriteString(w, "<html>secret") }},
		{"500", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			http.Error(w, "secret", http.StatusInternalServerError)
		}},
		{"401", ubl.CodeForbidden, "credentials", func(w http.ResponseWriter, _ *http.Request, _ rpc) { http.Error(w, "secret", http.StatusUnauthorized) }},
		{"403", ubl.CodeForbidden, "credentials", func(w http.ResponseWriter, _ *http.Request, _ rpc) { http.Error(w, "secret", http.StatusForbidden) }},
		{"429", ubl.CodeRateLimited, "less often", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			http.Error(w, "secret", http.StatusTooManyRequests)
		}},
		{"always 404", ubl.CodeUnavailable, "sessions", func(w http.ResponseWriter, _ *http.Request, _ rpc) { http.Error(w, "secret", http.StatusNotFound) }},
		{"redirecting away", ubl.CodeUnavailable, "redirects", func(w http.ResponseWriter, r *http.Request, _ rpc) {
			http.Redirect(w, r, "http://localhost:1/other", http.StatusTemporaryRedirect)
		}},
		{"an error", ubl.CodeUnavailable, "-32000", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"secret"}}`, call.ID)
		}},
		{"refusing the arguments", ubl.CodeValidation, "refuses the arguments", func(w http.ResponseWriter, _ *http.Request, call rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"secret"}}`, call.ID)
		}},
		{"an answer that breaks off for ever", ubl.CodeUnavailable, "", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "id: 1\nretry: 1\ndata:\n\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) {
				w.add(ubl.Server{ServerID: "bad", URL: w.network.Start(t, misbehave(c.fn))}, "")
				s, h := eras[0].server(t)
				tool(s, "echo", echo)
				w.add(ubl.Server{ServerID: "good", URL: w.network.Start(t, h)}, "")
				w.allow("bad.x", "good.echo")

				began := time.Now()
				_, err := w.call("bad.x", `{}`)
				if took := time.Since(began); took > time.Minute || c.want == "in time" && took < time.Minute {
					t.Errorf("it took %v, a call has a minute", took)
				}
				if ubl.CodeOf(err) != c.code {
					t.Fatalf("the call was answered %v, want %q", err, c.code)
				}
				row := w.log()[0]
				if row.Code != c.code || row.Status == "intended" {
					t.Errorf("the call is on record as %s %s", row.Status, row.Code)
				}
				if err != nil {
					if m := ubl.AsError(err).Message; !strings.Contains(m, c.want) || strings.Contains(m, "secret") {
						t.Errorf("the caller is told %q", m)
					}
				}
				w.must("good.echo", `{"text":"hi"}`)
				w.house.VerifyLedger(w.bob.TenantID)
			})
		})
	}
}

// TestHostileLists: what a server lists can be wrong in every way; it is said why,
// and the tools of other servers stay.
func TestHostileLists(t *testing.T) {
	list := func(tools string) http.HandlerFunc {
		ok := misbehave(nil)
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var call rpc
			_ = json.Unmarshal(body, &call)
			if call.Method == "tools/list" {
				answerJSON(w, call, tools)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			ok(w, r)
		}
	}
	many := make([]string, 700)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i)
	}
	for _, c := range []struct {
		name    string
		handler http.Handler
		status  string
		tools   int
		problem string
	}{
		{"nothing there", nil, ubl.ServerDown, 0, "couldn't connect"},
		{"no MCP server", http.NotFoundHandler(), ubl.ServerDown, 0, "as an MCP server does"},
		{"not an MCP server", http.FileServer(http.Dir(t.TempDir())), ubl.ServerDown, 0, "as an MCP server does"},
		{"endless pages", list(`{"tools":[],"nextCursor":"again"}`), ubl.ServerDown, 0, "has no end"},
		{"pages of the same", list(`{"tools":[{"name":"x","inputSchema":{"type":"object"}}],"nextCursor":"again"}`), ubl.ServerDown, 0, "has no end"},
		{"too many", list(`{"tools":[` + strings.Join(many, ",") + `]}`), ubl.ServerUp, 500, ""},
		{"null tools", list(`{"tools":[null,{},{"name":""},{"name":"ok","inputSchema":{"type":"object"}}]}`), ubl.ServerUp, 1, ""},
		{"bad names", list(`{"tools":[{"name":"a b","inputSchema":{}},{"name":"` + strings.Repeat("x", 200) + `","inputSchema":{}},{"name":"ok","inputSchema":{}}]}`), ubl.ServerUp, 1, ""},
		{"numbers beyond JSON's", list(`{"tools":[{"name":"n","inputSchema":{"type":"object","maxProperties":1e300}},{"name":"ok","inputSchema":{}}]}`), ubl.ServerUp, 2, ""},
		{"a huge definition", list(`{"tools":[{"name":"n","description":"` + strings.Repeat("x", 100_000) + `","inputSchema":{}},{"name":"ok","inputSchema":{}}]}`), ubl.ServerUp, 1, ""},
		{"not a list", list(`{"tools":7}`), ubl.ServerDown, 0, "as an MCP server does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s, h := eras[1].server(t)
				tool(s, "echo", echo)
				w.add(ubl.Server{ServerID: "good", URL: w.network.Start(t, h)}, "")
				w.allow("good.echo")
				address := "http://nowhere.test/mcp"
				if c.handler != nil {
					address = w.network.Start(t, c.handler)
				}
				got := w.add(ubl.Server{ServerID: "bad", URL: address}, "")
				if got.Status != c.status || got.Tools != c.tools {
					t.Errorf("the server is %s with %d tools: %s", got.Status, got.Tools, got.Problem)
				}
				if got.Status == ubl.ServerDown && !strings.Contains(got.Problem, c.problem) {
					t.Errorf("owners are told %q", got.Problem)
				}
				w.sees(w.bob, "good.echo")
			})
		})
	}
}

// TestBadSchemas: definitions with schemas that can't be checked, or would take for
// ever, can be called; their server checks.
func TestBadSchemas(t *testing.T) {
	double := `{"$defs":{`
	for i := range 60 {
		double += fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	double += `"a60":{"type":"object"}},"$ref":"#/$defs/a0"}`
	for name, schema := range map[string]string{
		"itself":        `{"$ref":"#"}`,
		"grows":         `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
		"doubles":       double,
		"a file":        `{"$ref":"file:///etc/passwd"}`,
		"another's":     `{"$ref":"https://example.com/schema"}`,
		"nowhere":       `{"$ref":"#/$defs/none"}`,
		"no schema":     `{"type":7}`,
		"draft 4":       `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"minimum":1,"exclusiveMinimum":true}}}`,
		"own keywords":  `{"$schema":"https://example.com/meta","type":"object"}`,
		"a hard regexp": `{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`,
		"dynamic":       `{"$dynamicRef":"#x","$dynamicAnchor":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			h := misbehave(func(w http.ResponseWriter, _ *http.Request, call rpc) { answerJSON(w, call, `{"content":[]}`) })
			w.add(ubl.Server{ServerID: "bad", URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var call rpc
				_ = json.Unmarshal(body, &call)
				if call.Method == "tools/list" {
					answerJSON(w, call, `{"tools":[{"name":"x","inputSchema":`+schema+`}]}`)
					return
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				h(w, r)
			}))}, "")
			w.allow("bad.x")
			w.must("bad.x", `{"a":`+strings.Repeat(`{"a":`, 50)+`1`+strings.Repeat(`}`, 50)+`}`)
		})
	}
}
