package cluster

import (
	"bufio"
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"ubl/test/poll"
)

// TestWhoIsGone: a server whose connection has ended is gone when its address refuses another,
// and until it calls.
func TestWhoIsGone(t *testing.T) {
	const timeout = time.Second
	for _, c := range []struct {
		what    string
		refuses time.Duration // after which its address does
		calls   time.Duration // after which it calls, if it does
		gone    bool
	}{
		{what: "its address refuses at once", gone: true},
		{what: "it refuses a moment later", refuses: timeout / 10, gone: true},
		{what: "it doesn't refuse", refuses: time.Hour},
		{what: "it calls before", refuses: timeout / 10, calls: timeout / 15},
		{what: "it calls afterwards", calls: timeout / 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			found := 0
			s := newGone(timeout, func(context.Context, string) bool { return time.Since(began) >= c.refuses }, func(string) { found++ })
			if c.calls > 0 {
				time.AfterFunc(c.calls, func() { s.called("b") })
			}
			s.doubt(t.Context(), "b")
			if told := c.gone || c.calls > timeout/4; told != (found == 1) {
				t.Errorf("%s: it is told %d times", c.what, found)
			}
			if took := time.Since(began); took > timeout/4 {
				t.Errorf("%s: it took %s to find out", c.what, took)
			}
			time.Sleep(timeout)
			if _, gone := s.at("b"); gone != c.gone {
				t.Errorf("%s: it is gone: %t", c.what, gone)
			}
			if _, gone := s.at("c"); gone {
				t.Errorf("%s: another is gone", c.what)
			}
		})
	}
}

// TestACallWhileItRefuses: what was found out before a server called says nothing.
func TestACallWhileItRefuses(t *testing.T) {
	var s *gone
	asked := 0
	s = newGone(time.Second, func(context.Context, string) bool {
		asked++
		s.called("b")
		return true
	}, func(string) { t.Error("it is told") })
	s.doubt(t.Context(), "b")
	if _, gone := s.at("b"); gone || asked != 1 {
		t.Errorf("it is gone: %t, after %d questions", gone, asked)
	}
}

// TestAKilledLeaderIsReplacedSoon, long before it has been silent for Timeout; one whose
// connections alone have ended stays.
func TestAKilledLeaderIsReplacedSoon(t *testing.T) {
	const timeout = 5 * time.Second
	w := newWorld(t, 3, func(o *Options) { o.Timeout = timeout })
	leader := w.led(0)
	term := leader.group(0).raft.CurrentTerm()
	for i := range w.nodes {
		if other := w.nodes[i]; other != leader {
			poll.Until(t, "heartbeats reach "+other.server, func() bool { return leader.beats.speaks(other.server) })
		}
	}
	leader.beats.hangUp()
	for i := range w.nodes {
		if other := w.nodes[i]; other != leader {
			poll.Until(t, "heartbeats reach "+other.server+" again", func() bool {
				if _, gone := other.gone.at(leader.server); gone {
					t.Fatal("a leader that listens is taken for gone")
				}
				return leader.beats.speaks(other.server)
			})
		}
	}
	if now := w.led(0).group(0).raft.CurrentTerm(); now != term {
		t.Fatalf("term %d has become %d", term, now)
	}
	began := time.Now()
	leader.cut()
	poll.Until(t, "another leads", func() bool { n := w.leader(0); return n != nil && n != leader })
	if took := time.Since(began); took >= timeout*9/10 {
		t.Errorf("another leads after %s", took)
	}
}

// TestWhoSendsHeartbeatsIsThere, whatever its address says: a firewall may refuse us alone.
func TestWhoSendsHeartbeatsIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newGone(time.Second, func(context.Context, string) bool { return true }, func(string) {})
		s.doubt(t.Context(), "b")
		if _, gone := s.at("b"); !gone {
			t.Error("it isn't gone, though it refuses")
		}
		mine, theirs := net.Pipe()
		go (&beatEar{node: &Node{gone: s, ctx: t.Context()}, from: "b", conn: theirs}).hear()
		if _, err := mine.Write(message([]beat{{id: 1}}, beatSize, appendBeat)); err != nil {
			t.Fatal(err)
		}
		if _, err := readMessage(bufio.NewReader(mine), echoSize, readEcho); err != nil {
			t.Fatal(err)
		}
		if _, gone := s.at("b"); gone {
			t.Error("it is gone, and sends heartbeats")
		}
		mine.Close()
		synctest.Wait()
	})
}
