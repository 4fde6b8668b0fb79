package sse_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/sse"
)

// wantEnded checks that the stream is over, why, and what it had sent.
func wantEnded(t *testing.T, hub *sse.Hub, s *stream, why sse.Reason, want string) {
	t.Helper()
	if !s.ended() {
		t.Fatalf("the stream goes on; it sent\n%s", transcript(s.frames()))
	}
	wantTranscript(t, s.frames(), want)
	if n := hub.Stats().Ended[why]; n != 1 {
		t.Errorf("ended: %v, want one by %s", hub.Stats().Ended, why)
	}
}

func TestMembershipEndsTheStreamBeforeTheNextEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob")
		ann, bob := open(hub, member("u:ann"), general, ""), open(hub, member("u:bob"), general, "")
		synctest.Wait()
		w.send("r:general", "u:ann", "for both")
		synctest.Wait()
		w.leave("r:general", "u:bob")
		w.send("r:general", "u:ann", "not for bob")
		synctest.Wait()
		wantEnded(t, hub, bob, sse.EndedMembership, "retry 2000\nid 2\nid 3 message.created")
		wantTranscript(t, ann.drop(), "retry 2000\nid 2\nid 3 message.created\nid 4 message.created")
	})
}

func TestAStalledMemberWhoIsRemovedGetsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob")
		bob := open(hub, member("u:bob"), general, "")
		synctest.Wait()
		bob.stall(true)
		w.send("r:general", "u:ann", "being written")
		synctest.Wait()
		w.send("r:general", "u:ann", "waits in the ring, from before the end")
		w.leave("r:general", "u:bob")
		bob.stall(false)
		synctest.Wait()
		wantEnded(t, hub, bob, sse.EndedMembership, "retry 2000\nid 2\nid 3 message.created")
	})
}

func TestAMemberRemovedInTheMiddleOfAPageGetsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob")
		for range 40 { // a page of five pieces
			w.send("r:general", "u:ann", strings.Repeat("x", 8000))
		}
		opened := make(chan *stream, 1)
		w.answered = func(cmd ubl.Command) {
			if _, ok := cmd.(ubl.ReadHistory); ok {
				s := <-opened
				s.stall(true)
				opened <- s
			}
		}
		bob := open(hub, member("u:bob"), general+"?from_seq=0", "")
		opened <- bob
		synctest.Wait()
		w.leave("r:general", "u:bob")
		bob.stall(false)
		synctest.Wait()
		if n := len(bob.frames()); !bob.ended() || n > 15 {
			t.Errorf("ended: %t, after %d frames", bob.ended(), n)
		}
	})
}

func TestMissedMemberLeftIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.join("r:general", "u:bob")
		bob := open(hub, member("u:bob"), general, "")
		synctest.Wait()
		w.lose = func() bool { return true }
		w.leave("r:general", "u:bob")
		w.lose = func() bool { return false }
		time.Sleep(time.Minute)
		synctest.Wait()
		wantEnded(t, hub, bob, sse.EndedMembership, "retry 2000\nid 2\n:keepalive")
	})
}

func TestExpiryEndsTheStream(t *testing.T) {
	for name, eventAfter := range map[string]bool{"promptly when idle": false, "before the next event": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				caller := member("u:ann")
				caller.ExpiresAt = ubl.TimeOf(time.Now().Add(5 * time.Second))
				s := open(hub, caller, general, "")
				time.Sleep(5*time.Second - time.Millisecond)
				w.send("r:general", "u:ann", "in time")
				synctest.Wait()
				if s.ended() {
					t.Fatal("it ended too early")
				}
				time.Sleep(time.Millisecond)
				if eventAfter {
					w.send("r:general", "u:ann", "too late")
				}
				synctest.Wait()
				wantEnded(t, hub, s, sse.EndedExpired, "retry 2000\nid 1\nid 2 message.created")
			})
		})
	}
}

func TestRevocationEndsTheStream(t *testing.T) {
	for name, eventAfter := range map[string]bool{"promptly when idle": false, "before the next event": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				revoked := make(chan struct{})
				caller := member("u:ann")
				caller.Revoked = revoked
				s := open(hub, caller, general, "")
				synctest.Wait()
				close(revoked)
				if eventAfter {
					w.send("r:general", "u:ann", "too late")
				}
				synctest.Wait()
				wantEnded(t, hub, s, sse.EndedRevoked, "retry 2000\nid 1")
			})
		})
	}
}

func TestADeadListenerIsEndedByItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		dead, alive := open(hub, member("u:ann"), general, ""), open(hub, member("u:ann"), general, "")
		synctest.Wait()
		dead.stall(true)
		w.send("r:general", "u:ann", "one")
		synctest.Wait()
		w.send("r:general", "u:ann", "two")
		synctest.Wait()
		wantTranscript(t, alive.frames(), "retry 2000\nid 1\nid 2 message.created\nid 3 message.created")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		wantEnded(t, hub, dead, sse.EndedSlow, "retry 2000\nid 1")
		alive.drop()
	})
}

func TestShutdownSpreadsTheEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{ShutdownSpread: 3 * time.Second})
		streams := make([]*stream, 1500)
		for i := range streams {
			streams[i] = open(hub, member("u:ann"), general, "")
		}
		synctest.Wait()
		start := time.Now()
		done := make(chan error, 1)
		go func() { done <- hub.Shutdown(context.Background()) }()
		time.Sleep(1500 * time.Millisecond)
		late := open(hub, member("u:ann"), general, "")
		<-late.done
		if late.status != 503 {
			t.Errorf("a new stream got %d, want 503", late.status)
		}
		if n := hub.Stats().Ended[sse.EndedShutdown]; n < 600 || n > 900 {
			t.Errorf("%d streams had ended half-way, want about 750", n)
		}
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if took := time.Since(start); took < 2*time.Second || took > 4*time.Second {
			t.Errorf("it took %s", took)
		}
		if n := w.subscriptions(); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

func TestShutdownOfFewStreamsIsQuickAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		s, stuck := open(hub, member("u:ann"), general, ""), open(hub, member("u:ann"), general, "")
		synctest.Wait()
		stuck.stall(true)
		w.send("r:general", "u:ann", "hello")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := hub.Shutdown(ctx); err == nil {
			t.Error("Shutdown says that all is done while a stream is stuck in a write")
		}
		if !s.ended() || stuck.ended() {
			t.Errorf("ended: %t and %t, want the first only", s.ended(), stuck.ended())
		}
		<-stuck.done // its deadline
	})
}
