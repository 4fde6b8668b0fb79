package transport_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"ubl/limits"
	"ubl/transport"
)

// TestAddressCountsStrangers: people who have signed in don't use up their address's places,
// and get in when a stranger has; who fails to sign in is a stranger.
func TestAddressCountsStrangers(t *testing.T) {
	for name, strangers := range map[string]string{"in public": "/api/public", "without a credential": "/api/echo/1", "at the app": "/ui/", "at nothing": "/nowhere"} {
		synctest.Test(t, func(t *testing.T) {
			table, err := limits.Default().With(map[string]int64{"all": 0, "requests-ip": 1})
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(func(o *transport.Options) { o.Limits = limits.New(table, nil, nil, nil) })
			ask := func(path, token string) (code int, took time.Duration) {
				r, rec, began := httptest.NewRequest("GET", path, nil), httptest.NewRecorder(), time.Now()
				if token != "" {
					r.Header.Set("Authorization", token)
				}
				w.Handler().ServeHTTP(rec, r)
				return rec.Code, time.Since(began)
			}
			known := func() {
				t.Helper()
				for range 5 * limits.Burst {
					if code, took := ask("/api/echo/1", "Bearer x"); code != 200 || took != 0 {
						t.Fatalf("%s: who signed in was answered %d after %s", name, code, took)
					}
				}
			}
			known()
			for range limits.Burst {
				if code, took := ask(strangers, ""); code == 429 || took != 0 {
					t.Errorf("%s: a stranger was answered %d after %s", name, code, took)
				}
			}
			for _, path := range []string{strangers, "/ui/"} {
				if code, took := ask(path, ""); code != 429 && path != "/api/echo/1" || took != 500*time.Millisecond {
					t.Errorf("%s: at %s a stranger too many was answered %d after %s", name, path, code, took)
				}
			}
			known()
			if code, took := ask("/healthz", ""); code != 200 || took != 0 {
				t.Errorf("a probe was answered %d after %s", code, took)
			}
		})
	}
}

// TestRefusalsAreHeld: what a limit refuses is answered after a moment, whoever asked.
func TestRefusalsAreHeld(t *testing.T) {
	for name, token := range map[limits.Name]string{limits.RequestsIP: "", limits.RequestsIdentity: "Bearer x"} {
		synctest.Test(t, func(t *testing.T) {
			table, err := limits.Default().With(map[string]int64{"all": 0, string(name): 1})
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(func(o *transport.Options) { o.Limits = limits.New(table, nil, nil, nil) })
			for i := range limits.Burst + 1 {
				r, rec, began := httptest.NewRequest("GET", "/api/public", nil), httptest.NewRecorder(), time.Now()
				if token != "" {
					r = httptest.NewRequest("GET", "/api/echo/1", nil)
					r.Header.Set("Authorization", token)
				}
				w.Handler().ServeHTTP(rec, r)
				took := time.Since(began)
				if refused := i == limits.Burst; refused != (rec.Code == 429) || refused != (took == 500*time.Millisecond) || !refused && took != 0 {
					t.Errorf("%s: request %d was answered %d after %s", name, i+1, rec.Code, took)
				}
			}
		})
	}
}
