package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/gateway"
)

// counted is a provider that numbers its answers.
func counted(t *testing.T, asked *int) gateway.Config {
	return one(start(t, func(w http.ResponseWriter, r *http.Request) {
		*asked++
		whole("answer "+strings.Repeat("i", *asked))(w, r)
	}))
}

func exact() gateway.Request {
	r := hello()
	r.Temperature = new(float64)
	return r
}

// TestCache asks twice, the second time with a difference.
func TestCache(t *testing.T) {
	warm := 0.5
	for name, c := range map[string]struct {
		first  gateway.Request
		change func(*gateway.Request)
		cached bool
	}{
		"the same":           {exact(), func(*gateway.Request) {}, true},
		"another tenant":     {exact(), func(r *gateway.Request) { r.Tenant = "t:other.example" }, false},
		"another model":      {exact(), func(r *gateway.Request) { r.Model = "gpt-5" }, false},
		"another prompt":     {exact(), func(r *gateway.Request) { r.Messages = []gateway.Message{{Role: "user", Content: "Hello"}} }, false},
		"another role":       {exact(), func(r *gateway.Request) { r.Messages = []gateway.Message{{Role: "system", Content: "hello"}} }, false},
		"another bound":      {exact(), func(r *gateway.Request) { r.MaxTokens++ }, false},
		"allowed, then not":  {exact(), func(r *gateway.Request) { r.Temperature = &warm }, false},
		"allowed by 0 twice": {exact(), func(r *gateway.Request) { r.Cache = true }, true},
		"no temperature":     {hello(), func(*gateway.Request) {}, false},
		"with tools":         {withTools(exact()), func(*gateway.Request) {}, false},
		"allowed by caller":  {allowed(hello()), func(*gateway.Request) {}, true},
		"allowed, warm":      {allowed(hello()), func(r *gateway.Request) { r.Temperature = &warm }, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			g := open(t, counted(t, &asked))
			first, err := g.Complete(context.Background(), c.first, nil)
			if err != nil || first.Usage.Cached {
				t.Fatalf("%+v, %v", first, err)
			}
			c.change(&c.first)
			second, err := g.Complete(context.Background(), c.first, nil)
			if err != nil || second.Usage.Cached != c.cached || (second.Text == first.Text) != c.cached {
				t.Errorf("%+v, %v, want cached %v", second, err, c.cached)
			}
			if c.cached && second.Usage != (ubl.Usage{Provider: "first", Model: "gpt-4", Cached: true}) {
				t.Errorf("what was cached used %+v", second.Usage)
			}
		})
	}
}

func withTools(r gateway.Request) gateway.Request {
	r.Tools = []gateway.Tool{{Name: "x"}}
	return r
}

func allowed(r gateway.Request) gateway.Request {
	r.Cache = true
	return r
}

// TestCacheStreams: who listens hears what was cached.
func TestCacheStreams(t *testing.T) {
	asked := 0
	g := open(t, counted(t, &asked))
	for range 2 {
		if heard, a, err := listen(g, exact()); err != nil || strings.Join(heard, "") != "answer i" || a.Text != "answer i" {
			t.Errorf("heard %q, got %+v, %v", heard, a, err)
		}
	}
}

// TestCacheBounds: answers go with time, and the ones used last stay when there
// are too many.
func TestCacheBounds(t *testing.T) {
	asked := 0
	c := counted(t, &asked)
	c.Cache = gateway.CacheConfig{TTL: time.Minute, MaxBytes: 11 * 530}
	now := time.Unix(1_800_000_000, 0)
	g := openAt(t, c, func() time.Time { return now }, nil)
	ask := func(prompt string) bool {
		t.Helper()
		r := exact()
		r.Messages[0].Content = prompt
		a, err := g.Complete(context.Background(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a.Usage.Cached
	}
	for _, prompt := range strings.Split("abcdefghij", "") {
		ask(prompt)
	}
	if !ask("a") {
		t.Error("a is gone before there were too many")
	}
	ask("k")
	ask("l")
	if ask("b") {
		t.Error("b is still there, though it was not used for longest")
	}
	if !ask("a") {
		t.Error("a is gone, though it was used")
	}
	now = now.Add(time.Minute)
	if ask("a") {
		t.Error("a is still there after its time")
	}
	c.Cache = gateway.CacheConfig{Off: true}
	g = openAt(t, c, func() time.Time { return now }, nil)
	if ask("a"); ask("a") {
		t.Error("a is cached though the cache is off")
	}
}

// TestFailuresAreNotCached: only a whole answer is kept.
func TestFailuresAreNotCached(t *testing.T) {
	asked := 0
	g := open(t, one(start(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			events(chunk("Hi "))(w, r)
			return
		}
		whole("Hi there")(w, r)
	})))
	if _, _, err := listen(g, exact()); err == nil {
		t.Fatal("an answer that broke off is none")
	}
	if _, a, err := listen(g, exact()); err != nil || a.Usage.Cached || a.Text != "Hi there" {
		t.Errorf("%+v, %v", a, err)
	}
}
