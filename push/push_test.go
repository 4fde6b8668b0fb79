package push_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
	"ubl/push"
	"ubl/test/poll"
	"ubl/test/webpush"
)

const ana ubl.Name = "t:example.com|p:ana"

func keys() [][]byte { return [][]byte{[]byte(strings.Repeat("k", 32))} }

func service(client *http.Client) *push.Service {
	return push.New(push.Options{
		Sealer: portal.NewKeeper("push key", keys, rand.Reader), Client: func(ubl.TenantID) *http.Client { return client }, Contact: "https://ubl.example",
	})
}

// TestPush: a push reaches a browser, which knows by whom it was sent and can read it.
func TestPush(t *testing.T) {
	at := webpush.New(t)
	s := service(at.Client())
	public, sealed, err := s.NewKey(ana)
	if err != nil || strings.Contains(string(sealed), public) {
		t.Fatal(err)
	}
	sub := at.Subscribe(t, "phone", public)
	if err := s.Check(sub); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ж", 1500)
	for _, payload := range []string{"hello", "", long} {
		if err := s.Push(t.Context(), ana, public, sealed, sub, ubl.Push{Payload: []byte(payload), Topic: "room", TTL: time.Hour, Urgent: true}); err != nil {
			t.Fatal(err)
		}
		got := at.Take()
		if len(got) != 1 || string(got[0].Payload) != payload || got[0].Topic != "room" || got[0].TTL != "3600" || got[0].Urgency != "high" {
			t.Errorf("the browser got %+v", got)
		}
	}
	if err := s.Push(t.Context(), "t:example.com|p:bob", public, sealed, sub, ubl.Push{}); err == nil {
		t.Error("the key of one person opens for another")
	}
}

// TestAnswers: what the answers of push services mean.
func TestAnswers(t *testing.T) {
	at := webpush.New(t)
	s := service(at.Client())
	public, sealed, err := s.NewKey(ana)
	if err != nil {
		t.Fatal(err)
	}
	sub := at.Subscribe(t, "phone", public)
	for status, want := range map[int]ubl.Code{
		201: "", 202: "", 404: ubl.CodeNotFound, 410: ubl.CodeNotFound, 429: ubl.CodeRateLimited, 500: ubl.CodeUnavailable, 503: ubl.CodeUnavailable,
		400: ubl.CodeForbidden, 403: ubl.CodeForbidden, 413: ubl.CodeForbidden, 302: ubl.CodeForbidden,
	} {
		at.Refuse(func(string) int { return status })
		err := s.Push(t.Context(), ana, public, sealed, sub, ubl.Push{})
		if ubl.CodeOf(err) != want || err != nil && strings.Contains(err.Error(), sub.Endpoint) {
			t.Errorf("%d is %v, want %q", status, err, want)
		}
	}
}

// TestSlowServiceHoldsNobody: while a push service hangs it has few pushes, and others have theirs.
func TestSlowServiceHoldsNobody(t *testing.T) {
	slow, quick := webpush.New(t), webpush.New(t)
	client := &http.Client{Transport: insecure(slow, quick)}
	s := service(client)
	public, sealed, err := s.NewKey(ana)
	if err != nil {
		t.Fatal(err)
	}
	held, release := make(chan struct{}, 100), make(chan struct{})
	slow.Refuse(func(string) int {
		held <- struct{}{}
		<-release
		return http.StatusServiceUnavailable
	})
	hangs, other := slow.Subscribe(t, "a", public), quick.Subscribe(t, "b", public)
	ended := make(chan error, 100)
	for range 4 {
		go func() { ended <- s.Push(context.Background(), ana, public, sealed, hangs, ubl.Push{}) }()
	}
	poll.Until(t, "four hang", func() bool { return len(held) == 4 })
	if err := s.Push(t.Context(), ana, public, sealed, hangs, ubl.Push{}); ubl.CodeOf(err) != ubl.CodeOverloaded {
		t.Errorf("a fifth is answered %v", err)
	}
	if err := s.Push(t.Context(), ana, public, sealed, other, ubl.Push{Payload: []byte("x")}); err != nil || len(quick.Take()) != 1 {
		t.Errorf("another service's push is held: %v", err)
	}
	close(release)
	for range 4 {
		if err := <-ended; ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("one that hung is answered %v", err)
		}
	}
}

// insecure reaches either service with its own certificate.
func insecure(services ...*webpush.Service) http.RoundTripper {
	return tripper(func(r *http.Request) (*http.Response, error) {
		for _, s := range services {
			if strings.HasSuffix(s.URL, r.URL.Host) {
				return s.Client().Transport.RoundTrip(r)
			}
		}
		return nil, errors.New("no such service")
	})
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestGuard: no subscription leads inside, whatever its address says, and what is no subscription
// is refused by its field.
func TestGuard(t *testing.T) {
	at := webpush.New(t)
	s := service(portal.GuardedClient(nil, time.Second, slog.New(slog.DiscardHandler)))
	public, sealed, err := s.NewKey(ana)
	if err != nil {
		t.Fatal(err)
	}
	sub := at.Subscribe(t, "phone", public)
	if err := s.Push(t.Context(), ana, public, sealed, sub, ubl.Push{}); ubl.CodeOf(err) != ubl.CodeUnavailable || len(at.Take()) > 0 {
		t.Errorf("a push to this machine is answered %v", err)
	}
	for field, change := range map[string]func(*ubl.Subscription){
		"endpoint": func(s *ubl.Subscription) { s.Endpoint = "http://push.example/1" },
		"p256dh":   func(s *ubl.Subscription) { s.P256dh = "AAAA" },
		"auth":     func(s *ubl.Subscription) { s.Auth = "AAAA" },
	} {
		wrong := sub
		change(&wrong)
		if e := ubl.AsError(s.Check(wrong)); e == nil || e.Code != ubl.CodeValidation || e.Details[field] == "" {
			t.Errorf("a wrong %s is answered %v", field, e)
		}
	}
}
