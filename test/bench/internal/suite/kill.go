package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ubl/test/bench/internal/failover"
)

const (
	// failoverLimit bounds the wait for the first acknowledgement.
	failoverLimit = 30 * time.Second
	// steady is how long a leader must have led before it is killed, so that it
	// is not one that hands over just then.
	steady = 500 * time.Millisecond
)

// busiest finds the load's partition: the one whose log grows with it.
func (c *cluster) busiest(ctx context.Context, l *failover.Load) (string, error) {
	before, err := c.highest(appliedMetric)
	if err != nil {
		return "", err
	}
	begin := time.Now()
	if err := sleep(ctx, time.Second); err != nil {
		return "", err
	}
	if _, err := l.FirstSince(ctx, begin); err != nil {
		return "", err
	}
	after, err := c.highest(appliedMetric)
	if err != nil {
		return "", err
	}
	partition, by := after.rose(before)
	if by == 0 {
		return "", errors.New("no partition's applied index rises under load")
	}
	return partition, nil
}

// steadyLeader waits until one node has led the partition for a while.
func (c *cluster) steadyLeader(ctx context.Context, partition string) (leader int, err error) {
	candidate, since := -1, time.Now()
	err = poll(ctx, func() error {
		i, err := c.leader(partition)
		if err != nil {
			candidate = -1
			return err
		}
		if i != candidate {
			candidate, since = i, time.Now()
		}
		if time.Since(since) < steady {
			return fmt.Errorf("%s leads partition %s only since %s", nodeID(i), partition, time.Since(since))
		}
		leader = i
		return nil
	})
	return leader, err
}

// killed kills a node and returns the time from then to the first
// acknowledgement of a send that began when it was dead.
func (c *cluster) killed(ctx context.Context, i int, l *failover.Load) (time.Duration, error) {
	begin := time.Now()
	if err := c.nodes[i].Kill(); err != nil {
		return 0, err
	}
	dead := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, failoverLimit, fmt.Errorf("none within %s", failoverLimit))
	defer cancel()
	ack, err := l.FirstSince(ctx, dead)
	return ack.Ended.Sub(begin), err
}

// revive starts a node again as it was, and waits until it is ready and has
// applied all that was committed when it was.
func (c *cluster) revive(ctx context.Context, i int) error {
	n := c.nodes[i]
	if err := n.start(ctx); err != nil {
		return err
	}
	if err := n.await(ctx, isReady); err != nil {
		return err
	}
	var committed indexes
	return poll(ctx, func() (err error) {
		if committed == nil {
			if committed, err = c.highest(commitMetric); err != nil {
				return err
			}
		}
		return c.behind(i, committed)
	})
}

// kept reads the room through every node and holds it against what was
// acknowledged.
func (c *cluster) kept(ctx context.Context, acks []failover.Ack) error {
	for _, n := range c.nodes {
		history, err := failover.History(ctx, n.Host, historyPath, c.token)
		if err == nil {
			err = failover.Check(history, acks)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", n.spec.Name, err)
		}
	}
	return nil
}
