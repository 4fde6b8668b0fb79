package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestHeartbeatsShareAMessage: what groups ask at different times goes at once, and the
// groups hear of the last of so many answers.
func TestHeartbeatsShareAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulpit(t, map[int]uint64{1: 5, 2: 7})
		one := p.heartbeat(1, 5)
		time.Sleep(testBeat / 2)
		two := p.heartbeat(2, 7)
		l := p.heard()
		for beats := range pulseBeats {
			if len(one) > 0 || len(two) > 0 {
				t.Fatalf("Raft was told after %d beats", beats)
			}
			list := l.next()
			if len(list) != 2 {
				t.Fatalf("beat %d has %d heartbeats", beats, len(list))
			}
			l.say(list, echo{term: 5, commit: uint64(10 + beats), outcome: accepted})
			synctest.Wait()
		}
		for _, done := range []<-chan pulsed{one, two} {
			if a := <-done; a.err != nil || a.echo.commit != 10+pulseBeats-1 {
				t.Errorf("Raft is told %+v", a)
			}
		}
	})
}

// TestAGroupThatHangsFallsSilent: heartbeats of other groups don't keep it alive. Its
// Raft has to ask for each of its own.
func TestAGroupThatHangsFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulpit(t, map[int]uint64{1: 5, 2: 7})
		p.heartbeat(1, 5) // and never again
		two, l := p.heartbeat(2, 7), (*pew)(nil)
		for beats := range 4 * pulseBeats {
			if l == nil {
				l = p.heard()
			}
			list := l.next()
			if want := 1 + min(1, max(0, pulseBeats-beats)); len(list) != want {
				t.Fatalf("beat %d has %d heartbeats, want %d", beats, len(list), want)
			}
			l.say(list, echo{term: 7, outcome: accepted})
			synctest.Wait()
			if len(two) > 0 {
				two = p.heartbeat(2, 7)
			}
		}
	})
}

// TestALeaderThatIsDeposedBeatsNoMore, not even what its Raft has asked for before.
func TestALeaderThatIsDeposedBeatsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulpit(t, map[int]uint64{1: 5})
		done := p.heartbeat(1, 5)
		l := p.heard()
		l.say(l.next(), echo{term: 5, outcome: accepted})
		synctest.Wait()
		p.depose(1)
		if list := l.next(); len(list) > 0 {
			t.Errorf("it sent %+v", list)
		}
		if a := <-done; !errors.Is(a.err, errDeposed) {
			t.Errorf("Raft is told %+v", a)
		}
		if a := <-p.heartbeat(1, 5); !errors.Is(a.err, errDeposed) {
			t.Errorf("a heartbeat that it never sent is answered with %+v", a)
		}
	})
}

// TestALeaseNeedsAnswers: Raft hears at once that a follower refuses, or couldn't look, and
// of none after the timeout. A follower that says nothing at all gets a new connection.
func TestALeaseNeedsAnswers(t *testing.T) {
	for _, c := range []struct {
		what string
		says outcome
		want error
	}{
		{"it refuses", refused, nil},
		{"it couldn't look", missed, errMissed},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPulpit(t, map[int]uint64{1: 5})
			done := p.heartbeat(1, 5)
			l := p.heard()
			l.say(l.next(), echo{term: 6, outcome: c.says})
			a := <-done
			r := a.echo.response()
			if !errors.Is(a.err, c.want) || r.Success || c.want == nil && r.Term != 6 {
				t.Errorf("%s: Raft is told %+v", c.what, a)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPulpit(t, map[int]uint64{1: 5})
		began, done := time.Now(), p.heartbeat(1, 5)
		l := p.heard()
		l.next()
		if a := <-done; !errors.Is(a.err, errNoEcho) || time.Since(began) != testBeatWait {
			t.Errorf("after %s Raft is told %+v", time.Since(began), a)
		}
		p.heartbeat(1, 5)
		if list := p.heard().next(); len(list) != 1 {
			t.Errorf("over the new connection it sends %+v", list)
		}
	})
}

// TestKnows: a follower isn't told again what it has just said that it knows, in that term,
// and is as soon as it falls silent.
func TestKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulpit(t, map[int]uint64{1: 5})
		knows := func(server string, partition int, term, index uint64) bool {
			_, known := p.knows(server, beat{partition: partition, term: term}, index)
			return known
		}
		done := p.heartbeat(1, 5)
		l := p.heard()
		list := l.next()
		if knows("b", 1, 5, 0) {
			t.Error("it knows something before it has spoken")
		}
		l.say(list, echo{term: 5, commit: 10, outcome: accepted})
		synctest.Wait()
		if !knows("b", 1, 5, 10) {
			t.Error("it doesn't know what it said")
		}
		if knows("b", 1, 5, 11) || knows("b", 1, 6, 10) || knows("b", 2, 5, 10) || knows("c", 1, 5, 10) {
			t.Error("it knows more, or in another term or group, or another server does")
		}
		l.say(l.next(), echo{term: 6, commit: 10, outcome: refused})
		<-done
		if knows("b", 1, 5, 10) || knows("b", 1, 6, 10) {
			t.Error("it still knows it after it has refused")
		}
		p.heartbeat(1, 5)
		l.say(l.next(), echo{term: 5, commit: 10, outcome: accepted})
		time.Sleep(testBeat * 3 / 2)
		if knows("b", 1, 5, 10) {
			t.Error("it still knows it when it has been silent")
		}
	})
}
