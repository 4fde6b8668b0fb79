package tenant

import (
	"maps"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// using is what a request proposes by the tool that it names, before the act that it asks for.
func using(now ubl.Time, c ubl.Enter) actors.Proposal {
	return actors.Proposal{
		At: now, Who: c.Who, Did: ubl.Did(c.Tool), Agreement: ubl.ToolAgreement(c.Tool), Uses: c.Tool != "" || c.External, External: c.External, Still: c.Still,
	}
}

// stands says whether somebody may use a tool, as the tenant's Agreement about it says. It
// decides by memory alone, since every request passes here. A tool of our own without a
// record is open, another server's closed.
func (s *State) stands(p actors.Proposal) error {
	record, known := s.Tools[string(p.Did)]
	switch {
	case !p.Uses:
		return nil
	case known:
		return s.ruling(record, p)
	case !p.External:
		return nil
	case !ubl.ValidToolName(string(p.Did)):
		return ubl.NoTool()
	}
	return ubl.Errorf(ubl.CodeForbidden, "no Agreement of the tenant opens this tool")
}

// ruling holds a caller against a record. One that has ended admits nobody.
func (s *State) ruling(record tool, p actors.Proposal) error {
	if !record.admits(p.Who) {
		return ubl.Errorf(ubl.CodeForbidden, "the tenant's Agreement about this tool doesn't let the caller use it")
	}
	if record.PerMinute == 0 || p.Still {
		return nil
	}
	wait := s.meters.take(use{p.Who.UserID, record.Tool}, p.At, record.PerMinute)
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
func (x *Tenant) turnAway(t *actors.Turn, c ubl.Enter, r *ubl.Error, writes bool) {
	key := denialKey(c, r)
	if x.tells(t, c, r, key) {
		if !writes {
			if err := t.Reserve(ubl.JoinCost); err != nil {
				t.Fail(err)
				return
			}
		}
		x.Refuse(t, ubl.DidToolDeny, c.Request, x.State.denial(c, r), &key)
	}
	t.Fail(r)
}

// toldPerMinute is how many of a caller's refusals are put on record. They would
// else fill the disk at the caller's speed, who may make up names of tools.
const toldPerMinute = 60

// tells whether a refusal is put on record: not after the license's end, nor for a
// name that no atom could hold. A request that is sent again is on record once.
func (x *Tenant) tells(t *actors.Turn, c ubl.Enter, r *ubl.Error, key actors.Key) bool {
	if r.Code == ubl.CodeUnknownTool || x.State.License.InForce() != nil ||
		x.State.meters.take(use{user: c.Who.UserID}, t.Now(), toldPerMinute) > 0 {
		return false
	}
	known, err := x.Keys.Find(t.Context(), key)
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
func (s *State) denial(c ubl.Enter, r *ubl.Error) actors.Act {
	under := s.License.ID
	if record, ok := s.Tools[c.Tool]; ok && record.Agreement.InForce() == nil {
		under = record.Agreement.ID
	}
	return actors.Act{
		Agreement: under,
		This:      ubl.Fields{ubl.Str("code", r.Code), ubl.Str("tool", c.Tool), ubl.Str("user_id", c.Who.UserID)},
		Error:     &ubl.AtomError{Code: r.Code, Message: r.Message},
		Pointers:  pointers(under),
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
func (m *meters) take(u use, at ubl.Time, perMinute int) time.Duration {
	b := m.bucket(u, at)
	b.full = b.level(at)
	wait := b.wait(at, perMinute)
	if wait == 0 {
		b.full += int64(time.Minute) / int64(perMinute)
	}
	return wait
}

// wait is how long until the caller could take a call; it takes none.
func (m *meters) wait(u use, at ubl.Time, perMinute int) time.Duration {
	if b := m.buckets[u]; b != nil {
		return b.wait(at, perMinute)
	}
	return 0
}

// level is full as of a moment: a clock set back locks nobody out.
func (b *bucket) level(at ubl.Time) int64 {
	now := at.Std().UnixNano()
	return min(max(b.full, now), now+int64(time.Minute))
}

func (b *bucket) wait(at ubl.Time, perMinute int) time.Duration {
	full := b.level(at) + int64(time.Minute)/int64(perMinute)
	return time.Duration(max(full-at.Std().UnixNano()-int64(time.Minute), 0))
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
