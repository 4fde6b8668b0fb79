package public

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
)

const (
	// lease is how long counts what a container has said, from when it was asked, where
	// nothing is heard of it meanwhile.
	lease = time.Second
	// maxShelves bounds the containers that a node knows; each tenant among them is listened to.
	maxShelves = 1000
)

// gone stands for the events of a container that shows nothing to anyone.
const gone = -1

// unheard stands for what was heard of a container that nothing is known of: knowledge from
// then never counts.
const unheard = -1

// shelf is what a node knows of one container that was public.
type shelf struct {
	name  ubl.Name
	heard atomic.Int64              // how often something was told of it
	known atomic.Pointer[knowledge] // never nil
}

// knowledge is what the container has said.
type knowledge struct {
	events int64     // it had, or gone
	heard  int64     // before it was asked
	until  time.Time // counts
}

// events is how many the container has, where the shelf knows.
func (s *shelf) events(now time.Time) (n int64, ok bool) {
	k := s.known.Load()
	if k.heard != s.heard.Load() || !now.Before(k.until) {
		return 0, false
	}
	return k.events, true
}

// learn takes in what the container said when it was asked at a time, and what had been
// heard of it before. Of two that were asked side by side the one with more events is newer.
func (s *shelf) learn(events, heard int64, asked time.Time) {
	for {
		old := s.known.Load()
		if old.heard >= heard && old.events > events && events != gone && asked.Before(old.until) {
			return
		}
		if s.known.CompareAndSwap(old, &knowledge{events, heard, asked.Add(lease)}) {
			return
		}
	}
}

// shelves are those of a node. They listen to the tenants of their containers.
type shelves struct {
	feed ubl.Feed
	now  func() time.Time

	mu      sync.Mutex
	tenants map[ubl.TenantID]*tenant
	count   int
}

// tenant is listened to by its ledger, which tells of its public containers. The lock of the shelves
// guards it.
type tenant struct {
	cancel  func()
	shelves map[ubl.ContainerID]*shelf
}

// of is the shelf of a container, nil where there is none.
func (s *shelves) of(p place) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tenants[p.tenant]; t != nil {
		return t.shelves[p.container]
	}
	return nil
}

// put makes one for a container that is public. What was read before is older than the
// subscription, and counts for nothing on it.
func (s *shelves) put(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenants[p.tenant]
	if t != nil && t.shelves[p.container] != nil {
		return
	}
	if s.count >= maxShelves {
		s.drop()
		t = s.tenants[p.tenant]
	}
	if t == nil {
		t = &tenant{shelves: map[ubl.ContainerID]*shelf{}}
		t.cancel = s.feed.Subscribe(ubl.LedgerName(p.tenant), func(pub ubl.Publication) { s.hear(t, pub) }, ubl.EventContainerChanged)
		s.tenants[p.tenant] = t
	}
	sh := &shelf{name: p.name()}
	sh.known.Store(&knowledge{heard: unheard, until: s.now().Add(lease)}) // as old as what was asked just now
	t.shelves[p.container] = sh
	s.count++
}

// drop takes the shelf away that has known nothing for longest.
func (s *shelves) drop() {
	var oldest *shelf
	var since time.Time
	for _, t := range s.tenants {
		for _, sh := range t.shelves {
			until := sh.known.Load().until
			if oldest == nil || until.Before(since) {
				oldest, since = sh, until
			}
		}
	}
	group := oldest.name.Group().Tenant
	t := s.tenants[group]
	delete(t.shelves, ubl.ContainerID(oldest.name.Local()))
	s.count--
	oldest.heard.Add(1)
	if len(t.shelves) == 0 {
		delete(s.tenants, group)
		t.cancel()
	}
}

// hear takes what a tenant's ledger publishes. Where a commit was missed, or the way to the
// ledger was made anew, anything may have happened.
func (s *shelves) hear(t *tenant, p ubl.Publication) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Last == 0 { // something may have been missed
		t.changed("")
	}
	for i := range p.Events {
		if p.Events[i].Kind != ubl.EventContainerChanged {
			continue
		}
		var of struct {
			Container ubl.ContainerID `json:"container_id"`
		}
		if json.Unmarshal(p.Events[i].Payload, &of) != nil {
			of.Container = ""
		}
		t.changed(of.Container)
	}
}

// changed notes that a container has, or "" for all.
func (t *tenant) changed(c ubl.ContainerID) {
	if sh := t.shelves[c]; sh != nil {
		sh.heard.Add(1)
	}
	if c == "" {
		for _, sh := range t.shelves {
			sh.heard.Add(1)
		}
	}
}

// close ends all subscriptions.
func (s *shelves) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tenants {
		t.cancel()
	}
	clear(s.tenants)
	s.count = 0
}
