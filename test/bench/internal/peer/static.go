package peer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// StaticPath is where the bare server has its answer.
const StaticPath = "/document.json"

// RunStatic serves one JSON document of a length in bytes, which never changes, until ctx is
// done: net/http and a slice, without a log, limits, metrics or anything that could change.
func RunStatic(ctx context.Context, out io.Writer, length int) error {
	body := fmt.Appendf(nil, `{"content":"%s"}`, strings.Repeat("x", max(0, length-len(`{"content":""}`))))
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StaticPath, func(w http.ResponseWriter, _ *http.Request) {
		head := w.Header()
		head["Content-Type"] = []string{"application/json"}
		head["Cache-Control"] = []string{"public, max-age=30, stale-while-revalidate=30"}
		head["Etag"] = []string{`"1"`}
		_, _ = w.Write(body)
	})
	return serve(ctx, out, mux)
}
