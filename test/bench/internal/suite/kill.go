package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ubl/test/bench/internal/failover"
)

const (
	// failoverLimit bounds the wait for the first acknowledgement.
	failoverLimit = 30 * time.Second
	// steady is how long a leader must have led, while leaderships are spread, before it
	// falls out, so that it is not one that hands over just then.
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
		if err := c.uneven(); err != nil {
			since = time.Now()
			return err
		}
		if time.Since(since) < steady {
			return fmt.Errorf("%s leads partition %s only since %s", nodeID(i), partition, time.Since(since))
		}
		leader = i
		return nil
	})
	return leader, err
}

// outage is what callers felt of one strike.
type outage struct {
	leader  int
	first   time.Duration  // until the first acknowledgement of a send that began when the leader had fallen out
	longest time.Duration  // that a caller waited at a node that was left
	waiting []failover.Ack // of those callers
}

// errMoved says that a node leads no more: nobody would feel that it falls out.
var errMoved = errors.New("the leader has handed over")

// strike has the leader of a partition fall out while callers wait at all the others; name
// begins the keys of what these send.
func (c *cluster) strike(ctx context.Context, k strike, partition string, l *failover.Load, name string) (outage, error) {
	i, err := c.steadyLeader(ctx, partition)
	if err != nil {
		return outage{}, err
	}
	left := slices.Delete(slices.Clone(c.nodes), i, i+1)
	callers := c.send(ctx, failover.Options{Name: name, Writers: waitingCallers * len(left), Stay: true, Pause: failoverPause, Attempt: failoverLimit}, left)
	begin, first, err := c.fallOut(ctx, k, partition, i, l, callers)
	waiting, failed := callers.End()
	return outage{leader: i, first: first, longest: failover.Longest(waiting, begin), waiting: waiting}, errors.Join(err, failed)
}

// fallOut ends when all callers have been answered once more and the node is back. It
// returns when that began, and how long it took until the load had an answer.
func (c *cluster) fallOut(ctx context.Context, k strike, partition string, i int, l, callers *failover.Load) (begin time.Time, first time.Duration, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, failoverLimit, fmt.Errorf("none within %s", failoverLimit))
	defer cancel()
	if err := callers.EachSince(bounded, time.Time{}); err != nil {
		return begin, 0, err
	}
	if leader, err := c.leader(partition); err != nil || leader != i {
		return begin, 0, errors.Join(errMoved, err)
	}
	begin = time.Now()
	if err := k.begin(c.nodes[i]); err != nil {
		return begin, 0, err
	}
	out := time.Now()
	ack, err := l.FirstSince(bounded, out)
	if err == nil {
		err = callers.EachSince(bounded, out)
	}
	return begin, ack.Ended.Sub(begin), errors.Join(err, k.end(ctx, c.nodes[i]))
}

// caughtUp waits until a node has applied all that was committed when it is asked first.
func (c *cluster) caughtUp(ctx context.Context, i int) error {
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
