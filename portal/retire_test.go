package portal_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
	"ubl/test/poll"
)

// TestRetiredSession: where a server's access changes while a call is under way, the
// call ends as it would have, and the next ones have another session.
func TestRetiredSession(t *testing.T) {
	w := newWorld(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	w.add(ubl.Server{ServerID: "ev", URL: modern(t, `{"type":"object"}`, func(rw http.ResponseWriter, r *http.Request, call rpc) {
		if calls.Add(1) == 1 {
			close(arrived)
			select {
			case <-release:
			case <-r.Context().Done():
				t.Error("the call was cut off")
			}
		}
		answerJSON(rw, call, `{"content":[]}`)
	}), Auth: ubl.AuthHeader, Header: "X-Api-Key"}, "first-secret")
	w.allow("ev.x")
	before := portal.Sessions(w.Portal)
	done := make(chan error, 1)
	go func() {
		_, err := w.call("ev.x", `{}`)
		done <- err
	}()
	<-arrived
	second := "second-secret"
	if _, err := w.Update(t.Context(), w.house.Request(w.owner), true, "ev", ubl.ServerPatch{}, &second); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		w.must("ev.x", `{}`)
	}
	if maps.Equal(portal.Sessions(w.Portal), before) {
		t.Error("the session is the one with the old secret")
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// signedIn is a world whose bob has signed in to a server, and made a call.
func signedIn(t *testing.T) (*world, *authServer) {
	t.Helper()
	w, a := newWorld(t), newAuthServer(t)
	w.add(ubl.Server{ServerID: "ev", URL: guarded(t, eras[0], a.knows, func() string { return a.URL }), Auth: ubl.AuthUser}, "")
	w.signIn(w.bob)
	w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	w.allow("ev.echo")
	w.must("ev.echo", `{"text":"a"}`)
	return w, a
}

// TestRenewedGrant: a session that has renewed its user's grant goes on with it.
func TestRenewedGrant(t *testing.T) {
	w, a := signedIn(t)
	before := portal.Sessions(w.Portal)
	for range 3 {
		a.revoke()
		w.must("ev.echo", `{"text":"a"}`)
		w.house.Clock.Add(2 * time.Minute) // a catalogue's life
		w.must("ev.echo", `{"text":"a"}`)
	}
	if !maps.Equal(portal.Sessions(w.Portal), before) {
		t.Error("there is another session")
	}
}

// TestHangingAuthorizationServer: nobody waits for it longer than they want to, and
// it is asked once for all.
func TestHangingAuthorizationServer(t *testing.T) {
	w, a := signedIn(t)
	var asked atomic.Int32
	release := make(chan struct{})
	a.mu.Lock()
	a.refreshing = func() { asked.Add(1); <-release }
	a.mu.Unlock()
	w.house.Clock.Add(2 * time.Hour)
	ended := make(chan error)
	const callers = 3
	ctx, leave := context.WithCancel(t.Context())
	for range callers { // who wait no longer than they want to, or this hangs
		go func() {
			_, err := w.Call(ctx, w.house.Request(w.bob), "ev.echo", json.RawMessage(`{"text":"a"}`), "", nil)
			ended <- err
		}()
	}
	poll.Until(t, "all wait for it", func() bool { return asked.Load() > 0 && portal.UnderWay(w.Portal) == callers })
	leave()
	for range callers {
		if err := <-ended; ubl.CodeOf(err) != ubl.CodeCancelled {
			t.Errorf("a call ended with %v", err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	close(release)
	w.must("ev.echo", `{"text":"a"}`) // with the token that nobody waited for
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times, one of them for a token that had come", n)
	}
}

// TestBrokenAuthorizationServer is not asked again at once.
func TestBrokenAuthorizationServer(t *testing.T) {
	w, a := signedIn(t)
	var asked atomic.Int32
	a.mu.Lock()
	a.broken = true
	a.refreshing = func() { asked.Add(1) }
	a.mu.Unlock()
	w.house.Clock.Add(2 * time.Hour)
	for range 3 {
		w.refused(ubl.CodeUnavailable, "ev.echo", `{"text":"a"}`)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	a.mu.Lock()
	a.broken = false
	a.mu.Unlock()
	w.house.Clock.Add(10 * time.Second)
	w.must("ev.echo", `{"text":"a"}`)
}
