package commons

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/maypok86/otter/v2"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/panics"
)

const (
	// maxServers bounds the commons whose servers are kept.
	maxServers = 200
	// maxBody bounds a request, in bytes. A question and its filters fit many times.
	maxBody = 256 << 10
	// kept is how many milliseconds clients may keep lists and resources, as copies of REST.
	kept = 300_000
)

// Reader reads a commons by the paths and queries of its REST, as /search and q.
type Reader interface {
	Read(ctx context.Context, path string, query url.Values, into any) error
}

// Visit is one request to a commons.
type Visit struct {
	Container ubl.ContainerID
	Overview  *ubl.KnowledgeOverview
	Reader    Reader
	// Count counts each message behind the first, and may refuse it.
	Count func() error

	messages atomic.Int64
}

type visitKey struct{}

func visitOf(ctx context.Context) *Visit { return ctx.Value(visitKey{}).(*Visit) }

// Options are what a [Server] needs. All may be empty.
type Options struct {
	Version string // the program's
	Panics  *panics.Catcher
}

// Server serves all commons of a node. It is safe for concurrent use.
type Server struct {
	Options
	http    http.Handler
	servers *otter.Cache[commons, *sdk.Server]
}

// commons is all that one's server is made of.
type commons struct {
	container ubl.ContainerID
	name      string
}

// New makes a server.
func New(o Options) *Server {
	s := &Server{Options: o, servers: otter.Must(&otter.Options[commons, *sdk.Server]{
		MaximumSize: maxServers, Executor: func(fn func()) { fn() },
	})}
	s.http = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return s.of(visitOf(r.Context())) }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // anyone may ask from any page: nothing that a browser adds counts
	})
	return s
}

// Serve answers one request.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, v *Visit) {
	ctx := context.WithValue(r.Context(), visitKey{}, v)
	s.http.ServeHTTP(w, r.WithContext(ctx))
}

// of is the server of the commons that is visited.
func (s *Server) of(v *Visit) *sdk.Server {
	c := commons{v.Container, v.Overview.Name}
	if known, ok := s.servers.GetIfPresent(c); ok {
		return known
	}
	made := s.make(c)
	s.servers.Set(c, made)
	return made
}

func (s *Server) make(c commons) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "ubl-knowledge", Title: c.name, Version: s.Version}, &sdk.ServerOptions{
		Instructions: c.instructions(),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, to *sdk.Cacheable) { to.TTLMs, to.CacheScope = kept, "public" },
	})
	addTools(server, c)
	addResources(server, c)
	addPrompts(server, c)
	server.AddReceivingMiddleware(s.guard)
	return server
}

// guard counts what comes in a batch, and answers a panic: the goroutine is the SDK's, which would let
// it end the process.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		if v := visitOf(ctx); v.messages.Add(1) > 1 {
			if err := v.Count(); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: ubl.AsError(err).Message}
			}
		}
		failed := s.Panics.Try("a request to a commons", func() error {
			result, err = next(ctx, method, req)
			return nil
		})
		if failed != nil {
			return nil, failed
		}
		return result, err
	}
}

// uri names a resource of the commons. Its host is the container's id without its kind.
func (c commons) uri(path string) string {
	_, host, _ := strings.Cut(string(c.container), ":")
	return "mcp://" + host + "/" + path
}
