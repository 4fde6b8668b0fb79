package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/actors/families"
	"ubl/limits"
	"ubl/mail"
	"ubl/panics"
	"ubl/resolver"
	"ubl/storage"
	"ubl/transport"
	"ubl/transport/api"
	"ubl/transport/auth"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
	"ubl/transport/oauth"
	"ubl/transport/public"
	"ubl/transport/sse"
	"ubl/transport/unsubscribe"
	"ubl/transport/web"
)

// front is the transports over a node.
type front struct {
	server *transport.Server
	auth   *auth.Authenticator
	agents *agents
	anyone *public.Handler
	// at is where browsers reach the server.
	at string
}

// front wires the transports. It opens no listener; at is where browsers reach
// the one that is open, and address where that listens.
func (c *serveCmd) front(p *program, n *node, at, address string, log *slog.Logger) (*front, error) {
	key, err := c.ownKey(p, log, n.held)
	if err != nil {
		return nil, err
	}
	issuers, err := c.issuers(p)
	if err != nil {
		return nil, err
	}
	key = c.startingKey(key, p.now())
	n.key.Store(key)
	f := &front{at: at}
	if f.agents, err = c.agents(p, n, at, log); err != nil {
		return nil, err
	}
	limiter, err := c.limiter(p, log)
	if err != nil {
		return nil, err
	}
	f.auth, err = auth.New(auth.Options{
		Key: key, Issuers: issuers, Operators: c.Operator, FirstOwner: c.firstOwner(p, address), Owner: c.Owner, Domains: c.domains(), PublicURL: at,
		Asker: n.asker, Feed: n.feed, Now: p.now, Logger: log, Panics: n.panics, Random: p.random,
		Count:     func(who ubl.Identity, rate ubl.Rate) error { return limiter.Of(who, netip.Addr{}).Act(rate) },
		PrintLink: func(email, path string) { c.printConfirmation(p, email, at+path) },
	})
	if err != nil {
		return nil, err
	}
	if err := c.serveOver(p, n, f, limiter, log); err != nil {
		f.auth.Close()
		return nil, err
	}
	return f, nil
}

// startingKey is the key to start with. In a cluster that is the one before, while
// it is accepted: others may not know the newest yet. See rotateKey.
func (c *serveCmd) startingKey(key *auth.Key, now time.Time) *auth.Key {
	if ids := key.AcceptedIDs(now); c.ClusterListen != "" && len(ids) > 1 {
		return key.Using(ids[1])
	}
	return key
}

// serveOver makes the server, with everything that it mounts.
func (c *serveCmd) serveOver(p *program, n *node, f *front, limiter *limits.Limiter, log *slog.Logger) (err error) {
	n.figures.watchLimits(limiter)
	hub := sse.New(sse.Options{Asker: n.asker, Feed: n.feed, Now: p.now, Logger: log, Panics: n.panics, Told: families.All.Told()})
	n.figures.watchStreams(hub)
	previews, err := c.previews(p, n, f, log)
	if err != nil {
		return err
	}
	rest := api.New(api.Options{
		Asker: envelope.Entering(n.asker), Now: p.now, Random: p.random, NewServiceToken: auth.NewServiceToken, Version: version(),
		NewInvitation: f.newInvitation,
		Domains:       c.domains(), DNS: resolver.New(c.DNSServer),
		Cluster: n.operators(), Office: f.agents.office, Portal: f.agents.portal, Uploads: n.uploads, Blobs: readBlobs{n}, Previews: previews, CallServers: p.calls, Beside: beside(), Offers: families.All.Offers(),
		Forms: families.All.Acts(),
	})
	acts := rest.Acts()
	f.agents.toolbox.put(acts)
	tools, err := c.mcpServer(p, n, f.agents, acts, limiter, log)
	if err != nil {
		return err
	}
	consent, err := c.oauthServer(p, n, f, limiter, log)
	if err != nil {
		return err
	}
	app, err := web.Handler(web.Options{Dir: c.WebDir})
	if err != nil {
		return err
	}
	f.anyone = public.New(public.Options{Asker: n.asker, Feed: n.feed, Host: c.PublicHost, Count: limiter.Public, Now: p.now, Panics: n.panics,
		Blobs: readBlobs{n}, Client: limiter.ClientOf, Version: version()})
	n.figures.watchPublic(f.anyone)
	f.server = transport.New(transport.Options{
		API:          underAPI(hub, rest),
		Agents:       forAgents(tools),
		Consent:      consent.Mount,
		Open:         beforeSignIn(n, tools, consent),
		Limits:       limiter,
		Anyone:       f.anyone,
		AnyoneAt:     f.anyone.At,
		Public:       api.Public,
		Uploading:    api.Uploading,
		Authenticate: f.auth.MiddlewareForAgents(c.PublicURL), AuthenticateBrowsers: f.auth.MiddlewareForBrowsers,
		SignIn:  f.auth.Browsers(),
		Web:     app,
		Schemas: rest.Schemas(),
		Ready:   n.ready,
		Serves:  n.serves,
		Backup: func(ctx context.Context, w io.Writer) error {
			return n.backup(ctx, w, string(envelope.CallerOf(ctx).Identity.UserID), &storage.BackupOptions{Signer: n.key.Load().Signer()})
		},
		EndStreams:   endStreams(hub, tools, n.panics),
		Panics:       n.panics,
		AllowOrigins: c.AllowOrigin, PublicURL: c.PublicURL,
		Collectors: n.figures.all,
		Log:        log, Now: p.now, Random: p.random,
	})
	return nil
}

// newInvitation draws an invitation with a link that leads here.
func (f *front) newInvitation(tenant ubl.TenantID, email string) (c ubl.CreateInvitation, link string, err error) {
	c, path, err := f.auth.NewInvitation(tenant, email)
	return c, f.at + path, err
}

// underAPI mounts the streams and the operations.
func underAPI(hub *sse.Hub, rest *api.API) func(chi.Router) {
	return func(r chi.Router) {
		for path, stream := range map[string]http.HandlerFunc{
			"/events": hub.Tenant, "/events/rooms/{roomId}": hub.Room, "/portal/logs/live": hub.Calls,
		} {
			r.Method(http.MethodGet, path, transport.Streams(stream))
		}
		rest.Mount(r)
	}
}

// beforeSignIn mounts what clients of MCP look for before they sign in, where they do that, and
// where mails end.
func beforeSignIn(n *node, tools *mcp.Server, consent *oauth.Server) func(chi.Router) {
	return func(r chi.Router) {
		if n.links != nil {
			r.Handle(mail.StopPath+"{token}", unsubscribe.New(unsubscribe.Options{Asker: n.asker, Read: n.links.Read, Random: n.random}))
		}
		r.Handle(mcp.MetadataPath, tools.Metadata())
		r.Handle(mcp.MetadataPath+"/*", tools.Metadata())
		for _, path := range mcp.CardPaths {
			r.Handle(path, tools.Cards())
		}
		consent.Open(r)
	}
}

// forAgents mounts MCP.
func forAgents(tools *mcp.Server) func(chi.Router, func(http.Handler) http.Handler) {
	return func(r chi.Router, authenticate func(http.Handler) http.Handler) {
		known := tools.Challenge(authenticate)
		for path, h := range map[string]http.Handler{"/mcp": tools.Handler(), "/portal/mcp": tools.PortalHandler()} {
			r.Handle(path, known(h))
			r.Handle(path+"/*", known(h)) // sets of tools
		}
	}
}

// endStreams ends live streams and MCP's channels side by side.
func endStreams(hub *sse.Hub, tools *mcp.Server, caught *panics.Catcher) func(context.Context) error {
	return func(ctx context.Context) error {
		channels := make(chan error, 1)
		caught.Go(nil, "ending channels", func() {
			channels <- caught.Try("ending channels", func() error { return tools.Shutdown(ctx) })
		})
		return errors.Join(hub.Shutdown(ctx), <-channels)
	}
}

// beside are tools that the API has no operation for, but other ways lead to:
// owners may close them like the rest.
func beside() []string {
	return append([]string{envelope.ToolStream, mcp.ToolReadFile, string(ubl.DidPlatformBackup)}, mcp.LongTail...)
}
