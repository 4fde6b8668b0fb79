package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/transport/auth"
)

// lookAgain is how often a file that may be rotated is read: an operator waits
// for this.
const lookAgain = 2 * time.Second

// rotation carries the node to what an operator puts into a file of secrets, as
// far as no other node is cut off by it, and receipts each change.
type rotation struct {
	node *node
	// name is how logs and receipts call it.
	name string
	did  ubl.Did
	// step reads the file and goes one step; waits says what the next one waits for.
	step func(context.Context) (waits string, err error)
	// ids name what the node has now: it uses the first and accepts all.
	ids func() []string
	// said is what was logged last, so that it is logged once; told are the ids that
	// were receipted last.
	said string
	told []string
}

// watchRotations looks after the files until ctx ends.
func (c *serveCmd) watchRotations(ctx context.Context, p *program, n *node, f *front) {
	var running sync.WaitGroup
	defer running.Wait()
	n.panics.Go(&running, "rotating the key", func() { c.rotateKey(n, f).run(ctx) })
	if n.cluster != nil && c.ClusterSecretFile != "" { // one that came by variable can't change
		n.panics.Go(&running, "rotating the cluster secret", func() { c.rotateSecret(p, n).run(ctx) })
	}
}

// rotateSecret is about the cluster's secret; see [cluster.Node.SetSecret].
func (c *serveCmd) rotateSecret(p *program, n *node) *rotation {
	return &rotation{
		node: n, name: "cluster secret", did: ubl.DidPlatformSecretRotate,
		ids: n.cluster.SecretIDs,
		step: func(ctx context.Context) (string, error) {
			want, err := c.secret(p)
			if err != nil {
				return "", err
			}
			return n.cluster.SetSecret(ctx, want)
		},
	}
}

// rotateKey is about the key that tokens are signed with.
func (c *serveCmd) rotateKey(n *node, f *front) *rotation {
	return &rotation{
		node: n, name: "key", did: ubl.DidPlatformKeyRotate,
		ids: n.keyIDs,
		step: func(ctx context.Context) (waits string, err error) {
			want, err := auth.LoadKey(c.keyPath())
			if err != nil {
				return "", err
			}
			have, now := n.key.Load(), n.now()
			accepted := want.AcceptedIDs(now)
			use := accepted[0]
			if n.cluster != nil {
				var next []string
				// A key that isn't accepted any more is given up whoever lacks the new one.
				if next, waits = n.cluster.NextKeys(ctx, have.AcceptedIDs(now), accepted); slices.Contains(accepted, next[0]) {
					use = next[0]
				}
			}
			if want = want.Using(use); !want.Equal(have) {
				n.key.Store(want)
				f.auth.SetKey(want)
			}
			return waits, nil
		},
	}
}

func (r *rotation) run(ctx context.Context) {
	r.told = r.ids()
	for every(ctx, lookAgain) {
		r.node.panics.Do("rotating the "+r.name, func() { r.once(ctx) })
	}
}

func (r *rotation) once(ctx context.Context) {
	waits, err := r.step(ctx)
	if err != nil {
		r.say(err.Error(), func(text string) {
			r.node.log.Error("couldn't rotate the "+r.name+"; the node keeps what it has", "error", text)
		})
		return
	}
	r.say(waits, func(text string) { r.node.log.Info("the "+r.name+" is being rotated", "waits_for", text) })
	r.tell(ctx)
}

// say logs a text unless it was the last one, or is none.
func (r *rotation) say(text string, log func(string)) {
	if text != r.said && text != "" {
		log(text)
	}
	r.said = text
}

// tell receipts what the node has now. What can't be written is tried again with
// the next step.
func (r *rotation) tell(ctx context.Context) {
	ids := r.ids()
	if slices.Equal(ids, r.told) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, chore)
	defer cancel()
	err := r.node.announceNow(ctx, announcement{
		to: ubl.CeremonyRoom, did: r.did,
		text: fmt.Sprintf("Rotated the %s of %s: it uses %s and accepts %s", r.name, r.node.id(), ids[0], strings.Join(ids, ", ")),
		more: ubl.Fields{ubl.Str("uses", ids[0]), ubl.Str("accepts", strings.Join(ids, " "))},
	})
	if err != nil {
		r.node.log.Warn("couldn't receipt the "+r.name, "error", err)
		return
	}
	r.node.log.Info("rotated the "+r.name, "uses", ids[0], "accepts", strings.Join(ids, " "))
	r.told = ids
}
