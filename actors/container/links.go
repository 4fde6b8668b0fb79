package container

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"ubl/knowledge"
)

// Bounds of a commons whose links are known: making them reads it all.
const (
	maxLinked      = 20_000 // documents
	maxLinkedBytes = 64 << 20
)

// links are which documents lead to which others, in memory: they follow from the documents, and are made
// by the first who asks after a change, outside the mailbox.
type links struct {
	making sync.Mutex // one at a time
	made   atomic.Pointer[linked]
}

// linked is a graph, and what the state's Changed was when it was made.
type linked struct {
	graph   *knowledge.Graph
	changed int64
}

// at is the graph of a state; nil where it isn't made.
func (l *links) at(changed int64) *knowledge.Graph {
	if made := l.made.Load(); made != nil && made.changed == changed {
		return made.graph
	}
	return nil
}

// linking makes links for a read of the state as it is now; nil where there is too much to link.
func (c *Container) linking() func(context.Context) (*knowledge.Graph, error) {
	changed := c.State.Changed
	if len(c.State.Keyed) > maxLinked {
		return func(context.Context) (*knowledge.Graph, error) { return nil, nil }
	}
	if made := c.links.at(changed); made != nil {
		return func(context.Context) (*knowledge.Graph, error) { return made, nil }
	}
	all := c.catalogue()
	if all.bytes > maxLinkedBytes {
		return func(context.Context) (*knowledge.Graph, error) { return nil, nil }
	}
	return func(ctx context.Context) (*knowledge.Graph, error) { return c.link(ctx, changed, all.all()) }
}

// link makes the links of documents, where nobody has meanwhile.
func (c *Container) link(ctx context.Context, changed int64, all []entry) (*knowledge.Graph, error) {
	c.links.making.Lock()
	defer c.links.making.Unlock()
	if made := c.links.at(changed); made != nil {
		return made, nil
	}
	nodes := make([]*knowledge.Entry, 0, len(all))
	for _, e := range all {
		d, content, err := c.matched(ctx, e.id, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		if d != nil && d.Published != nil {
			nodes = append(nodes, knowledge.Node(d.Published, d.Title, content))
		}
	}
	g := knowledge.NewGraph(nodes)
	if made := c.links.made.Load(); made == nil || changed > made.changed {
		c.links.made.Store(&linked{g, changed})
	}
	return g, nil
}
