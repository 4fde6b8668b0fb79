package cluster

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestFiguresOfAHaltedReplica: a replica that stopped is still told of, for as
// long as it takes no part; so is every write to a log.
func TestFiguresOfAHaltedReplica(t *testing.T) {
	var writes atomic.Int64
	w := newWorld(t, 1, func(o *Options) {
		o.Logged = func(took time.Duration, err error) {
			if err == nil && took > 0 {
				writes.Add(1)
			}
		}
	})
	n := w.nodes[0]
	halted := func() bool {
		list := n.Figures()
		if len(list) != testPartitions {
			t.Fatalf("of %d partitions is told: %+v", len(list), list)
		}
		return list[1].Halted
	}
	if halted() || !n.Figures()[1].Leads {
		t.Errorf("before: %+v", n.Figures())
	}
	if writes.Load() == 0 {
		t.Error("of no write to the log was told")
	}
	old := n.group(1)
	n.halted(1, errors.New("the disk is full"))
	if !halted() {
		t.Error("nobody learns that the replica halted")
	}
	<-old.closed
	eventually(t, "its group is gone", func() bool { return n.held(1) != old })
	if n.held(1) == nil && !halted() {
		t.Error("nobody learns that the replica waits to come back")
	}
	eventually(t, "the replica is back", func() bool { return !halted() })
}
