package actors

import (
	"sync"
	"time"
)

// How a window follows the time that writes take.
const (
	// lateAfter is how long writes may be under way, on average. Fewer are let in
	// while they take longer.
	lateAfter = 150 * time.Millisecond
	// lookEvery is how often that is looked at.
	lookEvery = 100 * time.Millisecond
	// tooLate is how long a write may wait, undecided, while fewer are let in.
	tooLate = 2 * lateAfter
	// firstWait and lastWait bound what a refused writer is told to wait.
	firstWait, lastWait = time.Second, 10 * time.Second
)

// window is what may be under way at once, by count and bytes, and by time. By Little's
// law a rate of writes times the time that each may take is how many may be under way:
// where they take longer, that is all that are let in, and no more wait behind them.
// Where they don't, the window opens again, by an eighth each time.
//
// It is driven by the times it is handed, and safe for concurrent use.
type window struct {
	max   int // writes at once, where as many have ended in time
	least int // so many are let in, however late the others are

	mu     sync.Mutex
	open   int  // writes at once, as of now
	closed bool // writes are late, or have been so lately that fewer are let in
	inside int
	bytes  int // still free

	looked time.Time // when the window was last looked at
	done   int       // writes that have ended since, and how long they took in all
	took   time.Duration

	// Of the time since counted: what a refused writer is told follows from it.
	counted         time.Time
	served, refused int // writes that have ended, and writes that were not let in
	wait            time.Duration
}

func newWindow(count, least, bytes int) *window {
	w := &window{max: count, least: min(least, count), bytes: bytes, wait: firstWait}
	w.open = w.unproven()
	return w
}

// unproven is how many are let in where nothing is known of how long writes take.
func (w *window) unproven() int { return max(w.least, w.max/4) }

// take lets a write in. Where many is false, it is one of few of its tenant, which wait
// for nobody else's: they may be twice as many.
func (w *window) take(now time.Time, bytes int, many bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fits(now, many) || w.bytes < bytes {
		w.refused++
		return false
	}
	w.inside++
	w.bytes -= bytes
	return true
}

// full reports whether take would refuse, without regard to bytes. It counts as a refusal.
func (w *window) full(now time.Time, many bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fits(now, many) {
		return false
	}
	w.refused++
	return true
}

func (w *window) fits(now time.Time, many bool) bool {
	w.look(now)
	open := w.open
	if !many {
		open = min(2*open, w.max)
	}
	return w.inside < open
}

// give ends a write that was let in at a time.
func (w *window) give(now, since time.Time, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
	w.bytes += bytes
	w.done++
	w.served++
	w.took += now.Sub(since)
	w.look(now)
}

// undo takes back a take, as if it had not been.
func (w *window) undo(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
	w.bytes += bytes
}

// look opens or closes the window by what has ended since it was looked at last.
func (w *window) look(now time.Time) {
	passed := now.Sub(w.looked)
	stuck := w.done == 0 && w.inside > 0
	if passed < lookEvery || stuck && passed < lateAfter { // too early to tell
		return
	}
	switch {
	case stuck:
		w.open, w.closed = w.least, true
	case w.took > time.Duration(w.done)*lateAfter:
		fit := int(int64(w.done) * int64(lateAfter) / int64(passed))
		w.open, w.closed = max(w.least, min(fit, w.open)), true
	default:
		w.widen(passed)
	}
	w.looked, w.done, w.took = now, 0, 0
}

// widen opens the window by an eighth for each look that was due, up to what is let in
// unproven; beyond that by one each time that writes have ended, and in time.
func (w *window) widen(passed time.Duration) {
	for ; passed >= lookEvery && w.open < w.unproven(); passed -= lookEvery {
		w.open = min(w.open+w.open/8+1, w.unproven())
	}
	if w.done > 0 {
		w.open = min(w.open+w.open/8+1, w.max)
	}
	w.closed = w.closed && w.open < w.unproven()
}

// many reports whether more than a few are inside.
func (w *window) many() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inside > fewWrites
}

// late reports whether writes are late, or have been so lately that fewer are let in.
func (w *window) late() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// later is what a refused writer is told to wait: until those that were refused lately
// will have had their turn, at the rate at which writes end.
func (w *window) later(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if passed := now.Sub(w.counted); passed >= w.wait {
		if passed < 2*w.wait {
			w.wait = time.Duration(int64(passed) * int64(w.refused) / int64(max(1, w.served)))
			w.wait = min(max(w.wait, firstWait), lastWait)
		} else {
			w.wait = firstWait // what was counted is of too long ago
		}
		w.counted, w.served, w.refused = now, 0, 0
	}
	return w.wait
}
