package api

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl"
	"ubl/archive"
)

// TestExportOwn: the act comes before everything that is read, and what comes is a zip file whose
// manifest is of its schema.
func TestExportOwn(t *testing.T) {
	s := newServer(t)
	w := s.do("GET", "/api/me/export", "")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != ownType || !strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment") {
		t.Fatalf("answered %d %v", w.Code, w.Header())
	}
	if asked := s.takeAsked(); len(asked) < 2 || !strings.Contains(asked[0], "ExportOwn") {
		t.Errorf("asked %q", asked)
	}
	r, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Open("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	newContract(t, s).validate(t, archive.Format, manifest)
	if w := s.do("HEAD", "/api/me/export", ""); w.Body.Len() > 0 || w.Header().Get("Content-Type") != ownType || len(s.takeAsked()) > 0 {
		t.Errorf("HEAD answers %v %q", w.Header(), w.Body)
	}
}

// stalled is a client that takes nothing, until it is gone.
type stalled struct {
	*httptest.ResponseRecorder
	writes chan struct{}
	gone   chan struct{}
}

// Write implements [http.ResponseWriter].
func (s stalled) Write([]byte) (int, error) {
	s.writes <- struct{}{}
	<-s.gone
	return 0, errors.New("the client has gone")
}

// TestExportOwnOnce: while somebody's data is on its way they are refused another copy, with a time to
// come back. A client that goes ends it, in a way that looks like no whole file.
func TestExportOwnOnce(t *testing.T) {
	s := newServer(t)
	client := stalled{httptest.NewRecorder(), make(chan struct{}, 1), make(chan struct{})}
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		s.router.ServeHTTP(client, as(httptest.NewRequest("GET", "/api/me/export", nil), ana))
	}()
	<-client.writes
	w := s.do("GET", "/api/me/export", "")
	if codeIn(t, w) != ubl.CodeRateLimited || w.Header().Get("Retry-After") == "" {
		t.Errorf("a second one is answered %d %v", w.Code, w.Header())
	}
	if w := s.do("HEAD", "/api/me/export", ""); w.Code != http.StatusTooManyRequests {
		t.Errorf("HEAD meanwhile is answered %d", w.Code)
	}
	close(client.gone)
	if why := <-ended; why != http.ErrAbortHandler {
		t.Errorf("it ended with %v", why)
	}
	if w := s.do("GET", "/api/me/export", ""); w.Code != http.StatusOK {
		t.Errorf("another one is answered %d", w.Code)
	}
}
