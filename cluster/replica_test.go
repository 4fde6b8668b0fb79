package cluster

import (
	"os"
	"sync"
	"testing"
)

// TestProbesTogether: replicas that were halted together find the disk well
// together, and leave nothing on it.
func TestProbesTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for partition := range 8 {
		all.Go(func() {
			for range 3 {
				if err := probe(dir, partition); err != nil {
					t.Errorf("partition %d: %v", partition, err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}
