package cluster

import (
	"context"
	"fmt"
	"slices"

	"ubl/cluster/mesh"
	"ubl/cluster/placement"
)

// SharedOf asks another living node for what all nodes keep the same ([Options].Shared).
func (n *Node) SharedOf(ctx context.Context, nodeID string) (map[string][]byte, error) {
	members := n.gossip.Members()
	at := slices.IndexFunc(members, func(m mesh.Member) bool {
		return m.NodeID == nodeID && m.ServerID != n.server && m.ClusterID == n.clusterID() && m.State == mesh.Alive
	})
	if at < 0 {
		return nil, fmt.Errorf("%s isn't up", nodeID)
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	reply, err := call[sharedReply](ctx, n, members[at].ServerID, callShared, &none{})
	if err != nil {
		return nil, err
	}
	return reply.Shared, nil
}

func (n *Node) serveShared(context.Context, *none) (*sharedReply, error) {
	shared, err := n.opts.Shared(false)
	return &sharedReply{Shared: shared}, err
}

// Alone reports whether the cluster has no other node, as far as this one knows.
func (n *Node) Alone() bool {
	if t := n.storedTable(); t != nil {
		return !slices.ContainsFunc(t.Nodes, func(node placement.Node) bool { return node.Server != n.server })
	}
	return !n.sawOthers()
}

// storedTable is the table as this node's partition 0 has it, which may be old; nil
// where it has none.
func (n *Node) storedTable() *placement.Table {
	text, version, err := n.engine.Note(0, tableNote)
	if err != nil || version == 0 {
		return nil
	}
	t, err := placement.Decode(text)
	if err != nil {
		return nil
	}
	return t
}

// sawOthers reports whether this node ever saw another one of its cluster.
func (n *Node) sawOthers() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for server := range n.member.Peers {
		if server != n.server {
			return true
		}
	}
	return false
}
