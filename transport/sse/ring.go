package sse

import (
	"sort"

	"ubl"
)

const (
	minSegment = 4 << 10
	maxSegment = 64 << 10
)

// ring is the recent events of one feed as frames, in the order they came. It
// is complete for every position above base. Its owner locks it.
type ring struct {
	base, last int64 // last is the newest position known, with or without an event
	first      int64 // absolute index of entries[0]; indexes only rise
	entries    []entry
	bytes      int
	open       *segment // the one that is being filled

	maxEvents, maxBytes int
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
// slice. Bytes once written never change: listeners keep slices of it beyond
// the lock.
type segment struct{ buf []byte }

// place is where a listener stands.
type place struct {
	pos int64 // its cursor
	at  int64 // absolute index of its next entry, -1 where that must be looked up
}

func (r *ring) next() int64 { return r.first + int64(len(r.entries)) }

// add puts a frame at the end and drops the oldest ones beyond the bounds.
func (r *ring) add(e entry, frame []byte) {
	if r.open == nil || cap(r.open.buf)-len(r.open.buf) < len(frame) {
		// A quiet room keeps a small segment, a busy one fills large ones.
		size := min(max(minSegment, r.bytes), maxSegment)
		r.open = &segment{buf: make([]byte, 0, max(size, len(frame)))}
	}
	e.segment, e.start = r.open, len(r.open.buf)
	r.open.buf = append(r.open.buf, frame...)
	e.end = len(r.open.buf)
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
		r.entries[i] = entry{} // lets go of the segment
	}
	r.entries = r.entries[n:]
	r.first += int64(n)
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
func (r *ring) search(pos int64) int {
	return sort.Search(len(r.entries), func(i int) bool { return r.entries[i].pos > pos })
}

// read appends what comes after p to runs, as few slices and up to about
// limit bytes, moves p behind it and counts the events. behind means that p is below
// the ring; nothing else happened then.
func (r *ring) read(p *place, sees func(ubl.RoomID) bool, runs [][]byte, limit int) (out [][]byte, events int, behind bool) {
	if p.pos < r.base {
		p.at = -1
		return runs, 0, true
	}
	if p.at < r.first {
		p.at = r.first + int64(r.search(p.pos))
	}
	var tail *entry // the entry at the end of the last run
	size := 0
	for ; p.at < r.next() && size < limit; p.at++ {
		e := &r.entries[p.at-r.first]
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
	if p.at == r.next() {
		p.pos = max(p.pos, r.last)
	}
	return runs, events, false
}
