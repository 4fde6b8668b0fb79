package auth

import (
	"container/list"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/panics"
)

// entry is a credential that was found good.
type entry struct {
	key      cacheKey
	identity ubl.Identity
	name     string   // what the credential calls them, "" for nothing
	expires  ubl.Time // 0 for never
	// id and home are what a revocation names: the jti or client id, and the
	// tenant whose ledger tells of it. id is "" for an OIDC token.
	id   string
	home ubl.TenantID
	// ask asks home whether the credential still holds, after every such time
	// (0: at each use); nil for an OIDC token.
	ask   checkFunc
	every time.Duration
	// resource is the URL that an agent's access token is good at, and nowhere else; "" for
	// every other credential.
	resource string
	// session is what a cookie said; nil for every other credential.
	session *sessionClaims
	// signer is the id of our key that signed it, "" where none did.
	signer string
	// revoked is closed when the entry leaves the cache.
	revoked chan struct{}

	live  atomic.Int64 // requests and streams under way
	due   atomic.Int64 // ubl.Time of the next ask
	asked atomic.Int64 // ubl.Time of the last good answer

	// Guarded by cache.mu.
	place *list.Element // nil while it is being verified
	gone  bool
	leave func() // what else ends with it; may be nil
}

// claim reports whether it is the caller's turn to ask again at now: one of
// those who use an entry asks, the others go on meanwhile.
func (e *entry) claim(now ubl.Time) bool {
	if e.ask == nil {
		return false
	}
	due := e.due.Load()
	return e.every == 0 || int64(now) >= due && e.due.CompareAndSwap(due, int64(now.Add(e.every)))
}

// answered notes a good answer to a question asked at now.
func (e *entry) answered(now ubl.Time) {
	e.asked.Store(int64(now))
	e.due.Store(int64(now.Add(e.every)))
}

// flight is a verification that others wait for.
type flight struct {
	key   cacheKey
	done  chan struct{}
	entry *entry // guarded by cache.mu until done is closed
	err   error  // set before done is closed
}

// cache remembers good credentials by their hash, the most recently used max of
// them, and lets concurrent first uses of one share its verification. Bad ones
// are not remembered, so they cannot push good ones out.
type cache struct {
	max    int
	panics *panics.Catcher

	mu      sync.Mutex
	entries map[cacheKey]*entry
	recent  *list.List // of *entry, most recently used first
	flights map[cacheKey]*flight
}

func newCache(max int, c *panics.Catcher) *cache {
	return &cache{
		max:     max,
		panics:  c,
		entries: map[cacheKey]*entry{},
		recent:  list.New(),
		flights: map[cacheKey]*flight{},
	}
}

// find is the entry of a credential or, where there is none, the flight that
// verifies it; first tells its caller to do that and to call settle.
func (c *cache) find(key cacheKey, now ubl.Time) (e *entry, f *flight, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[key]; e != nil {
		if e.expires == 0 || now < e.expires {
			c.recent.MoveToFront(e.place)
			return e, nil, false
		}
		c.remove(e)
	}
	if f = c.flights[key]; f != nil {
		return nil, f, false
	}
	f = &flight{key: key, done: make(chan struct{})}
	c.flights[key] = f
	return nil, f, true
}

// expect shows the entry to revocations before its home is asked about it: one
// that comes between the answer and settle is not lost.
func (c *cache) expect(f *flight, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.entry = e
}

// also ties something to the entry's end; at once where it has ended.
func (c *cache) also(e *entry, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.gone {
		c.panics.Go(nil, "leaving a ledger's feed", leave)
		return
	}
	e.leave = leave
}

// settle ends a flight: the entry it expected is kept, or with err thrown away.
func (c *cache) settle(f *flight, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, f.key)
	if err == nil && f.entry.gone {
		err = notValid(errors.New("revoked while it was verified"))
	}
	if f.err = err; err != nil {
		if f.entry != nil {
			c.remove(f.entry)
		}
	} else {
		c.keep(f.key, f.entry)
	}
	close(f.done)
}

func (c *cache) keep(key cacheKey, e *entry) {
	e.key = key
	c.entries[key] = e
	e.place = c.recent.PushFront(e)
	if c.recent.Len() > c.max {
		c.remove(c.recent.Back().Value.(*entry))
	}
}

// remove needs the mutex. What else ends does so on its own: it may wait for
// the very publication that brought us here.
func (c *cache) remove(e *entry) {
	if e.gone {
		return
	}
	e.gone = true
	close(e.revoked)
	if e.place != nil {
		c.recent.Remove(e.place)
		delete(c.entries, e.key)
	}
	if e.leave != nil {
		c.panics.Go(nil, "leaving a ledger's feed", e.leave)
	}
}

// drop ends an entry.
func (c *cache) drop(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(e)
}

// revoke ends what home has revoked. It looks at every entry, which is cheap
// next to how seldom a token is revoked.
func (c *cache) revoke(home ubl.TenantID, id string) {
	c.removeAll(func(e *entry) bool { return e.id == id && e.home == home })
}

// depart ends what somebody had who left the tenant.
func (c *cache) depart(from ubl.TenantID, user ubl.UserID) {
	c.removeAll(func(e *entry) bool { return e.identity.UserID == user && e.identity.TenantID == from })
}

// removeAll ends the entries that are so, those that are still verified too.
func (c *cache) removeAll(so func(*entry) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if so(e) {
			c.remove(e)
		}
	}
	for _, f := range c.flights {
		if f.entry != nil && so(f.entry) {
			c.remove(f.entry)
		}
	}
}

// doubt has every credential asked about again at its next use.
func (c *cache) doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		e.due.Store(0)
	}
}

// inUse lists the entries that have requests or streams under way.
func (c *cache) inUse() []*entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*entry
	for _, e := range c.entries {
		if e.live.Load() > 0 {
			out = append(out, e)
		}
	}
	return out
}

// clear ends everything, and what settles later as soon as it does.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = 0
	for _, e := range c.entries {
		c.remove(e)
	}
}
