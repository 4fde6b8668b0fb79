package cluster

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

// TestATransferThatFailedIsLeftForAWhile: the heir is away.
func TestATransferThatFailedIsLeftForAWhile(t *testing.T) {
	w := newWorld(t, 3, steady)
	g, away := w.leadsWithout(t, 0)
	if err := g.handOver(raft.ServerID(away)); err == nil || errors.Is(err, errFailedJustNow) {
		t.Fatalf("a transfer to a server that is away: %v", err)
	}
	if err := g.handOver(raft.ServerID(away)); !errors.Is(err, errFailedJustNow) {
		t.Errorf("right after a transfer that failed: %v", err)
	}
}

// leadsWithout stops a follower and writes to the partition; it gives the leader
// and who is away.
func (w *world) leadsWithout(t *testing.T, partition int) (*group, string) {
	t.Helper()
	leader := w.led(partition)
	for i, n := range w.nodes {
		if n != leader {
			away := n.server
			w.stop(i)
			if err := leader.engine.PutNote(t.Context(), partition, "test", 0, []byte("x")); err != nil {
				t.Fatal(err)
			}
			return leader.group(partition), away
		}
	}
	panic("a cluster of one")
}
