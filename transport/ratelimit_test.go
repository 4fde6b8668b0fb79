package transport_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/limits"
	"ubl/transport"
	"ubl/transport/envelope"
)

// TestRateLimitHeaders: answers tell callers what they may still do, by their own rates that the
// request was counted for, refusals too. Strangers are told nothing.
func TestRateLimitHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, err := limits.Default().With(map[string]int64{"all": 0, "requests-identity": 2, "sends-identity": 1})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(func(o *transport.Options) {
			o.Limits = limits.New(table, nil, nil, nil)
			o.API = func(r chi.Router) {
				r.Get("/public", func(http.ResponseWriter, *http.Request) {})
				r.HandleFunc("/echo/1", func(rw http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						_ = envelope.CallerOf(r.Context()).Count(ubl.Sends)
					}
					rw.WriteHeader(http.StatusNoContent)
				})
			}
		})
		ask := func(method, path string) *httptest.ResponseRecorder {
			r, rec := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer x")
			w.Handler().ServeHTTP(rec, r)
			return rec
		}
		const requests, sends = `"requests-identity";q=20;w=10`, `"sends-identity";q=10;w=10`
		for i, c := range []struct{ method, policy, left string }{
			{"GET", requests, `"requests-identity";r=19;t=1`},
			{"GET", requests, `"requests-identity";r=18;t=1`},
			{"POST", requests + ", " + sends, `"requests-identity";r=17;t=2, "sends-identity";r=9;t=1`},
		} {
			h := ask(c.method, "/api/echo/1").Header()
			if h.Get("RateLimit-Policy") != c.policy || h.Get("RateLimit") != c.left {
				t.Errorf("%d: told %q and %q, want %q and %q", i, h.Get("RateLimit-Policy"), h.Get("RateLimit"), c.policy, c.left)
			}
		}
		for range 17 {
			ask("GET", "/api/echo/1")
		}
		rec := ask("GET", "/api/echo/1")
		if got := fmt.Sprint(rec.Code, " ", rec.Header().Get("RateLimit"), " ", rec.Header().Get("Retry-After")); got != `429 "requests-identity";r=1;t=10 1` {
			t.Errorf("a refusal says %s", got)
		}
		if h := ask("GET", "/api/public").Header(); h.Get("RateLimit") != "" {
			t.Errorf("a stranger is told %q", h.Get("RateLimit"))
		}
	})
}
