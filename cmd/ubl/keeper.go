package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"ubl"
	"ubl/actors/portal"
	"ubl/transport/auth"
)

const (
	// tellAgain is how soon a start that couldn't be receipted is tried again.
	tellAgain = 15 * time.Second
	// chore bounds one errand of a start, errands how many are run at a time: one
	// tenant that is stuck must not hold up the others.
	chore   = time.Minute
	errands = 4
)

// keep runs what a node does by itself, apart from requests: it receipts its start where
// that could not be done at once, and fires alarms. A node alone does so from now on, one
// of a cluster where it leads. The returned function waits for it to end, which it does
// soon after ctx.
func (n *node) keep(ctx context.Context, start func(context.Context) error) (wait func()) {
	if n.cluster == nil {
		for p := range n.store.Partitions() {
			n.actors.Led(p)
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
	n.closeOrphans(ctx)
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

// closeOrphans ends every call to the outside that is still open. A node alone
// does so before it serves, since nothing can be under way then; all others end by their
// alarms. It looks into the store first, so that a tenant without any stays out of memory.
func (n *node) closeOrphans(ctx context.Context) {
	n.eachTenant(ctx, "couldn't close the calls of the run before", func(ctx context.Context, g ubl.Group) error {
		if open, err := n.has(ctx, g, portal.HasOpenCalls); !open || err != nil {
			return err
		}
		return n.ask(ctx, ubl.PortalName(g.Tenant), func(req ubl.Request) ubl.Command {
			return ubl.CloseCalls{Request: req, All: true}
		})
	})
}

// withServers lists the tenants of this node that may have servers of tools. It
// looks into the store, so that the others stay out of memory.
func (n *node) withServers(ctx context.Context) (out []ubl.TenantID, err error) {
	groups, err := n.store.Groups(ctx)
	for _, g := range groups {
		has, failed := n.has(ctx, g, portal.HasServers)
		if err = errors.Join(err, failed); has {
			out = append(out, g.Tenant)
		}
	}
	return out, err
}

// has asks the store about a group.
func (n *node) has(ctx context.Context, g ubl.Group, ask func(ubl.Snapshot) (bool, error)) (has bool, err error) {
	err = n.store.View(ctx, g, func(snap ubl.Snapshot) (err error) {
		has, err = ask(snap)
		return err
	})
	return has, err
}

// eachTenant runs an errand for every tenant of this node, a few at a time and
// each with a deadline of its own. It goes on past one that fails, and returns
// when all have ended.
func (n *node) eachTenant(ctx context.Context, failed string, errand func(context.Context, ubl.Group) error) {
	groups, err := n.store.Groups(ctx)
	errs := make([]error, len(groups))
	free := make(chan struct{}, errands)
	var running sync.WaitGroup
	for i, g := range groups {
		free <- struct{}{}
		n.panics.Go(&running, "an errand for a tenant", func() {
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(ctx, chore)
			defer cancel()
			errs[i] = n.panics.Try("an errand for a tenant", func() error { return errand(ctx, g) })
		})
	}
	running.Wait()
	if err = errors.Join(err, errors.Join(errs...)); err != nil && ctx.Err() == nil {
		n.log.Error(failed, "error", err)
	}
}

// ask asks an actor something that the platform wants.
func (n *node) ask(ctx context.Context, to ubl.Name, cmd func(ubl.Request) ubl.Command) error {
	req, err := n.request()
	if err != nil {
		return err
	}
	_, err = n.asker.Ask(ctx, to, cmd(req))
	return err
}
