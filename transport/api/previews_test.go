package api

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"ubl"
	"ubl/preview"
)

// onePreview knows one page, whatever a message links to.
type onePreview struct{}

func (onePreview) Of(_ context.Context, tenant ubl.TenantID, _ string) []*preview.Preview {
	return []*preview.Preview{{
		URL: "https://harbour.example/tides", Host: "harbour.example", Title: "Tides of " + string(tenant),
		Image: &preview.Image{Type: "image/png", Width: 360, Height: 200, Data: []byte("\x89PNG"), Hash: strings.Repeat("a", 64)},
	}}
}

// TestPreviews: who may read a message is told what its links are about, and gets pictures of
// none but these, as what they are.
func TestPreviews(t *testing.T) {
	s := newServer(t)
	at := places.Replace("/api/rooms/{roomId}/entries/{entryId}/previews")
	w := s.do("GET", at, "")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"url":"`+at+`/0/image"`) || !strings.Contains(w.Body.String(), "Tides of t:acme.com") {
		t.Errorf("the previews: %d %s", w.Code, w.Body)
	}
	w = s.do("GET", at+"/0/image", "")
	if h := w.Header(); w.Code != http.StatusOK || w.Body.String() != "\x89PNG" || h.Get("Content-Type") != "image/png" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("the picture: %d %v", w.Code, h)
	}
	tag := w.Header().Get("ETag")
	if again := s.do("GET", at+"/0/image", "", "If-None-Match", tag); tag == "" || again.Code != http.StatusNotModified {
		t.Errorf("asked again with the tag %q: %d", tag, again.Code)
	}
	for number, want := range map[string]int{"1": 404, "3": 400, "-1": 400, "x": 400} {
		if w := s.do("GET", at+"/"+number+"/image", ""); w.Code != want {
			t.Errorf("picture %s: %d, want %d", number, w.Code, want)
		}
	}
}
