package suite

import (
	"context"
	"errors"
	"fmt"
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
	// another: half of what the goal allows in all.
	failoverAttempt = time.Second
)

// failover kills the room's leader again and again under a light load.
func (s *Suite) failover(ctx context.Context) {
	if s.UBLMissing != "" {
		s.miss(report.Failover, report.UBLThree, s.UBLMissing)
		return
	}
	s.Logf("failover: %d kills", s.settings().Kills)
	err := s.inScratch(func(dir string) error {
		c, err := s.startUBLCluster(ctx, dir)
		if err != nil {
			return err
		}
		defer s.end(report.Failover, c)
		return s.killLeaders(ctx, c)
	})
	if err != nil {
		s.miss(report.Failover, report.UBLThree, err.Error())
	}
}

// killLeaders keeps the load up for all kills, and checks in the end that
// every acknowledged send is there.
func (s *Suite) killLeaders(ctx context.Context, c *cluster) error {
	hosts := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		hosts[i] = n.Host
	}
	l := failover.Begin(ctx, failover.Options{
		Hosts: hosts, Path: peer.MessagesPath, Token: c.token,
		Writers: failoverWriters, Pause: failoverPause, Attempt: failoverAttempt,
	})
	times, err := s.kills(ctx, c, l)
	acks, failed := l.End()
	if err := errors.Join(err, failed); err != nil {
		return errors.Join(err, c.complaint())
	}
	if err := c.kept(ctx, acks); err != nil {
		return err
	}
	s.tellFailover(times, acks)
	return nil
}

func (s *Suite) kills(ctx context.Context, c *cluster, l *failover.Load) ([]time.Duration, error) {
	partition, err := c.busiest(ctx, l)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for len(times) < s.settings().Kills {
		leader, err := c.steadyLeader(ctx, partition)
		if err != nil {
			return nil, err
		}
		took, err := c.killed(ctx, leader, l)
		if err != nil {
			return nil, fmt.Errorf("kill %d, of %s: %w", len(times)+1, nodeID(leader), err)
		}
		times = append(times, took)
		s.Logf("  kill %d of %d: %s led partition %s; first acknowledged send after %.3f s",
			len(times), s.settings().Kills, nodeID(leader), partition, took.Seconds())
		if err := c.revive(ctx, leader); err != nil {
			return nil, fmt.Errorf("after kill %d: %w", len(times), err)
		}
	}
	return times, nil
}

// tellFailover keeps the figures; a failover has one value a kill.
func (s *Suite) tellFailover(times []time.Duration, acks []failover.Ack) {
	add := func(m report.Measure, v float64) {
		s.Report.Add(report.Key{Section: report.Failover, Subject: report.UBLThree, Measure: m}, v)
	}
	var longest, waited time.Duration
	for _, t := range times {
		longest = max(longest, t)
		add(report.FailoverSeconds, t.Seconds())
	}
	repeated := 0
	for _, ack := range acks {
		waited = max(waited, ack.Ended.Sub(ack.Began))
		if ack.Attempts > 1 {
			repeated++
		}
	}
	add(report.FailoverMax, longest.Seconds())
	add(report.SendMax, waited.Seconds())
	add(report.Acknowledged, float64(len(acks)))
	add(report.Repeated, float64(repeated))
	s.Logf("  %d sends acknowledged, %d of them repeated, none lost or doubled; the longest took %.3f s", len(acks), repeated, waited.Seconds())
}
