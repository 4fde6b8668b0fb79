package portal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
)

// TestLifeOfATool is the way from an address to a receipted call, in both eras.
func TestLifeOfATool(t *testing.T) {
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			s, url := tools(t, e)
			for _, name := range []string{"echo", "fail", "sum", "weather", "zip"} { // three pages
				tool(s, name, echo)
			}
			got := w.add(ubl.Server{ServerID: "ev", URL: url}, "")
			if got.Status != ubl.ServerUp || got.Tools != 5 {
				t.Fatalf("the server is %s with %d tools: %s", got.Status, got.Tools, got.Problem)
			}

			w.sees(w.bob) // nobody may use what no record opens
			w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"hi"}`)

			w.allow("ev.echo")
			w.sees(w.bob, "ev.echo")
			r := w.must("ev.echo", ` {"times" : 2, "text":"hi"} `)
			if string(r.Content) != `[{"text":"{\"text\":\"hi\",\"times\":2}","type":"text"}]` || r.IsError {
				t.Errorf("the result is %s", r.Content)
			}
			pair := harness.Must[*ubl.ReceiptPair](w.house, ubl.LedgerName(w.bob.TenantID), ubl.GetReceipt{Seq: r.Receipt.Seq})
			if len(pair.Atoms) != 2 {
				t.Error("the call has no effect on record")
			}
			if row := w.log()[0]; row.N != r.N || row.Status != "ok" || row.Capability != "ev.echo" || row.Server != "ev" || row.UserID != w.bob.UserID {
				t.Errorf("the log says %+v", row)
			}
			w.house.VerifyLedger(w.bob.TenantID)
		})
	}
}

// TestOutcomes holds what a tool can answer against what callers and the log get.
func TestOutcomes(t *testing.T) {
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			s, url := tools(t, e)
			answers := map[string]*mcp.CallToolResult{
				"structured": {Content: []mcp.Content{}, StructuredContent: map[string]any{"n": 1, "_meta": "theirs"}},
				"meta": {Meta: mcp.Meta{"secret": 1}, Content: []mcp.Content{
					&mcp.TextContent{Text: "a", Meta: mcp.Meta{"secret": 1}},
					&mcp.EmbeddedResource{Meta: mcp.Meta{"secret": 1}, Resource: &mcp.ResourceContents{URI: "x:y", Text: "b", Meta: mcp.Meta{"secret": 1}}},
				}},
				"failed": {IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such city"}}},
			}
			for name, answer := range answers {
				tool(s, name, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return answer, nil })
			}
			tool(s, "broken", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, fmt.Errorf("secret text")
			})
			w.add(ubl.Server{ServerID: "ev", URL: url}, "")
			w.allow("ev.structured", "ev.meta", "ev.failed", "ev.broken", "ev.missing")

			for _, c := range []struct {
				tool    string
				want    ubl.ToolResult
				outcome string
				code    ubl.Code
			}{
				{"structured", ubl.ToolResult{Content: json.RawMessage(`[]`), Structured: json.RawMessage(`{"_meta":"theirs","n":1}`)}, "ok", ""},
				{"meta", ubl.ToolResult{Content: json.RawMessage(`[{"text":"a","type":"text"},{"resource":{"text":"b","uri":"x:y"},"type":"resource"}]`)}, "ok", ""},
				{"failed", ubl.ToolResult{IsError: true, Content: json.RawMessage(`[{"text":"no such city","type":"text"}]`)}, "error", ubl.CodeConflict},
			} {
				got := w.must("ev."+c.tool, `{"text":"x"}`)
				if string(got.Content) != string(c.want.Content) || string(got.Structured) != string(c.want.Structured) || got.IsError != c.want.IsError {
					t.Errorf("%s answers %s, %s, %v", c.tool, got.Content, got.Structured, got.IsError)
				}
				if row := w.log()[0]; row.Status != c.outcome || row.Code != c.code {
					t.Errorf("%s is on record as %s %s", c.tool, row.Status, row.Code)
				}
			}

			if err := w.refused(ubl.CodeUnavailable, "ev.broken", `{"text":"x"}`); strings.Contains(err.Message, "secret") {
				t.Errorf("the error shows what the server wrote: %v", err)
			}
			w.refused(ubl.CodeUnknownTool, "ev.missing", `{}`)
			if row := w.log()[0]; row.Status != "denied" {
				t.Errorf("a tool that isn't there is on record as %s", row.Status)
			}
			w.house.VerifyLedger(w.bob.TenantID)
		})
	}
}

// TestArguments: what doesn't fit is named by its place, and never reaches the server.
func TestArguments(t *testing.T) {
	w := newWorld(t)
	s, url := tools(t, eras[0])
	var called atomic.Int32
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called.Add(1)
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	w.allow("ev.echo")
	for _, c := range []struct {
		args  string
		code  ubl.Code
		place string
		want  string
	}{
		{`{"text":"a","times":0}`, ubl.CodeValidation, "arguments.times", "must fit the schema's minimum"},
		{`{"text":4711}`, ubl.CodeValidation, "arguments.text", "must be string"},
		{`{}`, ubl.CodeValidation, "arguments", "must have text"},
		{`{"text":"a","4711":1}`, ubl.CodeValidation, "arguments", "must have no members but those of the schema"},
		{`[4711]`, ubl.CodeValidation, "", ""},
		{`{"text":"a","text":"4711"}`, ubl.CodeValidation, "", ""},
		{`{"times":47110000000000000000}`, ubl.CodeValidation, "", ""},
		{`{"text":"` + strings.Repeat("4711", 300_000) + `"}`, ubl.CodeTooLarge, "", ""},
	} {
		err := w.refused(c.code, "ev.echo", c.args)
		if c.place != "" && err.Details[c.place] != c.want {
			t.Errorf("%.40s: details are %v", c.args, err.Details)
		}
		if strings.Contains(err.Error(), "4711") {
			t.Errorf("%.40s: the error quotes a value: %v", c.args, err)
		}
	}
	if called.Load() > 0 {
		t.Error("the server was called")
	}
	for _, name := range []string{"echo", "ev.", ".echo", "EV.echo", "ubl.echo", "ev." + strings.Repeat("x", 200)} {
		w.refused(ubl.CodeUnknownTool, name, `{}`)
	}
}

// TestOnce: the same key calls once, also on another node.
func TestOnce(t *testing.T) {
	w := newWorld(t)
	s, url := tools(t, eras[0])
	var called atomic.Int32
	tool(s, "echo", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called.Add(1)
		return echo(ctx, r)
	})
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	w.allow("ev.echo")
	req, args := w.house.Request(w.bob), json.RawMessage(`{"text":"a"}`)
	first, err := w.Call(t.Context(), req, "ev.echo", args, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.node().Call(t.Context(), req, "ev.echo", args, "", nil)
	if e := ubl.AsError(err); e.Code != ubl.CodeConflict || e.Details["n"] != fmt.Sprint(first.N) || e.Details["status"] != "ok" {
		t.Errorf("the second try was answered %v %v", e, e.Details)
	}
	_, err = w.Call(t.Context(), req, "ev.echo", json.RawMessage(`{"text":"b"}`), "", nil)
	if ubl.CodeOf(err) != ubl.CodeIdempotencyConflict {
		t.Errorf("another call under the same key was answered %v", err)
	}
	if n := called.Load(); n != 1 {
		t.Errorf("the server was called %d times", n)
	}
}

// TestProgress reaches the caller that it is for, while the call goes on.
func TestProgress(t *testing.T) {
	for _, e := range eras[:2] {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			s, url := tools(t, e)
			told := make(chan string, 10)
			tool(s, "slow", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var heard []string
				for i := range 3 {
					if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
						ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "on it",
					}); err != nil {
						return nil, err
					}
					select {
					case text := <-told:
						heard = append(heard, text)
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Join(heard, ", ")}}}, nil
			})
			w.add(ubl.Server{ServerID: "ev", URL: url}, "")
			w.allow("ev.slow")
			r, err := w.Call(t.Context(), w.house.Request(w.bob), "ev.slow", json.RawMessage(`{"text":"a"}`), "req:parent", func(done, total float64, message string) {
				told <- fmt.Sprint(done, "/", total, " ", message)
			})
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Content) != `[{"text":"1/3 on it, 2/3 on it, 3/3 on it","type":"text"}]` {
				t.Errorf("the caller was told %s", r.Content)
			}
			if row := w.log()[0]; row.Parent != "req:parent" {
				t.Errorf("the parent is %q", row.Parent)
			}
		})
	}
}

// TestGivenUp: a caller that goes, and a server that takes too long, leave an effect.
func TestGivenUp(t *testing.T) {
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) { inBubble(t, func(t *testing.T, w *world) { givenUp(t, w, e) }) })
	}
}

func givenUp(t *testing.T, w *world, e era) {
	s, url := w.tools(t, e)
	entered := make(chan bool, 2)
	tool(s, "stuck", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		entered <- true
		select {
		case <-ctx.Done():
		case <-t.Context().Done(): // a stateless server doesn't hear that its client has gone
		}
		return nil, context.Canceled
	})
	tool(s, "echo", echo)
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	w.allow("ev.stuck", "ev.echo")

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, err := w.Call(ctx, w.house.Request(w.bob), "ev.stuck", json.RawMessage(`{"text":"a"}`), "", nil)
	if ubl.CodeOf(err) != ubl.CodeCancelled {
		t.Errorf("the caller who went was answered %v", err)
	}
	if row := w.log()[0]; row.Status != "error" || row.Code != ubl.CodeCancelled {
		t.Errorf("the call of who went is on record as %s %s", row.Status, row.Code)
	}
	if e := w.refused(ubl.CodeUnavailable, "ev.stuck", `{"text":"a"}`); !strings.Contains(e.Message, "in time") {
		t.Errorf("the slow call was answered %q", e.Message)
	}
	w.must("ev.echo", `{"text":"still here"}`)
}

// TestAccess: users, groups and limits hold in the call path, and refusals are in
// the log.
func TestAccess(t *testing.T) {
	w := newWorld(t)
	s, url := tools(t, eras[0])
	tool(s, "echo", echo)
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	set := func(users []ubl.UserID, groups []string, perMinute int) {
		harness.Must[*ubl.ToolAccess](w.house, ubl.TenantName(w.owner.TenantID), ubl.SetToolAccess{
			Request: w.house.Request(w.owner), Tool: "ev.echo", Allowed: true, Users: users, Groups: groups, PerMinute: perMinute,
		})
	}
	set([]ubl.UserID{w.owner.UserID}, nil, 0)
	w.sees(w.owner, "ev.echo")
	w.sees(w.bob)
	w.refused(ubl.CodeForbidden, "ev.echo", `{"text":"a"}`)

	set(nil, []string{"ops"}, 0)
	w.sees(w.owner)
	w.bob.Groups = []string{"ops"}
	w.sees(w.bob, "ev.echo")
	w.must("ev.echo", `{"text":"a"}`)

	set(nil, nil, 2)
	w.must("ev.echo", `{"text":"a"}`)
	w.must("ev.echo", `{"text":"a"}`)
	w.refused(ubl.CodeRateLimited, "ev.echo", `{"text":"a"}`)

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { w.Run(ctx); close(done) }()
	w.awaitLog(func(rows []*ubl.Call) bool {
		denied := map[ubl.Code]int{}
		for _, r := range rows {
			if r.Status == "denied" && r.Capability == "ev.echo" {
				denied[r.Code]++
			}
		}
		return denied[ubl.CodeForbidden] == 1 && denied[ubl.CodeRateLimited] == 1
	})
	cancel()
	<-done
}

// awaitLog waits until the log is as it should be.
func (w *world) awaitLog(ok func([]*ubl.Call) bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(w.log()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, r := range w.log() {
				w.t.Logf("%+v", r)
			}
			w.t.Fatal("the log is not as it should be")
		}
	}
}

// TestStrangersWriteNoRow: a refusal of a member is in the log, and none of somebody
// who has been removed.
func TestStrangersWriteNoRow(t *testing.T) {
	w := newWorld(t)
	rows := func(code ubl.Code) int {
		w.refused(code, "ev.nothing", `{}`)
		portal.Flush(w.Portal, t.Context())
		return len(w.log())
	}
	if n := rows(ubl.CodeUnknownTool); n != 1 {
		t.Errorf("after the refusal of a member there are %d rows", n)
	}
	harness.Must[*ubl.Member](w.house, ubl.TenantName(w.owner.TenantID), ubl.RemoveTenantMember{Request: w.house.Request(w.owner), UserID: w.bob.UserID})
	if n := rows(ubl.CodeForbidden); n != 1 {
		t.Errorf("after that of a removed one there are %d rows", n)
	}
}

// TestACallFoundsNoTenant: tools are called where a server has been added, so a tenant is
// there before. Foundings are counted where requests come in.
func TestACallFoundsNoTenant(t *testing.T) {
	w := newWorld(t)
	zoe := harness.User("zoe@elsewhere.example")
	_, err := w.Call(t.Context(), w.house.Request(zoe), "ev.echo", json.RawMessage(`{}`), "", nil)
	if !ubl.IsUnfounded(err) {
		t.Errorf("got %v", err)
	}
	if head := harness.Must[ubl.LedgerHead](w.house, ubl.LedgerName(zoe.TenantID), ubl.GetLedgerHead{}); head.Seq != 0 {
		t.Errorf("%d atoms are on record", head.Seq)
	}
}
