package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"ubl"
	"ubl/transport/auth"
)

const (
	// tellAgain is how soon a start that couldn't be receipted is tried again.
	tellAgain = 15 * time.Second
	// chore bounds telling it once.
	chore = time.Minute
)

// keep runs what a node does by itself, apart from requests: it receipts its start where
// that could not be done at once, and fires alarms. A node alone does so from now on, one
// of a cluster where it leads. The returned function waits for it to end, which it does
// soon after ctx.
func (n *node) keep(ctx context.Context, start func(context.Context) error) (wait func()) {
	if n.cluster == nil {
		for p := range n.store.Partitions() {
			n.actors.LedAlone(p)
		}
	}
	var running sync.WaitGroup
	n.panics.Go(&running, "telling the start", func() {
		tell := func() error { return start(ctx) }
		for start != nil && n.panics.Try("telling the start", tell) != nil && every(ctx, tellAgain) {
		}
	})
	return running.Wait
}

// every waits, and says whether there is a next time.
func every(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// start receipts the node's start. Where it can't be written, for a full disk or for
// damage to tenant 0, it returns what to try again: the rest must go on. In a cluster nobody waits
// for that at all.
func (n *node) start(ctx context.Context, key *auth.Key) (again func(context.Context) error, err error) {
	req, err := n.request()
	if err != nil {
		return nil, err
	}
	tell := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, chore)
		defer cancel()
		err := n.announceStart(ctx, req, key)
		if err != nil && !errors.Is(err, context.Canceled) { // by a stop
			n.log.Error("couldn't receipt the start", "error", err)
		}
		return err
	}
	if n.cluster != nil { // others may have to start first
		return tell, nil
	}
	n.guardClock(ctx)
	if err = tell(ctx); ubl.CodeOf(err) == ubl.CodeUnavailable || errors.Is(err, ubl.ErrDamaged) {
		return func(ctx context.Context) error {
			if !every(ctx, tellAgain) {
				return ctx.Err()
			}
			return tell(ctx)
		}, nil
	}
	return nil, err
}
