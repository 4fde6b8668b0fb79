package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ubl/test/bench/internal/failover"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/report"
)

const (
	// failoverWriters and failoverPause make the light load: a few hundred
	// sends a second, so that one always begins right after a kill.
	failoverWriters = 6
	failoverPause   = 20 * time.Millisecond
	// failoverAttempt is how long a client waits for a node before it asks
	// another.
	failoverAttempt = time.Second
	// waitingCallers is how many wait at each node that is left, and ask no other.
	waitingCallers = 4
)

// strike is a way in which a leader falls out, and its end.
type strike struct {
	subject report.Subject
	name    string
	begin   func(*node) error
	end     func(context.Context, *node) error
}

func strikes() []strike {
	return []strike{
		{report.UBLThree, "kill", func(n *node) error { return n.Kill() }, func(ctx context.Context, n *node) error {
			if err := n.start(ctx); err != nil {
				return err
			}
			return n.await(ctx, isReady)
		}},
		{report.UBLSilent, "stop", func(n *node) error { return n.Pause() }, func(_ context.Context, n *node) error { return n.Resume() }},
	}
}

// failover has the room's leader fall out again and again under a light load.
func (s *Suite) failover(ctx context.Context) {
	for _, k := range strikes() {
		if s.UBLMissing != "" {
			s.miss(report.Failover, k.subject, s.UBLMissing)
			continue
		}
		s.Logf("failover: %s, times: %d", k.name, s.settings().Kills)
		err := s.inScratch(func(dir string) error {
			c, err := s.startUBLCluster(ctx, dir)
			if err != nil {
				return err
			}
			defer s.end(report.Failover, c)
			return s.strikeLeaders(ctx, c, k)
		})
		if err != nil {
			s.miss(report.Failover, k.subject, err.Error())
		}
	}
}

// strikeLeaders keeps the load up for all strikes, and checks in the end that
// every acknowledged send is there.
func (s *Suite) strikeLeaders(ctx context.Context, c *cluster, k strike) error {
	l := c.send(ctx, failover.Options{Writers: failoverWriters, Pause: failoverPause, Attempt: failoverAttempt}, c.nodes)
	outages, err := s.strikes(ctx, c, k, l)
	acks, failed := l.End()
	if err := errors.Join(err, failed); err != nil {
		return errors.Join(err, c.complaint())
	}
	all := slices.Clone(acks)
	for _, o := range outages {
		all = append(all, o.waiting...)
	}
	if err := c.kept(ctx, all); err != nil {
		return err
	}
	s.tellFailover(k.subject, outages, acks)
	return nil
}

// send begins a load on some nodes.
func (c *cluster) send(ctx context.Context, o failover.Options, to []*node) *failover.Load {
	o.Path, o.Token = peer.MessagesPath, c.token
	for _, n := range to {
		o.Hosts = append(o.Hosts, n.Host)
	}
	return failover.Begin(ctx, o)
}

func (s *Suite) strikes(ctx context.Context, c *cluster, k strike, l *failover.Load) ([]outage, error) {
	partition, err := c.busiest(ctx, l)
	if err != nil {
		return nil, err
	}
	var outages []outage
	for tried := 1; len(outages) < s.settings().Kills; tried++ {
		o, err := c.strike(ctx, k, partition, l, fmt.Sprintf("waiting-%d-", tried))
		if errors.Is(err, errMoved) && ctx.Err() == nil {
			continue
		}
		nth := len(outages) + 1
		if err != nil {
			return nil, fmt.Errorf("%s %d, of %s: %w", k.name, nth, nodeID(o.leader), err)
		}
		outages = append(outages, o)
		s.Logf("  %s %d of %d: %s led partition %s; first acknowledged send after %.3f s, callers at the others waited %.3f s",
			k.name, nth, s.settings().Kills, nodeID(o.leader), partition, o.first.Seconds(), o.longest.Seconds())
		if err := c.caughtUp(ctx, o.leader); err != nil {
			return nil, fmt.Errorf("after %s %d: %w", k.name, nth, err)
		}
	}
	return outages, nil
}

// tellFailover keeps the figures; a failover has one value a strike.
func (s *Suite) tellFailover(subject report.Subject, outages []outage, acks []failover.Ack) {
	add := func(m report.Measure, v float64) {
		s.Report.Add(report.Key{Section: report.Failover, Subject: subject, Measure: m}, v)
	}
	var first, longest time.Duration
	for _, o := range outages {
		first, longest = max(first, o.first), max(longest, o.longest)
		add(report.FailoverSeconds, o.first.Seconds())
		add(report.WaitSeconds, o.longest.Seconds())
	}
	repeated := 0
	for _, ack := range acks {
		if ack.Attempts > 1 {
			repeated++
		}
	}
	waited := failover.Longest(acks, time.Time{})
	add(report.FailoverMax, first.Seconds())
	add(report.WaitMax, longest.Seconds())
	add(report.SendMax, waited.Seconds())
	add(report.Acknowledged, float64(len(acks)))
	add(report.Repeated, float64(repeated))
	s.Logf("  %d sends acknowledged, %d of them repeated, none lost or doubled; the longest took %.3f s", len(acks), repeated, waited.Seconds())
}
