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

// WithRefusals has [WriteError] answer by write for what is in ctx, where a protocol has a
// form of its own for errors.
func WithRefusals(ctx context.Context, write func(http.ResponseWriter, *http.Request, error)) context.Context {
	return context.WithValue(ctx, refusalKey{}, write)
}
