package transport_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"ubl/limits"
	"ubl/transport"
)

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
