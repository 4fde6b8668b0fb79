package portal_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
	"ubl/test/poll"
)

// TestOneTenantsServersHang: meanwhile the others' are synced.
func TestOneTenantsServersHang(t *testing.T) {
	eve := harness.User("eve@other.org")
	inBubble(t, func(t *testing.T, w *world) { oneTenantsServersHang(t, w, eve) }, func(o *portal.Options) {
		o.Tenants = func(context.Context) ([]ubl.TenantID, error) {
			return []ubl.TenantID{"t:example.com", eve.TenantID}, nil
		}
	})
}

func oneTenantsServersHang(t *testing.T, w *world, eve ubl.Identity) {
	w.house.Enter(eve)
	s, inner := w.tools(t, eras[1])
	tool(s, "echo", echo)
	hangs := &stuck{t: t, free: make(chan struct{}), up: misbehave(nil)}
	w.add(ubl.Server{ServerID: "stuck", URL: w.network.Start(t, hangs)}, "")
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
	poll.Until(t, "the other tenant's server is synced", func() bool { return synced() > before })
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
	inBubble(t, aTurnInTheRound, ofExample)
}

func aTurnInTheRound(t *testing.T, w *world) {
	const errand = 500 * time.Millisecond
	portal.SetErrand(w.Portal, errand)
	var mu sync.Mutex
	slow, asked := false, map[string]bool{}
	all, up := []string{"a", "b", "c"}, misbehave(nil)
	for _, id := range all {
		w.add(ubl.Server{ServerID: id, URL: w.network.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			down, wait := slow, slow && !asked[id]
			asked[id] = slow
			mu.Unlock()
			if !down {
				up.ServeHTTP(w, r)
				return
			}
			if wait {
				<-time.After(2 * errand) // all its time, and more
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

// TestDailySync: a server is asked again once a day, by whichever node is first.
func TestDailySync(t *testing.T) {
	tenants := func(context.Context) ([]ubl.TenantID, error) {
		return []ubl.TenantID{ubl.CoreTenant, "t:example.com", "t:nobody.example"}, nil
	}
	w := newWorld(t, func(o *portal.Options) { o.Tenants = tenants })
	s, address := tools(t, eras[1])
	var lists atomic.Int32
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				lists.Add(1)
			}
			return next(ctx, method, r)
		}
	})
	tool(s, "a", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	other := w.node(func(o *portal.Options) { o.Tenants = tenants })
	before := lists.Load()
	portal.SyncDue(w.Portal, t.Context())
	portal.SyncDue(other, t.Context())
	if n := lists.Load() - before; n != 0 {
		t.Errorf("a fresh server was asked %d times", n)
	}
	w.house.Clock.Add(24 * time.Hour)
	portal.SyncDue(w.Portal, t.Context())
	portal.SyncDue(other, t.Context())
	if n := lists.Load() - before; n != 1 {
		t.Errorf("a server was asked %d times a day", n)
	}
}

// TestDemotedWhileSyncing: what a server lists for an owner isn't recorded in their name when they
// are no owner any more by then.
func TestDemotedWhileSyncing(t *testing.T) {
	w := newWorld(t)
	role := func(role ubl.Role) {
		harness.Must[*ubl.Member](w.house, ubl.TenantName(w.owner.TenantID), ubl.SetTenantMember{Request: w.house.Request(w.owner), UserID: w.bob.UserID, Role: role})
	}
	role(ubl.RoleOwner)
	s, address := tools(t, eras[1])
	var late atomic.Bool
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" && late.Load() {
				role(ubl.RoleMember)
			}
			return next(ctx, method, r)
		}
	})
	tool(s, "a", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	before := w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp }).SyncedAt
	w.house.Clock.Add(time.Minute)
	late.Store(true)
	if _, err := w.Sync(t.Context(), w.house.Request(w.bob), true, "ev"); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a sync by who was demoted meanwhile is answered %v", err)
	}
	if after := w.await("ev", func(*ubl.Server) bool { return true }).SyncedAt; *after != *before {
		t.Error("it was recorded")
	}
}

// TestEndedTenant: nothing is synced under an Agreement that has ended.
func TestEndedTenant(t *testing.T) {
	w := newWorld(t, func(o *portal.Options) {
		o.Tenants = func(context.Context) ([]ubl.TenantID, error) { return []ubl.TenantID{"t:example.com"}, nil }
	})
	s, address := tools(t, eras[1])
	tool(s, "a", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	harness.Must[*ubl.AgreementView](w.house, ubl.TenantName(w.owner.TenantID), ubl.EndAgreement{Request: w.house.Request(w.owner)})
	head := func() int64 {
		return harness.Must[ubl.LedgerHead](w.house, ubl.LedgerName(w.owner.TenantID), ubl.GetLedgerHead{}).Seq
	}
	before := head()
	w.house.Clock.Add(24 * time.Hour)
	portal.SyncDue(w.Portal, t.Context())
	if grown := head() - before; grown != 0 {
		t.Errorf("%d atoms were written under an Agreement that has ended", grown)
	}
}
