package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// world is an Authenticator with scripted tenants, a feed and a clock.
type world struct {
	*Authenticator
	key     *Key
	tenants *tenants
	feed    *feed
	clock   *clock
}

// newWorld starts a world; change edits its options.
func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	key, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{key: key, tenants: &tenants{}, feed: &feed{sinks: map[int]sink{}}, clock: &clock{now: time.Now().Truncate(time.Second)}}
	o := Options{Key: key, Asker: w.tenants, Feed: w.feed, Now: w.clock.Now, Operators: []string{"root@ops.example"},
		Domains: map[string]ubl.TenantID{"corp.example": "t:corp.example", "trusted.example": "t:trusted.example"}}
	for _, c := range change {
		c(&o)
	}
	if w.Authenticator, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// token makes a good platform token of an hour.
func (w *world) token(t testing.TB, email string) (string, ubl.PlatformToken) {
	t.Helper()
	token, known, err := w.key.Sign(TokenSpec{Email: email, TTL: time.Hour, Now: w.clock.Now(), Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return token, known
}

// answer is what a request got: the caller that the handler saw, or an error.
type answer struct {
	caller    *envelope.Caller
	status    int
	code      ubl.Code
	message   string
	challenge string
}

// get sends a request with the headers, given as name, value, name, value.
func (w *world) get(headers ...string) answer { return w.do(http.MethodGet, headers...) }

func (w *world) do(method string, headers ...string) answer {
	return w.at(w.Middleware, method, "/api/whoami", headers...)
}

// at is do of any place, behind any middleware.
func (w *world) at(middleware func(http.Handler) http.Handler, method, url string, headers ...string) answer {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	r = r.WithContext(envelope.WithRequest(r.Context(), &envelope.Request{ID: "req:test", Key: "client-key"}))
	var a answer
	rec := httptest.NewRecorder()
	middleware(http.HandlerFunc(func(rec http.ResponseWriter, r *http.Request) {
		c := envelope.CallerOf(r.Context())
		if _, err := c.Enter(r.Context()); err != nil { // as any handler does
			envelope.WriteError(rec, r, err)
			return
		}
		a.caller = c
	})).ServeHTTP(rec, r)
	a.status, a.challenge = rec.Code, rec.Header().Get("WWW-Authenticate")
	if a.caller == nil {
		var body envelope.ErrorBody
		if err := json.Unmarshal(rec.Body.Bytes(), &body); err == nil {
			a.code, a.message = body.Error.Code, body.Error.Message
		}
	}
	return a
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// let asserts that the request came through, and returns its caller.
func (a answer) let(t testing.TB) *envelope.Caller {
	t.Helper()
	if a.caller == nil {
		t.Fatalf("refused with %d %s: %s", a.status, a.code, a.message)
	}
	return a.caller
}

// refused asserts a status and a code.
func (a answer) refused(t testing.TB, status int, code ubl.Code) answer {
	t.Helper()
	if a.caller != nil {
		t.Fatalf("let in as %+v, want %d %s", a.caller.Identity, status, code)
	}
	if a.status != status || a.code != code {
		t.Fatalf("got %d %s (%s), want %d %s", a.status, a.code, a.message, status, code)
	}
	if (status == http.StatusUnauthorized) != (a.challenge != "") {
		t.Fatalf("status %d with WWW-Authenticate %q", status, a.challenge)
	}
	return a
}

// asked is one question to a tenant.
type asked struct {
	to  ubl.Name
	cmd ubl.Command
}

// tenants stands in for the Tenant actors: everyone who comes is a member, and
// tokens are good until the script says otherwise.
type tenants struct {
	mu      sync.Mutex
	log     []asked
	admit   func(ubl.AdmitToken) error
	enter   func(ubl.Enter) error
	offer   func(ubl.OfferLink) error
	find    func(ubl.FindLink) (*ubl.OneTimeLink, error)
	secret  map[string]string // client id → hash
	mandate *ubl.Mandate      // of each service
	agent   func(ubl.CheckAgent) (*ubl.ServiceCaller, error)
	revoke  error         // RevokeTokens's answer
	down    error         // every answer, where set
	slow    chan struct{} // AdmitToken waits for it, where set
}

func (f *tenants) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if c, ok := cmd.(ubl.FindHome); ok && to == ubl.TenantName(ubl.CoreTenant) {
		return f.home(c)
	}
	if _, ok := cmd.(ubl.FindStanding); ok {
		return &ubl.Standing{Member: true}, nil
	}
	f.mu.Lock()
	f.log = append(f.log, asked{to, cmd})
	admit, enter, slow, down, revoke := f.admit, f.enter, f.slow, f.down, f.revoke
	offer, find := f.offer, f.find
	f.mu.Unlock()
	if down != nil {
		return nil, down
	}
	switch c := cmd.(type) {
	case ubl.AdmitToken:
		if slow != nil {
			select {
			case <-slow:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if admit != nil {
			return nil, admit(c)
		}
		return nil, nil
	case ubl.Enter:
		if enter != nil {
			if err := enter(c); err != nil {
				return nil, err
			}
		}
		return &ubl.Entered{TenantID: c.Who.TenantID, Role: ubl.RoleMember}, nil
	case ubl.CheckServiceToken:
		return f.checkService(c)
	case ubl.CheckAgent:
		return f.agent(c)
	case ubl.OfferLink:
		return nil, offer(c)
	case ubl.FindLink:
		return find(c)
	case ubl.RevokeToken:
		return nil, nil
	case ubl.RevokeTokens:
		return 0, revoke
	}
	return nil, ubl.Errorf(ubl.CodeInternal, "no such command")
}

// home is where tenant 0 says that people belong who are in no tenant yet.
func (f *tenants) home(c ubl.FindHome) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	return &ubl.Home{TenantID: cmp.Or(c.Configured, ubl.PersonalTenant(c.Who.UserID)), UserID: c.Who.UserID}, nil
}

func (f *tenants) checkService(c ubl.CheckServiceToken) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hash, ok := f.secret[c.ClientID]; !ok || hash != c.SecretHash {
		return nil, ubl.Errorf(ubl.CodeUnauthorized, "no such service token")
	}
	// No tenant: the field is not part of an identity's JSON, so it may be lost
	// on the way from another node.
	return &ubl.ServiceCaller{Identity: ubl.Identity{UserID: "u:bot", IsService: true, Mandate: f.mandate}}, nil
}

// set changes the script.
func (f *tenants) set(change func(*tenants)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// count is how often a command of this type was asked.
func count[C ubl.Command](f *tenants) int { return len(all[C](f)) }

// all lists the commands of this type.
func all[C ubl.Command](f *tenants) []C {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []C
	for _, a := range f.log {
		if c, ok := a.cmd.(C); ok {
			out = append(out, c)
		}
	}
	return out
}

// silent asserts that nothing was asked since the last silent.
func (f *tenants) silent(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.log {
		t.Errorf("asked %s of %s", reflect.TypeOf(a.cmd), a.to)
	}
	f.log = nil
}

type sink struct {
	to    ubl.Name
	fn    func(ubl.Publication)
	kinds []string
}

// feed stands in for the actors' publications.
type feed struct {
	mu    sync.Mutex
	last  int
	sinks map[int]sink
}

func (f *feed) Subscribe(to ubl.Name, fn func(ubl.Publication), kinds ...string) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	n := f.last
	f.sinks[n] = sink{to, fn, kinds}
	return func() {
		f.mu.Lock() // waits for a publication under way, as a real feed may
		defer f.mu.Unlock()
		delete(f.sinks, n)
	}
}

// revoke publishes token.revoked in a tenant's ledger.
func (f *feed) revoke(tenant ubl.TenantID, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sinks {
		if s.to == ubl.LedgerName(tenant) && slices.Contains(s.kinds, ubl.EventTokenRevoked) {
			s.fn(ubl.Publication{First: 1, Last: 2, Events: []ubl.Event{
				{Kind: ubl.EventMessageCreated, TenantID: tenant, TokenID: id},
				{Kind: ubl.EventTokenRevoked, TenantID: tenant, TokenID: id},
			}})
		}
	}
}

// listening lists the subscribed names.
func (f *feed) listening() []ubl.Name {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ubl.Name
	for s := range maps.Values(f.sinks) {
		out = append(out, s.to)
	}
	slices.Sort(out)
	return out
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// closed reports whether a Revoked channel is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
