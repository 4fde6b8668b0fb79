package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ubl"
)

// TestDoctorComparesClocks with the server's: how far it may be off, and when that is said.
func TestDoctorComparesClocks(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration
		state string
	}{
		"right":     {0, isWell},
		"a bit off": {10 * time.Second, isOdd},
		"far ahead": {time.Hour, isBroken},
		"behind":    {-time.Hour, isBroken},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/api/openapi.json":
				fmt.Fprint(w, `{"info":{"version":"9.9"}}`)
			case "/api/whoami":
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, `{"server_time":%q}`, ubl.TimeOf(time.Now().Add(c.ahead)))
			default:
				fmt.Fprint(w, `{"status":"ok"}`)
			}
		}))
		_, out, _ := run(t, s.URL, "", "doctor", "--json", "--data", t.TempDir())
		s.Close()
		if !strings.Contains(out, `{"check":"clock","state":"`+c.state+`"`) {
			t.Errorf("%s: %s", name, out)
		}
		if !strings.Contains(out, `"state":"warn","found":"the server is 9.9, this is `) {
			t.Errorf("%s: no word of the version: %s", name, out)
		}
	}
}
