package main

import (
	"context"
	"strings"
	"time"

	"ubl"
	"ubl/cluster/mesh"
)

// lookAgain is how often the secret's file is read: an operator who rotates the
// secret waits for this.
const lookAgain = 2 * time.Second

// rotation carries the node to the cluster secret that an operator puts into its
// file, and receipts each change. See [cluster.Node.SetSecret] for the steps.
type rotation struct {
	node *node
	read func() (mesh.Secret, error)
	// said is what was logged last, so that it is logged once.
	said string
	// told are the ids that were receipted last.
	told []string
}

// watchSecret runs until ctx ends. A secret that came by variable can't change.
func (c *clusterFlags) watchSecret(ctx context.Context, p *program, n *node) {
	if n.cluster == nil || c.ClusterSecretFile == "" {
		return
	}
	r := &rotation{node: n, read: func() (mesh.Secret, error) { return c.secret(p) }, told: n.cluster.SecretIDs()}
	for every(ctx, lookAgain) {
		r.step(ctx)
	}
}

// step goes one step, if there is one to go.
func (r *rotation) step(ctx context.Context) {
	want, err := r.read()
	if err != nil {
		r.say(err.Error(), func(text string) {
			r.node.log.Error("couldn't read the cluster's secret again; the node keeps the one it has", "error", text)
		})
		return
	}
	waits, err := r.node.cluster.SetSecret(ctx, want)
	if err != nil {
		r.node.log.Error("couldn't rotate the cluster's secret", "error", err)
		return
	}
	r.say(waits, func(text string) { r.node.log.Info("the cluster's secret is being rotated", "waits_for", text) })
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
	ids := r.node.cluster.SecretIDs()
	have := strings.Join(ids, " ")
	if have == strings.Join(r.told, " ") {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, chore)
	defer cancel()
	err := r.node.announceNow(ctx, announcement{
		to: ubl.CeremonyRoom, did: ubl.DidPlatformSecretRotate,
		text: "Cluster secret of " + r.node.id() + ": uses " + ids[0] + ", accepts " + strings.Join(ids, ", "),
		more: ubl.Fields{ubl.Str("uses", ids[0]), ubl.Str("accepts", have)},
	})
	if err != nil {
		r.node.log.Warn("couldn't receipt the cluster's secret", "error", err)
		return
	}
	r.node.log.Info("the cluster's secret was rotated a step", "uses", ids[0], "accepts", have)
	r.told = ids
}
