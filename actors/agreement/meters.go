package agreement

import (
	"maps"
	"time"

	"ubl"
	"ubl/actors"
)

// Meters count what callers do, a bucket for each caller and what they do. They are no
// state: an actor that is loaded anew counts from full buckets. It leaves memory after a
// minute without work, in which they fill up anyway. The mailbox owns them.
type Meters struct {
	buckets map[Use]*bucket
	// crowd is how many buckets there may be before full ones are forgotten.
	crowd int
}

// Use is what a bucket is for: somebody, "" for all together, and what they do.
type Use struct {
	User ubl.UserID
	Of   string
}

// bucket fills up evenly, with a minute's calls in a minute.
type bucket struct {
	// full is when it will be full again, if nothing more is taken. The moment is
	// counted in nanoseconds, since a call may be worth less than a millisecond.
	full int64
}

// May refuses a proposed act that a limit of the terms lets nobody do now, and counts nothing.
func (m *Meters) May(t *ubl.Terms, p actors.Proposal) error {
	for _, l := range t.LimitsOf(p.Did) {
		if wait := m.Wait(useOf(l, p), p.At, l.PerMinute); wait > 0 {
			return ubl.Errorf(ubl.CodeRateLimited, "%s used this tool as often as a minute allows", whose(l)).Later(wait)
		}
	}
	return nil
}

// Charge counts an act against each limit of the terms that bounds it.
func (m *Meters) Charge(t *ubl.Terms, p actors.Proposal) {
	for _, l := range t.LimitsOf(p.Did) {
		m.Take(useOf(l, p), p.At, l.PerMinute)
	}
}

func whose(l ubl.Limit) string {
	if l.Together {
		return "all together have"
	}
	return "the caller has"
}

func useOf(l ubl.Limit, p actors.Proposal) Use {
	if l.Together {
		return Use{Of: l.Did}
	}
	return Use{p.Who.UserID, l.Did}
}

// Take takes a call out of a bucket. Where there is none it says how long until there will
// be one. Nothing bounds what has no number a minute.
func (m *Meters) Take(u Use, at ubl.Time, perMinute int) time.Duration {
	if perMinute == 0 {
		return 0
	}
	b := m.bucket(u, at)
	b.full = b.level(at)
	wait := b.wait(at, perMinute)
	if wait == 0 {
		b.full += int64(time.Minute) / int64(perMinute)
	}
	return wait
}

// Wait is how long until there will be a call; it takes none.
func (m *Meters) Wait(u Use, at ubl.Time, perMinute int) time.Duration {
	if b := m.buckets[u]; b != nil && perMinute > 0 {
		b.full = b.level(at)
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
func (m *Meters) bucket(u Use, at ubl.Time) *bucket {
	if b := m.buckets[u]; b != nil {
		return b
	}
	const few = 1024
	if m.buckets == nil {
		m.buckets, m.crowd = make(map[Use]*bucket), few
	}
	if len(m.buckets) >= m.crowd {
		maps.DeleteFunc(m.buckets, func(_ Use, b *bucket) bool { return b.full <= at.Std().UnixNano() })
		m.crowd = max(few, 2*len(m.buckets))
	}
	b := &bucket{}
	m.buckets[u] = b
	return b
}
