package cluster

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

// Before a leader hands over, hashicorp/raft 1.7.3 asks the goroutine that
// replicates to the heir to bring it up to date. One that waits for a node that
// was away leaves the request lying. The next transfer then waits behind it, and
// where the leadership ends before it is answered, for ever: the group refuses
// every command, in later terms too (hashicorp/raft issue 696). So a transfer
// isn't tried again soon after one that failed, and a leader that comes to office
// and finds one under way starts its replica anew.

// transferPause is longer than a replicating goroutine waits between two tries,
// which is ten seconds, and the try.
const transferPause = 20 * time.Second

var (
	errFailedJustNow = errors.New("a transfer of its leadership failed a moment ago")
	errStuckTransfer = errors.New("a transfer of its leadership doesn't end")
)

// resign gives leadership to another voter, where there is one.
func (g *group) resign() error {
	if g.raft.State() != raft.Leader {
		return nil
	}
	return g.transfer(g.raft.LeadershipTransfer)
}

// handOver gives leadership to a server.
func (g *group) handOver(to raft.ServerID) error {
	return g.transfer(func() raft.Future { return g.raft.LeadershipTransferToServer(to, raft.ServerAddress(to)) })
}

func (g *group) transfer(begin func() raft.Future) error {
	g.transfers.Lock()
	defer g.transfers.Unlock()
	if time.Since(g.failed) < transferPause {
		return errFailedJustNow
	}
	begun := time.Now()
	err := g.await(begin())
	if err != nil && time.Since(begun) >= g.node.opts.Timeout { // a refusal leaves nothing behind
		g.failed = time.Now()
	}
	return err
}
