package main

import (
	"context"
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

func newKeeperWorld(t *testing.T, with ...func(*program)) *keeperWorld {
	w := &keeperWorld{t: t, dir: filepath.Join(t.TempDir(), "data"),
		ana: ubl.Identity{UserID: "u:ana", Email: "ana@acme.com", EmailDomain: "acme.com", TenantID: "t:acme.com", Issuer: "test", Subject: "ana"}}
	w.p = &program{now: func() time.Time { return testNow().Add(time.Duration(w.at.Load())) }, random: &counter64{}}
	for _, set := range with {
		set(w.p)
	}
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

// alarms has the node look for alarms, as when it begins to serve alone.
func (w *keeperWorld) alarms() {
	for p := range w.n.store.Partitions() {
		w.n.actors.LedAlone(p)
	}
}

// await waits until the log says so.
func (w *keeperWorld) await(want string) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); w.calls() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("the log says %q, want %q", w.calls(), want)
		}
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
	if got := w.calls(); got != "intended" {
		t.Fatalf("the log says %q", got)
	}
	w.close()
	w.at.Store(int64(time.Second)) // its deadline has not passed
	w.open()
	w.begin("meanwhile")
	w.alarms()
	w.await("intended error")
	w.at.Store(int64(time.Minute) + int64(time.Second) - 1)
	w.alarms()
	if got := w.calls(); got != "intended error" {
		t.Errorf("before the deadline the log says %q", got)
	}
	w.at.Store(int64(time.Minute + time.Second))
	w.alarms()
	w.await("error error")
	w.close()
}

// TestTransfersAreCarriedOn: a transfer whose caller left in the middle goes on with its
// alarm after a restart.
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
}
