package cluster

import (
	"context"
	"flag"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl"
	"ubl/storage/storetest"
	"ubl/test/leaks"
	"ubl/test/poll"
	"ubl/test/soak"
)

// TestMain fails the package when a goroutine outlives its node.
func TestMain(m *testing.M) {
	// Random histories restart nodes, which takes long; of a store by itself more are
	// tried. A flag on the command line goes before.
	if err := flag.Set("rapid.checks", soak.Of("5", "250")); err != nil {
		panic(err)
	}
	// memberlist doesn't wait for its last question when it is shut down: that ends by
	// its own timeout, which is longer where probes came late.
	leaks.Main(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// leading is the store of a cluster as actors see it: each call goes to the node
// that leads the group's partition.
type leading struct {
	w        *world
	inFlight *sync.WaitGroup
}

func (l leading) of(g ubl.Group) ubl.Store {
	var n *Node
	poll.Until(l.w.t, "the partition has a leader", func() bool {
		n = l.w.leader(l.w.nodes[0].engine.Partition(g))
		return n != nil
	})
	return n.engine
}

func (l leading) Begin(ctx context.Context, g ubl.Group) (ubl.Lease, ubl.LedgerHead, error) {
	return l.of(g).Begin(ctx, g)
}
func (l leading) End(g ubl.Group, lease ubl.Lease) { l.of(g).End(g, lease) }
func (l leading) Submit(b *ubl.Batch, settled func(error)) {
	l.inFlight.Add(1)
	l.of(b.Group).Submit(b, func(err error) {
		settled(err)
		l.inFlight.Done()
	})
}
func (l leading) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return l.of(g).View(ctx, g, fn)
}

// alone is a cluster of one node: the conformance suite with restarts.
type alone struct{ leading }

func (h alone) Store() ubl.Store { return h.leading }
func (h alone) Reopen() error {
	h.w.stop(0)
	h.w.start(0)
	h.w.settle()
	return nil
}

func TestConformanceOfOne(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		return alone{leading{newWorld(t, 1, func(o *Options) { o.Timeout = 50 * time.Millisecond }), new(sync.WaitGroup)}}
	})
}

// moving is a cluster of three, where reopening means that every partition gets
// another leader: what was granted before is void.
type moving struct{ leading }

func (h moving) Store() ubl.Store { return h.leading }
func (h moving) Reopen() error {
	h.inFlight.Wait() // as closing a store does
	for p := range testPartitions {
		old := h.w.leader(p)
		poll.Until(h.w.t, "another node leads", func() bool {
			n := h.w.leader(p)
			if n == old {
				_ = old.group(p).resign() // which may fail, as for a moment after an election
				return false
			}
			return n != nil && n.group(p).confirm(context.Background(), n.engine.Epoch(p)) == nil
		})
	}
	return nil
}

func TestConformanceOfThree(t *testing.T) {
	// Slow to elect: on a busy machine no leadership may move by itself here.
	w := newWorld(t, 3, func(o *Options) { o.Timeout = 5 * time.Second })
	storetest.Run(t, func(t *testing.T) storetest.Harness { return moving{leading{w, new(sync.WaitGroup)}} })
}
