package public

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// TestKnowledgeIsAsDescribed holds what the commons answers against the description that it serves.
func TestKnowledgeIsAsDescribed(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: "https://docs.example.com" + handbook + "/api/v1"}}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := New(Options{Asker: house, Feed: house})
		defer h.Close()
		seen := map[string]bool{}
		for path, status := range map[string]int{
			"/entries": 200, "/entries?contentType=pattern&limit=100&offset=0": 200, "/entries/pattern/cell%20governance": 200, "/search?q=small&tags=a&tags=b": 200,
			"/overview": 200, "/entries/pattern/none": 404,
		} {
			r := httptest.NewRequest("GET", "https://docs.example.com"+handbook+"/api/v1"+path, nil)
			route, params, err := router.FindRoute(r)
			if err != nil {
				t.Errorf("%s is not described: %v", path, err)
				continue
			}
			seen[route.Path] = true
			in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
			if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
				t.Errorf("%s is no request: %v", path, err)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.Code, Header: w.Header()}
			if err := openapi3filter.ValidateResponse(t.Context(), out.SetBodyBytes(w.Body.Bytes())); err != nil || w.Code != status {
				t.Errorf("%s is answered %d, %v", path, w.Code, err)
			}
		}
		if len(seen) != doc.Paths.Len() {
			t.Errorf("of %d paths %v were asked", doc.Paths.Len(), seen)
		}
		for _, path := range []string{"/entries?limit=101", "/entries?offset=-1", "/entries?contentType=A", "/search", "/search?q=a&limit=21"} {
			r := httptest.NewRequest("GET", "https://docs.example.com"+handbook+"/api/v1"+path, nil)
			route, params, err := router.FindRoute(r)
			if err != nil {
				t.Fatal(err)
			}
			if openapi3filter.ValidateRequest(t.Context(), &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}) == nil {
				t.Errorf("%s is a request by the description", path)
			}
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusBadRequest {
				t.Errorf("%s is answered %d", path, w.Code)
			}
		}
	})
}
