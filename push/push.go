// Package push reaches browsers by Web Push: RFC 8030, encrypted by RFC 8291, with the sender known
// by RFC 8292 (VAPID). The library webpush-go encrypts and signs; this package says who may be
// asked, for how long, and what an answer means.
//
// # Data
//
// None. A person's private key comes with each push, sealed by a node for that person: another
// name's doesn't open. Its public half is what the browser has subscribed with.
//
// # What fails
//
// A push service is another party's. Its address is dialled behind the portal's guard, so that
// no subscription leads inside. It has ten seconds, and four of the node's pushes at a time: one
// that is slow is refused more with overloaded, while the others are asked. 404 and 410 are not_found,
// which ends the subscription. 429 and 5xx are tried again, and anything else is final.
package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"ubl"
)

// Sealer keeps private keys from whoever reads the store.
type Sealer interface {
	Seal(of ubl.Name, plain []byte) ([]byte, error)
	Open(of ubl.Name, sealed []byte) ([]byte, error)
}

// Options are what a Service is made of. All are needed.
type Options struct {
	Sealer Sealer
	// Client is a tenant's way to push services, behind a guard of addresses.
	Client func(ubl.TenantID) *http.Client
	// Contact is an https URL or a mail address, by which a push service reaches who runs the server.
	Contact string
	// AllowHTTP lets push services be without TLS.
	AllowHTTP bool
}

// Service implements [ubl.Pusher].
type Service struct {
	o Options

	mu    sync.Mutex
	hosts map[string]int // pushes under way, by push service
}

// New makes one.
func New(o Options) *Service { return &Service{o: o, hosts: map[string]int{}} }

const (
	timeout = 10 * time.Second
	// perHost is how many pushes a push service has at a time, of a node.
	perHost = 4
	maxURL  = 2048
	// maxAnswer is how much of an answer is read, so that its connection can be used again.
	maxAnswer = 16 << 10
)

// NewKey implements [ubl.Pusher].
func (s *Service) NewKey(of ubl.Name) (public string, sealed []byte, err error) {
	private, public, err := webpush.GenerateVAPIDKeys()
	if err == nil {
		sealed, err = s.o.Sealer.Seal(of, []byte(private))
	}
	if err != nil {
		return "", nil, fmt.Errorf("couldn't make a key for pushes: %w", err)
	}
	return public, sealed, nil
}

// Check implements [ubl.Pusher].
func (s *Service) Check(sub ubl.Subscription) error {
	u, err := url.Parse(sub.Endpoint)
	switch {
	case err != nil || len(sub.Endpoint) > maxURL || u.Hostname() == "" || u.Opaque != "" || u.User != nil || u.Fragment != "":
		return wrong("endpoint", "is no address of a push service")
	case u.Scheme != "https" && (u.Scheme != "http" || !s.o.AllowHTTP):
		return wrong("endpoint", "begins with https")
	}
	key, err := decode(sub.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return wrong("p256dh", "is no public key of a browser")
	}
	if auth, err := decode(sub.Auth); err != nil || len(auth) != 16 {
		return wrong("auth", "is no secret of a browser")
	}
	return nil
}

// decode reads base64url, with or without its padding.
func decode(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}

func wrong(field, what string) error {
	err := ubl.Errorf(ubl.CodeValidation, "%s %s", field, what)
	err.Details = map[string]string{field: what}
	return err
}

// Push implements [ubl.Pusher].
func (s *Service) Push(ctx context.Context, of ubl.Name, public string, sealed []byte, to ubl.Subscription, p ubl.Push) error {
	u, err := url.Parse(to.Endpoint)
	if err != nil {
		return wrong("endpoint", "is no address of a push service")
	}
	if !s.take(u.Host) {
		return ubl.Errorf(ubl.CodeOverloaded, "the push service is slow: enough is under way there")
	}
	defer s.give(u.Host)
	private, err := s.o.Sealer.Open(of, sealed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	urgency := webpush.UrgencyLow
	if p.Urgent {
		urgency = webpush.UrgencyHigh
	}
	answer, err := webpush.SendNotificationWithContext(ctx, p.Payload, &webpush.Subscription{
		Endpoint: to.Endpoint, Keys: webpush.Keys{Auth: to.Auth, P256dh: to.P256dh},
	}, &webpush.Options{
		HTTPClient: s.o.Client(of.Group().Tenant), Subscriber: s.o.Contact, Topic: p.Topic, TTL: int(p.TTL / time.Second), Urgency: urgency,
		VAPIDPublicKey: public, VAPIDPrivateKey: string(private),
	})
	if err != nil { // which names the endpoint, a secret: whoever has it can push there
		return ubl.Errorf(ubl.CodeUnavailable, "couldn't reach the push service")
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return meaning(answer)
}

// meaning is what a push service's answer says.
func meaning(answer *http.Response) error {
	code := answer.StatusCode
	switch {
	case code < http.StatusMultipleChoices:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		return ubl.Errorf(ubl.CodeNotFound, "the push service says that the subscription has ended")
	case code == http.StatusTooManyRequests:
		err := ubl.Errorf(ubl.CodeRateLimited, "the push service asks for a pause")
		if seconds, bad := strconv.Atoi(answer.Header.Get("Retry-After")); bad == nil && seconds > 0 {
			err = err.Later(time.Duration(seconds) * time.Second)
		}
		return err
	case code >= http.StatusInternalServerError:
		return ubl.Errorf(ubl.CodeUnavailable, "the push service answered %d", code)
	}
	return ubl.Errorf(ubl.CodeForbidden, "the push service refused it with %d", code)
}

func (s *Service) take(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts[host] >= perHost {
		return false
	}
	s.hosts[host]++
	return true
}

func (s *Service) give(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts[host]--; s.hosts[host] == 0 {
		delete(s.hosts, host)
	}
}
