package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/panics"
	"ubl/transport/envelope"
	"ubl/transport/mcp/script"
)

// Options are what a [Server] is made of. Acts, Asker, Feed and SessionKeys are
// required.
type Options struct {
	// Acts are our own tools.
	Acts []envelope.Act
	// Visible says which of our own tools the caller in ctx is shown; nil for all.
	// It doesn't guard them: that is their business.
	Visible func(ctx context.Context) (func(tool string) bool, error)
	// Permits says which acts the tenant's own terms permit to the caller in ctx, who is
	// no owner of it; nil for none. It is for what is shown, and guards nothing.
	Permits func(ctx context.Context) (func(tool string) bool, error)
	// Scripts runs programs for tool.run; nil for no such tool.
	Scripts *script.Runner
	// Portal has the tools of other servers; nil for none.
	Portal Portal
	// Calls are those to the portal that may outlive their requests; nil for none.
	Calls Calls
	// View is the page by which clients show answers, by its name ("room", "receipt"), "" where
	// there is none; nil for no pages.
	View func(name string) string

	// Asker asks actors for the caller in ctx, as [envelope.Entering] does.
	Asker ubl.Asker
	Feed  ubl.Feed

	// Blobs has the contents of files; nil where resources tell of them alone.
	Blobs Blobs

	// SessionKeys seal session ids: the first new ones, and all are accepted. All
	// nodes have the same; 32 bytes each. They may change while the Server runs.
	SessionKeys func() [][]byte
	// Foreign says of a request from a web page whether it must be refused. Nil
	// refuses every request that says it comes from a page.
	Foreign func(*http.Request) bool
	// PublicURL is where the server is reached from outside, "" for wherever the
	// request went. Issuers are the identity providers whose tokens it takes.
	PublicURL string
	Issuers   []string
	// Authorizes says that this server gives tokens to agents by itself (package oauth).
	Authorizes bool

	// Version is the program's, Instructions tell models what the server is for.
	Version, Instructions string
	// Extra adds to what the SDK's server serves, beside our own; nil for nothing.
	// Tests of the protocol need tools that no user would want.
	Extra func(*sdk.Server)

	Log *slog.Logger // nil: nothing is logged
	// Panics catches what panics over one request of the SDK's.
	Panics *panics.Catcher
	// Now is the clock, Random draws session ids and the numbers of marks; nil for the machine's.
	Now    func() time.Time
	Random io.Reader
	Limits Limits
}

// Limits bound a Server; a zero field takes its default.
type Limits struct {
	Body           int64         // of a request, in bytes; 8 MiB
	Channels       int           // and calls of messenger.stream_room, at a time; 20,000, then 503
	PerUser        int           // of one user; 2,000, then 429. As many of their sessions are remembered
	Sessions       int           // whose subscriptions or end a node remembers; 20,000
	Subscriptions  int           // of one session or channel; 1,000
	UserInterests  int           // subscriptions of one user; 10,000, then 429
	Interests      int           // subscriptions of all; 200,000, then 503
	Keepalive      time.Duration // silence on a channel or in an answer of events before a comment; 15 s
	Pace           time.Duration // least time between two notices on a channel; 250 ms
	TaskAfter      time.Duration // how long a client that knows tasks waits for a call before it is one; 5 s
	Recheck        time.Duration // how long a caller's right to a resource is believed; 10 s
	WriteTimeout   time.Duration // of one write; 10 s
	ShutdownSpread time.Duration // over which channels end; 3 s
}

func (l Limits) withDefaults() Limits {
	def(&l.Body, 8<<20)
	def(&l.Channels, 20_000)
	def(&l.PerUser, 2_000)
	def(&l.Sessions, 20_000)
	def(&l.Subscriptions, 1_000)
	def(&l.UserInterests, 10_000)
	def(&l.Interests, 200_000)
	def(&l.Keepalive, envelope.Silence)
	def(&l.Pace, 250*time.Millisecond)
	def(&l.TaskAfter, 5*time.Second)
	def(&l.Recheck, 10*time.Second)
	def(&l.WriteTimeout, 10*time.Second)
	def(&l.ShutdownSpread, 3*time.Second)
	return l
}

func def[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Portal is the way to the tools of other servers. Safe for concurrent use.
type Portal interface {
	// Tools lists those that the caller may use, by name.
	Tools(ctx context.Context, who ubl.Identity) ([]*ubl.PortalTool, error)
	// Servers lists the ids of the tenant's servers, sorted.
	Servers(ctx context.Context, who ubl.Identity) ([]string, error)
	// Call calls one and puts the call on record. progress is told as it is told;
	// nil where nobody wants to see it, so that the other server needn't tell. Errors are [ubl.Error]; what the tool itself says is wrong is a result.
	Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, progress func(Progress)) (*Result, error)
	// Resources lists what the server of a tool that stands for resources lists now, for
	// callers who may use the tool.
	Resources(ctx context.Context, who ubl.Identity, tool string) ([]ubl.OfferedResource, error)
	// Complete asks what an argument of another server's prompt or template may be: at most
	// 100 values, and whether there are more.
	Complete(ctx context.Context, who ubl.Identity, what ubl.Completing) (values []string, more bool, err error)
	// Log adds a call of one of our own tools to the portal's log.
	Log(tenant ubl.TenantID, call *ubl.Call)
	// Watch calls changed when the tenant's tools may have changed, until it is
	// cancelled. changed must not block.
	Watch(tenant ubl.TenantID, changed func()) (cancel func())
}

// Progress is how far a call is. Progress rises; Total is 0 where it isn't known.
type Progress struct {
	Progress, Total float64
	Message         string
}

// Result is what a tool answered.
type Result struct {
	// Content is an array of content items; nil for Structured as text.
	Content json.RawMessage
	// Structured is nil for none.
	Structured json.RawMessage
	// IsError says that another server's tool failed.
	IsError bool
	// Receipt is that of a call to another server, nil for an act of our own.
	Receipt *ubl.Receipt
	// Foreign is the server whose words stand in it, "" for none.
	Foreign string
	// Salt is what the act's commitments were made with, where nothing else keeps it; zero for none.
	Salt ubl.Salt

	later *later // in place of all that: the call goes on
	task  string // that it belongs to, "" for none
}

// Server is the MCP server of one node. It is safe for concurrent use.
type Server struct {
	opts     Options
	limits   Limits
	sessions sessions
	tools    *catalog
	sdk      http.Handler
	hub      *hub
	flights  flights
	forms    forms
	offers   offers
	indexes  indexes
	// info is serverInfo as the results of 2026-07-28 carry it.
	info json.RawMessage
	// slow leaves tools/call to the SDK, so that tests can compare.
	slow bool
}

// New makes a Server. It starts nothing until someone listens. An act that
// can't be a tool is an error.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	s := &Server{opts: o, limits: o.Limits.withDefaults(), sessions: sessions{o.SessionKeys}}
	s.hub = newHub(s)
	var err error
	if s.tools, err = newCatalog(slices.Concat(s.ownActs(), s.readActs(), s.tail(), o.Acts)); err != nil {
		return nil, err
	}
	impl := &sdk.Implementation{Name: "ubl", Title: "UBL", Version: o.Version}
	if s.info, err = json.Marshal(impl); err != nil {
		return nil, err
	}
	s.sdk = s.newSDK(impl)
	return s, nil
}

// Handler serves /mcp and what is below it: our own tools. It wants an authenticated caller
// in the request's context.
func (s *Server) Handler() http.Handler { return s.at(false) }

// PortalHandler serves /portal/mcp and what is below it: our own tools and those of other
// servers. Every call through it is in the portal's log.
func (s *Server) PortalHandler() http.Handler { return s.at(true) }

func (s *Server) at(portal bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, portal) })
}

// Channels counts the open channels, and who listens by messenger.stream_room.
func (s *Server) Channels() int { return s.hub.count() }

// Shutdown ends the channels cleanly, spread over a moment, and calls of
// messenger.stream_room, and refuses new ones. Other requests under way are the
// HTTP server's to wait for. It returns when all have ended, or with ctx's error.
func (s *Server) Shutdown(ctx context.Context) error { return s.hub.shutdown(ctx) }
