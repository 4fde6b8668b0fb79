// Package webhook posts to the servers that webhooks tell, as Standard Webhooks says: the headers
// webhook-id, webhook-timestamp and webhook-signature, over the bytes of the body. The library of
// the standard's authors signs; this package says whom may be asked, for how long, and what comes of it.
//
// # Data
//
// None. Secrets come sealed with each message: another actor's don't open.
//
// # What fails
//
// The other server is somebody else's. It is dialled behind the portal's guard of addresses, so that
// no webhook leads inside where the operator hasn't allowed it, and no redirect is followed. It has ten
// seconds, and four posts of a tenant at a time. Others wait for these, and where a place isn't free in
// five seconds the post is refused with overloaded. One that didn't answer in time has one post at a
// time until it answers, and the others are refused at once: a post that waits holds up what else its
// tenant does outside. Of its answer only the status counts.
package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ubl"
)

// Sealer keeps secrets from whoever reads the store.
type Sealer interface {
	Seal(of ubl.Name, plain []byte) ([]byte, error)
	Open(of ubl.Name, sealed []byte) ([]byte, error)
}

// Options are what a Sender is made of. All are needed.
type Options struct {
	Sealer Sealer
	// Client is a tenant's way outside, behind a guard of addresses. It follows no redirect.
	Client func(ubl.TenantID) *http.Client
	// Random draws secrets.
	Random io.Reader
}

// Sender posts, and keeps secrets. Safe for concurrent use.
type Sender struct {
	o Options

	mu     sync.Mutex
	places map[string]*place // guarded by mu; by tenant and host
}

// place is a server of a tenant's.
type place struct {
	busy chan struct{} // has one for each post under way
	used int           // how many hold it or wait for it
	slow bool          // the newest post wasn't answered in time
}

// New makes one.
func New(o Options) *Sender { return &Sender{o: o, places: map[string]*place{}} }

// MaxURL is how long an address may be, in bytes.
const MaxURL = 2048

// Message is what is posted: at every attempt with the same id.
type Message struct {
	ID   string
	At   time.Time // of the attempt
	Body []byte    // JSON
}

const (
	timeout = 10 * time.Second
	// perHost is how many posts a server has at a time, of a tenant at a node, and patience how long
	// another one waits.
	perHost  = 4
	patience = 5 * time.Second
	// maxAnswer is how much of an answer is read, so that its connection can be used again.
	maxAnswer = 16 << 10
	// secretBytes is within the 24 to 64 that the standard asks for, prefix what its secrets begin with.
	secretBytes = 32
	prefix      = "whsec_"
)

// NewSecret draws a secret, as Standard Webhooks writes it, and seals it for an actor.
func (s *Sender) NewSecret(of ubl.Name) ([]byte, error) {
	var drawn [secretBytes]byte
	if _, err := io.ReadFull(s.o.Random, drawn[:]); err != nil {
		return nil, fmt.Errorf("couldn't draw a secret: %w", err)
	}
	return s.o.Sealer.Seal(of, []byte(prefix+base64.StdEncoding.EncodeToString(drawn[:])))
}

// Reveal opens a secret.
func (s *Sender) Reveal(of ubl.Name, sealed []byte) (string, error) {
	secret, err := s.o.Sealer.Open(of, sealed)
	return string(secret), err
}

// Check refuses an address that nothing is ever sent to. Where a name leads is checked when it is dialled.
func (s *Sender) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > MaxURL || u.Hostname() == "" || u.Opaque != "":
		return wrong("is no address of a server")
	case u.User != nil:
		return wrong("has credentials: the signature says who sends")
	case u.Fragment != "":
		return wrong("has a fragment, which is never sent")
	case u.Scheme == "https", u.Scheme == "http" && inside(u.Hostname()):
		return nil
	}
	return wrong("begins with https; http only to this machine, or to a private network's address in figures")
}

func inside(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (ip.Unmap().IsLoopback() || ip.Unmap().IsPrivate())
}

func wrong(what string) error {
	err := ubl.Errorf(ubl.CodeValidation, "the url %s", what)
	err.Details = map[string]string{"url": what}
	return err
}

// Deliver posts a message, signed with each of the secrets, and answers the status that the other
// server gave. Unavailable says that there was none, overloaded that nothing was posted. No error
// says the address, which may have a secret.
func (s *Sender) Deliver(ctx context.Context, of ubl.Name, to string, sealed [][]byte, m Message) (int, error) {
	tenant := of.Group().Tenant
	u, err := url.Parse(to)
	if err != nil {
		return 0, wrong("is no address of a server")
	}
	done, err := s.take(ctx, string(tenant)+" "+strings.ToLower(u.Host))
	if err != nil {
		return 0, err
	}
	defer func() { done(errors.Is(ctx.Err(), context.DeadlineExceeded)) }()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(m.Body))
	if err != nil {
		return 0, wrong("is no address of a server")
	}
	signature, err := s.sign(of, sealed, m)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "UBL-Webhooks/1")
	r.Header.Set(standardwebhooks.HeaderWebhookID, m.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(m.At.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	answer, err := s.o.Client(tenant).Do(r)
	if err != nil {
		return 0, ubl.Errorf(ubl.CodeUnavailable, "couldn't reach the server, or this server may not: an operator allows private networks")
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return answer.StatusCode, nil
}

// sign is a signature by each secret, between blanks.
func (s *Sender) sign(of ubl.Name, sealed [][]byte, m Message) (string, error) {
	var all []string
	for _, one := range sealed {
		secret, err := s.Reveal(of, one)
		if err != nil {
			return "", err
		}
		key, err := standardwebhooks.NewWebhook(secret)
		if err != nil { // which may say what is wrong with it
			return "", ubl.Errorf(ubl.CodeInternal, "a secret can't be read")
		}
		signature, err := key.Sign(m.ID, m.At, m.Body)
		if err != nil {
			return "", err
		}
		all = append(all, signature)
	}
	return strings.Join(all, " "), nil
}

// take waits for a place at a server, which done gives back and says whether the server was slow.
func (s *Sender) take(ctx context.Context, at string) (done func(slow bool), err error) {
	s.mu.Lock()
	p := s.places[at]
	if p == nil {
		p = &place{busy: make(chan struct{}, perHost)}
		s.places[at] = p
	}
	refused := p.slow && p.used > 0
	if !refused {
		p.used++
	}
	s.mu.Unlock()
	full := ubl.Errorf(ubl.CodeOverloaded, "the server is slow: enough is under way there")
	if refused {
		return nil, full
	}
	leave := func(slow bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.slow = slow
		if p.used--; p.used == 0 && !p.slow {
			delete(s.places, at)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case p.busy <- struct{}{}:
		return func(slow bool) { <-p.busy; leave(slow) }, nil
	case <-ctx.Done():
		leave(true)
		return nil, full
	}
}
