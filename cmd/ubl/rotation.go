package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/cluster"
	"ubl/transport/auth"
)

// lookAgain is how often a file that may be rotated is read: an operator waits
// for this.
const lookAgain = 2 * time.Second

// soon is how often a node that starts looks whether it can compare its key with the
// others': it isn't ready before.
const soon = 100 * time.Millisecond

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
	// were receipted last; nil before the first step.
	said string
	told []string
}

// watchRotations looks after the files until ctx ends.
func (c *serveCmd) watchRotations(ctx context.Context, p *program, n *node, f *front) {
	var running sync.WaitGroup
	defer running.Wait()
	n.panics.Go(&running, "rotating the key", func() { c.rotateKey(n, f.auth.SetKey).run(ctx) })
	if n.cluster != nil && c.ClusterSecretFile != "" { // one that came by variable can't change
		n.panics.Go(&running, "rotating the cluster secret", func() { c.rotateSecret(p, n).run(ctx) })
	}
}

// rotateSecret is about the cluster's secret; see [cluster.Node.SetSecret].
func (c *serveCmd) rotateSecret(p *program, n *node) *rotation {
	return &rotation{
		node: n, name: "cluster secret", did: ubl.DidPlatformSecretRotate,
		ids: n.cluster.SecretIDs, told: n.cluster.SecretIDs(),
		step: func(ctx context.Context) (string, error) {
			want, err := c.secret(p)
			if err != nil {
				return "", err
			}
			return n.cluster.SetSecret(ctx, want)
		},
	}
}

// rotateKey is about the key that tokens are signed with. A node of a cluster starts with
// the key before the newest (see startingKey): which one it uses is decided with its first
// step, and no rotation.
func (c *serveCmd) rotateKey(n *node, set func(*auth.Key)) *rotation {
	r := &rotation{
		node: n, name: "key", did: ubl.DidPlatformKeyRotate, ids: n.keyIDs,
		step: func(ctx context.Context) (waits string, err error) { return c.stepKey(ctx, n, set) },
	}
	if n.cluster == nil {
		r.told = n.keyIDs()
	}
	return r
}

// stepKey reads the key's file and goes one step towards it.
func (c *serveCmd) stepKey(ctx context.Context, n *node, set func(*auth.Key)) (waits string, err error) {
	var peers map[string][]string
	if n.cluster != nil {
		if n.others.Load() == nil && n.cluster.Serves() != nil { // it may not know the others yet
			return "", errNotYet
		}
		peers = n.cluster.PeerKeys(ctx)
		defer func() { err = errors.Join(err, n.compareKeys(peers)) }()
	}
	want, err := auth.LoadKey(c.keyPath())
	if err == nil && c.followKey(ctx, n, votesOn(want.AcceptedIDs(n.now()), peers).against) {
		want, err = auth.LoadKey(c.keyPath())
	}
	if err != nil {
		return "", err
	}
	have, now := n.key.Load(), n.now()
	accepted := want.AcceptedIDs(now)
	use := accepted[0]
	// A key that isn't accepted any more is given up whoever lacks the new one.
	next, waits := cluster.NextKeys(have.AcceptedIDs(now), accepted, peers)
	if slices.Contains(accepted, next[0]) {
		use = next[0]
	}
	if want = want.Using(use); !want.Equal(have) {
		n.key.Store(want)
		set(want)
	}
	if n.cluster != nil { // which keys a node accepts changes with time, too
		err = n.cluster.TellKeys()
	}
	return waits, err
}

// errNotYet is a step for which it is too early.
var errNotYet = errors.New("not yet")

func (r *rotation) run(ctx context.Context) {
	for pause := soon; every(ctx, pause); {
		r.node.panics.Do("rotating the "+r.name, func() { r.once(ctx) })
		if r.told != nil {
			pause = lookAgain
		}
	}
}

func (r *rotation) once(ctx context.Context) {
	waits, err := r.step(ctx)
	if errors.Is(err, errNotYet) {
		return
	}
	if r.told == nil {
		r.told = r.ids()
	}
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
