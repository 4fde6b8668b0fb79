package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ubl/cluster/mesh"
)

// SetSecret goes one step towards the secret that the operator wants, as far as
// no living node is cut off: this node accepts a new key at once, uses it when
// every other accepts it, and gives up an old one when no other uses it. It
// returns what it waits for, "" when the node has the secret that is wanted.
// Call it again and again until then, on all nodes, in any order.
func (n *Node) SetSecret(ctx context.Context, want mesh.Secret) (waits string, err error) {
	now := n.mesh.Secret()
	if slices.Equal(now.IDs(), want.IDs()) {
		return "", nil
	}
	ids, waits := NextKeys(now.IDs(), want.IDs(), n.peerSecrets(ctx))
	if slices.Equal(ids, now.IDs()) {
		return waits, nil
	}
	if err := n.mesh.SetSecret(now.Select(want, ids)); err != nil {
		return "", fmt.Errorf("couldn't change the cluster's secret: %w", err)
	}
	n.noteSecret(ids[0])
	return waits, nil
}

// lastSecret is the secret of the options, with the key in use that the node used
// last: others may not accept yet what an operator has put above it.
func (n *Node) lastSecret() mesh.Secret {
	s := n.opts.Secret
	if n.member == nil || !slices.Contains(s.IDs(), n.member.SecretID) {
		return s
	}
	return s.Select(s, withFirst(n.member.SecretID, s.IDs()))
}

func (n *Node) noteSecret(id string) {
	n.note(func(m *membership) (news bool) {
		news = m.SecretID != id
		m.SecretID = id
		return news
	})
}

// SecretIDs name the keys of the cluster's secret that the node has now: it uses
// the first and accepts all.
func (n *Node) SecretIDs() []string { return n.mesh.Secret().IDs() }

// peerSecrets are the keys of the secret of every other living node, by node id; none of a
// node that doesn't say.
func (n *Node) peerSecrets(ctx context.Context) map[string][]string {
	keys := map[string][]string{}
	for _, m := range n.others() {
		keys[m.NodeID] = nil
	}
	for _, r := range n.gather(ctx) {
		if r.ServerID != n.server {
			keys[r.NodeID] = r.Secret
		}
	}
	return keys
}

// NextKeys are the keys to have next, of those that a node has and those that it
// should have, given what the others have; and what keeps them from being just
// those. The first of a list is the one in use.
func NextKeys(now, want []string, peers map[string][]string) (next []string, waits string) {
	lacking, using := []string{}, map[string][]string{}
	for peer, keys := range peers {
		if !slices.Contains(keys, want[0]) {
			lacking = append(lacking, peer)
		}
		if len(keys) > 0 {
			using[keys[0]] = append(using[keys[0]], peer)
		}
	}
	next = slices.Clone(want)
	if len(lacking) > 0 && now[0] != want[0] {
		waits = fmt.Sprintf("%s to accept %s", listed(lacking), want[0])
		next = withFirst(now[0], want)
	}
	for _, id := range now {
		if users := using[id]; !slices.Contains(next, id) && (len(users) > 0 || silent(peers)) {
			next = append(next, id)
			if waits == "" {
				waits = fmt.Sprintf("others to stop using %s", id)
			}
		}
	}
	return next, waits
}

// silent reports whether a node doesn't say which keys it has: it may use any.
func silent(peers map[string][]string) bool {
	for _, keys := range peers {
		if len(keys) == 0 {
			return true
		}
	}
	return false
}

func withFirst(id string, others []string) []string {
	list := []string{id}
	for _, other := range others {
		if other != id {
			list = append(list, other)
		}
	}
	return list
}

func listed(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}
