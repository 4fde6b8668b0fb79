package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/gateway"
	"ubl/test/memnet"
)

// fault is a provider that fails, and what comes of it.
type fault struct {
	name   string
	answer http.HandlerFunc
	code   ubl.Code
	reason string
	// next says that the next provider is asked; else heard is what came until then.
	next  bool
	heard string
}

const (
	unavailable = ubl.CodeUnavailable
	limited     = ubl.CodeRateLimited
)

// faults of every kind of call; those of streams and whole answers follow.
var faults = []fault{
	{"bad request", status(400, "unsupported_value"), ubl.CodeValidation, "unsupported_value", false, ""},
	{"unprocessable", status(422, ""), ubl.CodeValidation, "", false, ""},
	{"prompt too long", status(400, "context_length_exceeded"), ubl.CodeTooLarge, "context_length_exceeded", false, ""},
	{"body too large", status(413, ""), ubl.CodeTooLarge, "", false, ""},
	{"filtered prompt", status(400, "content_filter"), ubl.CodeForbidden, "content_filter", false, ""},
	{"wrong key", status(401, "invalid_api_key"), unavailable, "invalid_api_key", true, ""},
	{"forbidden", status(403, ""), unavailable, "", true, ""},
	{"no such model", status(404, "model_not_found"), unavailable, "model_not_found", true, ""},
	{"rate limit", status(429, "rate_limit_exceeded"), limited, "rate_limit_exceeded", true, ""},
	{"no money", status(429, "insufficient_quota"), limited, "insufficient_quota", true, ""},
	{"broken", status(500, "server_error"), unavailable, "server_error", true, ""},
	{"reason of its own", status(503, secret), unavailable, "", true, ""},
	{"redirect", http.RedirectHandler("https://elsewhere.example/", http.StatusTemporaryRedirect).ServeHTTP, unavailable, "", true, ""},
	{"accepted", status(202, ""), unavailable, "", true, ""},
	{"not a completion", typed("application/json", `{"object":"list","data":[]}`), unavailable, "garbled", true, ""},
	{"bad JSON", typed("application/json", `{"choices":[`), unavailable, "garbled", true, ""},
	{"an error with 200", typed("application/json", `{"error":{"message":"x","code":"server_error"}}`), unavailable, "server_error", true, ""},
	{"a page", typed("text/html", `<h1>Welcome</h1>`), unavailable, "content_type", true, ""},
	{"no type", typed("", ``), unavailable, "content_type", true, ""},
	{"hangs up at once", hangUp(func(http.ResponseWriter, *http.Request) {}), unavailable, "connection", true, ""},
	{"hangs up in JSON", hangUp(typed("application/json", `{"choices":`)), unavailable, "connection", true, ""},
	{"huge JSON", endless("application/json", `{"choices":[{"message":{"content":"`, strings.Repeat("a", 64<<10)), unavailable, "too_long", true, ""},
	{"slow", never, unavailable, "", true, ""},
	{"slow after the headers", then(typed("application/json", ` `)), unavailable, "", true, ""},
}

var streamFaults = []fault{
	{"garbage before tokens", events(`data: {"choices":`), unavailable, "garbled", true, ""},
	{"an error before tokens", events(role, `data: {"error":{"message":"`+secret+`","code":"server_error"}}`), unavailable, "server_error", true, ""},
	{"a limit before tokens", events(`data: {"error":{"code":"rate_limit_exceeded"}}`), limited, "rate_limit_exceeded", true, ""},
	{"only comments", then(events(": wait", ": wait")), unavailable, "first_token_timeout", true, ""},
	{"role and silence", then(events(role)), unavailable, "timeout", true, ""},
	{"a thought and silence", then(events(thought)), unavailable, "timeout", true, ""},
	{"ends before tokens", events(role), unavailable, "broken_off", true, ""},
	{"only done", events(done), unavailable, "broken_off", true, ""},
	{"a line without end", endless("text/event-stream", "data: ", strings.Repeat("a", 64<<10)), unavailable, "too_long", true, ""},
	{"comments without end", endless("text/event-stream", "", ": "+strings.Repeat("a", 32<<10)+"\n"), unavailable, "too_long", true, ""},
	{"too many tools", events(`data: {"choices":[{"delta":{"tool_calls":[{"index":128,"function":{"name":"x"}}]}}]}`), unavailable, "tool_calls", false, ""},
	{"tools before zero", events(`data: {"choices":[{"delta":{"tool_calls":[{"index":-1,"function":{"name":"x"}}]}}]}`), unavailable, "tool_calls", false, ""},

	{"garbage after tokens", events(chunk("Hi "), "data: {"), unavailable, "garbled", false, "Hi "},
	{"an error after tokens", events(chunk("Hi "), `data: {"error":{"code":"server_error"}}`), unavailable, "server_error", false, "Hi "},
	{"ends after tokens", events(chunk("Hi "), chunk("th")), unavailable, "broken_off", false, "Hi th"},
	{"hangs up after tokens", hangUp(events(chunk("Hi "))), unavailable, "connection", false, "Hi "},
	{"silence after tokens", then(events(chunk("Hi "))), unavailable, "timeout", false, "Hi "},
	{"filtered after tokens", events(chunk("Hi "), `data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}`), ubl.CodeForbidden, "content_filter", false, "Hi "},
	{"a stream without end", endless("text/event-stream", "", chunk(strings.Repeat("a", 64<<10))), unavailable, "too_long", false, strings.Repeat("a", 7<<20)},
}

// typed answers a body of a content type.
func typed(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{kind}
		_, _ = io.WriteString(w, body)
		_ = http.NewResponseController(w).Flush()
	}
}

// endless repeats a part until the caller goes.
func endless(kind, begin, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, err := io.WriteString(w, begin)
		for err == nil {
			_, err = io.WriteString(w, part)
		}
	}
}

// TestFaults asks a failing provider, alone and with a good one behind it.
func TestFaults(t *testing.T) {
	for _, f := range faults {
		t.Run("whole/"+f.name, func(t *testing.T) { f.check(t, false) })
		t.Run("stream/"+f.name, func(t *testing.T) { f.check(t, true) })
	}
	for _, f := range streamFaults {
		t.Run("stream/"+f.name, func(t *testing.T) { f.check(t, true) })
	}
}

// check asks as the product does, with the timeouts that it has where none are set: in
// a bubble they take no time.
func (f *fault) check(t *testing.T, stream bool) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var network memnet.Network
		ask := func(c gateway.Config) *gateway.Gateway {
			return openWith(t, gateway.Options{Config: c, Now: time.Now, Transport: gateway.TransportOver(t, &network),
				Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		}
		c := one(network.Start(t, f.answer) + "/v1")
		c.Providers[0].Timeout, c.Providers[0].FirstToken = 0, 0
		f.alone(t, ask(c), stream)
		c.Providers = append(c.Providers, provider("second", network.Start(t, whole("from the second"))+"/v1"))
		f.followed(t, ask(c), stream)
		if !strings.Contains(log.String(), `"provider":"first"`) || !strings.Contains(log.String(), string(f.code)) {
			t.Errorf("the log tells too little: %s", log.String())
		}
		if strings.Contains(log.String(), secret) || strings.Contains(log.String(), "Incorrect API key") {
			t.Errorf("the log tells too much: %s", log.String())
		}
	})
}

// alone wants the fault's error and what came before it.
func (f *fault) alone(t *testing.T, g *gateway.Gateway, stream bool) {
	t.Helper()
	heard, a, err := complete(g, stream)
	e := ubl.AsError(err)
	if ubl.CodeOf(err) != f.code || e.Details["provider"] != "first" {
		t.Fatalf("got %v with %v, want %s", err, e.Details, f.code)
	}
	if f.reason != "" && e.Details["reason"] != f.reason || f.reason == "" && strings.Contains(e.Details["reason"], secret) {
		t.Errorf("the reason is %q, want %q", e.Details["reason"], f.reason)
	}
	quiet(t, err)
	if len(heard) < len(f.heard) || f.heard != "" && (!strings.HasPrefix(heard, f.heard) || a == nil || a.Text != heard || !a.Usage.Estimated) {
		t.Errorf("heard %d bytes before it, want %d; the answer is %+v", len(heard), len(f.heard), a != nil)
	}
}

// followed wants the second provider's answer, or the same error without it.
func (f *fault) followed(t *testing.T, g *gateway.Gateway, stream bool) {
	t.Helper()
	heard, a, err := complete(g, stream)
	switch {
	case f.next && (err != nil || a.Text != "from the second" || a.Usage.Provider != "second"):
		t.Errorf("the second provider wasn't asked, or answered %+v, %v", a, err)
	case f.next && stream && heard != "from the second":
		t.Errorf("heard %q", heard)
	case !f.next && (ubl.CodeOf(err) != f.code || strings.Contains(heard, "second")):
		t.Errorf("got %v after %d bytes, want %s of the first provider", err, len(heard), f.code)
	}
}

func complete(g *gateway.Gateway, stream bool) (heard string, a *gateway.Answer, err error) {
	if !stream {
		a, err = g.Complete(context.Background(), hello(), nil)
		return "", a, err
	}
	deltas, a, err := listen(g, hello())
	return strings.Join(deltas, ""), a, err
}

// TestUnreachable: nobody listens there.
func TestUnreachable(t *testing.T) {
	var network memnet.Network // without anybody
	g := openWith(t, gateway.Options{Config: one("http://nowhere.test/v1"), Now: time.Now, Transport: gateway.TransportOver(t, &network)})
	_, err := g.Complete(context.Background(), hello(), nil)
	if ubl.CodeOf(err) != unavailable || ubl.AsError(err).Details["reason"] != "connection" {
		t.Errorf("got %v", err)
	}
}

// TestRetryAfter: a provider that wants to be left alone is, for as long as it
// says but a minute at most, and the caller learns how long.
func TestRetryAfter(t *testing.T) {
	asked := 0
	c := one(start(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Retry-After", "3600")
		status(429, "rate_limit_exceeded")(w, r)
	}))
	now := time.Unix(1_800_000_000, 0)
	g := openAt(t, c, func() time.Time { return now }, nil)
	for _, step := range []struct {
		later time.Duration
		asked int
		after string
	}{
		{0, 1, "60"},
		{0, 1, "60"},
		{59 * time.Second, 1, "1"},
		{time.Second, 2, "60"},
	} {
		now = now.Add(step.later)
		_, err := g.Complete(context.Background(), hello(), nil)
		if e := ubl.AsError(err); e.Code != limited || e.Details["retry_after"] != step.after || asked != step.asked {
			t.Errorf("%v later: %v with %v after %d calls, want %+v", step.later, err, e.Details, asked, step)
		}
	}
}

// TestCancel: when the caller goes, the call ends and no other is made.
func TestCancel(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			gone := make(chan struct{})
			c := one(start(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				if stream {
					events(chunk("Hi "))(w, r)
				} else {
					cancel()
				}
				never(w, r)
			}))
			c.Providers = append(c.Providers, provider("second", start(t, func(http.ResponseWriter, *http.Request) {
				t.Error("the second provider was asked")
			})))
			var onDelta func(string)
			if stream {
				onDelta = func(string) { cancel() }
			}
			a, err := open(t, c).Complete(ctx, hello(), onDelta)
			if ubl.CodeOf(err) != unavailable || stream && (a == nil || a.Text != "Hi ") {
				t.Errorf("got %+v, %v", a, err)
			}
			<-gone
		})
	}
}
