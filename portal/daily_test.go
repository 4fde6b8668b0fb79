package portal_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// TestServersHang: meanwhile those of other tenants are asked, and others of the same tenant,
// four at a time.
func TestServersHang(t *testing.T) { inBubble(t, serversHang) }

func serversHang(t *testing.T, w *world) {
	eve := harness.User("eve@other.org")
	w.house.Enter(eve)
	s, inner := w.tools(t, eras[1])
	tool(s, "echo", echo)
	hangs := &stuck{t: t, free: make(chan struct{}), up: misbehave(nil)}
	for i := range 6 {
		w.add(ubl.Server{ServerID: fmt.Sprint("stuck", i), URL: w.network.Start(t, hangs)}, "")
	}
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
	before := synced()
	w.house.Clock.Add(25 * time.Hour)
	for p := range w.house.Engine.Partitions() {
		w.house.Led(p)
	}
	poll.Until(t, "the other tenant's server is asked", func() bool { return synced() > before })
	poll.Until(t, "four of them are asked", func() bool { return hangs.waiting() == 4 })
	close(hangs.free)
	w.house.Alarms()
}

// stuck is a server that is up, and once begun doesn't answer until it is free.
type stuck struct {
	t    *testing.T
	up   http.Handler
	free chan struct{}

	mu      sync.Mutex
	hanging bool
	waits   int
}

func (s *stuck) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = true
}

func (s *stuck) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits
}

func (s *stuck) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hanging := s.hanging
	if hanging {
		s.waits++
	}
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

// TestDailySync: a server is asked again once a day, by the node that leads then.
func TestDailySync(t *testing.T) {
	w := newWorld(t)
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
	for _, step := range []struct {
		after time.Duration
		asked int32
	}{{22 * time.Hour, 0}, {2*time.Hour + time.Minute, 1}, {22 * time.Hour, 0}} {
		before := lists.Load()
		w.pass(step.after)
		if n := lists.Load() - before; n != step.asked {
			t.Errorf("it was asked %d times within %v, want %d", n, step.after, step.asked)
		}
	}
	other := w.node()
	w.leads(other)
	w.house.Restart()
	before := lists.Load()
	w.pass(2*time.Hour + time.Minute)
	if n := lists.Load() - before; n != 1 {
		t.Errorf("the node that leads then asks %d times", n)
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
	w := newWorld(t)
	s, address := tools(t, eras[1])
	tool(s, "a", echo)
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	harness.Must[*ubl.AgreementView](w.house, ubl.TenantName(w.owner.TenantID), ubl.EndAgreement{Request: w.house.Request(w.owner)})
	head := func() int64 {
		return harness.Must[ubl.LedgerHead](w.house, ubl.LedgerName(w.owner.TenantID), ubl.GetLedgerHead{}).Seq
	}
	before := head()
	w.pass(25 * time.Hour)
	if grown := head() - before; grown != 0 {
		t.Errorf("%d atoms were written under an Agreement that has ended", grown)
	}
}
