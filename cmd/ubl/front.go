package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport"
	"ubl/transport/api"
	"ubl/transport/auth"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

// front is the transports over a node.
type front struct {
	server *transport.Server
	auth   *auth.Authenticator
	key    *auth.Key
	// code is that of the owner's sign-in link.
	code string
}

// linkTTL is how long the owner's sign-in link holds.
const linkTTL = 10 * time.Minute

// front wires the transports. It opens no listener.
func (c *serveCmd) front(p *program, n *node, log *slog.Logger) (*front, error) {
	key, _, err := auth.LoadOrCreateKey(c.keyPath(), p.random)
	if err != nil {
		return nil, err
	}
	who, err := auth.New(auth.Options{
		Key: key, Issuers: c.issuers(), Operators: c.Operator,
		Asker: n.asker, Feed: n.feed, Now: p.now, Logger: log, Random: p.random,
	})
	if err != nil {
		return nil, err
	}
	link, code, err := who.NewLink(c.Owner, linkTTL, p.random)
	if err != nil {
		who.Close()
		return nil, err
	}
	hub := sse.New(sse.Options{Asker: n.asker, Feed: n.feed, Now: p.now, Logger: log})
	n.figures.watchStreams(hub)
	rest := api.New(api.Options{
		Asker: envelope.Entering(n.asker), Now: p.now, Random: p.random, NewServiceToken: auth.NewServiceToken, Version: version(),
		Cluster: n.operators(),
	})
	server := transport.New(transport.Options{
		Version: version(),
		API: func(r chi.Router) {
			r.Get("/events", hub.Tenant)
			r.Get("/events/rooms/{roomId}", hub.Room)
			rest.Mount(r)
		},
		Public:       api.Public,
		Authenticate: who.Middleware,
		SignIn:       link,
		Schemas:      api.Schemas(),
		Ready:        n.ready,
		Backup: func(ctx context.Context, w io.Writer) error {
			return n.backup(ctx, w, string(envelope.CallerOf(ctx).Identity.UserID), nil)
		},
		EndStreams:   hub.Shutdown,
		AllowOrigins: c.AllowOrigin, PublicURL: c.PublicURL,
		Collectors: n.figures.all,
		Log:        log, Now: p.now, Random: p.random,
	})
	return &front{server: server, auth: who, key: key, code: code}, nil
}

// ready says why requests can't be served now.
func (n *node) ready() error {
	if n.cluster != nil {
		return n.cluster.Ready()
	}
	var down []error
	for i, s := range n.store.Stats().Partitions {
		if s.Failed != nil {
			down = append(down, fmt.Errorf("partition %d: %w", i, s.Failed))
		}
	}
	if len(down) > 0 {
		return ubl.Errorf(ubl.CodeUnavailable, "%d partitions take no writes until the server is restarted", len(down)).Because(errors.Join(down...))
	}
	return nil
}
