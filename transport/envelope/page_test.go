package envelope_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"ubl/transport/envelope"
)

// A page is whole, has nothing inline, and shows what it is given as text.
func TestPage(t *testing.T) {
	page := envelope.NewPage(`Connect {{.}}?`, `<h1>Connect {{.}}?</h1>`)
	w := httptest.NewRecorder()
	envelope.WritePage(w, 404, page, "<script>alert(1)</script>")
	text := w.Body.String()
	for _, want := range []string{
		`<html lang="en">`, `<title>Connect &lt;script&gt;`, `<h1>Connect &lt;script&gt;`, `viewport-fit=cover`, `href="/ui/page.css"`, "<main>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	for _, against := range []string{`<script`, `<style`, ` style=`, ` on[a-z]+=`, `(src|href)="(https?:)?//`} {
		if found := regexp.MustCompile(against).FindString(text); found != "" {
			t.Errorf("the page has %q, which its policy forbids", found)
		}
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if w.Code != 404 {
		t.Errorf("answered %d, want 404", w.Code)
	}
}
