package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/test/poll"
	"ubl/transport/envelope"
)

func TestTokenIsRemembered(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	for range 5 {
		w.get(bearer(token)...).let(t)
	}
	if n := count[ubl.AdmitToken](w.tenants); n != 1 {
		t.Errorf("admitted %d times, want once", n)
	}
	if n := count[ubl.Enter](w.tenants); n != 5 {
		t.Errorf("entered %d times, want at each request", n)
	}
	for key, e := range w.cache.entries {
		if strings.Contains(token, string(key[:])) || e.id == token {
			t.Error("the cache holds the token itself")
		}
	}
}

func TestTokenExpiresInTheCache(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	caller := w.get(bearer(token)...).let(t)

	w.clock.pass(time.Hour - time.Second)
	w.get(bearer(token)...).let(t)
	w.clock.pass(time.Second)
	w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	if !closed(caller.Revoked) {
		t.Error("its streams were not told")
	}
}

func TestTokenIsAdmittedAgain(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	caller := w.get(bearer(token)...).let(t)
	w.clock.pass(askEvery - time.Second)
	w.get(bearer(token)...).let(t)
	if n := count[ubl.AdmitToken](w.tenants); n != 1 {
		t.Fatalf("admitted %d times within %v", n, askEvery)
	}
	w.clock.pass(time.Second)
	w.get(bearer(token)...).let(t)
	w.get(bearer(token)...).let(t)
	admitted := all[ubl.AdmitToken](w.tenants)
	if len(admitted) != 2 {
		t.Fatalf("admitted %d times after %v, want twice", len(admitted), askEvery)
	}
	if admitted[0].Key == admitted[1].Key {
		t.Error("two questions share an idempotency key: the second would get the first one's answer")
	}

	w.tenants.set(func(f *tenants) { f.admit = refuseToken })
	w.get(bearer(token)...).let(t)
	w.clock.pass(askEvery)
	w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	if !closed(caller.Revoked) {
		t.Error("its streams were not told")
	}
}

// While tenant 0 cannot be reached nothing can be revoked either: what it
// admitted stays good for a while, what it has not seen stays out.
func TestTenantZeroAway(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	fresh, _ := w.token(t, "bob@corp.example")
	w.get(bearer(token)...).let(t)
	away := ubl.Errorf(ubl.CodeUnavailable, "no leader")
	w.tenants.set(func(f *tenants) { f.admit = func(ubl.AdmitToken) error { return away } })

	w.get(bearer(fresh)...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
	for range 4 {
		w.clock.pass(time.Minute)
		w.get(bearer(token)...).let(t)
	}
	w.clock.pass(time.Minute + time.Second)
	w.get(bearer(token)...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)
	w.get(bearer(token)...).refused(t, http.StatusServiceUnavailable, ubl.CodeUnavailable)

	w.tenants.set(func(f *tenants) { f.admit = nil })
	w.get(bearer(token)...).let(t)
	w.get(bearer(fresh)...).let(t)
}

func TestTokenRevokedByFeed(t *testing.T) {
	w := newWorld(t)
	token, known := w.token(t, "ann@corp.example")
	other, _ := w.token(t, "ann@corp.example")
	caller, spared := w.get(bearer(token)...).let(t), w.get(bearer(other)...).let(t)

	w.feed.revoke("t:corp.example", known.JTI) // only tenant 0 speaks of platform tokens
	if closed(caller.Revoked) {
		t.Fatal("revoked by a tenant")
	}
	w.tenants.set(func(f *tenants) { f.admit = refuseToken })
	w.feed.revoke(ubl.CoreTenant, known.JTI)
	if !closed(caller.Revoked) || closed(spared.Revoked) {
		t.Errorf("revoked %v, the other %v", closed(caller.Revoked), closed(spared.Revoked))
	}
	w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	w.get(bearer(other)...).let(t)
}

// A revocation that arrives while the token is being admitted counts.
func TestTokenRevokedWhileVerified(t *testing.T) {
	w := newWorld(t)
	token, known := w.token(t, "ann@corp.example")
	slow := make(chan struct{})
	w.tenants.set(func(f *tenants) { f.slow = slow })
	got := make(chan answer)
	go func() { got <- w.get(bearer(token)...) }()
	poll.Until(t, "admission is asked", func() bool { return count[ubl.AdmitToken](w.tenants) == 1 })
	w.feed.revoke(ubl.CoreTenant, known.JTI)
	close(slow)
	(<-got).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
}

func TestFirstUsesVerifyOnce(t *testing.T) {
	const callers = 64
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	slow := make(chan struct{})
	w.tenants.set(func(f *tenants) { f.slow = slow })
	var all sync.WaitGroup
	answers := make([]answer, callers)
	for i := range answers {
		all.Go(func() { answers[i] = w.get(bearer(token)...) })
	}
	poll.Until(t, "admission is asked", func() bool { return count[ubl.AdmitToken](w.tenants) > 0 })
	close(slow)
	all.Wait()
	for _, a := range answers {
		a.let(t)
	}
	if n := count[ubl.AdmitToken](w.tenants); n != 1 {
		t.Errorf("admitted %d times for %d callers", n, callers)
	}
}

// The first to come may leave: the others still get in. Whoever waits may leave
// without the first.
func TestVerificationOutlivesItsFirstCaller(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	slow := make(chan struct{})
	w.tenants.set(func(f *tenants) { f.slow = slow })
	first, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := w.resolve(first, credential{token: token})
		done <- err
	}()
	poll.Until(t, "admission is asked", func() bool { return count[ubl.AdmitToken](w.tenants) == 1 })
	leave()
	if _, _, err := w.resolve(first, credential{token: token}); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("a waiting caller who left got %v", err)
	}
	close(slow)
	if err := <-done; err != nil {
		t.Errorf("the verification ended with its first caller: %v", err)
	}
	w.get(bearer(token)...).let(t)
	if n := count[ubl.AdmitToken](w.tenants); n != 1 {
		t.Errorf("admitted %d times, want once", n)
	}
}

// A panic in one verification is that caller's; the next one starts afresh.
func TestVerificationPanics(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	w.tenants.set(func(f *tenants) { f.admit = func(ubl.AdmitToken) error { panic("a bug") } })
	func() {
		defer func() { _ = recover() }()
		w.get(bearer(token)...)
		t.Error("the panic was swallowed")
	}()
	w.tenants.set(func(f *tenants) { f.admit = nil })
	w.get(bearer(token)...).let(t)
}

func TestCacheIsBounded(t *testing.T) {
	w := newWorld(t)
	w.cache.max = 3
	var tokens []string
	var streams []<-chan struct{}
	for _, name := range []string{"a", "b", "c"} {
		token, _ := w.token(t, name+"@corp.example")
		tokens = append(tokens, token)
		streams = append(streams, w.get(bearer(token)...).let(t).Revoked)
	}
	for range 100 { // bad ones take no place
		w.get(bearer("x.y.z")...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	}
	w.get(bearer(tokens[0])...).let(t)
	fresh, _ := w.token(t, "d@corp.example")
	w.get(bearer(fresh)...).let(t)

	if len(w.cache.entries) != 3 || w.cache.recent.Len() != 3 || len(w.cache.flights) != 0 {
		t.Errorf("the cache holds %d entries, %d flights", len(w.cache.entries), len(w.cache.flights))
	}
	if closed(streams[0]) || !closed(streams[1]) || closed(streams[2]) {
		t.Error("not the least recently used one went")
	}
	w.get(bearer(tokens[1])...).let(t) // and may come back
}

func TestClose(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	clientID, secret := w.serviceToken(t, "t:corp.example")
	person := w.get(bearer(token)...).let(t)
	service := w.get("CF-Access-Client-Id", clientID, "CF-Access-Client-Secret", secret).let(t)
	w.Close()
	w.Close()
	if !closed(person.Revoked) || !closed(service.Revoked) {
		t.Error("streams were not told")
	}
	poll.Until(t, "nothing is listened to", func() bool { return len(w.feed.listening()) == 0 })
	if late := w.get(bearer(token)...).let(t); !closed(late.Revoked) {
		t.Error("a credential verified after the end is remembered")
	}
}

// Credentials of long streams are asked about on a timer.
func TestStreamsAreAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Now = time.Now })
		token, known, err := w.key.Sign(TokenSpec{Email: "ann@corp.example", TTL: time.Hour, Now: time.Now(), Random: strings.NewReader("0123456789abcdef")})
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := w.resolve(t.Context(), credential{token: token})
		if err != nil {
			t.Fatal(err)
		}
		e.live.Add(1)
		time.Sleep(3*askEvery + time.Second)
		synctest.Wait()
		if n := count[ubl.AdmitToken](w.tenants); n != 4 {
			t.Errorf("asked %d times about %s in three rounds, want 4", n, known.JTI)
		}
		w.tenants.set(func(f *tenants) { f.admit = refuseToken })
		time.Sleep(askEvery)
		synctest.Wait()
		if !closed(e.revoked) {
			t.Error("its streams were not told")
		}
		w.Close()
	})
}

// A revocation that no feed told of ends the streams of a credential in use at
// the next round of questions.
func TestLostRevocation(t *testing.T) {
	w := newWorld(t)
	idle, _ := w.token(t, "bob@corp.example")
	unused := w.get(bearer(idle)...).let(t)
	token, _ := w.token(t, "ann@corp.example")
	stream := w.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.tenants.set(func(f *tenants) { f.admit = refuseToken })
		w.clock.pass(askEvery)
		w.askInUse(r.Context())
		if !closed(envelope.CallerOf(r.Context()).Revoked) {
			t.Error("a token in use was not asked about")
		}
	}))
	r := httptest.NewRequest(http.MethodGet, "/api/events", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	stream.ServeHTTP(httptest.NewRecorder(), r)
	if closed(unused.Revoked) {
		t.Error("asked about a token that nobody uses")
	}
	if n := count[ubl.AdmitToken](w.tenants); n != 3 {
		t.Errorf("asked %d times, want once for each token and once more for the stream's", n)
	}
}

func refuseToken(ubl.AdmitToken) error {
	return ubl.Errorf(ubl.CodeUnauthorized, "the token was revoked")
}
