package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// back is a browser that a provider sent back: without a caller, but for the form that a
// page of ours sends.
func (s *server) back(method, target, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(form))
	if !Public(r) {
		r = r.WithContext(envelope.WithCaller(r.Context(), &envelope.Caller{Identity: ana}))
	}
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return s.serve(r)
}

// TestCallback asks for consent before anything is kept, and says for whom. What
// providers add is passed over; what came along is in the page as text alone.
func TestCallback(t *testing.T) {
	s := newServer(t)
	w := s.back("GET", `/api/portal/callback?state=st%22%3E&code=c%3Cscript%3E&iss=https://id.example.com&scope=a+b&session_state=1`, "")
	page := w.Body.String()
	for _, want := range []string{"Connect weather?", "ana@acme.com", "unproven", "<b>acme.com</b>", "weather.example", "token.example", `name="state" value="st&#34;&gt;"`, `name="code" value="c&lt;script&gt;"`, `name="iss" value="https://id.example.com"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if asked := s.takeAsked(); w.Code != http.StatusOK || len(asked) != 1 || asked[0] != `Pending st">` {
		t.Errorf("answered %d after %q", w.Code, asked)
	}
	h := w.Header()
	if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
		h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "same-origin" || !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
		t.Errorf("headers: %v", h)
	}

	w = s.back("POST", "/api/portal/callback", "state=st&code=c&iss=i")
	if asked := s.takeAsked(); w.Code != http.StatusOK || len(asked) != 1 || asked[0] != `Callback by u:ana st c "i"` || strings.Contains(w.Body.String(), "st&") {
		t.Errorf("answered %d %s after %q", w.Code, w.Body, asked)
	}
}

// TestBadCallbacks reach nobody, and echo nothing.
func TestBadCallbacks(t *testing.T) {
	s := newServer(t)
	for query, code := range map[string]ubl.Code{
		"":                                ubl.CodeValidation,
		"state=s3cr3t":                    ubl.CodeValidation,
		"code=s3cr3t":                     ubl.CodeValidation,
		"state=a&state=b&code=s3cr3t":     ubl.CodeValidation,
		"state=a&code=s3cr3t&iss=a&iss=b": ubl.CodeValidation,
		"state=%zz":                       ubl.CodeValidation,
		"state=" + strings.Repeat("s3cr3t", 2000) + "&code=x": ubl.CodeValidation,
		"error=s3cr3t&error_description=s3cr3t&state=a":       ubl.CodeForbidden,
	} {
		s.expect(t, "GET "+query, s.back("GET", "/api/portal/callback?"+query, ""), code)
		s.expect(t, "POST "+query, s.back("POST", "/api/portal/callback", query), code)
	}
	s.expect(t, "a huge form", s.back("POST", "/api/portal/callback", strings.Repeat("s3cr3t", maxCallback)), ubl.CodeTooLarge)
	s.refuse = ubl.Errorf(ubl.CodeValidation, "this sign-in didn't begin here")
	for _, w := range []*httptest.ResponseRecorder{s.back("GET", "/api/portal/callback?state=a&code=b", ""), s.back("POST", "/api/portal/callback", "state=a&code=b")} {
		if codeIn(t, w) != ubl.CodeValidation {
			t.Errorf("answered %d %s", w.Code, w.Body)
		}
	}
	for request, want := range map[string]bool{"GET /api/portal/callback": true, "POST /api/portal/callback": false, "GET /api/portal/callbacks": false, "GET /api/portal/servers": false} {
		method, path, _ := strings.Cut(request, " ")
		if Public(httptest.NewRequest(method, path, nil)) != want {
			t.Errorf("%s is public: %v", request, !want)
		}
	}
}
