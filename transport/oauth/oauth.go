package oauth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/envelope"
)

// The paths of the server.
const (
	authorizePath = "/oauth/authorize"
	consentPath   = "/oauth/consent"
	tokenPath     = "/oauth/token"
	registerPath  = "/oauth/register"
	revokePath    = "/oauth/revoke"
	// MetadataPath is where clients look for the others (RFC 8414). What follows is the path
	// of an MCP server, for older clients.
	MetadataPath = "/.well-known/oauth-authorization-server"
	openIDPath   = "/.well-known/openid-configuration"
)

// Paths are all that is mounted. None has a tool of its own: what a person does on the pages
// goes through the acts that they use.
func Paths() []string {
	return []string{authorizePath, consentPath, tokenPath, registerPath, revokePath, MetadataPath, MetadataPath + "/*", openIDPath, openIDPath + "/*"}
}

// AccessTTL is how long an access token holds. The agent is asked about at each use, so that
// this bounds how often it refreshes, and nothing else.
const AccessTTL = time.Hour

// Options are what a [Server] is made of. All but PublicURL, Now, Random and Log are needed.
type Options struct {
	// PublicURL is where the server is reached from outside, "" for wherever the request
	// went; Browsers is where people sign in, and is never "".
	PublicURL, Browsers string
	// Resource reports whether there is an MCP server at a path, and Scope is what clients
	// ask for there.
	Resource func(path string) bool
	Scope    string
	// PathOf is the path of an MCP server that chooses the same tools as a path and a query do.
	PathOf func(path, query string) string
	// Keys are those for a purpose, newest first, 32 bytes each: the first stamps, all are
	// accepted. All nodes have the same. They may change while the Server runs.
	Keys func(purpose string) [][]byte
	// Asker reaches the tenants, as [envelope.Entering] does for a caller.
	Asker ubl.Asker
	// Use does an act for the caller in ctx, by its tool's name.
	Use func(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error)
	// Sets are the tool sets that a person may choose for the MCP server at a path.
	Sets func(ctx context.Context, path string) ([]Set, error)
	// NewAgent draws the client id of a service for a tenant.
	NewAgent func(tenant ubl.TenantID) (clientID string, err error)
	// TenantOf is the tenant in such an id, "" for none.
	TenantOf func(clientID string) ubl.TenantID
	// Sign makes an access token, and Opened reads one that hasn't expired.
	Sign   func(Access) (string, error)
	Opened func(token string) (Access, bool)
	// Pages fetches clients' documents from other servers, and from public ones alone. It
	// bounds what they send, and follows no redirect.
	Pages *http.Client
	// Count counts what a stranger has this server remember or fetch, or refuses it.
	Count func(*http.Request) error
	// From is where who asks is, as those are told apart who share what there is little of.
	From func(*http.Request) string

	// Now is the clock, Random draws codes and tokens; nil for the machine's.
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger // nil for none
}

// Set is a set of tools as a person chooses it.
type Set struct {
	// Name is the set's, Says what it lets an agent do, in words that follow "It can".
	Name, Says string
	// Tools are as in [ubl.Mandate].
	Tools []string
	// Chosen says that it is chosen unless the person says otherwise.
	Chosen bool
}

// Access is what an access token says.
type Access struct {
	Issuer   string // this server, as the client knows it
	Resource string // the URL of the MCP server that it is for
	Agent    string // the client id of the service
	Client   string // the OAuth client
	Family   string // the hash of what its refresh tokens share
	UserID   ubl.UserID
	Expires  time.Time
}

// Server is the authorization server of one node. It is safe for concurrent use.
type Server struct {
	Options
	documents documents
}

// New makes a Server.
func New(o Options) (*Server, error) {
	if o.Browsers == "" || o.Resource == nil || o.PathOf == nil || o.Keys == nil || o.Asker == nil || o.Use == nil || o.Sets == nil || o.NewAgent == nil ||
		o.TenantOf == nil || o.Sign == nil || o.Opened == nil || o.Pages == nil || o.Count == nil || o.From == nil {
		return nil, errors.New("oauth: an option is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o}
	s.documents.init(s)
	return s, nil
}

// Open mounts what programs ask for: any page may make a browser do so, since no cookie
// counts there.
func (s *Server) Open(r chi.Router) {
	for path, h := range map[string]http.Handler{
		MetadataPath: only(http.MethodGet, s.metadata),
		// Not found is what tells clients that OpenID Connect isn't spoken here.
		openIDPath: only(http.MethodGet, nothing),
	} {
		r.Handle(path, h)
		r.Handle(path+"/*", h)
	}
	r.Handle(registerPath, only(http.MethodPost, s.register))
	r.Handle(tokenPath, only(http.MethodPost, s.token))
	r.Handle(revokePath, only(http.MethodPost, s.revoke))
}

func only(method string, h http.HandlerFunc) http.Handler { return envelope.Only(method, h) }

// Mount mounts the pages for people. authenticate lets through who has a session; whom it
// turns away are shown why.
func (s *Server) Mount(r chi.Router, authenticate func(http.Handler) http.Handler) {
	r.Get(authorizePath, s.authorize(authenticate))
	r.Post(consentPath, s.consent(authenticate))
}

func nothing(w http.ResponseWriter, r *http.Request) {
	envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing at this path"))
}

// issuer is the server as who asks knows it.
func (s *Server) issuer(r *http.Request) string { return envelope.Base(s.PublicURL, r) }
