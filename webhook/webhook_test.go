package webhook_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ubl"
	"ubl/webhook"
)

// bound keeps nothing secret, but opens only for whom it was sealed.
type bound struct{}

func (bound) Seal(of ubl.Name, plain []byte) ([]byte, error) {
	return append([]byte(string(of)+"\n"), plain...), nil
}

func (bound) Open(of ubl.Name, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(string(of)+"\n"))
	if !ok {
		return nil, errors.New("sealed for another one")
	}
	return plain, nil
}

func sender() *webhook.Sender {
	return webhook.New(webhook.Options{
		Sealer: bound{}, Random: rand.Reader,
		Client: func(ubl.TenantID) *http.Client {
			return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		},
	})
}

var (
	ours   = ubl.Name("t:acme|tail|webhooks")
	theirs = ubl.Name("t:other|tail|webhooks")
)

// TestDeliver has the standard's own verifier read what arrives: with the new secret, with the one
// before, and with none of somebody else's.
func TestDeliver(t *testing.T) {
	s := sender()
	newer, err := s.NewSecret(ours)
	if err != nil {
		t.Fatal(err)
	}
	older, _ := s.NewSecret(ours)
	stranger, _ := s.NewSecret(ours)
	body := []byte(`{"type":"webhook.test"}`)
	var header http.Header
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		got, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	status, err := s.Deliver(context.Background(), ours, server.URL, [][]byte{newer, older}, webhook.Message{ID: "msg_1", At: time.Now(), Body: body})
	if err != nil || status != http.StatusAccepted {
		t.Fatalf("answered %d, %v", status, err)
	}
	if !bytes.Equal(got, body) || header.Get("webhook-id") != "msg_1" {
		t.Errorf("arrived: %s, %v", got, header)
	}
	for _, c := range []struct {
		name   string
		sealed []byte
		body   []byte
		ok     bool
	}{
		{"the new secret", newer, got, true},
		{"the secret before", older, got, true},
		{"another secret", stranger, got, false},
		{"another body", newer, []byte(`{}`), false},
	} {
		secret, err := s.Reveal(ours, c.sealed)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(c.body, header); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestSecretsAreBound: another tenant's actor signs nothing with a secret, and nothing is posted.
func TestSecretsAreBound(t *testing.T) {
	s := sender()
	sealed, err := s.NewSecret(ours)
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	if _, err := s.Deliver(context.Background(), theirs, server.URL, [][]byte{sealed}, webhook.Message{ID: "msg_1", At: time.Now()}); err == nil || asked {
		t.Errorf("posted for another tenant: %v, %v", err, asked)
	}
}

// TestFailuresTellNothing: a redirect is an answer like any other, and an error has no address.
func TestFailuresTellNothing(t *testing.T) {
	s := sender()
	sealed, err := s.NewSecret(ours)
	if err != nil {
		t.Fatal(err)
	}
	followed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		followed = followed || r.URL.Path == "/elsewhere"
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	m := webhook.Message{ID: "msg_1", At: time.Now(), Body: []byte(`{}`)}
	status, err := s.Deliver(context.Background(), ours, server.URL, [][]byte{sealed}, m)
	if err != nil || status != http.StatusTemporaryRedirect || followed {
		t.Errorf("a redirect: %d, %v, followed: %v", status, err, followed)
	}
	server.Close()
	_, err = s.Deliver(context.Background(), ours, server.URL+"/hidden-token", [][]byte{sealed}, m)
	if ubl.CodeOf(err) != ubl.CodeUnavailable || strings.Contains(err.Error(), "hidden-token") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestPlaces: a server that is slow has four posts of a tenant at a time. Others wait for a place,
// and those of another tenant have their own.
func TestPlaces(t *testing.T) {
	s := sender()
	there, leave := make(chan struct{}, 16), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		there <- struct{}{}
		<-leave
	}))
	defer server.Close()
	var all sync.WaitGroup
	post := func(of ubl.Name) {
		sealed, err := s.NewSecret(of)
		if err != nil {
			t.Error(err)
			return
		}
		all.Go(func() {
			status, err := s.Deliver(context.Background(), of, server.URL, [][]byte{sealed}, webhook.Message{ID: "msg_1", At: time.Now(), Body: []byte(`{}`)})
			if err != nil || status != http.StatusOK {
				t.Errorf("of %s: %d, %v", of, status, err)
			}
		})
	}
	for range 6 {
		post(ours)
	}
	for range 4 {
		<-there
	}
	post(theirs)
	<-there
	if len(there) > 0 {
		t.Error("a fifth post of a tenant is under way")
	}
	close(leave)
	all.Wait()
}

// hanging answers nobody until it is mended.
type hanging struct{ mended atomic.Bool }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.mended.Load() {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSlow: a server that didn't answer in time has one post at a time, and others are refused at
// once, until it answers.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &hanging{}
		s := webhook.New(webhook.Options{
			Sealer: bound{}, Random: rand.Reader,
			Client: func(ubl.TenantID) *http.Client { return &http.Client{Transport: server} },
		})
		sealed, err := s.NewSecret(ours)
		if err != nil {
			t.Fatal(err)
		}
		post := func(want ubl.Code, within time.Duration) {
			t.Helper()
			began := time.Now()
			_, err := s.Deliver(t.Context(), ours, "https://hooks.example", [][]byte{sealed}, webhook.Message{ID: "msg_1", At: began, Body: []byte(`{}`)})
			if took := time.Since(began); ubl.CodeOf(err) != want || took > within {
				t.Errorf("after %v: %v, want %q within %v", took, err, want, within)
			}
		}
		post(ubl.CodeUnavailable, 10*time.Second)
		go post(ubl.CodeUnavailable, 10*time.Second)
		synctest.Wait()
		post(ubl.CodeOverloaded, 0)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		server.mended.Store(true)
		var all sync.WaitGroup
		post("", 0)
		for range 8 {
			all.Go(func() { post("", 0) })
		}
		all.Wait()
	})
}

func TestCheck(t *testing.T) {
	s := sender()
	for address, ok := range map[string]bool{
		"https://hooks.example/ubl?key=1": true,
		"http://127.0.0.1:8080/":          true, // whether it is dialled says the operator
		"http://hooks.example/":           false,
		"https://user:pw@hooks.example/":  false,
		"https://hooks.example/#part":     false,
		"ftp://hooks.example/":            false,
		"https:hooks.example":             false,
		"":                                false,
		"https://hooks.example/" + strings.Repeat("a", webhook.MaxURL): false,
	} {
		if err := s.Check(address); (err == nil) != ok {
			t.Errorf("%.60q: %v", address, err)
		} else if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("%.60q is told again: %v", address, err)
		}
	}
}
