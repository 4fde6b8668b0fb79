package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// calm is how long every program is left alone before it is driven: fresh nodes
// may still hand leaderships around.
const calm = 3 * time.Second

// contender is a program of the section cluster: how it is started, and which
// of this program's commands drives it.
type contender struct {
	subject report.Subject
	start   func(ctx context.Context, dir string) (*cluster, error)
	load    string
	missing string // why it can't be measured
}

// cluster holds three nodes of UBL against three nodes of etcd, and against
// UBL alone. Few clients go first, while all stores are still small.
func (s *Suite) cluster(ctx context.Context) {
	sections := make([]report.Section, 0, len(report.ClusterClients()))
	for _, clients := range report.ClusterClients() {
		sections = append(sections, report.ClusterOf(clients))
	}
	var turns []turn
	for _, c := range []contender{
		{report.UBLThree, s.startUBLCluster, "load", s.UBLMissing},
		{report.EtcdThree, s.startEtcd, "etcdload", s.EtcdMissing},
		{report.UBL, s.startUBLAlone, "load", s.UBLMissing},
	} {
		for _, section := range sections {
			if c.missing != "" {
				s.miss(section, c.subject, c.missing)
			}
		}
		turns = append(turns, turn{c.subject, func(ctx context.Context, dir string) error { return s.contend(ctx, c, dir) }})
	}
	s.rounds(ctx, sections, turns)
}

// contend is one program's turn. With one client all must go well; with more,
// what fails is noted for that many clients alone.
func (s *Suite) contend(ctx context.Context, c contender, dir string) error {
	server, err := c.start(ctx, dir)
	if err != nil {
		return err
	}
	defer s.end(report.Cluster, server)
	if err := sleep(ctx, calm); err != nil {
		return err
	}
	for i, clients := range report.ClusterClients() {
		section := report.ClusterOf(clients)
		if s.Report.IsMissing(section, c.subject) {
			continue
		}
		err := s.driveCluster(ctx, section, c, server, clients)
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			s.miss(section, c.subject, err.Error())
		}
	}
	return nil
}

func (s *Suite) driveCluster(ctx context.Context, section report.Section, c contender, server *cluster, clients int) error {
	var r load.Result
	err := proc.JSON(ctx, &r, nil, s.Self, c.load, "-host", server.hosts(), "-token", server.token, "-watch", server.pids(),
		"-writers", strconv.Itoa(clients), "-warm", warm.String(), "-length", s.length().String())
	if err != nil {
		return errors.Join(fmt.Errorf("the load generator failed: %w", err), server.complaint())
	}
	if err := s.take(section, c.subject, clients, r); err != nil {
		return err
	}
	s.Report.Add(report.Key{Section: section, Subject: c.subject, Measure: report.ServerCores}, r.ServerCores)
	s.Report.Add(report.Key{Section: section, Subject: c.subject, Measure: report.GeneratorCores}, r.GeneratorCores)
	s.Report.Add(report.Key{Section: section, Subject: c.subject, Measure: report.OtherCores}, r.OtherCores)
	s.Logf("  cores: servers %.2f, generator %.2f, others %.2f", r.ServerCores, r.GeneratorCores, r.OtherCores)
	return nil
}
