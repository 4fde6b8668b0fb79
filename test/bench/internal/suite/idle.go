package suite

import (
	"context"
	"time"

	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/report"
)

// settle is how long nodes are left alone before their idle time begins: what
// a start leaves to do is not idle.
const settle = 10 * time.Second

// idle reads the CPU time of clusters that nobody asks anything.
func (s *Suite) idle(ctx context.Context) {
	for _, c := range []contender{
		{subject: report.UBLThree, start: s.startUBLCluster, missing: s.UBLMissing},
		{subject: report.EtcdThree, start: s.startEtcd, missing: s.EtcdMissing},
	} {
		if c.missing != "" {
			s.miss(report.Idle, c.subject, c.missing)
			continue
		}
		s.Logf("idle: %s", c.subject)
		err := s.inScratch(func(dir string) error {
			server, err := c.start(ctx, dir)
			if err != nil {
				return err
			}
			defer s.end(report.Idle, server)
			return s.rest(ctx, c.subject, server)
		})
		if err != nil {
			s.miss(report.Idle, c.subject, err.Error())
		}
	}
}

// rest measures all nodes over the same time.
func (s *Suite) rest(ctx context.Context, subject report.Subject, c *cluster) error {
	if err := sleep(ctx, settle); err != nil {
		return err
	}
	before, err := c.cpu()
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := sleep(ctx, time.Duration(s.settings().IdleNodes)*time.Second); err != nil {
		return err
	}
	after, err := c.cpu()
	if err != nil {
		return err
	}
	passed := time.Since(begin)
	var busiest float64
	for i := range after {
		percent := 100 * float64(after[i]-before[i]) / float64(passed)
		busiest = max(busiest, percent)
		s.Logf("  node %d: %.1f %% of a core", i+1, percent)
		s.Report.Add(report.Key{Section: report.Idle, Subject: subject, Measure: report.IdleOf(i + 1)}, percent)
	}
	s.Report.Add(report.Key{Section: report.Idle, Subject: subject, Measure: report.IdleMax}, busiest)
	return nil
}

// cpu is the CPU time that each node has used until now.
func (c *cluster) cpu() ([]time.Duration, error) {
	used := make([]time.Duration, len(c.nodes))
	for i, n := range c.nodes {
		var err error
		if used[i], err = machine.CPU(n.Pid()); err != nil {
			return nil, err
		}
	}
	return used, nil
}
