package unsubscribe_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/unsubscribe"
)

// stopped notes whose mails were ended.
type stopped struct {
	whose []ubl.Name
	err   error
}

func (s *stopped) Ask(_ context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if c, ok := cmd.(ubl.StopMail); ok && c.Who.IsPlatform() && s.err == nil {
		s.whose = append(s.whose, to)
	}
	return nil, s.err
}

func serve(asker ubl.Asker) http.Handler {
	r := chi.NewRouter()
	r.Handle("/unsubscribe/{token}", unsubscribe.New(unsubscribe.Options{Asker: asker, Random: rand.Reader, Read: func(token string) (ubl.Name, bool) {
		return "t:example.com|p:bob", token == "good.one"
	}}))
	return r
}

func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader("List-Unsubscribe=One-Click"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	h.ServeHTTP(w, r)
	return w
}

// TestALookChangesNothing: programs that follow links in mails end nobody's, a post does at once.
func TestALookChangesNothing(t *testing.T) {
	s := &stopped{}
	h := serve(s)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"} {
		ask(h, method, "/unsubscribe/good.one")
	}
	page := ask(h, "GET", "/unsubscribe/good.one?lang=de")
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "<form method=\"post\" lang=\"de\"") || page.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the page is %d %v %s", page.Code, page.Header(), page.Body)
	}
	if len(s.whose) > 0 {
		t.Fatalf("a look has ended mails of %v", s.whose)
	}
	done := ask(h, "POST", "/unsubscribe/good.one?lang=x%22%3E%3Cb%3E")
	if done.Code != http.StatusOK || strings.Contains(done.Body.String(), "<form") || strings.Contains(done.Body.String(), "<b>") {
		t.Errorf("a post is answered %d %s", done.Code, done.Body)
	}
	if len(s.whose) != 1 || s.whose[0] != "t:example.com|p:bob" {
		t.Errorf("a post has ended mails of %v", s.whose)
	}
}

// TestWrongLinks end nothing, and what fails can be tried again.
func TestWrongLinks(t *testing.T) {
	s := &stopped{}
	h := serve(s)
	for _, method := range []string{"GET", "POST"} {
		if got := ask(h, method, "/unsubscribe/bad.one"); got.Code != http.StatusNotFound || strings.Contains(got.Body.String(), "<form") {
			t.Errorf("%s of a wrong link is answered %d %s", method, got.Code, got.Body)
		}
	}
	s.err = ubl.Errorf(ubl.CodeUnavailable, "the node of the person is away")
	if got := ask(h, "POST", "/unsubscribe/good.one"); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "<form") {
		t.Errorf("a failure is answered %d %s", got.Code, got.Body)
	}
	if len(s.whose) > 0 {
		t.Errorf("mails of %v have ended", s.whose)
	}
}
