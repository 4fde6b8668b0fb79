package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"ubl/limits"
	"ubl/panics"
	"ubl/transport/envelope"
)

// MaxBody is the largest request body in bytes: a document as JSON. Most
// operations take less, which is for them to say.
const MaxBody = 8 << 20

// Limits of every connection.
const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 30 * time.Second
	writeTimeout   = time.Minute
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// Options is what a [Server] serves.
type Options struct {
	// API mounts what is under /api. Its requests have a caller, except where
	// Public says that anyone may ask for the path.
	API    func(chi.Router)
	Public func(r *http.Request) bool
	// Uploading says which requests bring bytes of files, of any length; nil for none.
	Uploading func(r *http.Request) bool
	// Authenticate lets callers through to next, in its context; for /api
	// AuthenticateBrowsers does, which takes cookies as well. nil is as Authenticate.
	Authenticate, AuthenticateBrowsers func(next http.Handler) http.Handler
	// Agents mounts what speaks MCP, which authenticates by itself with the function
	// it is handed, beside metadata that anyone may read; nil for nothing.
	Agents func(r chi.Router, authenticate func(http.Handler) http.Handler)
	// Consent mounts the pages on which people let agents in, which authenticate by themselves
	// with the function that is handed to it: as /api does, cookies included. nil for nothing.
	Consent func(r chi.Router, authenticate func(http.Handler) http.Handler)
	// Open mounts what any page may have a browser ask for, without a cookie: metadata, and
	// what agents' programs ask before they sign in. nil for nothing.
	Open func(chi.Router)
	// Web serves the app under /ui/, where / leads to, and its icon for every page; nil
	// for none.
	Web http.Handler
	// Schemas serves /schemas/; nil for none.
	Schemas http.Handler
	// SignIn serves what browsers sign in and out with, and has no caller: /auth/,
	// links of /signin/ and invitations of /invite/; nil for none.
	SignIn http.Handler
	// Anyone serves what needs no identity, under /public/, and at any path of requests that
	// AnyoneAt says are for it alone; nil for none. It limits who asks by itself.
	Anyone   http.Handler
	AnyoneAt func(*http.Request) bool
	// Ready says why not every request can be served now; nil means that all can.
	Ready func() error
	// Serves says why none should come here; a balancer asks it. nil is as Ready.
	Serves func() error
	// Backup writes a copy of everything for an owner of tenant 0, at
	// POST /api/platform/backup; nil for none.
	Backup func(context.Context, io.Writer) error
	// EndStreams ends live streams, spread over a moment, when the server stops;
	// nil where there are none.
	EndStreams func(context.Context) error

	// AllowOrigins are web origins whose pages may use the server.
	AllowOrigins []string
	// PublicURL is where the server is reached from outside; its origin is
	// allowed as well. Where it is https, browsers are told to use nothing else.
	PublicURL string

	// Limits bounds what addresses, identities and tenants may do; nil for nothing.
	Limits *limits.Limiter

	// Collectors are figures of the parts behind the server.
	Collectors []prometheus.Collector
	// Log takes the access log and everything else; nil for none.
	Log *slog.Logger
	// Panics counts handlers that panicked; nil logs them to Log alone.
	Panics *panics.Catcher
	// Now is the clock, Random draws request ids; nil for the machine's.
	Now    func() time.Time
	Random io.Reader
}

// Server answers HTTP. It is safe for concurrent use.
type Server struct {
	opts      Options
	metrics   *metrics
	main      *http.Server
	admin     *http.Server
	stopping  atomic.Bool
	backingUp sync.Mutex
	secure    bool // the public URL is https
}

// New makes a server; Serve opens it.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Panics == nil {
		o.Panics = panics.New(o.Log)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	s := &Server{opts: o, metrics: newMetrics(o.Collectors), secure: strings.HasPrefix(o.PublicURL, "https://")}
	s.main, s.admin = s.server(s.routes()), s.server(s.adminRoutes())
	s.main.ConnContext = withConn
	return s
}

func (s *Server) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
}

// Handler is the main listener's.
func (s *Server) Handler() http.Handler { return s.main.Handler }

// AdminHandler is the admin listener's.
func (s *Server) AdminHandler() http.Handler { return s.admin.Handler }

func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(hooks, s.outermost, s.anyone)
	among := chi.Chain(s.limitAddress, newOrigins(s.opts.AllowOrigins, s.opts.PublicURL).check)
	r.NotFound(among.Handler(s.strangers(http.HandlerFunc(hide))).ServeHTTP)
	r.MethodNotAllowed(among.Handler(s.strangers(methodNotAllowed(r))).ServeHTTP)
	r.Group(func(r chi.Router) {
		r.Use(among...)
		s.routesOf(r)
	})
	if s.opts.Open != nil {
		r.Group(func(r chi.Router) {
			r.Use(s.limitAddress, anyOrigin, s.strangers)
			s.opts.Open(r)
		})
	}
	return r
}

// anyonesPath begins the paths of what needs no identity.
const anyonesPath = "/public/"

// anyone leads to what needs no identity, before anything looks at origins and limits of
// strangers. Where the host name is for anyone alone, nothing else is under it. All of it is
// one route for those who count, and there are enough of these requests to go round the router.
func (s *Server) anyone(next http.Handler) http.Handler {
	if s.opts.Anyone == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, anyonesPath) && (s.opts.AnyoneAt == nil || !s.opts.AnyoneAt(r)) {
			next.ServeHTTP(w, r)
			return
		}
		rc := chi.RouteContext(r.Context())
		rc.RoutePatterns = append(rc.RoutePatterns, anyonesPath+"*")
		s.opts.Anyone.ServeHTTP(w, r)
	})
}

// routesOf routes all else, for people and programs of some tenant.
func (s *Server) routesOf(r chi.Router) {
	get(r, "/healthz", s.health)
	get(r, "/readyz", s.ready)
	r.Group(s.open)
	if s.opts.Agents != nil {
		r.Group(func(r chi.Router) { s.opts.Agents(r, s.known) })
	}
	if s.opts.Consent != nil {
		r.Group(func(r chi.Router) { s.opts.Consent(r, s.people) })
	}
	if s.opts.API != nil {
		r.Route("/api", func(r chi.Router) {
			r.Use(s.callers)
			if s.opts.Backup != nil {
				r.Post("/platform/backup", s.backup)
			}
			s.opts.API(r)
		})
	}
}

// open routes what nobody has to sign in for.
func (s *Server) open(r chi.Router) {
	r.Use(s.strangers)
	if s.opts.PublicURL == "" { // else a proxy is in front, and not every one says whom it passes on
		get(r, "/metrics", directOnly(noRebinding(s.metrics.handler())).ServeHTTP)
	}
	if s.opts.Web != nil {
		get(r, "/", toApp)
		get(r, "/ui", toApp)
		get(r, "/favicon.ico", toIcon)
		get(r, "/ui/*", s.opts.Web.ServeHTTP)
	}
	if s.opts.SignIn != nil {
		for _, path := range []string{"/auth/*", "/signin/*", "/invite/*"} {
			r.Handle(path, s.opts.SignIn)
		}
	}
	if s.opts.Schemas != nil {
		r.Handle("/schemas", s.opts.Schemas)
		r.Handle("/schemas/*", s.opts.Schemas)
	}
}

// known lets only callers through to next, and notes them for the access log.
func (s *Server) known(next http.Handler) http.Handler {
	return s.orAsked(s.opts.Authenticate(noteCaller(s.limitCaller(next))), next)
}

// people is known, where cookies count as well.
func (s *Server) people(next http.Handler) http.Handler {
	authenticate := s.opts.AuthenticateBrowsers
	if authenticate == nil {
		authenticate = s.opts.Authenticate
	}
	return s.orAsked(authenticate(noteCaller(s.limitCaller(next))), next)
}

// orAsked lets everyone ask next by OPTIONS which methods it takes: that is no secret. All else
// goes to known.
func (s *Server) orAsked(known, next http.Handler) http.Handler {
	open := s.strangers(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			open.ServeHTTP(w, r)
			return
		}
		known.ServeHTTP(w, r)
	})
}

// callers authenticates whoever has to be.
func (s *Server) callers(next http.Handler) http.Handler {
	known, open := s.people(next), s.strangers(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.opts.Public != nil && s.opts.Public(r) {
			open.ServeHTTP(w, r)
			return
		}
		known.ServeHTTP(w, r)
	})
}

// Serve answers on the listener until Shutdown.
func (s *Server) Serve(ln net.Listener) error { return serve(s.main, s.opts.Limits.Listen(ln)) }

// ServeAdmin answers operators on the listener until Shutdown.
func (s *Server) ServeAdmin(ln net.Listener) error { return serve(s.admin, ln) }

func serve(server *http.Server, ln net.Listener) error {
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("couldn't serve on %s: %w", ln.Addr(), err)
	}
	return nil
}

// Shutdown stops gracefully: it takes no new connections, ends streams while
// requests under way finish, and once ctx is done closes what is left. The
// admin listener stays until the end, so that the stopping can be watched.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	streams := make(chan error, 1)
	s.opts.Panics.Go(nil, "ending streams", func() {
		if s.opts.EndStreams == nil {
			streams <- nil
			return
		}
		streams <- s.opts.Panics.Try("ending streams", func() error { return s.opts.EndStreams(ctx) })
	})
	err := s.main.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("couldn't wait for all requests: %w", err), s.main.Close())
	}
	return errors.Join(<-streams, err, s.admin.Close())
}

// methodNotAllowed says which methods there are, which chi tells only its own handler.
func methodNotAllowed(of chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		path := cmp.Or(r.URL.RawPath, r.URL.Path)
		envelope.RefuseMethod(w, r, func(method string) bool { return of.Match(chi.NewRouteContext(), method, path) })
	}
}
