package actors_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// answering are servers that answer that they have no tools, and count how often.
type answering struct {
	p     *portals
	asked atomic.Int64
}

// SyncServer implements [ubl.Syncer].
func (a *answering) SyncServer(ctx context.Context, t ubl.TenantID, server string) (*ubl.Server, error) {
	a.asked.Add(1)
	who := ubl.Platform()
	who.TenantID = t
	return ubl.Ask[*ubl.Server](ctx, a.p, ubl.PortalName(t), ubl.RecordSync{Request: a.p.Request(who), ServerID: server})
}

// TestServersAreAsked: a server is asked daily by its alarm, although nobody else does, at whatever
// moment of recording what it said the node is gone. What it said is on record once each day.
func TestServersAreAsked(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			servers := &answering{}
			p := &portals{valve: &valve{}, t: t, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
			servers.p = p
			p.House = harness.Open(t, harness.Options{Wrap: p.wrap, Servers: servers})
			p.Enter(p.ana)
			p.name = ubl.PortalName(p.ana.TenantID)
			ask[*ubl.Server](p, ubl.AddServer{Request: p.Request(p.ana), Owner: true,
				Server: ubl.Server{ServerID: "ev", Name: "Events", URL: "https://ev.example/mcp", Auth: ubl.AuthNone}})
			syncs := func() (n int) {
				for _, a := range harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(p.ana.TenantID), ubl.ReadAtoms{Limit: 100}).Atoms {
					if atom := atomOf(t, a); atom.Did == string(ubl.DidServerSync) {
						n++
					}
				}
				return n
			}
			p.Clock.Add(time.Minute) // nobody has asked it yet
			p.Alarms()
			if n := servers.asked.Load(); n != 1 || syncs() != 1 {
				t.Fatalf("it was asked %d times, which is %d times on record", n, syncs())
			}
			struck, strike := make(chan struct{}), fault(p.valve)
			var once sync.Once
			p.setFault(func(b *ubl.Batch, settled func(error)) bool {
				once.Do(func() { close(struck) })
				return strike(b, settled)
			})
			p.Clock.Add(25 * time.Hour)
			for n := range p.Engine.Partitions() {
				p.Led(n)
			}
			<-struck
			p.setFault(nil)
			p.Restart()
			p.Alarms()
			if n := syncs(); n != 2 {
				t.Errorf("after the crash it is %d times on record", n)
			}
			p.Clock.Add(25 * time.Hour)
			p.Alarms()
			if n := syncs(); n != 3 {
				t.Errorf("after another day it is %d times on record", n)
			}
			ask[*ubl.Server](p, ubl.RemoveServer{Request: p.Request(p.ana), Owner: true, ServerID: "ev"})
			if n := p.alarms(); n > 0 {
				t.Errorf("%d records of alarms are left", n)
			}
			p.VerifyLedger(p.ana.TenantID)
		})
	}
}
