// Package harness runs the house in one process for tests: the real engine, the
// real runtime with every family, and a clock that the test owns.
package harness

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/actors/webhooks"
	"ubl/panics"
	"ubl/search"
	"ubl/storage"
	"ubl/test/poll"
)

// Clock is time that only moves when told to. Safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at the seed's favourite day.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 7, 12, 34, 56, 0, time.UTC)}
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// House is a running node without its transports.
type House struct {
	*actors.Runtime
	Engine *storage.Engine
	Clock  *Clock
	Dir    string

	t      testing.TB
	opts   Options
	search *search.Index
	reads  *counted
	mu     sync.Mutex
	serial int
}

// Options change what a house is made of; the zero value is the product's, but for the
// number of partitions: each is a file to make and to sync.
type Options struct {
	Limits actors.Limits
	// Wrap puts something between the families and the engine.
	Wrap func(ubl.Store) ubl.Store
	// Search puts something between containers and their index.
	Search func(ubl.Searcher) ubl.Searcher
	// Families come before the product's, so that a test can stand in for one.
	Families []actors.Family
	// Elsewhere stands for other nodes.
	Elsewhere ubl.Asker
	// Storage is the store's; nil makes two partitions.
	Storage *storage.Options
	// Kinds of containers that the house knows besides the product's.
	Kinds []ubl.Kind
	// Panics counts and logs what panics; nil logs to slog's default.
	Panics *panics.Catcher
	// Quota bounds what tenants have in all; nil is no bound.
	Quota ubl.Quota
	// Unsearched leaves the indexes out, as in a synctest bubble: bleve's workers live outside it.
	Unsearched bool
	// Push reaches browsers; nil reaches none.
	Push ubl.Pusher
	// Mail hands mails to a mail server; nil sends none.
	Mail ubl.Mailer
	// Webhooks reaches the servers that webhooks tell; nil reaches none.
	Webhooks webhooks.Sender
	// Servers asks tools' servers; nil asks none.
	Servers ubl.Syncer
	// Now is the time of the house instead of its Clock, where that must go on.
	Now func() time.Time
	// Dir is a data directory to open instead of a new one.
	Dir string
	// From is when the clock begins; zero for the seed's favourite day.
	From time.Time
}

// Open starts a house over a new directory, and closes it with the test.
func Open(t testing.TB, opts Options) *House {
	clock := NewClock()
	if !opts.From.IsZero() {
		clock.now = opts.From
	}
	h := &House{Clock: clock, Dir: cmp.Or(opts.Dir, t.TempDir()), t: t, opts: opts}
	h.start()
	t.Cleanup(h.Close)
	return h
}

func (h *House) start() {
	h.t.Helper()
	engine, err := storage.Open(h.Dir, cmp.Or(h.opts.Storage, &storage.Options{Partitions: 2}))
	if err != nil {
		h.t.Fatalf("couldn't open the store: %v", err)
	}
	h.Engine = engine
	var store ubl.Store = engine
	if _, measures := h.t.(*testing.B); !measures { // the check takes longer than most commits
		store = &formed{Store: engine, forms: formsOf(actors.Acts(h.opts.Families)...), wrong: func(err error) { h.t.Error(err) }, seen: map[string]int{}}
	}
	h.reads = &counted{Store: store}
	store = h.reads
	if h.opts.Wrap != nil {
		store = h.opts.Wrap(store)
	}
	if h.search, err = search.Open(h.t.TempDir(), &search.Options{Panics: h.opts.Panics, Patience: time.Hour}); err != nil {
		h.t.Fatalf("couldn't open the search: %v", err)
	}
	var searcher ubl.Searcher = h.search
	if h.opts.Unsearched {
		searcher = nil
	} else if h.opts.Search != nil {
		searcher = h.opts.Search(searcher)
	}
	now := h.Clock.Now
	if h.opts.Now != nil {
		now = h.opts.Now
	}
	all := families.All.In(families.World{Store: store, Search: searcher, Kinds: append(ubl.Kinds(), h.opts.Kinds...), Quota: h.opts.Quota, Push: h.opts.Push, Mail: h.opts.Mail, Webhooks: h.opts.Webhooks, Servers: h.opts.Servers})
	if searcher == nil {
		all = slices.DeleteFunc(all, func(f actors.Family) bool { return f.Name == "documents" || f.Name == "messages" })
	}
	h.Runtime = actors.New(actors.Options{
		Families: append(h.opts.Families, all...),
		Now:      now, Random: rand.Reader, Limits: h.opts.Limits, Partition: engine.Partition, Panics: h.opts.Panics,
		Elsewhere: h.opts.Elsewhere, Quota: h.opts.Quota, Shelf: engine,
	})
	h.Look()
}

// Look has the runtime find all alarms, and look at the clock.
func (h *House) Look() {
	for p := range h.Engine.Partitions() {
		h.Led(p)
	}
}

// Alarms waits until no alarm is due any more by the clock. It has those tried again
// at once that were tried in vain.
func (h *House) Alarms() {
	h.t.Helper()
	// Replays wait here thousands of times: a look every millisecond, unlike poll's.
	for deadline := time.Now().Add(poll.Patience); h.due() || h.OutboxStats().Running > 0; time.Sleep(time.Millisecond) {
		h.Look()
		if time.Now().After(deadline) {
			h.t.Fatal("alarms stay due")
		}
	}
}

// due tells whether the store has an alarm that is due.
func (h *House) due() (due bool) {
	h.t.Helper()
	groups, err := h.Groups(context.Background())
	for _, g := range groups {
		err = errors.Join(err, h.Engine.View(context.Background(), g, func(snap ubl.Snapshot) error {
			until := binary.BigEndian.AppendUint64([]byte{'i', 0}, uint64(ubl.TimeOf(h.Clock.Now())+1))
			return snap.Ascend([]byte{'i', 0}, until, func(_, _ []byte) bool {
				due = true
				return false
			})
		}))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return due
}

// Groups lists those of all partitions that have data.
func (h *House) Groups(ctx context.Context) (all []ubl.Group, err error) {
	for p := range h.Engine.Partitions() {
		list, bad := h.Engine.GroupsOf(ctx, p)
		all, err = append(all, list...), errors.Join(err, bad)
	}
	return all, err
}

// Close stops the house; it may be called twice.
func (h *House) Close() {
	if h.Runtime == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.Runtime.Close(ctx); err != nil {
		h.t.Errorf("couldn't stop the actors: %v", err)
	}
	h.search.Close()
	if err := h.Engine.Close(); err != nil {
		h.t.Errorf("couldn't close the store: %v", err)
	}
	h.Runtime = nil
}

// Restart stops the house and starts it over the same directory.
func (h *House) Restart() {
	h.t.Helper()
	h.Close()
	h.start()
}

// Reload has every actor leave memory, so that the next command loads it anew.
func (h *House) Reload() {
	h.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for h.Stats().Active > 0 {
		h.Passivate(-time.Hour)
		if time.Now().After(deadline) {
			h.t.Fatal("actors stay in memory")
		}
	}
}

// User is a human of a domain that its tenant has claimed.
func User(email string) ubl.Identity {
	const issuer = "https://idp.example"
	id := ubl.UserIDFor(issuer, email, false)
	return ubl.Identity{
		UserID: id, Email: email, EmailDomain: ubl.EmailDomain(email),
		TenantID: ubl.DomainTenant(ubl.EmailDomain(email)), Issuer: issuer, Subject: email,
	}
}

// Request makes a request of the identity with a key of its own.
func (h *House) Request(who ubl.Identity) ubl.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serial++
	id := fmt.Sprintf("req:test-%d", h.serial)
	return ubl.Request{Who: who, ID: id, Key: id}
}

// Enter lets a user into their tenant.
func (h *House) Enter(who ubl.Identity) *ubl.Entered {
	h.t.Helper()
	return Must[*ubl.Entered](h, ubl.TenantName(who.TenantID), ubl.Enter{Request: h.Request(who), Act: true})
}

// Must asks and fails the test on an error.
func Must[R any](h *House, to ubl.Name, cmd ubl.Command) R {
	h.t.Helper()
	answer, err := ubl.Ask[R](context.Background(), h.Runtime, to, cmd)
	if err != nil {
		h.t.Fatalf("%T: %v", cmd, err)
	}
	return answer
}

// Refused asks and wants the error code.
func (h *House) Refused(want ubl.Code, to ubl.Name, cmd ubl.Command) {
	h.t.Helper()
	_, err := h.Ask(context.Background(), to, cmd)
	if got := ubl.CodeOf(err); got != want {
		h.t.Fatalf("%T was answered %q (%v), want %q", cmd, got, err, want)
	}
}

// VerifyLedger exports a tenant's ledger and checks it as anyone could.
func (h *House) VerifyLedger(tenant ubl.TenantID) {
	h.t.Helper()
	if err := Verify(context.Background(), h.Runtime, tenant); err != nil {
		h.t.Errorf("the ledger doesn't verify: %v", err)
	}
}

// Verify exports a tenant's ledger and checks it as anyone could.
func Verify(ctx context.Context, ask ubl.Asker, tenant ubl.TenantID) error {
	export, head, err := Export(ctx, ask, tenant)
	if err == nil {
		_, err = ubl.Verify(strings.NewReader(export), ubl.VerifyOptions{Head: head.HeadHash})
	}
	return err
}

// Export is a tenant's ledger as a file, and how far it is.
func Export(ctx context.Context, ask ubl.Asker, tenant ubl.TenantID) (export string, head ubl.LedgerHead, err error) {
	ledger := ubl.LedgerName(tenant)
	if head, err = ubl.Ask[ubl.LedgerHead](ctx, ask, ledger, ubl.GetLedgerHead{}); err != nil {
		return "", head, err
	}
	var out strings.Builder
	x, err := ubl.NewExporter(&out, tenant, head)
	for err == nil && x.Next() <= head.Seq {
		var page *ubl.AtomPage
		if page, err = ubl.Ask[*ubl.AtomPage](ctx, ask, ledger, ubl.ReadAtoms{From: x.Next(), Limit: 500}); err != nil {
			break
		}
		for _, atom := range page.Atoms[:min(int64(len(page.Atoms)), head.Seq+1-x.Next())] { // more may have come
			err = errors.Join(err, x.Append(atom))
		}
	}
	if err == nil {
		err = x.Close()
	}
	return out.String(), head, err
}
