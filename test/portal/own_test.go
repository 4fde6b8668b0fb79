package portal_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/portal/openapi"
	"ubl/transport/api"
)

// TestOwnDocument: our own OpenAPI document, of 3.1 and with everything that the API's generator
// writes, can be read: what is left out takes content that isn't JSON.
func TestOwnDocument(t *testing.T) {
	a := api.New(api.Options{Now: time.Now, Version: "test"})
	r, w := chi.NewRouter(), httptest.NewRecorder()
	r.Route("/api", func(r chi.Router) { a.Mount(r) })
	r.ServeHTTP(w, httptest.NewRequest("GET", "/api/openapi.json", nil))
	began := time.Now()
	ops, left, err := openapi.Read(w.Body.Bytes(), "Authorization")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes: %d operations, %d left out, in %v", w.Body.Len(), len(ops), left, time.Since(began))
	if len(ops) < 100 || 10*left > len(ops) {
		t.Errorf("%d operations are read and %d left out", len(ops), left)
	}
	for _, o := range ops {
		raw, err := json.Marshal(o.Input)
		if err != nil || len(raw) > ubl.MaxDefinition {
			t.Errorf("%s has an input of %d bytes: %v", o.Name, len(raw), err)
		}
	}
}
