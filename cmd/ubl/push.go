package main

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // quiet hours are by the clock of a person's zone, wherever the program runs

	"ubl"
	"ubl/portal"
	"ubl/push"
)

// reach says how a server finds push services.
type reach struct {
	// networks are the private ones that a tenant's may be in.
	networks func(ubl.TenantID) []netip.Prefix
	// contact is told to push services.
	contact string
}

// reach is as the flags say: the tenants that may have tool servers inside may have push services
// there, too.
func (c *serveCmd) reach(p *program) *reach {
	contact := c.Owner
	if strings.HasPrefix(c.PublicURL, "https://") {
		contact = c.PublicURL
	}
	return &reach{networks: c.networks(p), contact: cmp.Or(contact, "postmaster@localhost")}
}

// pusher reaches browsers for a node that serves; nil for any other.
func (n *node) pusher(r *reach) ubl.Pusher {
	if r == nil {
		return nil
	}
	keys := func() [][]byte {
		if n.key.Load() == nil {
			return nil
		}
		return n.derived("push")()
	}
	ways := &guardedWays{networks: r.networks, log: n.log}
	return push.New(push.Options{Sealer: portal.NewKeeper("push key", keys, n.random), Client: ways.client, Contact: r.contact})
}

// guardedWays are ways to what people of tenants have named, one for each set of networks.
type guardedWays struct {
	networks func(ubl.TenantID) []netip.Prefix
	log      *slog.Logger

	mu   sync.Mutex
	ways map[string]*http.Client
}

// wayTimeout bounds a request with its answer.
const wayTimeout = 10 * time.Second

func (w *guardedWays) client(t ubl.TenantID) *http.Client {
	allowed := w.networks(t)
	var key strings.Builder
	for _, n := range allowed {
		key.WriteString(n.String() + " ")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ways == nil {
		w.ways = map[string]*http.Client{}
	}
	if w.ways[key.String()] == nil {
		w.ways[key.String()] = portal.GuardedClient(allowed, wayTimeout, w.log)
	}
	return w.ways[key.String()]
}
