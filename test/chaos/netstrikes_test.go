//go:build linux

package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

func needsNet(n *node) string { return n.world.net.lacks() }

func needsCuts(n *node) string {
	if len(n.world.all()) < 2 {
		return "one node has no peers"
	}
	return n.world.net.lacks()
}

// others are the nodes but one.
func (w *world) others(n *node) []*node {
	return slices.DeleteFunc(w.all(), func(o *node) bool { return o == n })
}

// cuts drops what goes from each of the first to each of the second.
func (w *world) cuts(from, to []*node) (func() error, error) {
	each := func(do func(from, to int) error) error {
		var errs []error
		for _, f := range from {
			for _, t := range to {
				if f != t {
					errs = append(errs, do(f.index, t.index))
				}
			}
		}
		return errors.Join(errs...)
	}
	return func() error { return each(w.net.join) }, each(w.net.cut)
}

// cutOff leaves the node its clients, but no peers.
func cutOff(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	undoOut, err := n.world.cuts([]*node{n}, n.world.others(n))
	undoIn, err2 := n.world.cuts(n.world.others(n), []*node{n})
	return func() error { return errors.Join(undoOut(), undoIn()) }, errors.Join(err, err2)
}

func mute(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	return n.world.cuts([]*node{n}, n.world.others(n))
}

func deaf(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	return n.world.cuts(n.world.others(n), []*node{n})
}

// deafToOne cuts one direction between two nodes; others reach both.
func deafToOne(_ context.Context, n *node, draw *rand.Rand) (func() error, error) {
	others := n.world.others(n)
	return n.world.cuts([]*node{others[draw.IntN(len(others))]}, []*node{n})
}

// unplug takes the node from everybody, clients included.
func unplug(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	return func() error { return n.world.net.plug(n.index) }, n.world.net.unplug(n.index)
}

func slowLine(_ context.Context, n *node, draw *rand.Rand) (func() error, error) {
	how := slowness{delay: between(draw, 20*time.Millisecond, 400*time.Millisecond), kbit: 256 << draw.IntN(4)}
	return func() error { return n.world.net.fast(n.index) }, n.world.net.slow(n.index, how)
}
