package envelope

import (
	"context"
	"sync"
	"time"

	"ubl"
)

// entry is a caller's way into their tenant: still to be taken, or behind them.
type entry struct {
	mu     sync.Mutex
	in     ubl.Enter
	ask    ubl.Asker // nil where nobody has to be asked
	inside bool      // the tenant has let them in
	// rate is by which the next use of a tool is counted.
	rate   ubl.Rate
	limits Limits // nil where nothing limits them
	role   ubl.Role
	under  []ubl.RecordHash // as [ubl.Entered] has them
}

// Limits count what a caller does, and may refuse it.
type Limits interface {
	// Act counts a use of a tool that writes, by the rate that the tool's description says.
	Act(ubl.Rate) error
	// Stream takes a place for a stream, until release is called.
	Stream() (release func(), err error)
	// Streamed counts bytes that a stream has sent, and says how long it is to wait
	// before it sends more.
	Streamed(bytes int) time.Duration
}

// Enters says that the caller's tenant has yet to let them in, and whom to ask.
func (c *Caller) Enters(in ubl.Enter, ask ubl.Asker) { c.in, c.ask, c.inside = in, ask, false }

// Limited says what counts what the caller does.
func (c *Caller) Limited(by Limits) { c.limits = by }

// Stream takes a place for something long that the caller listens to, until release is
// called. Every transport that streams asks for one.
func (c *Caller) Stream() (release func(), err error) {
	if c.limits == nil {
		return func() {}, nil
	}
	return c.limits.Stream()
}

// Streamed counts bytes that such a stream has sent, and says how long it is to wait
// before it sends more.
func (c *Caller) Streamed(bytes int) time.Duration {
	if c.limits == nil {
		return 0
	}
	return c.limits.Streamed(bytes)
}

// Count counts a use by a rate, or refuses it where there were too many. It is for what
// doesn't go through [Caller.Uses].
func (c *Caller) Count(rate ubl.Rate) error {
	if c.limits == nil || rate == "" {
		return nil
	}
	return c.limits.Act(rate)
}

// Let says that it has, with which role.
func (c *Caller) Let(role ubl.Role) { c.inside, c.role = true, role }

// outside reports whether the way is still to be taken.
func (e *entry) outside() bool { return e.ask != nil && !e.inside }

// Uses says which tool the request is about to use, so that the tenant lets the
// caller in for that, and by which rate it is counted. Once they are in, it changes
// nothing.
func (c *Caller) Uses(tool string, rate ubl.Rate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outside() {
		c.in.Tool, c.rate = tool, rate
	}
}

// Destroys says that the tool which the request is about to use replaces or takes away what was
// there, as [ubl.Enter] has it.
func (c *Caller) Destroys() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outside() {
		c.in.Destroys = true
	}
}

// Leaves says that the request has the caller leave the tenant. No tool that is closed to
// them and no license's end may hold them there: they come in as one who reads.
func (c *Caller) Leaves() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outside() {
		c.in.Act, c.in.Tool = false, ""
	}
}

// Anew is the same caller at the door again, for one of several acts in a
// request: the tenant decides on each tool. Act and tool are as in [ubl.Enter].
func (c *Caller) Anew(act bool, tool string) *Caller {
	return c.again(func(in *ubl.Enter) {
		in.Act, in.Tool, in.Still, in.External, in.Destroys = act, tool, false, false, false
	})
}

// Part is the same caller at the door again, with the tool of an act that the request's own
// consists of: a person who has confirmed that has confirmed this.
func (c *Caller) Part(tool string) *Caller {
	return c.again(func(in *ubl.Enter) {
		if in.Confirmed == in.Tool {
			in.Confirmed = tool
		}
		in.Act, in.Tool, in.Still, in.External = true, tool, false, false
	})
}

// ConfirmedFor is the same caller at the door again, whom a person lets use the tool.
func (c *Caller) ConfirmedFor(tool string) *Caller {
	return c.again(func(in *ubl.Enter) { in.Confirmed = tool })
}

// Still is the same caller at the door again, for what goes on with a tool that
// the tenant has let them use before: it decides again, and counts nothing.
func (c *Caller) Still(tool string) *Caller {
	return c.again(func(in *ubl.Enter) { in.Act, in.Tool, in.Still, in.External = false, tool, true, false })
}

// External is the same caller at the door again, with a tool that is another server's, as in [ubl.Enter].
func (c *Caller) External() *Caller {
	return c.again(func(in *ubl.Enter) { in.External = true })
}

func (c *Caller) again(change func(*ubl.Enter)) *Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := &Caller{Identity: c.Identity, TokenID: c.TokenID, ExpiresAt: c.ExpiresAt, Revoked: c.Revoked, Holds: c.Holds,
		Session: c.Session, ProvedAt: c.ProvedAt, Operates: c.Operates, OneAddress: c.OneAddress}
	again.Limited(c.limits)
	if c.ask == nil {
		again.Let(c.role)
		return again
	}
	in := c.in
	change(&in)
	again.Enters(in, c.ask)
	return again
}

// decidedBy are the records by which the tenant has let the caller in, none before.
func (c *Caller) decidedBy() []ubl.RecordHash {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.under
}

// Remains refuses whom the answer to their request must not reach any more: who has left
// the tenant since it let them in, or whose credential was ended, as the next request would
// find. What waits for somebody else asks before it answers. A credential whose time is over
// meanwhile has been good for the request.
func (c *Caller) Remains(ctx context.Context) error {
	if _, err := c.Anew(false, "").Enter(ctx); err != nil {
		return err
	}
	if c.Holds == nil || !c.Doubtful() {
		return nil
	}
	return c.Holds(ctx)
}

// Enter has the tenant let the caller in, where it hasn't yet, and tells their
// role in it.
func (c *Caller) Enter(ctx context.Context) (ubl.Role, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.outside() {
		return c.role, nil
	}
	if err := c.Count(c.rate); err != nil {
		return "", err
	}
	var entered *ubl.Entered
	err := Entry(ctx, c.in, func(in ubl.Enter) (err error) {
		entered, err = ubl.Ask[*ubl.Entered](ctx, c.ask, ubl.TenantName(in.Who.TenantID), in)
		return err
	})
	if err != nil {
		return "", err
	}
	c.Let(entered.Role)
	c.under = entered.Under
	return c.role, nil
}

// Entering is an Asker for transports: what it is asked first in a request
// carries the caller's way into their tenant with it, and is refused where the
// tenant doesn't let them in.
func Entering(v ubl.Visitor) ubl.Asker { return entering{v} }

type entering struct{ v ubl.Visitor }

// Ask implements [ubl.Asker].
func (e entering) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	answer, err := e.ask(ctx, to, cmd)
	if code := ubl.CodeOf(err); code == ubl.CodeOverloaded || code == ubl.CodeRateLimited {
		Hold(ctx)
	}
	return answer, err
}

// refusalHold is how long a refusal is held that tells somebody to come back later.
const refusalHold = 500 * time.Millisecond

// Hold holds such a refusal: who comes back at once, against what the answer says, then
// takes hardly more processor time than who waits.
func Hold(ctx context.Context) {
	select {
	case <-time.After(refusalHold):
	case <-ctx.Done():
	}
}

func (e entering) ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	c := CallerOf(ctx)
	if c == nil {
		return e.v.Ask(ctx, to, cmd)
	}
	c.mu.Lock()
	if !c.outside() {
		under := c.under
		c.mu.Unlock()
		if to.Group().Tenant == c.Identity.TenantID {
			cmd = ubl.Based(cmd, under)
		}
		return e.v.Ask(ctx, to, cmd)
	}
	defer c.mu.Unlock()
	if to.Group().Tenant != c.in.Who.TenantID {
		return nil, ubl.Errorf(ubl.CodeInternal, "the first question of a request is for the caller's own tenant")
	}
	if err := c.Count(c.rate); err != nil {
		return nil, err
	}
	var entered *ubl.Entered
	var answer any
	err := Entry(ctx, c.in, func(in ubl.Enter) (err error) {
		entered, answer, err = e.v.Visit(ctx, in, to, cmd)
		return err
	})
	if entered != nil {
		c.Let(entered.Role)
		c.under = entered.Under
	}
	return answer, err
}
