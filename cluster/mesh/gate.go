package mesh

import (
	"container/list"
	"sync"
)

// maxKnown bounds the hosts that are remembered as other nodes'.
const maxKnown = 4096

// gate bounds the handshakes that are pending. A handshake takes milliseconds, and who
// floods the port takes as long as we let them: so where there is no place, the one
// that has been pending longest gives way.
//
//	known hosts   at which a node has proved itself: all places, of which strangers
//	              can take no more than half
//	strangers     half of the places together; a host has half of those
//
// A known host's handshake gives way only to one of the same host.
type gate struct {
	max int

	mu        sync.Mutex
	known     map[string]bool
	pending   *list.List // of *pass, the oldest first
	hosts     map[string]int
	strangers int
}

// pass is a place at the gate, with what ends who has it.
type pass struct {
	host     string
	stranger bool
	end      func()
	// Guarded by the gate's mu.
	at      *list.Element // nil once it is over
	gaveWay bool
}

func newGate(max int) *gate {
	return &gate{max: max, known: map[string]bool{}, pending: list.New(), hosts: map[string]int{}}
}

// enter gives a host a place, nil where there is none and nobody may give way. Who gives
// way is ended.
func (g *gate) enter(host string, end func()) *pass {
	p, evicted := g.place(host, end)
	if evicted != nil {
		evicted.end()
	}
	return p
}

// place finds a place, and who gives way for it, nil for nobody.
func (g *gate) place(host string, end func()) (p, evicted *pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p = &pass{host: host, stranger: !g.known[host], end: end}
	most := (g.max + 1) / 2
	if p.stranger {
		most = (most + 1) / 2
	}
	switch {
	case g.hosts[host] >= most:
		evicted = g.oldest(func(o *pass) bool { return o.host == host })
	case p.stranger && g.strangers >= (g.max+1)/2:
		evicted = g.oldest(func(o *pass) bool { return o.stranger })
	case g.pending.Len() >= g.max:
		if evicted = g.oldest(func(o *pass) bool { return o.stranger || o.host == host }); evicted == nil {
			return nil, nil
		}
	}
	if evicted != nil {
		evicted.gaveWay = true
		g.drop(evicted)
	}
	p.at = g.pending.PushBack(p)
	g.hosts[host]++
	if p.stranger {
		g.strangers++
	}
	return p, evicted
}

// oldest is the longest pending of those that may go, nil for none. It needs mu.
func (g *gate) oldest(may func(*pass) bool) *pass {
	for e := g.pending.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*pass); may(p) {
			return p
		}
	}
	return nil
}

// drop needs mu.
func (g *gate) drop(p *pass) {
	if p.at == nil {
		return
	}
	g.pending.Remove(p.at)
	p.at = nil
	if g.hosts[p.host]--; g.hosts[p.host] == 0 {
		delete(g.hosts, p.host)
	}
	if p.stranger {
		g.strangers--
	}
}

// leave gives a place back, and reports whether another has it already.
func (g *gate) leave(p *pass) (gaveWay bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(p)
	return p.gaveWay
}

// knows remembers a host at which a node has proved itself, calling or called.
func (g *gate) knows(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) < maxKnown {
		g.known[host] = true
	}
}
