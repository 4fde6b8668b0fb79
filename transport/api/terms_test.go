package api

import (
	"net/http"
	"strings"
	"testing"
)

// TestBoundsOfTerms: the time that stands for no bound can't be given as one.
func TestBoundsOfTerms(t *testing.T) {
	for _, tt := range []struct {
		bound, at string
		want      int
	}{
		{"until", "2028-01-01T00:00:00.000Z", http.StatusOK},
		{"until", "1970-01-01T00:00:00.000Z", http.StatusBadRequest},
		{"from", "1970-01-01T00:00:00.000Z", http.StatusBadRequest},
		{"from", "1969-12-31T00:00:00.000Z", http.StatusBadRequest},
	} {
		w := newServer(t).do("PUT", "/api/agreements/a:room:r:general/proposal", `{"terms":{"permits":[{"did":"agreement.*","to":["owners"]}],"`+tt.bound+`":"`+tt.at+`"}}`)
		if w.Code != tt.want || tt.want != http.StatusOK && !strings.Contains(w.Body.String(), "body.terms."+tt.bound) {
			t.Errorf("%s %s is answered %d %s", tt.bound, tt.at, w.Code, w.Body)
		}
	}
}
