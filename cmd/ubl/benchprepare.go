package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
)

const (
	// prepareWriters is how many requests are under way at once, so that they share syncs.
	prepareWriters = 256
	// overloadPause is the pause after a refusal for load.
	overloadPause = 20 * time.Millisecond
)

// prepare makes rooms or events through the real actors.
func (c *benchCmd) prepare(ctx context.Context, p *program) error {
	work := &preparing{of: c}
	counted := "rooms"
	if c.PrepareEvents > 0 {
		counted = "events"
		work.clock = &pastClock{now: p.now}
		work.clock.behind.Store(int64(year))
		then := *p
		then.now = work.clock.time
		work.progress = p.progress("making events", counted, c.Quiet || c.JSON)
		p = &then
	} else {
		work.progress = p.progress("making rooms", counted, c.Quiet || c.JSON)
	}
	defer work.progress.end()
	err := p.withNode(ctx, c.Data, func(n *node) error {
		work.node = n
		if err := work.ask(ctx, ubl.TenantName(benchTenant), ubl.Enter{Request: benchRequest("enter", 0), Act: true}); err != nil {
			return fmt.Errorf("couldn't begin: %w", err)
		}
		if c.PrepareEvents > 0 {
			return work.year(ctx)
		}
		return work.all(ctx, 0, int64(c.PrepareRooms), 1, work.room)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(map[string]any{counted: work.made.Load(), "data": c.Data, "tenant_id": benchTenant})
	}
	_, err = fmt.Fprintf(p.out, "%d %s of %s in %s\n", work.made.Load(), counted, benchTenant, c.Data)
	return err
}

// preparing fills a data directory.
type preparing struct {
	of       *benchCmd
	node     *node
	clock    *pastClock // of events
	progress *progress
	made     atomic.Int64
	told     sync.Mutex
}

// ask asks until there is room for it: nothing was done before.
func (w *preparing) ask(ctx context.Context, of ubl.Name, cmd ubl.Command) error {
	for {
		_, err := w.node.actors.Ask(ctx, of, cmd)
		if ubl.CodeOf(err) != ubl.CodeOverloaded || !every(ctx, overloadPause) {
			return err
		}
	}
}

// all makes what has a number from first to before last, each of which counts for so much.
func (w *preparing) all(ctx context.Context, first, last, counts int64, make func(context.Context, int64) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	next := atomic.Int64{}
	next.Store(first)
	for range prepareWriters {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < last && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := make(ctx, i); err != nil {
					cancel(err)
					return
				}
				w.told.Lock()
				w.progress.at(w.made.Add(counts), int64(cmp.Or(w.of.PrepareRooms, w.of.PrepareEvents)))
				w.told.Unlock()
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

func (w *preparing) room(ctx context.Context, i int64) error {
	err := w.ask(ctx, ubl.TenantName(benchTenant), ubl.CreateRoom{Request: benchRequest("room", i+1), Name: fmt.Sprintf("room %d", i+1)})
	if err != nil {
		return fmt.Errorf("couldn't make room %d: %w", i+1, err)
	}
	return nil
}

// A year's events come in steps. All events of a step happen at about the same time; then the
// clock leaps. A leap during a step would make requests under way look days old.
const (
	year  = 365 * 24 * time.Hour
	steps = 400
	// unit is how many events of each tenant belong together: in tenant 0 a session and its renewals.
	unit = 10
	// joins is after how many units a member joins, and signers how many people sign in.
	joins, signers = 100, 5000
)

// pastClock runs like the machine's, behind it.
type pastClock struct {
	now    func() time.Time
	behind atomic.Int64 // a time.Duration
}

func (c *pastClock) time() time.Time { return c.now().Add(-time.Duration(c.behind.Load())) }

// year makes the events of a year.
func (w *preparing) year(ctx context.Context) error {
	units := (int64(w.of.PrepareEvents) + unit - 1) / unit
	for step := range int64(steps) {
		if err := w.all(ctx, units*step/steps, units*(step+1)/steps, unit, w.unit); err != nil {
			return err
		}
		w.clock.behind.Add(int64(-year / steps))
	}
	return nil
}

// unit is some events of each tenant: names of its owner, and a session that lasts for a while.
func (w *preparing) unit(ctx context.Context, i int64) error {
	for turn := range int64(unit) {
		if err := w.rename(ctx, i*unit+turn); err != nil {
			return fmt.Errorf("couldn't rename a member: %w", err)
		}
		if err := w.session(ctx, i, turn); err != nil {
			return fmt.Errorf("couldn't begin or renew a session: %w", err)
		}
	}
	if i%joins > 0 {
		return nil
	}
	join := benchRequest("join", i)
	join.Who.UserID, join.Who.Subject = ubl.UserID(fmt.Sprintf("u:%032x", i+1)), fmt.Sprint("member-", i)
	join.Who.Email = join.Who.Subject + "@localhost"
	if err := w.ask(ctx, ubl.TenantName(benchTenant), ubl.Enter{Request: join, Act: true}); err != nil {
		return fmt.Errorf("couldn't have a member join: %w", err)
	}
	return nil
}

func (w *preparing) rename(ctx context.Context, n int64) error {
	name := fmt.Sprint("Owner ", n)
	return w.ask(ctx, ubl.TenantName(benchTenant), ubl.SetTenantMember{Request: benchRequest("name", n), UserID: benchUser().UserID, Name: &name})
}

// session begins or renews one, with a cookie for twelve hours.
func (w *preparing) session(ctx context.Context, i, turn int64) error {
	req, now := benchRequest(fmt.Sprint("session:", i), turn), ubl.TimeOf(w.clock.time())
	req.Who = ubl.Platform()
	return w.ask(ctx, ubl.TenantName(ubl.CoreTenant), ubl.AdmitToken{Request: req, Token: ubl.PlatformToken{
		JTI: fmt.Sprint("session-", i), UserID: ubl.UserID(fmt.Sprintf("u:%032x", i%signers)), TenantID: benchTenant, Kind: ubl.TokenSession,
		Method: ubl.SignInLink, CreatedAt: now, ExpiresAt: now.Add(12 * time.Hour), Turn: turn,
	}})
}
