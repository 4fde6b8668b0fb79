package portal

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"ubl"
)

const (
	// flushEvery is how long a row waits at most.
	flushEvery = time.Second
	// maxRows bounds the rows that wait, maxTenantRows those of one tenant, so that it
	// leaves room for others; more are dropped and counted.
	maxRows       = 8192
	maxTenantRows = 2048
	// maxBatch is how many are written at once.
	maxBatch = 100
	// maxTries is how often a batch is tried before its rows are given up: the log
	// is derived, and must not hold up what it tells of.
	maxTries = 5
	// flushTimeout bounds a round of writing what waits, writeTimeout one batch: a
	// tenant whose partition has no leader doesn't answer.
	flushTimeout = 10 * time.Second
	writeTimeout = 2 * time.Second
	// writers is how many tenants' rows are written at a time.
	writers = 8
)

// rows are those of the log that wait to be written.
type rows struct {
	mu      sync.Mutex
	queues  map[ubl.TenantID]*queue // none is empty
	count   int
	dropped int
	came    chan struct{} // holds one: a row was put in
}

// waits reports whether there is anything to write.
func (r *rows) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count > 0
}

// queue is what waits of one tenant, oldest first.
type queue struct {
	tenant  ubl.TenantID
	batches []*batch
	count   int

	writing chan struct{} // holds a token while one writes: one at a time keeps the order
}

// batch is written as one, under one key however often it is tried.
type batch struct {
	req   ubl.Request
	calls []*ubl.Call
	fixed bool // it was taken up, and doesn't grow any more
	tries int
}

// Log puts rows about calls of our own tools into a tenant's log, within a second
// or so, or when [Portal.FlushLog] asks. It doesn't wait; under overload rows are dropped.
func (p *Portal) Log(t ubl.TenantID, calls ...*ubl.Call) {
	p.rows.mu.Lock()
	defer p.rows.mu.Unlock()
	for _, c := range calls {
		p.rows.add(t, c)
	}
}

func (r *rows) add(t ubl.TenantID, c *ubl.Call) {
	q := r.queues[t]
	if r.count == maxRows || q != nil && q.count == maxTenantRows {
		r.dropped++
		return
	}
	if q == nil {
		if r.queues == nil {
			r.queues = map[ubl.TenantID]*queue{}
		}
		q = &queue{tenant: t, writing: make(chan struct{}, 1)}
		r.queues[t] = q
	}
	r.count++
	q.count++
	select {
	case r.came <- struct{}{}:
	default:
	}
	if n := len(q.batches); n > 0 && !q.batches[n-1].fixed && len(q.batches[n-1].calls) < maxBatch {
		q.batches[n-1].calls = append(q.batches[n-1].calls, c)
		return
	}
	q.batches = append(q.batches, &batch{calls: []*ubl.Call{c}})
}

// inTurn is what waits, those last that couldn't be written before.
func (r *rows) inTurn() []*queue {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*queue, 0, len(r.queues))
	for _, q := range r.queues {
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b *queue) int { return cmp.Compare(a.batches[0].tries, b.batches[0].tries) })
	return out
}

// first is the batch to write next, nil where none waits.
func (r *rows) first(q *queue) *batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(q.batches) == 0 {
		return nil
	}
	q.batches[0].fixed = true
	return q.batches[0]
}

// written lets go of the first batch.
func (r *rows) written(q *queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut(q, 1)
}

// failed counts a try that all of a tenant's rows would have shared, and gives up
// those that had too many.
func (r *rows) failed(q *queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	over := 0
	for _, b := range q.batches {
		b.fixed = true
		if b.tries++; b.tries >= maxTries {
			over++ // they are the oldest
		}
	}
	if over > 0 {
		r.dropped += r.cut(q, over)
	}
}

// cut takes the first n batches from a queue, and says how many rows they had.
func (r *rows) cut(q *queue, n int) (rows int) {
	for _, b := range q.batches[:n] {
		rows += len(b.calls)
	}
	q.batches = q.batches[n:]
	q.count -= rows
	r.count -= rows
	if len(q.batches) == 0 {
		delete(r.queues, q.tenant)
	}
	return rows
}

// lost is how many rows were dropped since it was last asked, with those that still
// wait where nothing comes after.
func (r *rows) lost(last bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, r.dropped = r.dropped, 0
	if last {
		n += r.count
	}
	return n
}

// flush writes what waits, several tenants' at a time.
func (p *Portal) flush(ctx context.Context) {
	last := p.isClosed()
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	waiting := p.rows.inTurn()
	next := make(chan *queue)
	var writing sync.WaitGroup
	for range min(writers, len(waiting)) {
		p.panics.Go(&writing, "writing the portal's log", func() {
			for q := range next {
				p.panics.Do("writing the portal's log", func() {
					if !p.drain(ctx, q) && ctx.Err() == nil {
						p.rows.failed(q)
					}
				})
			}
		})
	}
	for _, q := range waiting {
		next <- q
	}
	close(next)
	writing.Wait()
	if n := p.rows.lost(last); n > 0 {
		p.log.Warn("couldn't write rows of the portal's log; acts and receipts are not affected", "rows", n)
	}
}

// FlushLog writes a tenant's rows that wait on this node, so that who reads the log next
// finds the calls that this node has answered. It waits two seconds at most; rows that
// can't be written meanwhile are left to the next round.
func (p *Portal) FlushLog(ctx context.Context, t ubl.TenantID) {
	p.rows.mu.Lock()
	q := p.rows.queues[t]
	p.rows.mu.Unlock()
	if q != nil {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		p.drain(ctx, q)
	}
}

// drain writes a tenant's rows in their order, and stops before the first batch that
// can't be written. It reports whether all are.
func (p *Portal) drain(ctx context.Context, q *queue) (all bool) {
	select {
	case q.writing <- struct{}{}:
		defer func() { <-q.writing }()
	case <-ctx.Done():
		return false
	}
	for b := p.rows.first(q); b != nil; b = p.rows.first(q) {
		if err := p.write(ctx, q.tenant, b); err != nil {
			return false
		}
		p.rows.written(q)
	}
	return true
}

func (p *Portal) write(ctx context.Context, t ubl.TenantID, b *batch) (err error) {
	if b.req.ID == "" {
		if b.req, err = p.request(platformOf(t)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err = p.asker.Ask(ctx, ubl.PortalName(t), ubl.LogCalls{Request: b.req, Calls: b.calls})
	return err
}

func (p *Portal) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
