package portal

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/panics"
	"ubl/portal/stdio"
	"ubl/turns"
)

// Options are what a Portal is made of. All but those with a default are needed.
type Options struct {
	Asker ubl.Visitor
	Feed  ubl.Feed
	// Keys are the node's, newest first, at least 32 bytes each and the same on all
	// nodes: secrets are sealed with the first and opened with any. They may change
	// while the Portal runs.
	Keys   func() [][]byte
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger // nil for none
	// Panics catches what panics over one server or tenant.
	Panics *panics.Catcher

	// PublicURL is where browsers reach this server: signing in to a server leads
	// back there.
	PublicURL string
	// Version is told to servers.
	Version string
	// AllowPrivate lists the networks, on this machine and private ones, that a tenant's
	// servers may be in; nil allows [Everywhere] to all. Where strangers have tenants,
	// only the operators' should get that.
	AllowPrivate func(ubl.TenantID) []netip.Prefix
	// AllowHTTP lets servers on other machines be reached without TLS.
	AllowHTTP bool
	// Commands are the programs that owners may add as servers; nil for none.
	Commands *stdio.Runner
	// CallTimeout bounds a call: a minute where it is 0, 50 at most.
	CallTimeout time.Duration
}

// Portal is the portal service of a node. Safe for concurrent use.
type Portal struct {
	asker       ubl.Visitor
	feed        ubl.Feed
	now         func() time.Time
	random      io.Reader
	log         *slog.Logger
	publicURL   string
	version     string
	private     func(ubl.TenantID) []netip.Prefix
	allowHTTP   bool
	callTimeout time.Duration
	commands    *stdio.Runner
	panics      *panics.Catcher

	sealer   *sealer
	sessions *sessions
	schemas  schemas
	rows     rows
	numbers  atomic.Int64
	signIns  signIns
	asking   *turns.Turns // one for each call with a session of its own

	ctx     context.Context // of what runs in the background
	stop    context.CancelFunc
	running sync.WaitGroup
	even    time.Duration // see outside

	asked  asking       // who asks servers for their tools
	trying *turns.Turns // of those by themselves

	mu     sync.Mutex
	closed bool
	ways   map[string]*outside // by the networks that they may lead to
	shops  map[ubl.TenantID]*shop
	syncs  map[place]*syncing
}

// New makes a Portal. Nothing runs until [Portal.Run] or a call; [Portal.Close]
// ends it.
func New(o Options) (*Portal, error) {
	sealer, err := newSealer(o.Keys, o.Random)
	if err != nil {
		return nil, err
	}
	p := &Portal{
		asker: o.Asker, feed: o.Feed, now: o.Now, random: o.Random, log: o.Log,
		publicURL: o.PublicURL, version: cmp.Or(o.Version, "dev"), private: o.AllowPrivate,
		allowHTTP: o.AllowHTTP, callTimeout: min(cmp.Or(o.CallTimeout, time.Minute), 50*time.Minute),
		sealer: sealer, sessions: newSessions(o.Panics), commands: o.Commands, panics: o.Panics, ways: map[string]*outside{},
		even: dialTimeout, asked: asking{place: map[place]int{}}, trying: newTrying(), signIns: signIns{until: map[string]ubl.Time{}}, asking: turns.New(maxAsking, maxAskingEach), shops: map[ubl.TenantID]*shop{}, syncs: map[place]*syncing{},
		rows: rows{came: make(chan struct{}, 1)},
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p, nil
}

const tidyEvery = time.Minute

// Run does what the portal does by itself until ctx ends: it writes the log, and lets go of
// what nobody uses. While no row waits it doesn't wake to write any.
func (p *Portal) Run(ctx context.Context) {
	flush, tidy := time.NewTimer(flushEvery), time.NewTicker(tidyEvery)
	defer tidy.Stop()
	flush.Stop()
	for due := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-p.rows.came:
			if !due {
				due = true
				flush.Reset(flushEvery)
			}
		case <-flush.C:
			p.panics.Do("writing the portal's log", func() { p.flush(ctx) })
			if due = p.rows.waits(); due {
				flush.Reset(flushEvery)
			}
		case <-tidy.C:
			p.panics.Do("tidying the portal", func() {
				p.tidy()
				p.forgetShops()
				p.forgetSyncs()
			})
		}
	}
}

// spawn runs fn beside its caller; false once the portal is closed.
func (p *Portal) spawn(fn func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.panics.Go(&p.running, "the portal's own work", fn)
	return true
}

// background runs an errand of the portal's own. It ends with the portal.
func (p *Portal) background(fn func(context.Context)) { p.spawn(func() { fn(p.ctx) }) }

// Close ends all sessions, writes what is left of the log, and waits for what
// runs. Calls under way fail.
func (p *Portal) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for _, sh := range p.shops {
		sh.cancel()
	}
	p.mu.Unlock()
	p.sessions.end()
	p.stop()
	p.flush(ctx)
	done := make(chan struct{})
	p.panics.Go(nil, "closing the portal", func() {
		p.running.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, way := range p.ways {
			way.CloseIdleConnections()
		}
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("couldn't end all sessions with servers"), ctx.Err())
	}
}

// request is a new request of the portal's own, in the name of who.
func (p *Portal) request(who ubl.Identity) (ubl.Request, error) {
	id, err := ubl.NewRequestID(p.random)
	return ubl.Request{Who: who, ID: id, Key: id}, err
}

// platformOf is the platform at work for a tenant.
func platformOf(t ubl.TenantID) ubl.Identity {
	who := ubl.Platform()
	who.TenantID = t
	return who
}
