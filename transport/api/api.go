// Package api serves REST: chi routes a request, huma describes and validates
// it, an actor answers it. Each operation is a tool as well, for the MCP server
// and for models (see [API.Acts]): the same handler, with path, query and body as
// one object.
//
// The data: none of its own. Rooms, documents, Agreements and the ledger belong
// to their actors; this package turns a request into one command (few need two),
// asks, and writes the answer. What has to wait for somebody else goes through
// [Office] and [Portal]. The shapes of answers are the JSON Schemas of package
// schemas, which the OpenAPI document quotes.
//
// The way of one request: the parent package has put the request id and the
// caller into the context; [API] checks what all operations share (a caller,
// the query, the idempotency key, the kind and size of the body), decodes
// strictly, asks, and writes the answer with request_id and server_time. The
// first question takes the caller's way into their tenant along, and the name of
// the tool: the tenant refuses who may not use it, over HTTP as everywhere.
// The guard refuses a sensitive operation (see asks) to a session that isn't fresh;
// where that depends on arguments, the handler does. Sending a message and reading
// history do all this by hand, being most of all traffic; everything else goes
// through huma.
//
// What fails: anything not as described is refused with 400, 413 or 415 before
// an actor is asked; what an actor refuses keeps its code. Every error is in
// the envelope and echoes nothing that was sent. An export that fails half-way
// cannot change its status any more and cuts the connection instead.
package api

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/archive"
	"ubl/media"
	"ubl/offer"
	"ubl/schemas"
	"ubl/transport/envelope"
)

// Options is what an [API] needs. All but Beside, Offers and Version must be set.
type Options struct {
	// Asker reaches the actors.
	Asker ubl.Asker
	// Now is the clock, for the deadlines of long answers.
	Now func() time.Time
	// Random draws service tokens.
	Random io.Reader
	// NewServiceToken draws a credential for a tenant. Only the hash is kept.
	NewServiceToken func(tenant ubl.TenantID, random io.Reader) (clientID, secret, secretHash string, err error)
	// NewInvitation draws an invitation of an address into a tenant, and its link:
	// who asks, the role and the time to live are still to be added. Only the hash of
	// the link's secret is in the command.
	NewInvitation func(tenant ubl.TenantID, email string) (c ubl.CreateInvitation, link string, err error)
	// Domains are those that the operator gave to tenants; DNS is asked about others.
	Domains map[string]ubl.TenantID
	DNS     Resolver
	// Cluster tells of the nodes, and removes them.
	Cluster Cluster
	// Office asks models and uses tools, Portal reaches external servers of tools.
	Office Office
	Portal Portal
	// Uploads take the contents of files in, Blobs have them.
	Uploads Uploads
	Blobs   Blobs
	// CallServers are those by which browsers in a call reach each other.
	CallServers CallServers
	// Previews says what the pages are about that messages link to; nil for none.
	Previews Previews
	// Beside are tools of the server's own that are no operation here. Owners see
	// them among the others; nil for none.
	Beside []string
	// Offers are the operations that families of actors bring along.
	Offers []offer.Operation
	// Forms are those of the acts that families bring along: the published schemas have them.
	Forms []offer.Act
	// Version is the program's, for the OpenAPI document.
	Version string
}

// API is the REST interface. It keeps no state between requests and is safe
// for concurrent use once mounted.
type API struct {
	Options
	router chi.Router
	huma   huma.API
	table  []route
	// thumbnails are those of images in rooms.
	thumbnails *media.Thumbnails
	// archives write what people take home.
	archives *archive.Archives
	// schemas are the published ones.
	schemas *schemas.Set
	spec    func() []byte // the OpenAPI document, made when it is first asked for
}

// New makes an API; [API.Mount] gives it a place.
func New(o Options) *API {
	a := &API{Options: o, schemas: schemas.With(o.Forms...), thumbnails: media.NewThumbnails()}
	a.archives = archive.New(archive.Options{Asker: o.Asker, Blobs: o.Blobs, Now: o.Now, Version: o.Version})
	a.huma = newHuma(a)
	a.routes()
	for _, op := range o.Offers {
		a.offer(op)
	}
	a.describeStreams()
	a.describeCallback()
	a.describeBackup()
	a.describePublic()
	a.spec = sync.OnceValue(a.document)
	return a
}

// Mount adds all operations to r, which the caller has put at /api, and
// answers what r does not know with 404 and 405 in the envelope. The caller
// puts its middleware in front: requests come with envelope.WithRequest and,
// unless [Public], envelope.WithCaller. It is called once.
func (a *API) Mount(r chi.Router) {
	a.router = r
	for _, t := range a.table {
		t.mount(r)
	}
	r.Get(callbackPath, a.showConsent)
	r.Post(callbackPath, a.connect)
	a.mountDocs()
	r.NotFound(func(w http.ResponseWriter, req *http.Request) {
		secure(w.Header())
		envelope.WriteError(w, req, ubl.Errorf(ubl.CodeNotFound, "there is nothing here"))
	})
	r.MethodNotAllowed(a.methodNotAllowed)
}

// Public reports whether a request of a path under /api is open to everyone. What a
// provider sends somebody back with is; their consent isn't.
func Public(r *http.Request) bool {
	path := r.URL.Path
	return path == "/api/openapi.json" || path == "/api/docs" || strings.HasPrefix(path, "/api/docs/") || path == "/api"+callbackPath && r.Method != http.MethodPost
}

// methodNotAllowed answers 405, or OPTIONS, and says which methods there are, which chi
// tells only its own handler.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if rc := chi.RouteContext(r.Context()); rc != nil && rc.RoutePath != "" {
		path = rc.RoutePath
	}
	secure(w.Header())
	envelope.RefuseMethod(w, r, func(method string) bool { return a.router.Match(chi.NewRouteContext(), method, path) })
}

// secure sets the headers that every answer has: answers are private, fresh
// and what their type says.
func secure(h http.Header) {
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
}

// Shared by all answers, so that each costs no allocation; never changed.
var (
	noStore  = []string{"no-store"}
	noSniff  = []string{"nosniff"}
	jsonType = []string{"application/json"}
)
