package storage

import (
	"sync"

	"ubl"
)

// item is one thing to do for the committer: a batch or note to write, a lease
// to grant or to take back. An empty one wakes it.
type item struct {
	batch    *ubl.Batch
	note     *note
	size     int
	settled  func(error)
	begin    *begin
	end      *end
	proposed bool // it is in an entry of the log
	// err is why it was refused, at the door or by the committer.
	err error
}

// begin is a call of Begin on its way through the queue. The answer fits into
// the channel, so nobody waits for a caller that has left.
type begin struct {
	group  ubl.Group
	answer chan granted
	result granted // the committer's, until the settler sends it
}

// end is a lease that is given back.
type end struct {
	group ubl.Group
	lease ubl.Lease
}

type granted struct {
	lease ubl.Lease
	head  ubl.LedgerHead
	err   error
}

// queue holds what was submitted until the committer takes it. Many put, one
// takes.
type queue struct {
	mu      sync.Mutex
	filled  sync.Cond
	items   []item
	bytes   int
	closing bool // take returns what is left, then nothing
	closed  bool // put refuses
}

func newQueue() *queue {
	q := new(queue)
	q.filled.L = &q.mu
	return q
}

// put reports false once the committer has gone. What does not fit goes in
// without its batch, to be refused in its turn.
func (q *queue) put(it item, maxBytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	switch {
	case q.closing:
		it.err = errClosed()
	case q.bytes+it.size > maxBytes:
		it.err = ubl.Errorf(ubl.CodeOverloaded, "too much waits to be written")
	}
	if it.err != nil {
		it.batch, it.note, it.size = nil, nil, 0
	}
	q.items = append(q.items, it)
	q.bytes += it.size
	q.filled.Signal()
	return true
}

// take waits for items and moves those of one transaction into dst; none come
// once the queue is closing and empty.
func (q *queue) take(dst []item, maxItems, maxBytes int) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closing {
		q.filled.Wait()
	}
	n, bytes := 0, 0
	for n < len(q.items) && n < maxItems && (n == 0 || bytes+q.items[n].size <= maxBytes) {
		bytes += q.items[n].size
		n++
	}
	dst = append(dst, q.items[:n]...)
	rest := copy(q.items, q.items[n:])
	clear(q.items[rest:])
	q.items = q.items[:rest]
	q.bytes -= bytes
	q.closed = n == 0
	return dst
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.filled.Signal()
}

func (q *queue) length() (items, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items), q.bytes
}
