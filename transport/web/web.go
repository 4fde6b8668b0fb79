package web

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

//go:embed all:dist
var dist embed.FS

// Options is where the app's files come from.
type Options struct {
	// Dir is read at each request instead of the embedded files; "" for those.
	Dir string
}

// prefix is the place of the app on the server.
const prefix = "/ui/"

// policy allows the app its own files and the server that it came from.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves GET and HEAD of everything under /ui/. It fails where Dir is no
// folder.
func Handler(o Options) (http.Handler, error) {
	if o.Dir == "" {
		files, err := load(dist)
		if err != nil {
			return nil, err
		}
		return app{files.find}, nil
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("couldn't open the app's folder: %w", err)
	}
	return app{inFolder(root)}, nil
}

// app answers with what find has for a name, such as "assets/index-1a2b.js"; nil
// for nothing.
type app struct {
	find func(name string) *file
}

func (a app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := a.choose(strings.TrimPrefix(r.URL.Path, prefix))
	if f == nil {
		envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing here"))
		return
	}
	secure(w.Header())
	f.serve(w, r)
}

// choose is the file with a name, or index.html for a path of the app.
func (a app) choose(name string) *file {
	if name != "" && !fs.ValidPath(strings.TrimSuffix(name, "/")) {
		return nil
	}
	if isRoute(name) {
		name = "index.html"
	}
	return a.find(name)
}

// isRoute tells a path of the app from the name of a file, which has an extension
// and lies at the top or below assets/. So may ids have one, further down.
func isRoute(name string) bool {
	top := !strings.Contains(name, "/")
	return !strings.HasPrefix(name, "assets/") && (!top || path.Ext(name) == "")
}

func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // over plain http the Referer proves a link to be ours
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// serve writes the file, compressed for those who take that. ServeContent answers
// for HEAD, and 304 for those who have it.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.keep)
	body, tag := f.body, f.tag
	if packed := f.packed(); packed != "" {
		h.Add("Vary", "Accept-Encoding")
		if envelope.TakesGzip(r.Header) {
			h.Set("Content-Encoding", "gzip")
			body, tag = packed, f.tag+"-gzip"
			r.Header.Del("Range") // of which bytes would be open to doubt
		}
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
}
