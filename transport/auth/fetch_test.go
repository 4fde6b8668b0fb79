package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestFetcher(t *testing.T) {
	hits := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		switch r.URL.Path {
		case "/good":
			_, _ = w.Write([]byte("page"))
		case "/large":
			_, _ = w.Write(make([]byte, maxPage+1))
		case "/astray":
			http.Redirect(w, r, "http://keys.example/jwks", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/good", http.StatusFound)
		default:
			http.Error(w, "secret detail", http.StatusInternalServerError)
		}
	}))
	defer srv.Close()
	c := &clock{now: time.Unix(1e9, 0)}
	f, client := newFetcher(nil, c.Now)
	defer client.CloseIdleConnections()

	for _, tt := range []struct {
		url string
		err string // part of the error, "" for none
	}{
		{srv.URL + "/good", ""},
		{srv.URL + "/moved", ""},
		{srv.URL + "/large", "too large"},
		{srv.URL + "/broken", "status 500"},
		{srv.URL + "/astray", "over https"},
		{"http://keys.example/jwks", "over https"},
		{"http://127.0.0.1.keys.example/jwks", "over https"},
		{"file:///etc/passwd", "over https"},
	} {
		for range 3 {
			res, err := client.Get(tt.url)
			if err == nil {
				res.Body.Close()
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", tt.url, err, tt.err)
			}
		}
	}
	if hits != 5 {
		t.Errorf("fetched %d pages, want each of the five once", hits)
	}
	if !f.failing() {
		t.Error("failures are not noticed")
	}
	c.pass(fetchEvery)
	if f.failing() {
		t.Error("old failures count for ever")
	}
	for i := range 100 {
		if res, err := client.Get(srv.URL + "/good?" + strings.Repeat("x", i)); err == nil {
			res.Body.Close()
		}
	}
	if len(f.pages) > maxPages {
		t.Errorf("holds %d pages", len(f.pages))
	}
}
