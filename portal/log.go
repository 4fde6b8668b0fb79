package portal

import (
	"context"
	"sync"
	"time"

	"ubl"
)

const (
	// flushEvery is how long a row waits at most.
	flushEvery = time.Second
	// maxRows bounds the rows that wait; more are dropped and counted.
	maxRows = 8192
	// maxBatch is how many are written at once.
	maxBatch = 100
	// maxTries is how often a batch is tried before its rows are given up: the log
	// is derived, and must not hold up what it tells of.
	maxTries = 5
	// flushTimeout bounds writing what waits.
	flushTimeout = 10 * time.Second
)

// rows are those of the log that wait to be written.
type rows struct {
	mu      sync.Mutex
	waiting []*batch // oldest first; only the last of a tenant may still grow
	count   int
	dropped int

	flushing sync.Mutex // one at a time keeps the order
}

// batch is written as one, under one key however often it is tried.
type batch struct {
	tenant ubl.TenantID
	req    ubl.Request
	calls  []*ubl.Call
	tries  int
}

// Log puts rows about calls of our own tools into a tenant's log, within a second
// or so. It doesn't wait; under overload rows are dropped.
func (p *Portal) Log(t ubl.TenantID, calls ...*ubl.Call) {
	p.rows.mu.Lock()
	defer p.rows.mu.Unlock()
	for _, c := range calls {
		if p.rows.count == maxRows {
			p.rows.dropped++
			continue
		}
		p.rows.count++
		p.rows.add(t, c)
	}
}

func (r *rows) add(t ubl.TenantID, c *ubl.Call) {
	for i := len(r.waiting) - 1; i >= 0; i-- {
		if b := r.waiting[i]; b.tenant == t {
			if b.tries == 0 && len(b.calls) < maxBatch {
				b.calls = append(b.calls, c)
				return
			}
			break
		}
	}
	r.waiting = append(r.waiting, &batch{tenant: t, calls: []*ubl.Call{c}})
}

// take empties the queue. Batches that were taken don't grow any more.
func (r *rows) take() (waiting []*batch, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting, dropped = r.waiting, r.dropped
	r.waiting, r.dropped, r.count = nil, 0, 0
	return waiting, dropped
}

// giveBack has batches tried again, before newer ones.
func (r *rows) giveBack(bs []*batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(bs, r.waiting...)
	for _, b := range bs {
		r.count += len(b.calls)
	}
}

// flush writes what waits.
func (p *Portal) flush(ctx context.Context) {
	p.rows.flushing.Lock()
	defer p.rows.flushing.Unlock()
	waiting, lost := p.rows.take()
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	var again []*batch
	for _, b := range waiting {
		if err := p.write(ctx, b); err == nil {
			continue
		}
		if b.tries++; b.tries < maxTries && !p.isClosed() {
			again = append(again, b)
		} else {
			lost += len(b.calls)
		}
	}
	p.rows.giveBack(again)
	if lost > 0 {
		p.log.Warn("rows of the portal's log are lost", "rows", lost)
	}
}

func (p *Portal) write(ctx context.Context, b *batch) (err error) {
	if b.req.ID == "" {
		if b.req, err = p.request(platformOf(b.tenant)); err != nil {
			return err
		}
	}
	_, err = p.asker.Ask(ctx, ubl.PortalName(b.tenant), ubl.LogCalls{Request: b.req, Calls: b.calls})
	return err
}

func (p *Portal) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
