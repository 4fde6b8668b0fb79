package transport_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/limits"
	"ubl/transport"
	"ubl/transport/envelope"
)

// TestFoundingsByAddress: an address founds so many tenants, another one and this
// machine's own are not counted with it, and entering what exists isn't at all.
func TestFoundingsByAddress(t *testing.T) {
	table, err := limits.Default().With(map[string]int64{"all": 0, "foundings-ip": 2})
	if err != nil {
		t.Fatal(err)
	}
	exists := false
	w := newWorld(func(o *transport.Options) {
		o.Limits = limits.New(table, nil, nil, nil)
		o.API = func(r chi.Router) {
			r.Get("/public", func(rw http.ResponseWriter, r *http.Request) {
				err := envelope.Entry(r.Context(), ubl.Enter{}, func(in ubl.Enter) error {
					if in.NoFounding && !exists {
						return ubl.ErrUnfounded()
					}
					return nil
				})
				if err != nil {
					envelope.WriteError(rw, r, err)
				}
			})
		}
	})
	ask := func(from string) *httptest.ResponseRecorder {
		r, rec := httptest.NewRequest("GET", "/api/public", nil), httptest.NewRecorder()
		r.RemoteAddr = from
		w.Handler().ServeHTTP(rec, r)
		return rec
	}
	for _, c := range []struct {
		from string
		want int
	}{
		{"203.0.113.7:1", 200}, {"203.0.113.7:2", 200}, {"203.0.113.7:3", 429}, {"203.0.113.8:1", 200},
		{"127.0.0.1:1", 200}, {"127.0.0.1:1", 200}, {"127.0.0.1:1", 200}, {"[::1]:1", 200},
	} {
		rec := ask(c.from)
		if rec.Code != c.want || (c.want == 429) != (rec.Header().Get("Retry-After") != "") {
			t.Errorf("from %s: %d %s, want %d", c.from, rec.Code, rec.Body, c.want)
		}
	}
	if exists = true; ask("203.0.113.7:4").Code != 200 {
		t.Error("a tenant that exists is closed to an address that has founded its share")
	}
}
