package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"ubl/cluster/mesh"
)

// peerKeys are the keys that other nodes sign with, as each of them said last. Gossip tells of
// each whether it still has those, so nobody is asked who has nothing new to say.
type peerKeys struct {
	of func() []string // this node's; nil where it doesn't tell

	mu   sync.Mutex
	told string              // what gossip was last told of this node's
	said map[string][]string // by server id
}

// ofKeys is a short text that is another for other keys, or for another order; "" for none.
func ofKeys(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(keys, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// own is what gossip is to tell of this node.
func (p *peerKeys) own() string {
	if p.of == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = ofKeys(p.of())
	return p.told
}

// TellKeys tells the other nodes that this one has other keys ([Options].Keys), where it has.
func (n *Node) TellKeys() error {
	if p := &n.peerKeys; p.of != nil && p.news() {
		return n.gossip.UpdateMeta()
	}
	return nil
}

func (p *peerKeys) news() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ofKeys(p.of()) != p.told
}

// known are the keys that a server has, by what gossip says of them, if they are known.
func (p *peerKeys) known(server, gossiped string) (keys []string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys = p.said[server]
	return slices.Clone(keys), gossiped != "" && ofKeys(keys) == gossiped
}

func (p *peerKeys) hear(server string, keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said == nil {
		p.said = make(map[string][]string)
	}
	p.said[server] = slices.Clone(keys)
}

// PeerKeys are the keys that every other living node signs with and accepts
// ([Options].Keys), by node id, the first in use; none of a node that doesn't say. It asks
// those that have others than before.
func (n *Node) PeerKeys(ctx context.Context) map[string][]string {
	keys := map[string][]string{}
	var ask []mesh.Member
	for _, m := range n.others() {
		had, known := n.peerKeys.known(m.ServerID, m.Keys)
		if keys[m.NodeID] = nil; known {
			keys[m.NodeID] = had
		} else {
			ask = append(ask, m)
		}
	}
	n.askReports(ctx, reportTimeout, ask, func(r *report) {
		n.peerKeys.hear(r.ServerID, r.Keys)
		keys[r.NodeID] = r.Keys
	})
	return keys
}
