package web

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

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
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; " +
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
	find func(name string) *envelope.Document
}

func (a app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := a.choose(strings.TrimPrefix(r.URL.Path, prefix))
	if f == nil {
		envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing here"))
		return
	}
	secure(w.Header())
	f.ServeHTTP(w, r)
}

// choose is the file with a name, or index.html for a path of the app.
func (a app) choose(name string) *envelope.Document {
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
