package api

import (
	"embed"
	"net/http"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// docsFiles is the page that renders the OpenAPI document. It loads nothing
// from other hosts, so that it works without a network.
//
//go:embed docs/index.html docs/docs.js docs/docs.css
var docsFiles embed.FS

// docsPolicy lets the page use its own files and nothing else.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mountDocs serves the OpenAPI document and its page to everyone.
func (a *API) mountDocs() {
	a.serve("/openapi.json", envelope.NewDocument("application/json", envelope.KeepAsking, a.spec))
	for path, f := range map[string]struct{ file, kind string }{
		"/docs":          {"index.html", "text/html; charset=utf-8"},
		"/docs/docs.js":  {"docs.js", "text/javascript; charset=utf-8"},
		"/docs/docs.css": {"docs.css", "text/css; charset=utf-8"},
	} {
		a.serve(path, envelope.NewDocument(f.kind, envelope.KeepAsking, func() []byte {
			data, err := docsFiles.ReadFile("docs/" + f.file)
			if err != nil { // impossible: the embed directive names the file
				panic(err)
			}
			return data
		}))
	}
}

// serve routes bytes that never change.
func (a *API) serve(path string, doc *envelope.Document) {
	h := func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		secure(h)
		h.Set("Content-Security-Policy", docsPolicy)
		doc.ServeHTTP(w, r)
	}
	a.router.Get(path, h)
	a.router.Head(path, h)
}

// Schemas serves the published JSON Schemas to everyone: the list at /schemas/
// and each at /schemas/<$id> and /schemas/<$id>.json. The caller puts it at
// /schemas/.
func (a *API) Schemas() http.Handler {
	files := map[string]*envelope.Document{}
	for _, id := range a.schemas.List() {
		files[id] = envelope.NewDocument("application/schema+json", envelope.KeepAsking, func() []byte {
			data, _ := a.schemas.Read(id)
			return data
		})
	}
	return envelope.Only(http.MethodGet, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		name := r.URL.Path[len("/schemas"):]
		if name == "" || name == "/" {
			envelope.Write(w, http.StatusOK, a.schemaList())
			return
		}
		file, ok := files[strings.TrimSuffix(name[1:], ".json")]
		if !ok {
			envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is no such schema"))
			return
		}
		file.ServeHTTP(w, r)
	}))
}

type schemaEntry struct {
	ID  string `json:"$id"`
	URL string `json:"url"`
}

func (a *API) schemaList() any {
	var out struct {
		Schemas []schemaEntry `json:"schemas"`
	}
	for _, id := range a.schemas.List() {
		out.Schemas = append(out.Schemas, schemaEntry{id, "/schemas/" + id + ".json"})
	}
	return out
}
