// Package turns shares a few places among all tenants of a node, or among others, for work that
// takes much memory or time. A tenant has a part of them at most, so that one tenant leaves room
// for the others; and a place that is given back goes to the tenants that wait in turn, however
// many requests each of them has waiting.
package turns

import (
	"context"
	"slices"
	"sync"

	"ubl"
)

// Turns are places that tenants share.
type Turns = Among[ubl.TenantID]

// Among are places that those share whom a K names. A nil one bounds nothing. Safe for concurrent use.
type Among[K comparable] struct {
	each int // the most places of one

	mu   sync.Mutex
	free int
	held map[K]int
	// lines are the requests that wait, by whose they are, and order is whose turn is next: it
	// names each that has a line.
	lines map[K][]chan struct{}
	order []K
}

// New has places for all tenants, and for each of them.
func New(all, each int) *Turns { return NewAmong[ubl.TenantID](all, each) }

// NewAmong has places for all, and for each.
func NewAmong[K comparable](all, each int) *Among[K] {
	return &Among[K]{each: each, free: all, held: make(map[K]int), lines: make(map[K][]chan struct{})}
}

// Take waits for a place, until ctx ends; [Among.Give] gives it back. One that is free is taken
// without a wait, however little patience is left.
func (t *Among[K]) Take(ctx context.Context, of K) error {
	if t == nil {
		return nil
	}
	place := t.queue(of)
	select {
	case <-place:
		return nil
	default:
	}
	select {
	case <-place:
		return nil
	case <-ctx.Done():
		t.leave(of, place)
		return ctx.Err()
	}
}

// Try takes a place if one is free, and nobody waits for it.
func (t *Among[K]) Try(of K) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free == 0 || t.held[of] == t.each {
		return false
	}
	t.free--
	t.held[of]++
	return true
}

// Give gives a place back.
func (t *Among[K]) Give(of K) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.held[of]--; t.held[of] == 0 {
		delete(t.held, of)
	}
	t.serve()
}

// queue puts a request at the end of its line. The channel is closed when the
// request has its place, which may be at once.
func (t *Among[K]) queue(of K) chan struct{} {
	place := make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines[of]) == 0 {
		t.order = append(t.order, of)
	}
	t.lines[of] = append(t.lines[of], place)
	t.serve()
	return place
}

// leave takes a request out of its line. One that got its place meanwhile gives it back.
func (t *Among[K]) leave(of K, place chan struct{}) {
	t.mu.Lock()
	i := slices.Index(t.lines[of], place)
	if i >= 0 {
		t.shorten(of, i)
	}
	t.mu.Unlock()
	if i < 0 {
		t.Give(of)
	}
}

// serve gives free places to those that wait. Call with mu held.
func (t *Among[K]) serve() {
	for t.free > 0 {
		i := slices.IndexFunc(t.order, func(of K) bool { return t.held[of] < t.each })
		if i < 0 {
			return
		}
		of := t.order[i]
		t.free--
		t.held[of]++
		close(t.lines[of][0])
		t.order = append(slices.Delete(t.order, i, i+1), of) // the others are first from now on
		t.shorten(of, 0)
	}
}

// shorten takes a request out of a line, and the line away with the last one. Call with
// mu held.
func (t *Among[K]) shorten(of K, i int) {
	t.lines[of] = slices.Delete(t.lines[of], i, i+1)
	if len(t.lines[of]) == 0 {
		delete(t.lines, of)
		t.order = slices.DeleteFunc(t.order, func(other K) bool { return other == of })
	}
}
