package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/gateway"
)

// secret is the API key of every provider here. It must never be seen again.
const secret = "sk-very-secret-0123456789"

// start runs a provider that answers as told.
func start(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// open makes a gateway of providers.
func open(t *testing.T, c gateway.Config) *gateway.Gateway {
	t.Helper()
	return openAt(t, c, time.Now, nil)
}

func openAt(t *testing.T, c gateway.Config, now func() time.Time, log *slog.Logger) *gateway.Gateway {
	t.Helper()
	return openWith(t, gateway.Options{Config: c, Now: now, Log: log})
}

func openWith(t *testing.T, o gateway.Options) *gateway.Gateway {
	t.Helper()
	o.Env = func(name string) string { return map[string]string{"UBL_TEST_KEY": secret}[name] }
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// one is a configuration with one provider.
func one(url string) gateway.Config {
	return gateway.Config{Providers: []gateway.Provider{provider("first", url)}}
}

func provider(name, url string) gateway.Provider {
	return gateway.Provider{Name: name, URL: url, KeyVariable: "UBL_TEST_KEY", Timeout: 2 * time.Minute, FirstToken: time.Minute}
}

// hello is the request of most tests.
func hello() gateway.Request {
	return gateway.Request{
		Tenant: "t:example.com", Model: "gpt-4", MaxTokens: 50,
		Messages: []gateway.Message{{Role: gateway.RoleUser, Content: "hello"}},
	}
}

// listen asks with a listener, and tells what it heard.
func listen(g *gateway.Gateway, r gateway.Request) (deltas []string, a *gateway.Answer, err error) {
	a, err = g.Complete(context.Background(), r, func(d string) { deltas = append(deltas, d) })
	return deltas, a, err
}

// whole answers with a completion in one piece.
func whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`, text)
	}
}

// events answers with lines of a stream, sent one by one.
func events(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, l := range lines {
			_, _ = io.WriteString(w, l+"\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// chunk is a line of a stream with a part of the text.
func chunk(text string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text) + "\n"
}

// Lines of a stream that every good one has, but a thought: that's for models that
// reason.
const (
	role    = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}` + "\n"
	thought = `data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Hm."},"finish_reason":null}]}` + "\n"
	stopped = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n"
	used    = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}` + "\n"
	done    = "data: [DONE]\n"
)

// never answers nothing until the caller goes.
func never(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the server doesn't notice that the caller went
	<-r.Context().Done()
}

// then answers and falls silent.
func then(first http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		first(w, r)
		<-r.Context().Done()
	}
}

// hangUp answers and breaks the connection.
func hangUp(first http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		first(w, r)
		panic(http.ErrAbortHandler)
	}
}

// status refuses with a status and OpenAI's form of an error, which quotes the
// key as OpenAI does.
func status(code int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","type":"x","param":null,"code":%q}}`, secret, reason)
	}
}

// decoded is a request's body.
func decoded(t *testing.T, r *http.Request) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Errorf("the request is no JSON: %v", err)
	}
	return body
}

// quiet checks that an error tells nobody the key or what the provider wrote.
func quiet(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e := ubl.AsError(err)
	for _, said := range []string{err.Error(), e.Message, fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e)} {
		if strings.Contains(said, secret) || strings.Contains(said, "Incorrect API key") {
			t.Errorf("the error tells too much: %s", said)
		}
	}
}
