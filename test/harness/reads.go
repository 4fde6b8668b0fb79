package harness

import (
	"bytes"
	"context"
	"sync/atomic"

	"ubl"
	"ubl/actors"
)

// counted is a store that counts what is read for an answer, once the act that it tells of is
// durable.
type counted struct {
	ubl.Store
	of atomic.Pointer[reading] // the command that is counted now, nil for none
}

// reading is one command whose answer is counted.
type reading struct {
	group   ubl.Group
	request []byte // as the command's atoms have it
	durable atomic.Bool
	views   atomic.Int64
}

type readingKey struct{}

// Submit implements [ubl.Store].
func (c *counted) Submit(b *ubl.Batch, settled func(error)) {
	r := c.of.Load()
	if r == nil || b.Group != r.group || !bytes.Contains(bytes.Join(b.Atoms, nil), r.request) {
		c.Store.Submit(b, settled)
		return
	}
	c.Store.Submit(b, func(err error) {
		r.durable.Store(err == nil)
		settled(err)
	})
}

// View implements [ubl.Reader].
func (c *counted) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	if r, ok := ctx.Value(readingKey{}).(*reading); ok && g == r.group && r.durable.Load() && ubl.ReadingOf(ctx, g) == nil {
		r.views.Add(1)
	}
	return c.Store.View(ctx, g, fn)
}

// askCounting asks a command, and tells how often the store of the asked actor's group was read
// for the answer behind the command's own commit. Actors that are loaded meanwhile don't count.
func (h *House) askCounting(to ubl.Name, cmd ubl.Command) (answer any, views int64, err error) {
	r := &reading{group: to.Group(), request: []byte(`"` + cmd.(actors.Asked).Asked().ID + `"`)}
	h.reads.of.Store(r)
	defer h.reads.of.Store(nil)
	answer, err = h.Ask(context.WithValue(context.Background(), readingKey{}, r), to, cmd)
	return answer, r.views.Load(), err
}
