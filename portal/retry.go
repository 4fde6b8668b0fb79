package portal

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"ubl"
)

// A server that is down is tried again by a timetable. It follows from when the
// server went down alone: so each node can tell when the next try is, no try has to
// be put on record for the sake of the one after, and none is lost with a node.

const (
	// firstWait is how long after a server went down it is tried again. Each wait is
	// twice the one before, up to longWait on the first day and to dayWait then.
	firstWait = 2 * time.Second
	longWait  = 5 * time.Minute
	dayWait   = time.Hour
	oneDay    = 24 * time.Hour
	// retryEvery is how often a node looks which tries are due.
	retryEvery = time.Second
	// maxTrying bounds how many servers a node tries again at a time, maxTenantTrying how
	// many of one tenant: servers that hang must not hold up another tenant's.
	maxTrying       = 32
	maxTenantTrying = 4
)

// nextTry is the first try after a moment, of a server that went down at another.
// Every wait is up to half longer than it has to be, by a hash: servers that go down
// together don't come under load together.
func nextTry(at place, since, after ubl.Time) ubl.Time {
	try := since
	for n, wait := 0, firstWait; try.Std().Sub(since.Std()) < oneDay; n++ {
		if try = try.Add(wait + spread(at, n, wait)); try > after {
			return try
		}
		wait = min(2*wait, longWait)
	}
	hours := int(max(0, after.Std().Sub(try.Std())) / dayWait)
	for n := max(0, hours-1); ; n++ {
		if t := try.Add(time.Duration(n+1)*dayWait + spread(at, n, dayWait)); t > after {
			return t
		}
	}
}

// spread is between 0 and half of a wait.
func spread(at place, n int, wait time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(string(at.tenant) + "\n" + at.server + "\n" + strconv.Itoa(n)))
	return time.Duration(h.Sum32()%1024) * wait / 2048
}

// agenda is which servers this node tries again, and when.
type agenda struct {
	mu    sync.Mutex
	tries map[place]ubl.Time
	// asking counts who asks a server right now, again those of them that the timetable
	// had begin.
	asking map[place]int
	again  map[place]bool
}

func newAgenda() *agenda {
	return &agenda{tries: map[place]ubl.Time{}, asking: map[place]int{}, again: map[place]bool{}}
}

// begin notes that a server is being asked; end takes that back.
func (a *agenda) begin(at place) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asking[at]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.asking[at]--; a.asking[at] == 0 {
			delete(a.asking, at)
		}
	})
}

func (a *agenda) isAsking(at place) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asking[at] > 0
}

// put has a server tried again at a time, 0 for never.
func (a *agenda) put(at place, try ubl.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if try == 0 {
		delete(a.tries, at)
	} else {
		a.tries[at] = try
	}
}

// add has a server tried again that is not on the agenda yet.
func (a *agenda) add(at place, try ubl.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.tries[at]; !ok && !a.again[at] {
		a.tries[at] = try
	}
}

// due takes out the servers to try now, as many as may be, those first that have
// waited longest.
func (a *agenda) due(now ubl.Time) (out []place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	busy := map[ubl.TenantID]int{}
	for at := range a.again {
		busy[at.tenant]++
	}
	waiting := slices.SortedFunc(maps.Keys(a.tries), func(x, y place) int { return cmp.Compare(a.tries[x], a.tries[y]) })
	for _, at := range waiting {
		if a.tries[at] > now || len(a.again) == maxTrying {
			break
		}
		if a.again[at] || busy[at.tenant] == maxTenantTrying {
			continue
		}
		delete(a.tries, at)
		a.again[at] = true
		busy[at.tenant]++
		out = append(out, at)
	}
	return out
}

func (a *agenda) done(at place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.again, at)
}

// retry tries the servers again that are due.
func (p *Portal) retry() {
	for _, at := range p.agenda.due(ubl.TimeOf(p.now())) {
		if !p.spawn(func() {
			defer p.agenda.done(at)
			p.try(at)
		}) {
			p.agenda.done(at)
		}
	}
}

// try asks a server for the platform. One whose outcome couldn't be put on record
// stays on the agenda.
func (p *Portal) try(at place) {
	if !p.syncAs(p.ctx, platformOf(at.tenant), at.server) {
		p.agenda.put(at, ubl.TimeOf(p.now()).Add(longWait))
	}
}

// follow puts a server on the agenda as a sync has left it: nil for one that is gone
// or nobody's to ask.
func (p *Portal) follow(at place, s *ubl.Server) {
	p.agenda.put(at, p.tryOf(at, s))
}

// tryOf is when a server is tried next, 0 for one that is not tried again.
func (p *Portal) tryOf(at place, s *ubl.Server) ubl.Time {
	if s == nil || s.Status != ubl.ServerDown || s.Auth == ubl.AuthUser {
		return 0
	}
	since := syncedAt(s)
	if s.DownSince != nil { // a node of the release before doesn't say
		since = *s.DownSince
	}
	return nextTry(at, since, ubl.TimeOf(p.now()))
}

// Shown is a server with what this node knows of its state. Answers of actors are
// shared, so it is a copy.
func (p *Portal) Shown(t ubl.TenantID, s *ubl.Server) *ubl.Server {
	with, at := *s, place{tenant: t, server: s.ServerID}
	with.Connecting = p.agenda.isAsking(at)
	if try := p.tryOf(at, s); try != 0 {
		with.NextTry = &try
	}
	return &with
}

// Servers lists the servers by id, each with its state. Members.
func (p *Portal) Servers(ctx context.Context, who ubl.Identity) ([]*ubl.Server, error) {
	list, err := ubl.Ask[[]*ubl.Server](ctx, p.asker, ubl.PortalName(who.TenantID), ubl.ListServers{Who: who})
	for i, s := range list {
		list[i] = p.Shown(who.TenantID, s)
	}
	return list, err
}
