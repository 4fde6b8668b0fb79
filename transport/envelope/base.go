package envelope

import (
	"context"
	"net/http"
	"strings"
)

// Base is where the server is reached from outside, without a slash at the end: the public
// URL, or the host that the request asked where there is none.
func Base(publicURL string, r *http.Request) string {
	if publicURL != "" {
		return strings.TrimSuffix(publicURL, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

type refusalKey struct{}

// Refusing is a handler behind authentication that has [WriteError] answer by write whom it
// turns away, where a protocol or a page has a form of its own for that. What is let through to
// next is answered in the usual form.
func Refusing(authenticate func(http.Handler) http.Handler, next http.Handler, write func(http.ResponseWriter, *http.Request, error)) http.Handler {
	let := authenticate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), refusalKey{}, nil)))
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		let.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), refusalKey{}, write)))
	})
}
