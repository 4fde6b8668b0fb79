package mesh

import "sync"

// gate bounds the handshakes that are pending, in all and for one host, so that
// a host full of silent connections leaves room for the others.
type gate struct {
	max, maxHost int

	mu    sync.Mutex
	all   int
	hosts map[string]int
}

func newGate(max int) *gate {
	return &gate{max: max, maxHost: (max + 1) / 2, hosts: map[string]int{}}
}

func (g *gate) enter(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all >= g.max || g.hosts[host] >= g.maxHost {
		return false
	}
	g.all++
	g.hosts[host]++
	return true
}

func (g *gate) leave(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.hosts[host]--; g.hosts[host] == 0 {
		delete(g.hosts, host)
	}
}
