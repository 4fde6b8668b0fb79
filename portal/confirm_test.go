package portal_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
)

// robot is an agent of ana's with a mandate.
func (w *world) robot(m ubl.Mandate) ubl.Identity {
	w.t.Helper()
	tenant := ubl.TenantName(w.owner.TenantID)
	harness.Must[*ubl.ServiceToken](w.house, tenant, ubl.CreateServiceToken{Request: w.house.Request(w.owner), Name: "Robot", ClientID: "bot", SecretHash: "hash", Mandate: &m})
	who := harness.Must[*ubl.ServiceCaller](w.house, tenant, ubl.CheckServiceToken{ClientID: "bot", SecretHash: "hash"}).Identity
	w.house.Enter(who)
	return who
}

// confirms has a person asked before uses of a tool, which is open to everyone.
func (w *world) confirms(tool string, when ubl.Confirm) {
	w.t.Helper()
	harness.Must[*ubl.ToolAccess](w.house, ubl.TenantName(w.owner.TenantID),
		ubl.SetToolAccess{Request: w.house.Request(w.owner), Tool: tool, Allowed: true, Confirm: when})
}

// counted adds a tool that counts its calls, with what its server says that it does.
func counted(s *mcp.Server, name string, hints *mcp.ToolAnnotations) *atomic.Int64 {
	ran := new(atomic.Int64)
	s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(schema), Annotations: hints},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ran.Add(1)
			return echo(ctx, r)
		})
	return ran
}

// as has a call be made by somebody else.
func as(w *world, who ubl.Identity) func(*portal.Long) {
	return func(l *portal.Long) { l.Request = w.house.Request(who) }
}

// TestWhichUsesAreConfirmed: the tool's record and the agent's mandate say before which uses a person is
// asked, and the stricter counts. What doesn't say that it destroys nothing may. People aren't asked.
func TestWhichUsesAreConfirmed(t *testing.T) {
	w := newWorld(t)
	s, url := tools(t, eras[1])
	counted(s, "reads", &mcp.ToolAnnotations{ReadOnlyHint: true})
	counted(s, "adds", &mcp.ToolAnnotations{DestructiveHint: new(false)})
	counted(s, "clears", &mcp.ToolAnnotations{DestructiveHint: new(true)})
	counted(s, "silent", nil)
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	w.allow("ev.adds", "ev.clears", "ev.reads", "ev.silent")
	w.sees(w.bob, "ev.adds", "ev.clears", "ev.reads", "ev.silent")
	robot := w.robot(ubl.Mandate{})
	for _, test := range []struct {
		record, mandate ubl.Confirm
		want            string
	}{
		{"", "", ""},
		{ubl.ConfirmNever, ubl.ConfirmNever, ""},
		{ubl.ConfirmDestructive, "", "clears silent"},
		{"", ubl.ConfirmDestructive, "clears silent"},
		{ubl.ConfirmAlways, ubl.ConfirmDestructive, "adds clears reads silent"},
		{ubl.ConfirmDestructive, ubl.ConfirmAlways, "adds clears reads silent"},
	} {
		robot.Mandate = &ubl.Mandate{Confirm: test.mandate}
		var asked []string
		for _, tool := range []string{"adds", "clears", "reads", "silent"} {
			w.confirms("ev."+tool, test.record)
			if _, err := w.Servers(t.Context(), w.owner); err != nil { // a new catalogue is read
				t.Fatal(err)
			}
			if w.Confirms(t.Context(), robot, "ev."+tool, false, false) {
				asked = append(asked, tool)
			}
			if w.Confirms(t.Context(), w.bob, "ev."+tool, false, false) {
				t.Errorf("a person is asked before %s", tool)
			}
		}
		if got := strings.Join(asked, " "); got != test.want {
			t.Errorf("record %q and mandate %q ask before %q, want %q", test.record, test.mandate, got, test.want)
		}
	}
}

// TestPersonConfirms: the person in front of the agent's client sees who is about to do what, with its
// arguments, and decides on whatever node the reply comes. The server hears of what they let be done alone.
func TestPersonConfirms(t *testing.T) {
	for _, e := range eras[:2] {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			s, url := tools(t, e)
			ran := counted(s, "clears", nil)
			w.add(ubl.Server{ServerID: "ev", URL: url}, "")
			w.confirms("ev.clears", ubl.ConfirmDestructive)
			w.sees(w.bob, "ev.clears")
			robot, other := w.robot(ubl.Mandate{}), w.node()
			for i, test := range []struct {
				reply, code, effect string
				ran                 int64
			}{
				{`{"action":"decline"}`, "declined", `"replies":"decline"`, 0},
				{`{"action":"cancel"}`, "declined", `"replies":"cancel"`, 0},
				{`no reply at all`, "declined", `"replies":"cancel"`, 0},
				{`{"action":"accept","content":{}}`, "", `"replies":"accept"`, 1},
			} {
				f := w.begin("ev.clears", as(w, robot), func(l *portal.Long) { l.Args = json.RawMessage(`{"text":"a\u202e\nb"}`) })
				q := w.next(f, 0).Question
				if q == nil || q.Kind != ubl.QuestionForm {
					t.Fatalf("the call asks %+v", q)
				}
				const want = `{"message":"The agent \"Robot\" is about to use ev.clears. If you accept, it does; if you decline, nothing is done. The arguments that it gives: {\"text\":\"a\\nb\"}",` +
					`"requestedSchema":{"properties":{},"type":"object"}}`
				if string(q.Params) != want {
					t.Errorf("the person is shown\n%s, want\n%s", q.Params, want)
				}
				if ran.Load() != 0 {
					t.Error("it was done before anybody confirmed it")
				}
				if err := other.Reply(t.Context(), robot, f.N(), 1, []byte(test.reply)); err != nil {
					t.Fatal(err)
				}
				news := w.next(f, 1)
				if string(ubl.CodeOf(news.Err)) != test.code || ran.Load() != test.ran {
					t.Errorf("reply %d came to %+v, and was made %d times", i, news, ran.Load())
				}
				if got := w.effect(f.N()); !strings.Contains(got, test.effect) || test.code != "" && !strings.Contains(got, `"error":`) {
					t.Errorf("the effect is %s", got)
				}
				if row := w.log()[0]; row.N != f.N() || string(row.Code) != test.code {
					t.Errorf("the row is %+v", row)
				}
			}
			w.house.VerifyLedger(w.owner.TenantID)
		})
	}
}

// TestUnconfirmed: where nobody can be asked the use is refused, on record, and nothing is done.
func TestUnconfirmed(t *testing.T) {
	w := newWorld(t)
	s, url := tools(t, eras[1])
	ran := counted(s, "clears", nil)
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	w.allow("ev.clears")
	w.sees(w.bob, "ev.clears")
	robot := w.robot(ubl.Mandate{Confirm: ubl.ConfirmDestructive})
	mute := portal.Long{Request: w.house.Request(robot), Tool: "ev.clears", Args: json.RawMessage(`{"text":"a"}`)}
	if _, err := w.Begin(t.Context(), mute); ubl.CodeOf(err) != ubl.CodeConfirmation || !strings.Contains(err.Error(), "elicitation") {
		t.Errorf("a client without forms was answered %v", err)
	}
	if _, err := w.Call(t.Context(), w.house.Request(robot), "ev.clears", json.RawMessage(`{"text":"a"}`), "", nil); ubl.CodeOf(err) != ubl.CodeConfirmation {
		t.Errorf("a call that can't ask was answered %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { w.Run(ctx); close(done) }()
	w.awaitLog(func(rows []*ubl.Call) bool { return len(rows) == 2 })
	cancel()
	<-done
	if row := w.log()[0]; row.Status != "denied" || row.Code != ubl.CodeConfirmation {
		t.Errorf("the row is %+v", row)
	}
	if ran.Load() != 0 {
		t.Error("it was done all the same")
	}
	w.house.VerifyLedger(w.owner.TenantID)
}

// TestClosedWhileAsked: what an owner has closed while the person was asked isn't done.
func TestClosedWhileAsked(t *testing.T) {
	w := newWorld(t)
	s, url := tools(t, eras[1])
	ran := counted(s, "clears", nil)
	w.add(ubl.Server{ServerID: "ev", URL: url}, "")
	w.confirms("ev.clears", ubl.ConfirmAlways)
	w.sees(w.bob, "ev.clears")
	robot := w.robot(ubl.Mandate{})
	f := w.begin("ev.clears", as(w, robot))
	w.next(f, 0)
	harness.Must[*ubl.ToolAccess](w.house, ubl.TenantName(w.owner.TenantID), ubl.SetToolAccess{Request: w.house.Request(w.owner), Tool: "ev.clears"})
	if err := w.Reply(t.Context(), robot, f.N(), 1, []byte(`{"action":"accept"}`)); err != nil {
		t.Fatal(err)
	}
	if news := w.next(f, 1); ubl.CodeOf(news.Err) != ubl.CodeForbidden || ran.Load() != 0 {
		t.Errorf("it came to %+v", news)
	}
	w.house.VerifyLedger(w.owner.TenantID)
}

// TestNobodyConfirms: a call that nobody confirms within five minutes does nothing.
func TestNobodyConfirms(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s, url := w.tools(t, eras[1])
		ran := counted(s, "clears", nil)
		w.add(ubl.Server{ServerID: "ev", URL: url}, "")
		w.confirms("ev.clears", ubl.ConfirmAlways)
		w.sees(w.bob, "ev.clears")
		f := w.begin("ev.clears", as(w, w.robot(ubl.Mandate{})))
		w.next(f, 0)
		began := time.Now()
		news := w.next(f, 1)
		if ubl.CodeOf(news.Err) != ubl.CodeConfirmation || time.Since(began).Round(time.Second) != 5*time.Minute || ran.Load() != 0 {
			t.Errorf("after %v it came to %+v", time.Since(began), news)
		}
		if got := w.effect(f.N()); !strings.Contains(got, `"replies":"cancel"`) {
			t.Errorf("the effect is %s", got)
		}
	})
}

// TestWhatAPersonIsShown: a long argument is cut off, and the value of what is called a secret left out.
func TestWhatAPersonIsShown(t *testing.T) {
	w := newWorld(t)
	w.confirms("messenger.send", ubl.ConfirmAlways)
	robot := w.robot(ubl.Mandate{})
	own := func(_ context.Context, confirmed bool) (*ubl.ToolResult, error) {
		if !confirmed {
			t.Error("it runs without a word of who confirmed it")
		}
		return &ubl.ToolResult{Content: json.RawMessage("null"), Structured: json.RawMessage(`{}`)}, nil
	}
	args := `{"in":[{"api_key":"hunter2"}],"password":"hunter2","text":"` + strings.Repeat("ä", 5000) + `"}`
	f := w.begin("messenger.send", as(w, robot), func(l *portal.Long) { l.Args, l.Own = json.RawMessage(args), own })
	q := w.next(f, 0).Question
	if shown := string(q.Params); strings.Contains(shown, "hunter2") || !strings.Contains(shown, "more characters are not shown") || strings.Count(shown, "ä") > 2000 || strings.Count(shown, "[secret]") != 2 {
		t.Errorf("the person is shown %s", shown)
	}
	if err := w.Reply(t.Context(), robot, f.N(), 1, []byte(`{"action":"accept"}`)); err != nil {
		t.Fatal(err)
	}
	if news := w.next(f, 1); news.Err != nil {
		t.Errorf("it came to %+v", news)
	}
	w.house.VerifyLedger(w.owner.TenantID)
}
