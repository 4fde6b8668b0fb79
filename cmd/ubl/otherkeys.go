package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/auth"
)

// All nodes of a cluster sign with one key. A node that has another one refuses everybody
// who signed in elsewhere, and the others refuse those who sign in there. So a node
//
//	without a key     gets it from another node before it serves, unless it is the only one
//	with an earlier   takes over the file of a node whose key follows its own: it was down
//	                  during a rotation, or the operator ended the earlier key at once
//	with any other    keeps it, and says so; it takes no requests while more nodes have
//	                  another key than have its own

// keyVotes is how the other nodes' keys stand to that of this one.
type keyVotes struct {
	agree   int      // sign with a key that this node accepts, itself included
	against []string // sign with another
}

// votesOn counts the nodes that sign with an accepted key. One that doesn't say counts for
// neither.
func votesOn(accepted []string, peers map[string][]string) keyVotes {
	v := keyVotes{agree: 1}
	for id, keys := range peers {
		switch {
		case len(keys) == 0:
		case slices.Contains(accepted, keys[0]):
			v.agree++
		default:
			v.against = append(v.against, id)
		}
	}
	slices.Sort(v.against)
	return v
}

// lonely reports whether the odd key is, or may be, the one of this node.
func (v keyVotes) lonely() bool { return len(v.against) >= max(v.agree, 1) }

// degraded says so.
func (v keyVotes) degraded() error {
	if !v.lonely() {
		return nil
	}
	return ubl.Errorf(ubl.CodeUnavailable, "degraded: this node's key is another than that of %s, so each refuses whom the other let in: copy identity.key from a node that is right, see the runbook (UBLKeyDiffers)",
		strings.Join(v.against, ", "))
}

// differs is how the keys stood when they were last compared.
func (n *node) differs() keyVotes {
	if v := n.others.Load(); v != nil {
		return *v
	}
	return keyVotes{}
}

// signsAsOthers says why requests had better go to a node with the others' key.
func (n *node) signsAsOthers() error {
	v := n.others.Load()
	switch {
	case v == nil:
		return ubl.Errorf(ubl.CodeUnavailable, "this node hasn't compared its key with the others' yet")
	case len(v.against) > v.agree:
		return v.degraded()
	}
	return nil
}

// compareKeys notes how the keys stand, and says what is wrong.
func (n *node) compareKeys(peers map[string][]string) error {
	v := votesOn(n.keyIDs(), peers)
	n.others.Store(&v)
	return v.degraded()
}

// followKey takes over the key of one of the nodes, where it follows the one of this node.
func (c *serveCmd) followKey(ctx context.Context, n *node, nodes []string) bool {
	for _, id := range nodes {
		shared, err := n.cluster.SharedOf(ctx, id)
		followed := false
		if err == nil {
			followed, err = auth.FollowKey(c.keyPath(), shared[sharedKey])
		}
		if err != nil {
			n.log.Warn("couldn't take over another node's key", "from", id, "error", err)
		}
		if followed {
			n.log.Info("took over another node's key, which follows the one of this node", "from", id)
			return true
		}
	}
	return false
}

// haveKey gets the key from another node, where the file is missing. It waits for one.
func (c *serveCmd) haveKey(ctx context.Context, n *node) error {
	for said := false; ; said = true {
		if _, err := auth.LoadKey(c.keyPath()); !errors.Is(err, fs.ErrNotExist) || n.cluster.Alone() {
			return nil // what else is wrong with it, the next who loads it says
		}
		for id := range n.cluster.PeerKeys(ctx) {
			shared, err := n.cluster.SharedOf(ctx, id)
			if err != nil {
				continue
			}
			n.log.Warn("the key was missing; this node has it from another one now", "from", id, "file", c.keyPath())
			return auth.SaveKey(c.keyPath(), shared[sharedKey])
		}
		if !said {
			n.log.Warn("the key is missing, and this node waits for another one that has it", "file", c.keyPath())
		}
		if !every(ctx, soon) {
			return errStopped
		}
	}
}
