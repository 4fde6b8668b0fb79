package portal_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"ubl"
)

// tasksAlone serves what a handler does, and says of tools whose names begin with long that they can be
// called as tasks alone, and of those that begin with may that they can be tasks. In a stream it says so
// in several lines of one event's data.
func tasksAlone(h http.Handler) http.Handler {
	long, may := regexp.MustCompile(`("name":"long[a-z]*")`), regexp.MustCompile(`("name":"may[a-z]*")`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			h.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		next := ""
		if strings.HasPrefix(rec.Header().Get("Content-Type"), "text/event-stream") {
			next = "\ndata: "
		}
		body := long.ReplaceAll(rec.Body.Bytes(), []byte(`$1,`+next+`"execution":{"taskSupport":"required"}`))
		body = may.ReplaceAll(body, []byte(`$1,`+next+`"execution":{"taskSupport":"optional"}`))
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		_, _ = w.Write(bytes.Clone(body))
	})
}

// TestToolsThatAreTasksAlone: a tool that its server runs as a task alone isn't listed, since nobody could call it
// here; in both eras, in answers of JSON and in streams, and wherever in a list of several pages it is.
func TestToolsThatAreTasksAlone(t *testing.T) {
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t)
			s, h := e.server(t) // two tools a page
			for _, name := range []string{"echo", "longest", "longhaul", "maybe", "zoom"} {
				tool(s, name, echo)
			}
			w.add(ubl.Server{ServerID: "ev", URL: serve(t, tasksAlone(h))}, "")
			w.allow("ev.echo", "ev.longest", "ev.longhaul", "ev.maybe", "ev.zoom")
			w.sees(w.bob, "ev.echo", "ev.maybe", "ev.zoom")
			w.must("ev.maybe", `{"text":"a"}`)
			w.refused(ubl.CodeUnknownTool, "ev.longest", `{"text":"a"}`)
		})
	}
}
