//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// counters are those of a tenant under load (test/counter, wired into the program), and all
// that its clients learned. They have what a family waits for, does outside and tells everyone:
// some additions have the counter go back to nothing soon (an alarm), some call a web hook (the
// outbox), and all changes come over the tenant's stream.
type counters struct {
	owner *client
	where string
	witness

	mu    sync.Mutex
	tried map[int64]*addition // by amount, which no other has
	last  []*addition         // some of the newest
}

// addition is one, as its client knows it.
type addition struct {
	counter       string
	by            int64
	resets, calls bool
	done          bool
	value         int64 // behind it, once it is done
}

// counted is what a counter's operations answer.
type counted struct {
	ID    string `json:"counter_id"`
	Value int64  `json:"value"`
}

// countersOf is how many counters a tenant has.
const countersOf = 3

func newCounters(t *tenant) *counters {
	return &counters{witness: witness{world: t.owner.world}, owner: t.owner, where: t.id + " counters", tried: make(map[int64]*addition)}
}

// adder adds until told to stop; now and then once more under the same key.
func (c *counters) adder(ctx context.Context, draw *rand.Rand, patience func(*rand.Rand) time.Duration, pace time.Duration) {
	for ctx.Err() == nil {
		a := c.draft(draw)
		c.add(a, patience(draw))
		if draw.IntN(8) == 0 {
			c.mu.Lock()
			a = c.last[draw.IntN(len(c.last))]
			c.mu.Unlock()
			c.add(a, deadline)
		}
		pause(ctx, between(draw, pace/2, pace))
	}
}

func (c *counters) draft(draw *rand.Rand) *addition {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &addition{counter: fmt.Sprint("n:visits-", draw.IntN(countersOf)), by: int64(len(c.tried) + 1), resets: draw.IntN(4) == 0, calls: draw.IntN(2) == 0}
	c.tried[a.by] = a
	c.last = append(c.last[max(0, len(c.last)-10):], a)
	return a
}

// add tries until the addition is done or patience ends, which leaves it open.
func (c *counters) add(a *addition, patience time.Duration) {
	ctx, cancel := context.WithTimeout(c.owner.world.life, patience)
	defer cancel()
	in := map[string]any{"by": a.by, "client_request_id": fmt.Sprint("add-", a.by)}
	if a.resets {
		in["reset_after_s"] = 1
	}
	if a.calls {
		in["call"] = true
	}
	var out counted
	err := c.owner.ask(ctx, "POST", "/api/counters/"+a.counter+"/add", "", in, &out)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && (out.ID != a.counter || a.done && out.Value != a.value):
		c.blame("%+v is answered %+v", *a, out)
	case err == nil:
		if !a.done {
			c.owner.tally.additions.Add(1)
		}
		a.done, a.value = true, out.Value
	case !passing(err) || patience == deadline:
		c.blame("%+v wasn't done within %s (%s): %v", *a, patience, c.owner.world.trouble(), err)
	}
}

// hook is the web hook of all nodes. Beside each it listens at an address of that node's own. It
// takes a while, so that nodes die meanwhile, and knows a repetition by its key.
type hook struct {
	mu    sync.Mutex
	calls int
	heard map[string]string // what was said first, by key
	wrong []string
}

func newHook() *hook { return &hook{heard: make(map[string]string)} }

// serve has one node reach the hook.
func (h *hook) serve(ln net.Listener) (end func() error) {
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(ln) }() // until it is closed
	return server.Close
}

// count is how often it was called.
func (h *hook) count() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(h.calls)
}

// ServeHTTP implements [http.Handler].
func (h *hook) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its node has died
	}
	key, said := r.Header.Get("Idempotency-Key"), string(body)
	h.mu.Lock()
	h.calls++
	slow := h.calls%5 == 0
	if was, again := h.heard[key]; again && was != said {
		h.wrong = append(h.wrong, fmt.Sprintf("%s was called with %s and then with %s", key, was, said))
	}
	h.heard[key] = said
	h.mu.Unlock()
	if slow {
		pause(r.Context(), 300*time.Millisecond)
	}
}

// verify waits until no counter waits for anything, and checks what clients and the hook know
// against the ledger and the stream. It gives the calls that the ledger has.
func (c *counters) verify(ctx context.Context, v *verdicts, told *follower) (calls map[string]counted) {
	v.add("clients", c.where, c.testimony())
	ctx, cancel := context.WithTimeoutCause(ctx, carryTime, fmt.Errorf("counters still wait after %s", carryTime))
	defer cancel()
	var k *tallied
	err := poll(ctx, time.Second, func(ctx context.Context) error {
		atoms, err := c.owner.world.ledger(ctx, c.owner.token)
		if err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if k = tallyCounters(atoms, c.tried); len(k.waiting()) > 0 {
			return errors.New(k.waiting()[0])
		}
		return nil
	})
	v.fail("counters", c.where, err)
	if k == nil {
		return nil
	}
	_ = poll(ctx, 20*time.Millisecond, func(context.Context) error { // what is missing then the check tells
		if len(told.changes()) < len(k.told) {
			return errors.New("behind")
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	v.add("counters", c.where, checkCounters(k, c.tried))
	v.add("told", c.where, checkTold(told.changes(), k.told))
	return k.calls
}
