package sse

import (
	"slices"
	"sort"

	"ubl"
)

const (
	minSegment = 4 << 10
	maxSegment = 64 << 10
)

// ring is the recent events of one feed as frames, in the order they came. Its
// owner locks it; listeners read views of it.
type ring struct {
	view
	dropped int // entries that only the list's memory still holds
	bytes   int
	open    *segment // the one that is being filled
	used    int      // bytes of it

	maxEvents, maxBytes int
}

// view is a ring as it is at one time, complete for every position above base. What it
// can see never changes, so that nobody locks to read it: a publisher that waited for a
// thousand readers would hold up the answers to what it publishes.
type view struct {
	base, last int64 // last is the newest position known, with or without an event
	first      int64 // absolute index of entries[0]; indexes only rise
	entries    []entry
}

// entry is one event in the ring.
type entry struct {
	pos   int64 // listeners whose cursor is below it have not seen it
	after int64 // their cursor once they have: pos, or pos-1 without an id
	room  ubl.RoomID

	segment    *segment
	start, end int
}

// segment holds frames one behind the other, so that a run of them is one
// slice. Bytes once written never change, and listeners keep slices of it.
type segment struct{ buf []byte }

// cursor is how far a listener is.
type cursor struct {
	pos int64 // its cursor
	at  int64 // absolute index of its next entry, -1 where that must be looked up
}

func (v *view) next() int64 { return v.first + int64(len(v.entries)) }

// add puts a frame at the end and drops the oldest ones beyond the bounds.
func (r *ring) add(e entry, frame []byte) {
	if r.open == nil || len(r.open.buf)-r.used < len(frame) {
		// A quiet room keeps a small segment, a busy one fills large ones.
		size := min(max(minSegment, r.bytes), maxSegment)
		r.open, r.used = &segment{buf: make([]byte, max(size, len(frame)))}, 0
	}
	e.segment, e.start = r.open, r.used
	r.used += copy(r.open.buf[r.used:], frame)
	e.end = r.used
	r.entries = append(r.entries, e)
	r.bytes += len(frame)
	for len(r.entries) > r.maxEvents || r.bytes > r.maxBytes && len(r.entries) > 1 {
		r.base = max(r.base, r.entries[0].after)
		r.drop(1)
	}
}

func (r *ring) drop(n int) {
	for i := range n {
		r.bytes -= r.entries[i].end - r.entries[i].start
	}
	r.entries = r.entries[n:]
	r.first += int64(n)
	// Views may still see what was dropped. A new list lets go of its segments.
	if r.dropped += n; r.dropped > len(r.entries)/2 {
		r.entries, r.dropped = slices.Clone(r.entries), 0
	}
}

// advance says that the ring is complete above pos only: what lies at or below
// it must come from history.
func (r *ring) advance(pos int64) {
	r.drop(r.search(pos))
	r.base, r.last = max(r.base, pos), max(r.last, pos)
}

// restart drops everything: a publication at or below pos was missed.
func (r *ring) restart(pos int64) {
	r.drop(len(r.entries))
	r.base, r.last = pos, pos
}

// search counts the entries at or below pos.
func (v *view) search(pos int64) int {
	return sort.Search(len(v.entries), func(i int) bool { return v.entries[i].pos > pos })
}

// read appends what comes after p to runs, as few slices and up to about
// limit bytes, moves p behind it and counts the events. behind means that p is below
// the ring; nothing else happened then.
func (v *view) read(p *cursor, sees func(ubl.RoomID) bool, runs [][]byte, limit int) (out [][]byte, events int, behind bool) {
	if p.pos < v.base {
		p.at = -1
		return runs, 0, true
	}
	if p.at < v.first {
		p.at = v.first + int64(v.search(p.pos))
	}
	var tail *entry // the entry at the end of the last run
	size := 0
	for ; p.at < v.next() && size < limit; p.at++ {
		e := &v.entries[p.at-v.first]
		if e.pos <= p.pos {
			continue // told late, and paged from history before that
		}
		p.pos = e.after
		if !sees(e.room) {
			continue
		}
		if tail != nil && tail.segment == e.segment && tail.end == e.start {
			run := &runs[len(runs)-1]
			*run = e.segment.buf[e.end-len(*run)-(e.end-e.start) : e.end]
		} else {
			runs = append(runs, e.segment.buf[e.start:e.end])
		}
		tail = e
		size += e.end - e.start
		events++
	}
	if p.at == v.next() {
		p.pos = max(p.pos, v.last)
	}
	return runs, events, false
}
