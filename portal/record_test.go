package portal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
)

// flaky is a Visitor that can be made to fail.
type flaky struct {
	ubl.Visitor
	broken atomic.Bool
	logged atomic.Int32
}

func (f *flaky) fail() error {
	if f.broken.Load() {
		return ubl.Errorf(ubl.CodeUnavailable, "not now").Because(errors.New("broken"))
	}
	return nil
}

func (f *flaky) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	if err := f.fail(); err != nil {
		return nil, nil, err
	}
	return f.Visitor.Visit(ctx, in, to, cmd)
}

func (f *flaky) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	if c, ok := cmd.(ubl.LogCalls); ok {
		f.logged.Add(int32(len(c.Calls)))
	}
	return f.Visitor.Ask(ctx, to, cmd)
}

// deaf is a Visitor that loses every first answer and asks again, as a node does
// that forwards.
type deaf struct{ ubl.Visitor }

func (d deaf) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	_, _, _ = d.Visitor.Visit(ctx, in, to, cmd)
	return d.Visitor.Visit(ctx, in, to, cmd)
}

func (d deaf) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	_, _ = d.Visitor.Ask(ctx, to, cmd)
	return d.Visitor.Ask(ctx, to, cmd)
}

// TestLostAnswers: a call whose intent is on record is made, although the node heard
// so only when it asked again; a refusal is on record once.
func TestLostAnswers(t *testing.T) {
	w := newWorld(t, func(o *portal.Options) { o.Asker = deaf{o.Asker} })
	s, address := tools(t, eras[0])
	var made atomic.Int32
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		made.Add(1)
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo", "ev.none")
	req := w.house.Request(w.bob)
	if _, err := w.Call(t.Context(), req, "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Call(t.Context(), req, "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("the caller's second try was answered %v", err)
	}
	if n := made.Load(); n != 1 {
		t.Errorf("the call was made %d times", n)
	}
	w.refused(ubl.CodeUnknownTool, "ev.none", `{}`)
	if rows := w.log(); len(rows) != 2 || rows[0].Status != "denied" || rows[1].Status != "ok" {
		t.Errorf("%d rows are logged", len(rows))
	}
}

// TestSweptMeanwhile: where the sweep has ended a call, its caller isn't told that it
// went well.
func TestSweptMeanwhile(t *testing.T) {
	w := newWorld(t)
	s, address := tools(t, eras[0])
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := w.house.Ask(ctx, ubl.PortalName(w.bob.TenantID), ubl.CloseCalls{Request: w.house.Request(ubl.Platform()), All: true}); err != nil {
			t.Error(err)
		}
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	w.refused(ubl.CodeUnavailable, "ev.echo", `{"text":"a"}`)
	if row := w.log()[0]; row.Status != "error" {
		t.Errorf("the call is on record as %s", row.Status)
	}
}

// TestEffectOverFailures: an effect that can't be written at once is written when
// it can.
func TestEffectOverFailures(t *testing.T) {
	f := &flaky{}
	inBubble(t, func(t *testing.T, w *world) { effectOverFailures(t, w, f) }, func(o *portal.Options) {
		f.Visitor = o.Asker
		o.Asker = f
	})
}

func effectOverFailures(t *testing.T, w *world, f *flaky) {
	s, address := w.tools(t, eras[0])
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.broken.Store(true)
		time.AfterFunc(300*time.Millisecond, func() { f.broken.Store(false) })
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	w.allow("ev.echo")
	r := w.must("ev.echo", `{"text":"a"}`)
	if row := w.log()[0]; row.N != r.N || row.Status != "ok" {
		t.Errorf("the call is on record as %+v", row)
	}
}

// TestLog: rows of our own tools reach the log in order, once, also over failures,
// and Close writes the rest.
func TestLog(t *testing.T) {
	f := &flaky{}
	w := newWorld(t, func(o *portal.Options) {
		f.Visitor = o.Asker
		o.Asker = f
	})
	row := func(i int) *ubl.Call {
		return &ubl.Call{At: ubl.TimeOf(w.house.Clock.Now()), Did: ubl.DidSend, Server: ubl.OwnServer, Capability: string(ubl.DidSend),
			UserID: w.bob.UserID, Status: "ok", RequestID: fmt.Sprintf("req:row-%d", i), DurationMS: int64(i)}
	}
	f.broken.Store(true)
	for i := range 150 {
		w.Log(w.bob.TenantID, row(i))
	}
	portal.Flush(w.Portal, t.Context())
	portal.Flush(w.Portal, t.Context())
	w.Log(w.bob.TenantID, row(150))
	f.broken.Store(false)
	portal.Flush(w.Portal, t.Context())
	if n := f.logged.Load(); n != 151 {
		t.Errorf("%d rows were written", n)
	}
	for i, got := range w.log() {
		if got.RequestID != fmt.Sprintf("req:row-%d", 150-i) {
			t.Fatalf("row %d from the end is %s", i, got.RequestID)
		}
	}

	// Too many are dropped, and nobody waits.
	f.broken.Store(true)
	for i := range portal.MaxRows + 10 {
		w.Log(w.bob.TenantID, row(i))
	}
	if n := portal.Waiting(w.Portal); n != portal.MaxRows {
		t.Errorf("%d rows wait", n)
	}
	for range 10 {
		portal.Flush(w.Portal, t.Context())
	}
	if n := portal.Waiting(w.Portal); n != 0 {
		t.Errorf("%d rows are tried for ever", n)
	}

	f.broken.Store(false)
	w.Log(w.bob.TenantID, row(200))
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.log()[0].RequestID; got != "req:row-200" {
		t.Errorf("after closing, the newest row is %s", got)
	}
}
