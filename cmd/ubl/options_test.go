package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"ubl/transport/mcp"
	"ubl/transport/oauth"
)

// TestOptionsAnswersEveryone: every path says to anyone which methods it takes. Pages of others are
// refused where a token counts, and welcome where none does.
func TestOptionsAnswersEveryone(t *testing.T) {
	g := newGate(t)
	methods := map[string][]string{}
	err := chi.Walk(g.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		methods[route] = append(methods[route], method)
		return nil
	})
	if err != nil || len(methods) < 60 {
		t.Fatalf("there are %d routes, %v", len(methods), err)
	}
	toAnyPage := append(append(oauth.Paths(), mcp.CardPaths...), mcp.MetadataPath, mcp.MetadataPath+"/*")
	toAnyPage = slices.DeleteFunc(toAnyPage, func(path string) bool {
		return strings.HasPrefix(path, "/oauth/authorize") || strings.HasPrefix(path, "/oauth/consent")
	})
	for route, all := range methods {
		if strings.HasSuffix(route, "*") && slices.Contains(signIn, strings.TrimSuffix(route, "*")) {
			continue // package auth sorts what is below
		}
		path := strings.NewReplacer("{roomId}", "r:general", "*", "messenger").Replace(route)
		w := g.options(path, "")
		allowed := strings.Split(w.Header().Get("Allow"), ", ")
		if w.Code != http.StatusNoContent || !slices.Contains(allowed, http.MethodOptions) || len(allowed) < 2 {
			t.Errorf("OPTIONS %s is answered %d %s, and allows %v", path, w.Code, w.Body, allowed)
		}
		for _, method := range all {
			if len(all) < 5 && method != http.MethodHead && !slices.Contains(allowed, method) { // else it is mounted for all methods, and sorts them itself
				t.Errorf("OPTIONS %s allows %v, want %s too", path, allowed, method)
			}
		}
		w = g.options(path, "https://page.example")
		want := http.StatusForbidden
		if slices.Contains(toAnyPage, route) {
			want = http.StatusNoContent
		}
		if anyPage := w.Header().Get("Access-Control-Allow-Origin") == "*"; w.Code != want || anyPage != (want == http.StatusNoContent) {
			t.Errorf("a page of others that asks for %s is answered %d, want %d; any page may: %t", path, w.Code, want, anyPage)
		}
	}
	for _, path := range []string{"/auth/ways", "/auth/signout", "/signin/key"} {
		if w := g.options(path, ""); w.Code != http.StatusNoContent || !strings.Contains(w.Header().Get("Allow"), "OPTIONS") {
			t.Errorf("OPTIONS %s is answered %d %s, and allows %q", path, w.Code, w.Body, w.Header().Get("Allow"))
		}
	}
	for _, path := range []string{"/mcp", "/portal/mcp"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, path, nil)
		r.Header.Set("Authorization", "Bearer "+g.token)
		w := httptest.NewRecorder()
		g.handler.ServeHTTP(w, r)
		if got := w.Header().Get("Allow"); w.Code != http.StatusMethodNotAllowed || got != "DELETE, GET, OPTIONS, POST" {
			t.Errorf("PUT %s is answered %d, and allows %q", path, w.Code, got)
		}
	}
}

// signIn begins the paths of pages for people who sign in.
var signIn = []string{"/auth/", "/signin/", "/invite/"}

// options asks what a path takes, as a program or for a page of an origin.
func (g *gate) options(path, origin string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodOptions, path, nil)
	if origin != "" {
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "GET")
	}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w
}
