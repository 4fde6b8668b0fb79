package transport

import (
	"net/http/httptest"
	"testing"
)

// TestHSTS: browsers are told to use https alone where that is how the server is
// reached, on refusals too; nobody else is.
func TestHSTS(t *testing.T) {
	for url, want := range map[string]string{"https://ubl.example": "max-age=31536000", "http://ubl.example": "", "": ""} {
		s := New(Options{PublicURL: url})
		for _, path := range []string{"/healthz", "/nowhere"} {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if got := w.Header().Get("Strict-Transport-Security"); got != want {
				t.Errorf("%q answers %s with %q, want %q", url, path, got, want)
			}
		}
	}
}
