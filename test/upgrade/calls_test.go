package upgrade

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// TestCallsFromBefore: two calls to the outside were open when a version stopped that
// closed them by a walk over all tenants. Each is closed when its deadline has passed.
func TestCallsFromBefore(t *testing.T) {
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-calls/data.tar.gz")})
	ana := harness.User("ana@example.com")
	portal := ubl.PortalName(ana.TenantID)
	for open := 2; ; open-- {
		page := harness.Must[*ubl.CallPage](h, portal, ubl.ReadCalls{Who: ana, Owner: true, Limit: 10})
		n := 0
		for _, row := range page.Calls {
			if row.Status == "intended" {
				n++
			}
		}
		if n != open || len(page.Calls) != 2 {
			t.Fatalf("%d of %d calls are open, want %d", n, len(page.Calls), open)
		}
		if open == 0 {
			break
		}
		h.Restart() // what is armed stays so
		h.Alarms()
		poll.Until(t, "the calls have alarms", func() bool { return armed(t, h, portal, "call:") == open })
		switch open {
		case 2:
			h.Clock.Add(time.Minute)
		case 1:
			h.Clock.Add(30 * time.Second)
		}
		h.Alarms()
	}
	h.VerifyLedger(ana.TenantID)
}

// TestCallsFromBeforeTheOutbox: three calls were open in records of their own. The node that
// made one ends it, another is closed when its deadline has passed, and a node alone closes
// the third before it serves. Of none a record is left.
func TestCallsFromBeforeTheOutbox(t *testing.T) {
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-outbox/data.tar.gz")})
	ana := harness.User("ana@example.com")
	portal := ubl.PortalName(ana.TenantID)
	statuses := func(want string) {
		t.Helper()
		var got []string
		for _, row := range harness.Must[*ubl.CallPage](h, portal, ubl.ReadCalls{Who: ana, Owner: true, Limit: 10}).Calls {
			got = append(got, row.Status)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the calls are %v, want %s", got, want)
		}
	}
	statuses("intended intended intended")
	harness.Must[*ubl.Call](h, portal, ubl.EndCall{Request: h.Request(ana), N: 2, OutputHash: ubl.BodyHash(nil)})
	statuses("intended ok intended")
	h.Restart()
	h.Clock.Add(time.Minute)
	h.Alarms()
	statuses("intended ok error")
	if n := harness.Must[int](h, portal, ubl.CloseCalls{Request: h.Request(ubl.Platform()), All: true}); n != 1 {
		t.Errorf("%d calls were closed", n)
	}
	h.Restart()
	statuses("error ok error")
	err := h.Engine.View(t.Context(), portal.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("q"), []byte("r"), func(k, _ []byte) bool {
			t.Errorf("%q is left in the store", k)
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"call:", "out:"} {
		if n := armed(t, h, portal, of); n > 0 {
			t.Errorf("%d alarms of calls are left", n)
		}
	}
	h.VerifyLedger(ana.TenantID)
}

// TestServersFromBefore: a version that asked servers by a walk over all tenants left one, without
// an alarm. It gets one once, and is asked when it is due, each day.
func TestServersFromBefore(t *testing.T) {
	servers := &asked{}
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-calls/data.tar.gz"), Servers: servers})
	ana := harness.User("ana@example.com")
	portal := ubl.PortalName(ana.TenantID)
	servers.h = h
	armedOnce := func() {
		t.Helper()
		poll.Until(t, "the server has an alarm", func() bool { return armed(t, h, portal, "ask:") == 1 })
	}
	armedOnce()
	h.Restart()
	h.Clock.Add(22 * time.Hour)
	h.Alarms()
	if n := servers.times.Load(); n != 0 {
		t.Errorf("it was asked %d times before it was due", n)
	}
	for n := range int64(3) {
		armedOnce()
		h.Clock.Add(25 * time.Hour)
		h.Alarms()
		if got := servers.times.Load(); got != n+1 {
			t.Errorf("it was asked %d times, want %d", got, n+1)
		}
	}
	h.VerifyLedger(ana.TenantID)
}

// asked are servers that say that they have no tools.
type asked struct {
	h     *harness.House
	times atomic.Int64
}

// SyncServer implements [ubl.Syncer].
func (a *asked) SyncServer(ctx context.Context, t ubl.TenantID, server string) (*ubl.Server, error) {
	a.times.Add(1)
	who := ubl.Platform()
	who.TenantID = t
	return ubl.Ask[*ubl.Server](ctx, a.h, ubl.PortalName(t), ubl.RecordSync{Request: a.h.Request(who), ServerID: server})
}

// armed counts the alarms of an actor that are still to come, whose keys begin with a prefix.
func armed(t *testing.T, h *harness.House, of ubl.Name, prefix string) (n int) {
	t.Helper()
	actor := []byte(of.Local() + "\x00" + prefix) // behind the key space and the time
	err := h.Engine.View(t.Context(), of.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte{'i', 0}, []byte{'i', 1}, func(k, _ []byte) bool {
			if bytes.HasPrefix(k[2+8:], actor) {
				n++
			}
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
