package transport

import (
	"io"
	"net/http"
	"net/http/pprof"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/envelope"
)

// get routes GET and HEAD.
func get(r chi.Router, path string, h http.HandlerFunc) {
	r.Get(path, h)
	r.Head(path, h)
}

// toApp leads people who open the address in a browser to the app.
func toApp(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/ui/", http.StatusSeeOther)
}

// toIcon leads browsers to the app's icon. They ask for it at this path for every page
// that names none.
func toIcon(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/ui/icon-192.png", http.StatusFound)
}

type state struct {
	Status string `json:"status"`
	// Reason says what doesn't work where the status is degraded.
	Reason string `json:"reason,omitempty"`
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	envelope.Write(w, http.StatusOK, state{Status: "ok"})
}

// ready answers operators and rollouts; with ?traffic, balancers. Where the server
// serves some requests and not all, balancers get 200 and "degraded", others 503.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	all := s.notReady(s.opts.Ready)
	err := all
	if r.URL.Query().Has("traffic") && s.opts.Serves != nil {
		err = s.notReady(s.opts.Serves)
	}
	switch {
	case err != nil:
		envelope.WriteError(w, r, err)
	case all != nil:
		envelope.Write(w, http.StatusOK, state{"degraded", ubl.AsError(all).Message})
	default:
		envelope.Write(w, http.StatusOK, state{Status: "ready"})
	}
}

func (s *Server) notReady(check func() error) error {
	if s.stopping.Load() {
		return ubl.Errorf(ubl.CodeUnavailable, "the server is stopping")
	}
	if check == nil {
		return nil
	}
	return check()
}

// adminRoutes are for operators. The listener has no authentication of its
// own: whoever can reach it may read everything here.
func (s *Server) adminRoutes() http.Handler {
	r := chi.NewRouter()
	r.Use(s.outermost, noRebinding)
	r.NotFound(hide)
	r.MethodNotAllowed(methodNotAllowed(r))
	get(r, "/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "/metrics  /healthz  /readyz  /debug/pprof/\n")
	})
	get(r, "/healthz", s.health)
	get(r, "/readyz", s.ready)
	get(r, "/metrics", s.metrics.handler().ServeHTTP)
	get(r, "/debug/pprof/*", pprof.Index)
	get(r, "/debug/pprof/cmdline", pprof.Cmdline)
	get(r, "/debug/pprof/profile", pprof.Profile)
	get(r, "/debug/pprof/symbol", pprof.Symbol)
	get(r, "/debug/pprof/trace", pprof.Trace)
	return r
}
