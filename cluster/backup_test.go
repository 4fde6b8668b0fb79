package cluster

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"ubl"
)

// TestBackupWhileLeadershipMoves: a partition is fetched from whoever leads it next.
func TestBackupWhileLeadershipMoves(t *testing.T) {
	w := newWorld(t, 3, nil)
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for i := range 20 {
			if g := w.nodes[i%2].group(0); g != nil && g.leader() == w.nodes[i%2].server {
				_ = g.handOver(raft.ServerID(w.nodes[(i+1)%2].server)) // one that fails is left for a while
			}
		}
	}()
	defer func() { <-moved }()
	path := filepath.Join(t.TempDir(), "copy")
	for over := false; !over; {
		select {
		case <-moved:
			over = true
		default:
		}
		// On a busy machine there may be no leader for longer than a copy waits for one.
		if _, err := w.nodes[2].fetch(t.Context(), 0, path); err != nil && (over || ubl.CodeOf(err) != ubl.CodeUnavailable) {
			t.Fatal(err)
		}
	}
}
