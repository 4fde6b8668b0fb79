package sse_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/sse"
)

// meter lets a tenant's streams send a kilobyte a second.
type meter struct{ free time.Time }

func (*meter) Act(ubl.Rate) error { return nil }

func (*meter) Stream() (release func(), err error) { return func() {}, nil }

func (m *meter) Streamed(bytes int) time.Duration {
	if now := time.Now(); m.free.Before(now) {
		m.free = now
	}
	m.free = m.free.Add(time.Duration(bytes) * time.Millisecond)
	return time.Until(m.free)
}

// A stream that has sent more than its tenant's limit lets it sends the rest later, all of
// it and in order, and hears of its end while it waits.
func TestStreamsPauseForTheirTenantsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob")
		bob := member("u:bob")
		bob.Limited(&meter{})
		s := open(hub, bob, general, "")
		synctest.Wait()
		w.send("r:general", "u:ann", strings.Repeat("x", 2000))
		synctest.Wait()
		w.sendN("r:general", "u:ann", 2)
		synctest.Wait()
		wantTranscript(t, s.frames(), "retry 2000\nid 2\nid 3 message.created")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantTranscript(t, s.frames(), "retry 2000\nid 2\nid 3 message.created\nid 4 message.created\nid 5 message.created")
		if n := hub.Stats().Slowed; n != 2 {
			t.Errorf("it waited %d times", n)
		}
		w.send("r:general", "u:ann", strings.Repeat("x", 2000))
		synctest.Wait()
		w.leave("r:general", "u:bob")
		synctest.Wait()
		wantEnded(t, hub, s, sse.EndedMembership, "retry 2000\nid 2\nid 3 message.created\nid 4 message.created\nid 5 message.created\nid 6 message.created")
	})
}
