package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
)

// keeperWorld is a data directory with a tenant, opened again and again at a time
// that the test sets.
type keeperWorld struct {
	t   *testing.T
	p   *program
	dir string
	at  atomic.Int64 // nanoseconds since testNow; the node reads it at any time
	ana ubl.Identity
	n   *node
}

func newKeeperWorld(t *testing.T) *keeperWorld {
	w := &keeperWorld{t: t, dir: filepath.Join(t.TempDir(), "data"),
		ana: ubl.Identity{UserID: "u:ana", Email: "ana@acme.com", EmailDomain: "acme.com", TenantID: "t:acme.com", Issuer: "test", Subject: "ana"}}
	w.p = &program{now: func() time.Time { return testNow().Add(time.Duration(w.at.Load())) }, random: &counter64{}}
	w.open()
	must[*ubl.Entered](w, ubl.TenantName(w.ana.TenantID), ubl.Enter{Request: w.request("enter"), Act: true})
	return w
}

func (w *keeperWorld) open() {
	w.t.Helper()
	n, err := w.p.openNode(w.dir, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	w.n = n
}

func (w *keeperWorld) close() {
	w.t.Helper()
	if err := w.n.close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *keeperWorld) request(key string) ubl.Request {
	return ubl.Request{Who: w.ana, ID: "req:" + key, Key: key}
}

func must[R any](w *keeperWorld, to ubl.Name, cmd ubl.Command) R {
	w.t.Helper()
	answer, err := ubl.Ask[R](w.t.Context(), w.n.asker, to, cmd)
	if err != nil {
		w.t.Fatalf("%T: %v", cmd, err)
	}
	return answer
}

// begin leaves a call open, with a deadline in a minute.
func (w *keeperWorld) begin(key string) {
	w.t.Helper()
	must[*ubl.CallTicket](w, ubl.PortalName(w.ana.TenantID), ubl.BeginCall{
		Request: w.request(key), Did: ubl.DidComplete, Agreement: ubl.TenantAgreement(w.ana.TenantID), Server: ubl.ModelServer,
		Capability: string(ubl.DidComplete), InputHash: ubl.BodyHash(nil), Deadline: ubl.TimeOf(w.p.now()).Add(time.Minute), Tokens: 1, Model: true,
	})
}

// alarms has the node look for alarms, as when it begins to serve.
func (w *keeperWorld) alarms() {
	for p := range w.n.store.Partitions() {
		w.n.actors.Led(p)
	}
}

// calls are the statuses in the log, newest first.
func (w *keeperWorld) calls() string {
	w.t.Helper()
	page := must[*ubl.CallPage](w, ubl.PortalName(w.ana.TenantID), ubl.ReadCalls{Who: w.ana, Limit: 10})
	var said []string
	for _, c := range page.Calls {
		said = append(said, c.Status)
	}
	return strings.Join(said, " ")
}

// TestCallsAreClosed: calls to the outside that nobody will end are ended: those of
// the run before when a node starts, and others once their deadline has passed.
func TestCallsAreClosed(t *testing.T) {
	w := newKeeperWorld(t)
	w.begin("before the crash")
	w.close()
	w.open()
	w.alarms() // its deadline has not passed
	if got := w.calls(); got != "intended" {
		t.Fatalf("the log says %q", got)
	}
	if _, err := w.n.start(t.Context(), testKey(t, w.p)); err != nil {
		t.Fatal(err)
	}
	if got := w.calls(); got != "error" {
		t.Errorf("after a start the log says %q", got)
	}
	w.begin("later")
	w.at.Store(int64(time.Minute) - 1)
	w.alarms()
	if got := w.calls(); got != "intended error" {
		t.Errorf("before the deadline the log says %q", got)
	}
	w.at.Store(int64(time.Minute))
	w.alarms()
	for deadline := time.Now().Add(time.Minute); w.calls() != "error error"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after the deadline the log says %q", w.calls())
		}
	}
	w.close()
}

// TestTransfersAreCarriedOn: a transfer whose caller left in the middle goes on with its
// alarm after a restart. A tenant with nothing pending isn't even loaded by the keeper.
func TestTransfersAreCarriedOn(t *testing.T) {
	w := newKeeperWorld(t)
	tenant := ubl.TenantName(w.ana.TenantID)
	for _, name := range []string{"from", "to"} {
		must[*ubl.ContainerMade](w, tenant, ubl.CreateContainer{Request: w.request(name), Kind: "wallet", Name: name})
	}
	must[*ubl.Balance](w, tenant, ubl.IssueCredits{Request: w.request("issue"), To: "k:from", Amount: 10})
	from, to := ubl.ContainerName(w.ana.TenantID, "k:from"), ubl.ContainerName(w.ana.TenantID, "k:to")

	ctx, leave := context.WithCancel(t.Context())
	stop := w.n.feed.Subscribe(ubl.LedgerName(w.ana.TenantID), func(ubl.Publication) { leave() }) // with the first commit
	_, err := w.n.asker.Ask(ctx, from, ubl.Transfer{Request: w.request("transfer"), To: "k:to", Amount: 4})
	stop()
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Fatalf("the caller who left was answered %v", err)
	}
	if c := must[*ubl.Container](w, from, ubl.GetContainer{Who: w.ana}); c.InTransit != 4 {
		t.Fatalf("in transit are %d", c.InTransit)
	}
	w.close()
	w.open()
	w.at.Store(int64(time.Minute))
	keeping, release := context.WithCancel(t.Context())
	kept := w.n.keep(keeping, nil)
	for deadline := time.Now().Add(time.Minute); must[*ubl.Container](w, from, ubl.GetContainer{Who: w.ana}).InTransit > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the transfer stays under way")
		}
	}
	if b := must[*ubl.Container](w, to, ubl.GetContainer{Who: w.ana}); b.Balance != 4 {
		t.Errorf("%d arrived", b.Balance)
	}
	release()
	kept()
	w.close()
	w.open()
	w.n.closeOrphans(t.Context())
	if active := w.n.actors.Stats().Active; active != 0 {
		t.Errorf("looking for what is pending loaded %d actors", active)
	}
	w.close()
}

// TestTenantsDontWait: a tenant that is stuck holds up no other, and errands of
// several tenants all run, however many there are.
func TestTenantsDontWait(t *testing.T) {
	w := newKeeperWorld(t)
	for i := range 3 * errands {
		who := w.ana
		who.UserID, who.EmailDomain, who.TenantID = ubl.UserID(fmt.Sprint("u:", i)), fmt.Sprintf("of%d.com", i), ubl.TenantID(fmt.Sprintf("t:of%d.com", i))
		must[*ubl.Entered](w, ubl.TenantName(who.TenantID), ubl.Enter{Request: ubl.Request{Who: who, ID: "req:enter", Key: "enter"}, Act: true})
	}
	groups, err := w.n.store.Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var done atomic.Int64
	others := make(chan struct{})
	w.n.eachTenant(ctx, "couldn't test", func(ctx context.Context, g ubl.Group) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("an errand has no deadline")
		}
		if g == groups[0] { // until all others are done
			select {
			case <-others:
			case <-ctx.Done():
				t.Error("the others waited for one that is stuck")
			}
			return nil
		}
		if done.Add(1) == int64(len(groups)-1) {
			close(others)
		}
		return nil
	})
	if done.Load() != int64(len(groups)-1) {
		t.Errorf("%d of %d other tenants had their errand", done.Load(), len(groups)-1)
	}
	w.close()
}

// TestPanicInAnErrand: the errands of other tenants are run, and the keeper goes on.
func TestPanicInAnErrand(t *testing.T) {
	w := newKeeperWorld(t)
	defer w.close()
	other := ubl.TenantID("t:other.com")
	who := w.ana
	who.TenantID, who.EmailDomain, who.Email, who.UserID = other, "other.com", "ana@other.com", "u:other"
	must[*ubl.Entered](w, ubl.TenantName(other), ubl.Enter{Request: ubl.Request{Who: who, ID: "req:other", Key: "other"}, Act: true})
	var ran atomic.Int64
	w.n.eachTenant(t.Context(), "couldn't", func(_ context.Context, g ubl.Group) error {
		if g.Tenant == w.ana.TenantID {
			panic("poisoned tenant")
		}
		ran.Add(1)
		return nil
	})
	if ran.Load() == 0 || w.n.panics.Caught() != 1 {
		t.Errorf("%d other errands ran, %d panics are counted", ran.Load(), w.n.panics.Caught())
	}
}
