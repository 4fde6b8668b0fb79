package portal_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
)

// TestOneTenantsServersHang: meanwhile the others' are synced.
func TestOneTenantsServersHang(t *testing.T) {
	eve := harness.User("eve@other.org")
	w := newWorld(t, func(o *portal.Options) {
		o.Tenants = func(context.Context) ([]ubl.TenantID, error) {
			return []ubl.TenantID{"t:example.com", eve.TenantID}, nil
		}
	})
	w.house.Enter(eve)
	s, inner := tools(t, eras[1])
	tool(s, "echo", echo)
	hangs := &stuck{t: t, free: make(chan struct{}), up: misbehave(nil)}
	w.add(ubl.Server{ServerID: "stuck", URL: serve(t, hangs)}, "")
	synced := func() ubl.Time {
		servers, err := w.Servers(t.Context(), eve)
		if err != nil || len(servers) != 1 {
			t.Fatalf("eve has %d servers, %v", len(servers), err)
		}
		if servers[0].SyncedAt == nil {
			return 0
		}
		return *servers[0].SyncedAt
	}
	if _, err := w.Add(t.Context(), w.house.Request(eve), true, ubl.Server{ServerID: "ev", Name: "Events", URL: inner, Auth: ubl.AuthNone}, ""); err != nil {
		t.Fatal(err)
	}
	w.syncs.first(t, eve.TenantID, "ev")

	hangs.begin()
	w.house.Clock.Add(24 * time.Hour)
	before := synced()
	var round sync.WaitGroup
	round.Go(func() { portal.SyncDue(w.Portal, t.Context()) })
	until(t, "the other tenant's server is synced", func() bool { return synced() > before })
	close(hangs.free)
	round.Wait()
}

// stuck is a server that is up, and once begun doesn't answer until it is free.
type stuck struct {
	t    *testing.T
	up   http.Handler
	free chan struct{}

	mu      sync.Mutex
	hanging bool
}

func (s *stuck) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = true
}

func (s *stuck) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hanging := s.hanging
	s.mu.Unlock()
	if !hanging {
		s.up.ServeHTTP(w, r)
		return
	}
	select {
	case <-s.free:
	case <-s.t.Context().Done():
	}
	http.Error(w, "down", http.StatusInternalServerError)
}

// TestATurnInTheRound: a tenant whose servers are slow doesn't have all of them asked
// in one round, but each of them in its time.
func TestATurnInTheRound(t *testing.T) {
	const errand = 500 * time.Millisecond
	w := newWorld(t, func(o *portal.Options) {
		o.Tenants = func(context.Context) ([]ubl.TenantID, error) { return []ubl.TenantID{"t:example.com"}, nil }
	})
	portal.SetErrand(w.Portal, errand)
	var mu sync.Mutex
	slow, asked := false, map[string]bool{}
	all, up := []string{"a", "b", "c"}, misbehave(nil)
	for _, id := range all {
		w.add(ubl.Server{ServerID: id, URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			down, wait := slow, slow && !asked[id]
			asked[id] = slow
			mu.Unlock()
			if !down {
				up.ServeHTTP(w, r)
				return
			}
			if wait {
				<-time.After(errand) // all its time
			}
			http.Error(w, "down", http.StatusInternalServerError)
		}))}, "")
	}
	mu.Lock()
	slow = true
	clear(asked)
	mu.Unlock()
	w.house.Clock.Add(24 * time.Hour)
	var seen []string
	for round := 0; len(seen) < len(all); round++ {
		if round == 20 {
			t.Fatalf("after %d rounds only %q were asked", round, seen)
		}
		portal.SyncDue(w.Portal, t.Context())
		mu.Lock()
		if len(asked) > 1 {
			t.Errorf("%d servers were asked in its time", len(asked))
		}
		for id := range asked {
			if !slices.Contains(seen, id) {
				seen = append(seen, id)
			}
		}
		clear(asked)
		mu.Unlock()
	}
}
