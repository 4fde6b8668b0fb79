package limits

import (
	"container/list"
	"sync"
)

// places bounds the connections that are open, in all and of each address. Strangers are
// those over which nobody has signed in. Where there is no place for a new one, the
// oldest stranger gives way: to hold a place costs nothing, so silent connections
// must not keep others out.
//
//	the address is full   its own oldest stranger gives way
//	all places are taken  the oldest stranger of any address gives way
//	no strangers there    the new one is refused
type places struct {
	each, all int64 // 0 for no bound

	mu        sync.Mutex
	open      int64
	strangers *list.List // of *Conn, the oldest first
	addresses map[string]*address
}

// address is what one address holds. Guarded by the places' mu.
type address struct {
	open      int64
	strangers *list.List
}

func newPlaces(t Table) *places {
	return &places{each: t[ConnectionsIP], all: t[Connections], strangers: list.New(), addresses: map[string]*address{}}
}

// enter gives a connection a place. It tells which limit was met, "" for none, and who
// gave way; nobody did where there is no place, and then the connection has none.
func (p *places) enter(c *Conn) (met Name, gone *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var among *list.List
	switch a := p.addresses[c.who]; {
	case c.who != "" && a != nil && p.each > 0 && a.open >= p.each:
		met, among = ConnectionsIP, a.strangers
	case p.all > 0 && p.open >= p.all:
		met, among = Connections, p.strangers
	}
	if met != "" {
		first := among.Front()
		if first == nil {
			return met, nil
		}
		gone = first.Value.(*Conn)
		p.drop(gone)
	}
	p.take(c)
	return met, gone
}

// take needs mu.
func (p *places) take(c *Conn) {
	a := p.addresses[c.who]
	if a == nil {
		a = &address{strangers: list.New()}
		p.addresses[c.who] = a
	}
	p.open++
	a.open++
	c.held = true
	if !c.known.Load() {
		c.inAll, c.inOwn = p.strangers.PushBack(c), a.strangers.PushBack(c)
	}
}

// know keeps a connection from giving way.
func (p *places) know(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(c)
}

// leave gives a place back, where the connection has it still.
func (p *places) leave(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(c)
}

// drop needs mu.
func (p *places) drop(c *Conn) {
	if !c.held {
		return
	}
	p.forget(c)
	c.held = false
	p.open--
	if a := p.addresses[c.who]; a.open > 1 {
		a.open--
	} else {
		delete(p.addresses, c.who)
	}
}

// forget takes a connection from the strangers. It needs mu.
func (p *places) forget(c *Conn) {
	if c.inAll == nil {
		return
	}
	p.strangers.Remove(c.inAll)
	p.addresses[c.who].strangers.Remove(c.inOwn)
	c.inAll, c.inOwn = nil, nil
}
