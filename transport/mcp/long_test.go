package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/transport/mcp"
)

// endless are calls that never end, and keep who wants to see their progress.
type endless struct {
	mcp.Calls
	progress func(mcp.Progress)
}

func (e *endless) Begin(_ context.Context, l mcp.Long) (mcp.Flight, error) {
	e.progress = l.Progress
	return e, nil
}

func (e *endless) Task(context.Context, ubl.Identity, int64) (*ubl.Task, *mcp.News, error) {
	return &ubl.Task{N: 7, Status: ubl.TaskWorking}, &mcp.News{}, nil
}

func (e *endless) N() int64 { return 7 }

func (e *endless) Next(ctx context.Context, _ int) (*mcp.News, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (e *endless) Keep() bool { return true }

func (e *endless) Cancel() {}

// late notes what is written to an answer when its request is over.
type late struct {
	*httptest.ResponseRecorder
	over   atomic.Bool
	writes int
}

func (l *late) Write(p []byte) (int, error) {
	if l.over.Load() {
		l.writes++
	}
	return l.ResponseRecorder.Write(p)
}

// TestProgressEndsWithItsRequest: a call that goes on as a task tells nobody how far it is. Its request is
// answered, and what it was answered on may be another's by now.
func TestProgressEndsWithItsRequest(t *testing.T) {
	calls := &endless{}
	w, o := portalWorld(t, tool("git.log", objectTool))
	s := w.node(t, func(opts *mcp.Options) {
		opts.Portal, opts.Calls, opts.Limits.TaskAfter = o, calls, time.Millisecond
	})
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git.log","arguments":{},` +
		strings.Replace(meta(`,"progressToken":"p"`), `clientCapabilities":{`, `clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1) + `}}`
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/portal/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Authorization": "Bearer ana", "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "git.log",
	} {
		r.Header.Set(name, value)
	}
	out := &late{ResponseRecorder: httptest.NewRecorder()}
	w.middleware(w.authenticate(s.PortalHandler())).ServeHTTP(out, r)
	out.over.Store(true)
	if out.Code != http.StatusOK || !strings.Contains(out.Body.String(), `"taskId":"call-7"`) || calls.progress == nil {
		t.Fatalf("it was answered %d %s", out.Code, out.Body)
	}
	calls.progress(mcp.Progress{Progress: 1})
	if out.writes > 0 {
		t.Errorf("after its request it was told %s", out.Body)
	}
}
