package auth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/panics"
	"ubl/transport/envelope"
)

const (
	// maxEntries is how many credentials are remembered.
	maxEntries = 10_000
	// askTimeout bounds the verification of a credential and every question
	// about it, whoever waits for them.
	askTimeout = 5 * time.Second
)

// Options says who is let in. Key, Asker and Feed are needed.
type Options struct {
	// Key is the node's own.
	Key *Key
	// Issuers are the OpenID Connect providers; subjects of the first one keep
	// their names as user ids.
	Issuers []Issuer
	// Operators are the addresses that belong to tenant 0.
	Operators []string
	// FirstOwner is the address of the one person who may do what operators do without
	// being in tenant 0, "" for nobody: the owner of a node alone that only its own machine
	// reaches. It counts for whom this node itself vouches for.
	FirstOwner string
	// Owner is the address that the node was started for. Holders of the key are told it.
	Owner string
	// Domains are the mail domains that the operator of this node gave to tenants, in
	// lower case; [ubl.LocalDomain] is among them unless it is given to another.
	Domains map[string]ubl.TenantID
	// PublicURL is where browsers reach the server, "" for this machine alone.
	// Where it is https, cookies travel under TLS only.
	PublicURL string
	// Asker reaches the tenants, Feed tells what their ledgers say.
	Asker ubl.Asker
	Feed  ubl.Feed
	// Now is the clock; nil for the machine's.
	Now func() time.Time
	// HTTPClient fetches providers' keys; nil for a plain one. Its timeout is
	// cut to 5 seconds.
	HTTPClient *http.Client
	// PrintLink shows the operator of this node a sign-in link that a person has asked
	// for who has neither passkey nor provider; nil where nobody would see it. The path
	// is all of the link but the server.
	PrintLink func(email, path string)
	// Count counts a write of somebody by a rate, or refuses it where there were too
	// many; nil counts nothing.
	Count func(who ubl.Identity, rate ubl.Rate) error
	// Logger takes the reasons of refusals, at debug level; nil for none.
	Logger *slog.Logger
	// Panics catches what panics over one credential.
	Panics *panics.Catcher
	// Random draws the ids of sessions, and what makes this node's questions
	// unique; nil for crypto/rand.
	Random io.Reader
}

// Authenticator finds out who is calling. It is safe for concurrent use.
type Authenticator struct {
	keys      atomic.Pointer[Key]
	providers map[string]*provider // by issuer URL
	clients   []*provider          // those that people sign in at, as configured
	oidcBack  string               // where those send browsers back to
	operators []string
	first     string // the address of the first owner, who operates a node alone
	owner     string // whom the node proves to holders of its key that it was started for
	domains   map[string]ubl.TenantID
	asker     ubl.Asker
	feed      ubl.Feed
	now       func() time.Time
	log       *slog.Logger
	random    io.Reader
	cookies   cookies
	sites     *http.CrossOriginProtection
	origin    string    // that of the public URL, "" for none
	passkeys  *passkeys // nil where browsers have none
	printLink func(email, path string)
	printed   printed
	count     func(ubl.Identity, ubl.Rate) error

	panics *panics.Catcher
	cache  *cache
	homes  homes
	// prefix and count make the idempotency key of each question. A client's own
	// key must not serve: its stored outcome would outlive a revocation.
	prefix string
	asked  atomic.Int64

	stop      context.CancelFunc
	leave     func() // the core ledger's feed
	running   sync.WaitGroup
	closeOnce sync.Once
}

func (a *Authenticator) key() *Key { return a.keys.Load() }

// New starts an Authenticator; Close ends it. It does not go out to providers.
func New(o Options) (*Authenticator, error) {
	if o.Key == nil || o.Asker == nil || o.Feed == nil {
		return nil, errors.New("auth needs a key, an asker and a feed")
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	var prefix [8]byte
	if _, err := io.ReadFull(o.Random, prefix[:]); err != nil {
		return nil, fmt.Errorf("couldn't draw a prefix: %w", err)
	}
	a := &Authenticator{
		providers: map[string]*provider{},
		operators: slices.Clone(o.Operators),
		first:     o.FirstOwner,
		owner:     o.Owner,
		domains:   ownDomains(o.Domains),
		asker:     o.Asker,
		feed:      o.Feed,
		now:       o.Now,
		log:       o.Logger,
		random:    o.Random,
		cookies:   cookiesFor(o.PublicURL),
		oidcBack:  strings.TrimSuffix(o.PublicURL, "/") + oidcBack,
		cache:     newCache(maxEntries, o.Panics),
		panics:    o.Panics,
		printLink: o.PrintLink,
		count:     o.Count,
		prefix:    "auth:" + hex.EncodeToString(prefix[:]) + ":",
	}
	a.keys.Store(o.Key)
	var err error
	if a.sites, a.origin, err = ownSite(o.PublicURL); err != nil {
		return nil, err
	}
	if a.passkeys, err = newPasskeys(o.PublicURL); err != nil {
		return nil, err
	}
	for n, i := range o.Issuers {
		p, err := newProvider(i, n == 0, &o)
		if err != nil {
			return nil, fmt.Errorf("couldn't use issuer %d: %w", n+1, err)
		}
		if a.providers[i.URL] != nil {
			return nil, fmt.Errorf("couldn't use issuer %d: it is configured twice", n+1)
		}
		a.providers[i.URL] = p
		if i.ClientID != "" {
			a.clients = append(a.clients, p)
		}
	}
	a.start()
	return a, nil
}

// ownSite tells this server's pages from other sites', also where a proxy in
// front has changed the Host.
func ownSite(publicURL string) (sites *http.CrossOriginProtection, origin string, err error) {
	sites = http.NewCrossOriginProtection()
	u, err := url.Parse(publicURL)
	if err == nil && u.Host != "" {
		origin = u.Scheme + "://" + u.Host
		err = sites.AddTrustedOrigin(origin)
	}
	if err != nil {
		return nil, "", fmt.Errorf("couldn't use the public URL: %w", err)
	}
	return sites, origin, nil
}

// operator reports whether an address belongs to tenant 0.
func (a *Authenticator) operator(email string) bool {
	return slices.ContainsFunc(a.operators, func(op string) bool { return ubl.SameEmail(op, email) })
}

// runs reports whether somebody runs the platform by this node's word.
func (a *Authenticator) runs(who ubl.Identity) bool {
	return who.TenantID == ubl.CoreTenant && !who.IsService && !who.Unproven && a.operator(who.Email)
}

// operates reports whether somebody is the first owner of a node alone, by its own word: a
// provider or an invitation that names the same address makes nobody that.
func (a *Authenticator) operates(who ubl.Identity) bool {
	return a.first != "" && !who.IsService && !who.Unproven && who.Issuer == LocalIssuer && ubl.SameEmail(who.Email, a.first)
}

// fill puts defaults where nothing was said.
func (o *Options) fill() error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Count == nil {
		o.Count = func(ubl.Identity, ubl.Rate) error { return nil }
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for n, op := range o.Operators {
		if !validEmail(op) {
			return fmt.Errorf("operator %d is not an email address", n+1)
		}
	}
	return nil
}

func (a *Authenticator) start() {
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	a.homes = homes{feed: a.feed, heard: a.heard, open: map[ubl.TenantID]*listening{}}
	a.leave = a.feed.Subscribe(ubl.LedgerName(ubl.CoreTenant), a.heard, heardOf...)
	a.panics.Go(&a.running, "asking about credentials", func() { a.askAgain(ctx) })
}

// Close stops listening and forgets every credential. Streams that still run
// see their Revoked channel closed.
func (a *Authenticator) Close() {
	a.closeOnce.Do(func() {
		a.stop()
		a.leave()
		a.running.Wait()
		a.cache.clear()
		for _, p := range a.providers {
			p.client.CloseIdleConnections()
		}
	})
}

// Authenticate finds out who sent r and lets their tenant know them. Errors are
// [ubl.Error]: unauthorized for credentials that are missing or wrong, what the
// tenant said otherwise.
func (a *Authenticator) Authenticate(ctx context.Context, r *http.Request) (*envelope.Caller, error) {
	caller, _, err := a.authenticate(ctx, r, programs, "")
	if err == nil {
		_, err = caller.Enter(ctx)
	}
	if err != nil {
		return nil, err
	}
	return caller, nil
}

// authenticate finds out who sent r. at is the URL whose access tokens of agents count, "" for none.
func (a *Authenticator) authenticate(ctx context.Context, r *http.Request, find finder, at string) (*envelope.Caller, *entry, error) {
	c, err := find(r)
	if err != nil {
		return nil, nil, err
	}
	e, who, err := a.resolve(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if e.resource != "" && e.resource != at {
		return nil, nil, badToken("the token is for another address than this one")
	}
	act := r.Method != http.MethodGet && r.Method != http.MethodHead
	caller := &envelope.Caller{Identity: who, TokenID: e.id, ExpiresAt: e.expires, Revoked: e.revoked, Operates: a.operates(who), OneAddress: e.resource != ""}
	if e.ask != nil {
		caller.Holds = func(ctx context.Context) error {
			_, err := e.ask(ctx)
			return refusal(err)
		}
	}
	if e.session != nil {
		caller.Session, caller.ProvedAt = true, e.session.provedAt()
	}
	caller.Enters(ubl.Enter{Request: a.request(ctx, caller.Identity), Name: e.name, Act: act, Operator: a.runs(e.identity)}, a.asker)
	return caller, e, nil
}

// request is the head of a question that this package asks for a caller.
func (a *Authenticator) request(ctx context.Context, who ubl.Identity) ubl.Request {
	key := a.prefix + strconv.FormatInt(a.asked.Add(1), 36)
	id := envelope.RequestOf(ctx).ID
	if id == "" { // asked in the background
		id = key
	}
	return ubl.Request{Who: who, ID: id, Key: key}
}
