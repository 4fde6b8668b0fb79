package limits

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"ubl"
)

// Limiter holds what this node knows of who asks how much. It is safe for concurrent
// use. A nil one limits nothing.
type Limiter struct {
	table    Table
	trusted  []netip.Prefix
	now      func() time.Time
	rates    map[Name]*buckets
	policies map[ubl.Rate][]string // what callers are told of their rates
	refused  map[Name]*atomic.Int64
	dropped  map[Name]*atomic.Int64 // of the limits of connections
	places   *places
	log      *slog.Logger
	unread   sync.Once // a warning
	nameless sync.Once // another

	mu   sync.Mutex
	open map[holder]int64
}

// holder is who holds something open, by which limit.
type holder struct {
	limit Name
	who   string
}

// New makes a Limiter. Peers in trusted networks are proxies: they say in
// X-Forwarded-For for whom they ask. A nil clock is the machine's, a nil log is none.
func New(t Table, trusted []netip.Prefix, now func() time.Time, log *slog.Logger) *Limiter {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &Limiter{table: t, trusted: trusted, now: now, rates: map[Name]*buckets{}, refused: map[Name]*atomic.Int64{}, open: map[holder]int64{},
		dropped: map[Name]*atomic.Int64{Connections: {}, ConnectionsIP: {}}, places: newPlaces(t), log: log}
	for _, r := range rows {
		l.refused[r.Name] = &atomic.Int64{}
		switch most := t[r.Name]; {
		case most <= 0:
		case r.Unit == "a second":
			l.rates[r.Name] = newBuckets(rate.Limit(most), most*Burst)
		case r.Unit == bytesASecond:
			l.rates[r.Name] = newBuckets(rate.Limit(most), most)
		case r.Unit == "an hour":
			l.rates[r.Name] = newBuckets(rate.Limit(most)/3600, most)
		}
	}
	l.policies = make(map[ubl.Rate][]string, len(told))
	for rate, names := range told {
		l.policies[rate] = l.policy(names)
	}
	return l
}

// Refused is how often each limit has refused.
func (l *Limiter) Refused() map[Name]int64 { return read(l.refused) }

// Dropped is how many connections over which nobody had signed in gave way to new ones,
// by the limit that was met.
func (l *Limiter) Dropped() map[Name]int64 { return read(l.dropped) }

func read(counts map[Name]*atomic.Int64) map[Name]int64 {
	out := make(map[Name]int64, len(counts))
	for name, n := range counts {
		out[name] = n.Load()
	}
	return out
}

// Most is the number of a limit, 0 for none. It is for what is counted elsewhere.
func (l *Limiter) Most(limit Name) int { return int(l.table[limit]) }

// Full counts the refusal by a limit of what is counted elsewhere, and is to be tried again after a wait.
func (l *Limiter) Full(limit Name, wait time.Duration) error { return l.refuse(limit, wait) }

// use is one use of a rate by somebody.
type use struct {
	limit Name
	who   string
}

// take counts a use by each rate, in order; the first that has none left refuses. What
// those before it have counted stays counted: who is refused asked all the same.
func (l *Limiter) take(uses ...use) error {
	for _, u := range uses {
		b := l.rates[u.limit]
		if b == nil || u.who == "" {
			continue
		}
		if wait := b.take(u.who, l.now()); wait > 0 {
			return l.refuse(u.limit, wait)
		}
	}
	return nil
}

func (l *Limiter) refuse(limit Name, wait time.Duration) error {
	l.refused[limit].Add(1)
	return Exceeded(limit, l.table[limit]).Later(wait)
}

// Exceeded is the refusal of what goes over a limit: it says which, and what to do.
func Exceeded(limit Name, most int64) *ubl.Error {
	says, unit := "", ""
	for _, r := range rows {
		if r.Name == limit {
			says, unit = r.Says, r.Unit
		}
	}
	todo := "wait and try again"
	switch unit {
	case "open":
		todo = "close some first"
	case "in all":
		todo = "ask the server's operator to raise it"
	}
	code := ubl.CodeRateLimited
	if limit == BytesTenant {
		code, todo = ubl.CodeQuotaExceeded, "keep messages for a shorter time (removing and reading go on), or ask the server's operator to raise it"
	}
	if limit == FileBytesRoom {
		code, todo = ubl.CodeQuotaExceeded, "remove messages with files from the room, or ask the server's operator to raise it"
	}
	e := ubl.Errorf(code, "too much: the limit %s is %d %s (%s); %s", limit, most, unit, says, todo)
	e.Details = map[string]string{"limit": string(limit), "most": strconv.FormatInt(most, 10)}
	return e
}

// Address counts a request from an address whose caller hasn't signed in.
func (l *Limiter) Address(a netip.Addr) error {
	if l == nil {
		return nil
	}
	return l.take(use{RequestsIP, network(a)})
}

// Public counts a read of what is public, which takes no sign-in. Ask counts that a container
// has to be asked for it.
func (l *Limiter) Public(r *http.Request) (ask func() error, err error) {
	if l == nil {
		return func() error { return nil }, nil
	}
	from := network(l.ClientOf(r))
	return func() error { return l.take(use{PublicAskedIP, from}, use{PublicAsked, "all"}) }, l.take(use{PublicIP, from})
}

// Client counts that a program of agents registers, or is looked up, from the client's
// address. This machine's own aren't counted, unless a proxy passed the request on. Behind
// says that one is in front of the server.
func (l *Limiter) Client(r *http.Request, behind bool) error {
	if l == nil || l.rates[ClientsIP] == nil {
		return nil
	}
	a, counted := l.elsewhere(r, behind)
	if !counted {
		return nil
	}
	return l.take(use{ClientsIP, network(a)})
}

// elsewhere is the client's address, and whether it counts: not that of this machine itself,
// unless a proxy passed the request on.
func (l *Limiter) elsewhere(r *http.Request, behind bool) (a netip.Addr, counted bool) {
	a = l.ClientOf(r)
	return a, a.IsValid() && (!a.IsLoopback() || behind || l.passedOn(r))
}

// Founding is what to ask before a request founds a tenant: it counts that for the
// client's address. It is nil where nothing limits it, as on this machine itself, unless
// a proxy passed the request on. Behind says that one is in front of the server.
func (l *Limiter) Founding(r *http.Request, behind bool) func() error {
	if l == nil || l.rates[FoundingsIP] == nil {
		return nil
	}
	a, counted := l.elsewhere(r, behind)
	if !counted {
		return nil
	}
	return func() error { return l.take(use{FoundingsIP, network(a)}) }
}

// Request counts a request of a caller.
func (l *Limiter) Request(who ubl.Identity) error {
	if l == nil || who.IsPlatform() {
		return nil
	}
	return l.take(use{RequestsIdentity, identity(who)}, use{RequestsTenant, string(who.TenantID)})
}

// Of is what counts the acts and the streams of a caller at an address.
func (l *Limiter) Of(who ubl.Identity, from netip.Addr) *Caller {
	return &Caller{by: l, who: who, from: from}
}

// Caller is who does what a Limiter counts.
type Caller struct {
	by   *Limiter
	who  ubl.Identity
	from netip.Addr
	// acted is the rate that was counted last, a [ubl.Rate].
	acted atomic.Value
}

// Act counts a use of a tool that writes, by the rate that the tool's description says.
func (c *Caller) Act(rate ubl.Rate) error {
	if c.who.IsPlatform() {
		return nil
	}
	c.acted.Store(rate)
	switch rate {
	case ubl.Sends:
		return c.by.take(use{SendsIdentity, identity(c.who)}, use{SendsTenant, string(c.who.TenantID)})
	case ubl.Creations:
		return c.by.take(use{CreationsIdentity, identity(c.who)}, use{CreationsTenant, string(c.who.TenantID)})
	}
	return nil
}

// Stream takes a place for a stream, until release is called.
func (c *Caller) Stream() (release func(), err error) {
	return c.by.hold(holder{StreamsIdentity, identity(c.who)}, holder{StreamsIP, network(c.from)}, holder{StreamsTenant, string(c.who.TenantID)})
}

// Streamed counts bytes that a stream has sent, and says how long it is to wait before it
// sends more: the streams of a tenant queue, and others' requests don't wait behind them.
func (c *Caller) Streamed(bytes int) time.Duration {
	b := c.by.rates[StreamedTenant]
	if b == nil || c.who.IsPlatform() {
		return 0
	}
	return b.spend(string(c.who.TenantID), bytes, c.by.now())
}

// openAgain is when to try again for a place: somebody has to give one up first.
const openAgain = 5 * time.Second

// hold takes a place of each, or none.
func (l *Limiter) hold(of ...holder) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range of {
		if most := l.table[h.limit]; most > 0 && h.who != "" && l.open[h] >= most {
			return nil, l.refuse(h.limit, openAgain)
		}
	}
	for _, h := range of {
		l.open[h]++
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, h := range of {
			if l.open[h]--; l.open[h] == 0 {
				delete(l.open, h)
			}
		}
	}), nil
}

// identity tells callers of different tenants apart, whose ids may be the same.
func identity(who ubl.Identity) string { return string(who.TenantID) + "|" + string(who.UserID) }
