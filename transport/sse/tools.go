package sse

import (
	"encoding/json"
	"sync"

	"ubl"
)

// gate is what the streams of one tenant on this node hear of the tools that they stand
// for: who may use one can change while they are open.
type gate struct {
	refs   int // owned by hub.mu
	once   sync.Once
	cancel func()

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// gateOf finds or makes the tenant's, for one more stream. The caller has the lock.
func (h *Hub) gateOf(tenant ubl.TenantID) *gate {
	g := h.gates[tenant]
	if g == nil {
		g = &gate{listeners: make(map[*listener]struct{})}
		h.gates[tenant] = g
	}
	g.refs++
	return g
}

// guard has a stream hear of its tool. It comes before the question whether the stream may
// use it.
func (h *Hub) guard(l *listener) {
	g := l.gate
	g.mu.Lock()
	g.listeners[l] = struct{}{}
	g.mu.Unlock()
	g.once.Do(func() {
		g.cancel = h.feed.Subscribe(ubl.LedgerName(l.caller.Identity.TenantID), g.heard, ubl.EventToolsChanged)
	})
}

// unguard undoes guard and gateOf.
func (h *Hub) unguard(l *listener) {
	g := l.gate
	g.mu.Lock()
	delete(g.listeners, l)
	g.mu.Unlock()
	h.mu.Lock()
	g.refs--
	last := g.refs == 0
	if last {
		delete(h.gates, l.caller.Identity.TenantID)
	}
	h.mu.Unlock()
	if last {
		g.cancel()
	}
}

// heard has those streams ask again whose tool a publication names. A stream that missed
// one asks within [Limits].Recheck.
func (g *gate) heard(p ubl.Publication) {
	for i := range p.Events {
		if p.Events[i].Kind != ubl.EventToolsChanged {
			continue
		}
		var changed struct {
			Tool string `json:"tool"`
		}
		if json.Unmarshal(p.Events[i].Payload, &changed) == nil && changed.Tool != "" { // else other servers', for which no stream stands
			g.doubt(changed.Tool)
		}
	}
}

func (g *gate) doubt(tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.listeners {
		if l.tool == tool {
			l.doubt()
		}
	}
}
