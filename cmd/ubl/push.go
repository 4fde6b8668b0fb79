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
	"ubl/actors/webhooks"
	"ubl/portal"
	"ubl/push"
	"ubl/webhook"
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
	return push.New(push.Options{Sealer: portal.NewKeeper("push key", keys, n.random), Client: n.ways(r).client, Contact: r.contact})
}

// ways are the node's to what people of tenants have named.
func (n *node) ways(r *reach) *guardedWays { return &guardedWays{networks: r.networks, log: n.log} }

// webhooks reaches the servers that webhooks tell, for a node that serves; nil for any other.
func (n *node) webhooks(r *reach) webhooks.Sender {
	if r == nil {
		return nil
	}
	keys := func() [][]byte {
		if n.key.Load() == nil {
			return nil
		}
		return n.derived("webhook")()
	}
	return webhook.New(webhook.Options{Sealer: portal.NewKeeper("webhook secret", keys, n.random), Client: n.ways(r).client, Random: n.random})
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
