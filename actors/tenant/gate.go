package tenant

import (
	"maps"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// refusal is why a request may not use the tool that it names. It decides by memory
// alone, since every request passes here; nil lets it pass. A tool of our own
// without a record is open, another server's closed.
func (x *Tenant) refusal(now ubl.Time, c ubl.Enter) *ubl.Error {
	record, known := x.state.Tools[c.Tool]
	switch {
	case known:
		return x.ruling(record, now, c)
	case !c.External:
		return nil
	case !ubl.ValidToolName(c.Tool):
		return ubl.Errorf(ubl.CodeNotFound, "there is no such tool")
	}
	return ubl.Errorf(ubl.CodeForbidden, "no Agreement of the tenant opens this tool")
}

// ruling holds a caller against a record. One that has ended admits nobody.
func (x *Tenant) ruling(record tool, now ubl.Time, c ubl.Enter) *ubl.Error {
	if !record.admits(c.Who) {
		return ubl.Errorf(ubl.CodeForbidden, "the tenant's Agreement about this tool doesn't let the caller use it")
	}
	if record.PerMinute == 0 || c.Still {
		return nil
	}
	wait := x.meters.take(use{c.Who.UserID, record.Tool}, now, record.PerMinute)
	if wait == 0 {
		return nil
	}
	return ubl.Errorf(ubl.CodeRateLimited, "the caller has used this tool as often as a minute allows").Later(wait)
}

// admits applies the rule of [ubl.ToolAccess] to what is stored.
func (a access) admits(who ubl.Identity) bool {
	return (&ubl.ToolAccess{Allowed: a.Allowed, Users: a.Users, Groups: a.Groups}).Admits(who)
}

// turnAway refuses the caller, and puts the refusal on record: behind what the
// Enter has led to, if anything.
func (x *Tenant) turnAway(t *actors.Turn, c ubl.Enter, r *ubl.Error, a *actors.Append) {
	key := denialKey(c, r)
	tell := x.tells(t, c, r, key)
	if a == nil && tell {
		if err := t.Reserve(ubl.JoinCost); err != nil {
			t.Fail(err)
			return
		}
		a = &actors.Append{}
	}
	if tell {
		a.Acts = append(a.Acts, x.denial(t.Now(), c, r))
		x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refDenial})
	}
	if a != nil {
		t.Commit(a)
	}
	t.Fail(r)
}

// toldPerMinute is how many of a caller's refusals are put on record. They would
// else fill the disk at the caller's speed, who may make up names of tools.
const toldPerMinute = 60

// tells whether a refusal is put on record: not after the license's end, nor for a
// name that no atom could hold. A request that is sent again is on record once.
func (x *Tenant) tells(t *actors.Turn, c ubl.Enter, r *ubl.Error, key actors.Key) bool {
	if r.Code == ubl.CodeNotFound || x.state.License.InForce() != nil ||
		x.meters.take(use{user: c.Who.UserID}, t.Now(), toldPerMinute) > 0 {
		return false
	}
	known, err := x.keys.Find(t.Context(), key)
	return err != nil || known == nil // one that can't be looked up is told: better twice than never
}

// denialKey is a refusal's. One request may use several tools, and be refused
// for more than one reason.
func denialKey(c ubl.Enter, r *ubl.Error) actors.Key {
	req := c.Request
	req.Key = strings.Join([]string{req.Key, c.Tool, string(r.Code)}, "\n")
	return actors.NewKey(ubl.DidToolDeny, req)
}

// denial is the act of a refusal, under the tool's record where one is in force.
func (x *Tenant) denial(now ubl.Time, c ubl.Enter, r *ubl.Error) *actors.Act {
	under := x.state.License.ID
	if record, ok := x.state.Tools[c.Tool]; ok && record.Agreement.InForce() == nil {
		under = record.Agreement.ID
	}
	return &actors.Act{
		Did: ubl.DidToolDeny, Agreement: under, Request: c.Request, At: now, Status: ubl.StatusDenied,
		This:     ubl.Fields{ubl.Str("code", r.Code), ubl.Str("tool", c.Tool), ubl.Str("user_id", c.Who.UserID)},
		Error:    &ubl.AtomError{Code: r.Code, Message: r.Message},
		Pointers: ubl.Fields{ubl.Str("agreement_id", under)},
	}
}

// meters count what callers use, a bucket for each caller and tool, and without a
// tool the caller's refusals that are put on record. They are no state: an actor
// that is loaded anew counts from full buckets.
type meters struct {
	buckets map[use]*bucket
	// crowd is how many buckets there may be before full ones are forgotten.
	crowd int
}

type use struct {
	user ubl.UserID
	tool string
}

// bucket fills up evenly, with a minute's calls in a minute.
type bucket struct {
	// full is when it will be full again, if nothing more is taken. The moment is
	// counted in nanoseconds, since a call may be worth less than a millisecond.
	full int64
}

// take takes a call out of the caller's bucket for a tool. Where there is none it
// says how long until there will be one.
func (m *meters) take(u use, at ubl.Time, perMinute int) (wait time.Duration) {
	b := m.bucket(u, at)
	now := at.Std().UnixNano()
	empty := now + int64(time.Minute)
	b.full = min(max(b.full, now), empty) // a clock set back locks nobody out
	full := b.full + int64(time.Minute)/int64(perMinute)
	if full > empty {
		return time.Duration(full - empty)
	}
	b.full = full
	return 0
}

// bucket finds or makes one. Those that are full say nothing and make room.
func (m *meters) bucket(u use, at ubl.Time) *bucket {
	if b := m.buckets[u]; b != nil {
		return b
	}
	const few = 1024
	if m.buckets == nil {
		m.buckets, m.crowd = make(map[use]*bucket), few
	}
	if len(m.buckets) >= m.crowd {
		maps.DeleteFunc(m.buckets, func(_ use, b *bucket) bool { return b.full <= at.Std().UnixNano() })
		m.crowd = max(few, 2*len(m.buckets))
	}
	b := &bucket{}
	m.buckets[u] = b
	return b
}
