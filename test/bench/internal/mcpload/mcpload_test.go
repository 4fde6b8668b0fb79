package mcpload_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/loadtest"
	"ubl/test/bench/internal/mcpload"
)

const path = "/mcp"

// serve serves the SDK's server with a tool that answers its arguments, to those
// who have the token, and returns how to speak to it.
func serve(t *testing.T, protocol string) (mcpload.Target, *httptest.Server) {
	t.Helper()
	bare := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(bare, &mcp.Tool{Name: "echo"},
		func(_ context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, map[string]any, error) {
			return nil, in, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return bare },
		&mcp.StreamableHTTPOptions{Stateless: protocol == mcpload.Modern, JSONResponse: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != path {
			http.Error(w, "not here", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections() // channels don't end by themselves
		server.Close()
	})
	return mcpload.Target{Host: server.Listener.Addr().String(), Path: path, Token: "secret", Protocol: protocol}, server
}

// A server that nobody here wrote takes what both clients send, in both eras;
// what it refuses is counted.
func TestRun(t *testing.T) {
	clients := map[string]func(context.Context, mcpload.Options) (load.Result, error){"bytes": mcpload.Run, "SDK": mcpload.RunSDK}
	for _, protocol := range mcpload.Protocols() {
		for name, run := range clients {
			t.Run(protocol+" "+name, func(t *testing.T) {
				to, _ := serve(t, protocol)
				o := mcpload.Options{Target: to, Tool: "echo", Arguments: json.RawMessage(`{"text":"hello"}`), Writers: 3}
				once := func() (load.Result, error) {
					return loadtest.Enough(1, func(p load.Plan) (load.Result, error) {
						o.Plan = p
						return run(t.Context(), o)
					})
				}
				r, err := once()
				if err != nil || r.Sends == 0 || r.Refused > 0 || !r.Distinct || !r.Gapless {
					t.Errorf("got %+v, %v", r, err)
				}
				o.Tool = "nothing"
				r, err = once()
				if err != nil || r.Sends > 0 || r.Refused == 0 || !strings.Contains(r.FirstRefusal, "nothing") {
					t.Errorf("a tool that isn't there: %+v, %v", r, err)
				}
				o.Token = "another"
				if r, err = once(); err == nil && r.Refused == 0 {
					t.Errorf("a caller who isn't known: %+v", r)
				}
			})
		}
	}
}

// The number is that of the structured content, not of the text beside it.
func TestNumbered(t *testing.T) {
	to, _ := serve(t, mcpload.Modern)
	r, err := loadtest.Enough(2, func(p load.Plan) (load.Result, error) {
		return mcpload.Run(t.Context(), mcpload.Options{
			Target: to, Tool: "echo", Arguments: json.RawMessage(`{"room_seq":7}`), Numbered: true, Writers: 1, Plan: p,
		})
	})
	if err != nil || r.Sends < 2 || r.Distinct || !r.Gapless {
		t.Errorf("a server that always says 7: %+v, %v", r, err)
	}
}

// Sessions stay open until the server ends them.
func TestIdle(t *testing.T) {
	to, server := serve(t, mcpload.Legacy)
	idle := new(mcpload.Idle)
	defer idle.Close()
	for range 2 {
		if err := idle.Add(t.Context(), to, 5); err != nil {
			t.Fatal(err)
		}
	}
	stranger := to
	stranger.Token = "another"
	if err := idle.Add(t.Context(), stranger, 1); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a caller who isn't known: %v", err)
	}
	if open := idle.Open(); open != 10 {
		t.Errorf("%d of 10 are open", open)
	}
	server.CloseClientConnections()
	for deadline := time.Now().Add(time.Minute); idle.Open() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d are open when the server has closed them", idle.Open())
		}
	}
}

// The newer era has no session: one request listens.
func TestIdleModern(t *testing.T) {
	heard := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- r.Header.Get("Mcp-Method") + " " + string(body)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	idle := new(mcpload.Idle)
	defer idle.Close()
	err := idle.Add(t.Context(), mcpload.Target{Host: server.Listener.Addr().String(), Path: path, Protocol: mcpload.Modern}, 1)
	if got := <-heard; err != nil || idle.Open() != 1 || !strings.HasPrefix(got, "subscriptions/listen {") || !strings.Contains(got, `"toolsListChanged":true`) {
		t.Errorf("heard %s, %v", got, err)
	}
}
