package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/transport/api"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

const echoSchema = `{"type":"object","additionalProperties":false,"properties":{"text":{"type":"string"}}}`

// echo answers its arguments.
var echo = envelope.Act{Name: "echo", Description: "Echoes.", Input: json.RawMessage(echoSchema), Output: json.RawMessage(echoSchema),
	Do: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }}

// post sends one body again and again over kept connections.
func post(b *testing.B, url, body string, headers ...string) {
	client := newClient(b)
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 256
	b.ReportAllocs()
	b.SetParallelism(32) // of connections a core: commits are shared
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, _ := http.NewRequest("POST", url, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer ana")
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			res, err := client.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			data, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode/100 != 2 || strings.Contains(string(data), `"error"`) {
				b.Fatalf("%d %s", res.StatusCode, data)
			}
		}
	})
}

// call is a tools/call of the newest protocol.
func call(name, args string) (body string, headers []string) {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `,` + meta("") + `}}`,
		[]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name}
}

// BenchmarkEcho compares a tool that does nothing with the SDK's own server.
func BenchmarkEcho(b *testing.B) {
	body, headers := call("echo", `{"text":"hello"}`)
	b.Run("ours", func(b *testing.B) {
		w := newWorld(b, func(o *mcp.Options) { o.Acts = []envelope.Act{echo} })
		post(b, w.url+"/mcp", body, headers...)
	})
	b.Run("ours through the SDK", func(b *testing.B) {
		w := newWorld(b, func(o *mcp.Options) { o.Acts = []envelope.Act{echo} })
		w.LeaveToSDK()
		post(b, w.url+"/mcp", body, headers...)
	})
	b.Run("bare SDK", func(b *testing.B) {
		bare := sdk.NewServer(&sdk.Implementation{Name: "bare"}, nil)
		sdk.AddTool(bare, &sdk.Tool{Name: "echo", InputSchema: json.RawMessage(echoSchema)},
			func(_ context.Context, _ *sdk.CallToolRequest, in map[string]any) (*sdk.CallToolResult, map[string]any, error) {
				return nil, in, nil
			})
		server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return bare },
			&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
		b.Cleanup(server.Close)
		post(b, server.URL, body, headers...)
	})
}

// BenchmarkList is what a list takes at the server, without a connection: the default, one with
// a server's 200 tools, and all.
func BenchmarkList(b *testing.B) {
	o := &others{}
	for i := range 200 {
		o.tools = append(o.tools, tool(fmt.Sprintf("git.tool%d", i), objectTool))
	}
	w := newWorld(b, func(opts *mcp.Options) { opts.Portal, opts.Visible = o, open(opts.Asker) })
	for _, tt := range []struct {
		name, path string
		portal     bool
	}{{"default", "/mcp", false}, {"default of the portal", "/portal/mcp", true}, {"all of the portal", "/portal/mcp/all", true}} {
		h := w.Handler()
		if tt.portal {
			h = w.PortalHandler()
		}
		h = w.middleware(w.authenticate(h))
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", tt.path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
				r.Header.Set("Authorization", "Bearer ana")
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				rec := httptest.NewRecorder()
				if h.ServeHTTP(rec, r); !strings.Contains(rec.Body.String(), `"tool.search"`) {
					b.Fatal(rec.Body)
				}
			}
		})
	}
}

// BenchmarkSearch is a tools/call of tool.search over 2,000 tools of other servers and ours.
func BenchmarkSearch(b *testing.B) {
	o := &others{}
	for i := range 2000 {
		o.tools = append(o.tools, tool(fmt.Sprintf("server%d.tool%d", i%40, i), strings.Replace(objectTool, "Does x.", fmt.Sprintf("Sends word%d to the list of word%d, or deletes a document.", i, i%97), 1)))
	}
	w := newWorld(b, func(opts *mcp.Options) { opts.Portal, opts.Visible = o, open(opts.Asker) })
	body, headers := call("tool.search", `{"query":"delete a document of word7"}`)
	var took []time.Duration
	h := w.middleware(w.authenticate(w.PortalHandler()))
	for b.Loop() {
		r := httptest.NewRequest("POST", "/portal/mcp", strings.NewReader(body))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		r.Header.Set("Authorization", "Bearer ana")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		rec, began := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(rec, r)
		if took = append(took, time.Since(began)); !strings.Contains(rec.Body.String(), `"score"`) {
			b.Fatal(rec.Body)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkSend compares messenger.send with the same over REST.
func BenchmarkSend(b *testing.B) {
	w := newWorld(b)
	b.Run("MCP", func(b *testing.B) {
		body, headers := call("messenger.send", `{"room_id":"r:general","type":"text","body":{"text":"hello"}}`)
		post(b, w.url+"/mcp", body, headers...)
	})
	session := w.begin(b, w.url+"/mcp", "ana", "bench")
	b.Run("MCP in a session", func(b *testing.B) {
		post(b, w.url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+sendHello+`}}`, "Mcp-Session-Id", session)
	})
	b.Run("REST", func(b *testing.B) {
		rest := api.New(api.Options{Asker: envelope.Entering(w.Runtime), Now: w.Clock.Now, Version: "test"})
		r := chi.NewRouter()
		r.Route("/api", func(r chi.Router) {
			r.Use(w.middleware, w.authenticate)
			rest.Mount(r)
		})
		server := httptest.NewServer(r)
		b.Cleanup(server.Close)
		post(b, server.URL+"/api/rooms/r:general/messages", `{"type":"text","body":{"text":"hello"}}`)
	})
}

// BenchmarkIdleChannels measures what an open channel costs: heap and stacks of
// both the server and, since it is in the same process, a client that only holds
// a socket. It goes over real connections.
func BenchmarkIdleChannels(b *testing.B) {
	const channels = 1000
	for range b.N {
		w := newWorld(b)
		session := w.begin(b, w.url+"/mcp", "ana", "bench")
		address := strings.TrimPrefix(w.url, "http://")
		before := memory()
		open := make([]net.Conn, channels)
		for i := range open {
			id := session
			if i > 0 {
				id = w.begin(b, w.url+"/mcp", "ana", "bench")
			}
			conn, err := net.Dial("tcp", address)
			if err != nil {
				b.Fatal(err)
			}
			open[i] = conn
			_, _ = io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: "+address+"\r\nAuthorization: Bearer ana\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+id+"\r\n\r\n")
			if _, err := io.ReadAtLeast(conn, make([]byte, 512), 100); err != nil {
				b.Fatal(err)
			}
		}
		if w.Channels() != channels {
			b.Fatalf("%d channels", w.Channels())
		}
		b.ReportMetric(float64(memory()-before)/channels, "B/channel")
		for _, conn := range open {
			conn.Close()
		}
	}
}

func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
