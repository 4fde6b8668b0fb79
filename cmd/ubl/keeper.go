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
	// sweepEvery is how often retention is applied.
	sweepEvery = time.Hour
	// tellAgain is how soon a start that couldn't be receipted is tried again.
	tellAgain = 15 * time.Second
	// chore bounds one errand of the keeper.
	chore = time.Minute
)

// keep runs what a node does by itself, apart from requests: it applies
// retention every hour, after it has receipted its start where that could not
// be done at once. The returned function waits for it to end, which it does
// soon after ctx.
func (n *node) keep(ctx context.Context, start func(context.Context) error) (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { n.tellChanges(ctx) })
	running.Go(func() {
		for start != nil && start(ctx) != nil && every(ctx, tellAgain) {
		}
		for every(ctx, sweepEvery) {
			n.sweep(ctx)
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

// start receipts the node's start. Where it can't be written, which a full disk
// does, it returns what to try again: reads must go on. In a cluster nobody waits
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
		if err != nil {
			n.log.Error("couldn't receipt the start", "error", err)
		}
		return err
	}
	if n.cluster != nil { // others may have to start first
		return tell, nil
	}
	if err = tell(ctx); ubl.CodeOf(err) == ubl.CodeUnavailable {
		return func(ctx context.Context) error {
			if !every(ctx, tellAgain) {
				return ctx.Err()
			}
			return tell(ctx)
		}, nil
	}
	return nil, err
}

// sweep applies retention in the rooms of all tenants.
func (n *node) sweep(ctx context.Context) {
	groups, err := n.store.Groups(ctx)
	for _, g := range groups {
		err = errors.Join(err, n.sweepTenant(ctx, g.Tenant))
	}
	if err != nil && ctx.Err() == nil {
		n.log.Error("couldn't apply retention everywhere", "error", err)
	}
}

func (n *node) sweepTenant(ctx context.Context, t ubl.TenantID) error {
	ctx, cancel := context.WithTimeout(ctx, chore)
	defer cancel()
	req, err := n.request()
	if err != nil {
		return err
	}
	_, err = n.asker.Ask(ctx, ubl.TenantName(t), ubl.SweepRooms{Request: req})
	return err
}
