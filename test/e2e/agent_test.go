package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// agent is a program with a credential, which is in headers.
type agent struct {
	t       *testing.T
	n       *node
	name    string
	headers map[string]string
	session string // of MCP, "" for none
}

func (n *node) agent(name string, headers ...string) *agent {
	a := &agent{t: n.t, n: n, name: name, headers: map[string]string{}}
	for i := 0; i+1 < len(headers); i += 2 {
		a.headers[headers[i]] = headers[i+1]
	}
	return a
}

// bearer is an agent with a bearer token.
func (n *node) bearer(name, token string) *agent {
	return n.agent(name, "Authorization", "Bearer "+token)
}

func (a *agent) request(ctx context.Context, method, path, body string) *http.Request {
	a.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+a.n.addr+path, strings.NewReader(body))
	must(a.t, err)
	for name, value := range a.headers {
		r.Header.Set(name, value)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.HasSuffix(path, "/mcp") {
		r.Header.Set("Accept", "application/json, text/event-stream")
		if method == http.MethodGet {
			r.Header.Set("Accept", "text/event-stream")
		}
		if a.session != "" {
			r.Header.Set("Mcp-Session-Id", a.session)
			r.Header.Set("MCP-Protocol-Version", "2025-06-18")
		}
	}
	return r
}

// ask sends a request, and answers with the status and what came until the answer's end
// or, from a stream, for a second.
func (a *agent) ask(method, path, body string) (status int, answer string) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	resp, err := http.DefaultClient.Do(a.request(ctx, method, path, body))
	must(a.t, err)
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && method == http.MethodGet {
		time.AfterFunc(time.Second, cancel)
	}
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

// call sends an MCP request.
func (a *agent) call(method, params string) (status int, answer string) {
	a.t.Helper()
	return a.ask("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
}

// tool uses a tool over MCP.
func (a *agent) tool(name, args string) (status int, answer string) {
	a.t.Helper()
	return a.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
}

// opensMCP begins a session.
func (a *agent) opensMCP() {
	a.t.Helper()
	r := a.request(a.t.Context(), "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"attack","version":"1"}}}`)
	resp, err := http.DefaultClient.Do(r)
	must(a.t, err)
	defer resp.Body.Close()
	if a.session = resp.Header.Get("Mcp-Session-Id"); a.session == "" || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s gets no MCP session: %d", a.name, resp.StatusCode)
	}
}

// stream is a connection that stays open, and what came over it.
type stream struct {
	name string
	done chan struct{}
	mu   sync.Mutex
	got  bytes.Buffer
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.Write(p)
}

func (s *stream) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.got.String(), text)
}

// opens opens a stream.
func (a *agent) opens(path string) *stream {
	a.t.Helper()
	resp, err := http.DefaultClient.Do(a.request(a.t.Context(), "GET", path, ""))
	must(a.t, err)
	if resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s opens %s: %s", a.name, path, resp.Status)
	}
	s := &stream{name: a.name + "'s " + path, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer resp.Body.Close()
		_, _ = io.Copy(s, resp.Body)
	}()
	return s
}

// slowly begins an export whose reader takes little at a time, and reads the header.
// The rest is more than what the kernels in between hold.
func (a *agent) slowly(path string) (rest func() (string, error)) {
	a.t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) })
	}}
	conn, err := dialer.DialContext(a.t.Context(), "tcp", a.n.addr)
	must(a.t, err)
	a.t.Cleanup(func() { _ = conn.Close() })
	r := a.request(a.t.Context(), "GET", path, "")
	must(a.t, r.Write(conn))
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 4<<10), r)
	must(a.t, err)
	if resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s begins %s: %s", a.name, path, resp.Status)
	}
	return func() (string, error) {
		must(a.t, conn.SetDeadline(time.Now().Add(time.Minute)))
		data, err := io.ReadAll(resp.Body)
		return string(data), err
	}
}

// atoms are all of the ledger that a member reads, in order.
func (c *client) atoms(ctx context.Context, t *testing.T) (all []string) {
	t.Helper()
	for from := int64(1); ; {
		var page struct {
			Atoms []json.RawMessage `json:"atoms"`
			Next  *int64            `json:"next_cursor"`
		}
		must(t, c.do(ctx, "GET", fmt.Sprintf("/api/atoms?limit=500&from=%d", from), "", nil, &page))
		for _, atom := range page.Atoms {
			all = append(all, string(atom))
		}
		if page.Next == nil {
			return all
		}
		from = *page.Next
	}
}
