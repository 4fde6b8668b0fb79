package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
	"ubl/test/bench/internal/workerd"
)

// peerToken stands in for UBL's token, so that the servers that ignore it
// still read a request of about the same length.
func peerToken() string { return strings.Repeat("x", 400) }

// sends measures the servers under many writers, under one writer, or both in
// the same turn. One writer goes first, while every store is still small: the
// fast ones would else begin it with more data than the slow ones.
func (s *Suite) sends(ctx context.Context, many, one bool) {
	var sections []report.Section
	if many {
		sections = append(sections, report.Send)
	}
	if one {
		sections = append(sections, report.One)
	}
	s.missBinaries(sections)
	start := func(subject report.Subject, begin func(ctx context.Context, dir string) (*target, error)) turn {
		return turn{subject, func(ctx context.Context, dir string) error {
			t, err := begin(ctx, dir)
			if err != nil {
				return err
			}
			err = s.drive(ctx, subject, t, many, one)
			return errors.Join(err, t.server.Stop())
		}}
	}
	s.rounds(ctx, sections, []turn{
		start(report.UBL, func(ctx context.Context, dir string) (*target, error) {
			return s.startUBL(ctx, dir, sender)
		}),
		start(report.Workerd, s.startWorkerd),
		start(report.JetStream, func(ctx context.Context, dir string) (*target, error) {
			return s.startPeer(ctx, report.JetStream, "jetstream", "-dir", dir)
		}),
		start(report.Bare, func(ctx context.Context, dir string) (*target, error) {
			return s.startPeer(ctx, report.Bare, "bare", "-dir", dir)
		}),
	})
}

// missBinaries notes what can't be measured because its program isn't there.
func (s *Suite) missBinaries(sections []report.Section) {
	for _, section := range sections {
		if s.UBLMissing != "" {
			s.miss(section, report.UBL, s.UBLMissing)
		}
		if s.WorkerdMissing != "" && (section == report.Send || section == report.One) {
			s.miss(section, report.Workerd, s.WorkerdMissing)
		}
	}
}

func (s *Suite) startPeer(ctx context.Context, subject report.Subject, args ...string) (*target, error) {
	server, err := s.self(ctx, subject, args...)
	if err != nil {
		return nil, err
	}
	return &target{server, peerToken()}, nil
}

func (s *Suite) startWorkerd(ctx context.Context, dir string) (*target, error) {
	path, args := s.Workerd.Command(dir)
	server, err := proc.Start(ctx, proc.Spec{
		Name: string(report.Workerd), Path: path, Args: args, Address: workerd.Address, Control: true, LogDir: s.Scratch,
	})
	if err != nil {
		return nil, err
	}
	return &target{server, peerToken()}, nil
}

func (s *Suite) drive(ctx context.Context, subject report.Subject, t *target, many, one bool) error {
	if one {
		if err := s.generate(ctx, report.One, subject, t, 1, "load"); err != nil {
			return err
		}
	}
	if many {
		return s.generate(ctx, report.Send, subject, t, s.settings().Writers, "load")
	}
	return nil
}

// generate runs a load generator once and takes its figures.
func (s *Suite) generate(ctx context.Context, section report.Section, subject report.Subject, t *target, writers int, generator string, more ...string) error {
	var r load.Result
	args := append([]string{generator, "-host", t.server.Host, "-token", t.token,
		"-watch", strconv.Itoa(t.server.Pid()), "-writers", strconv.Itoa(writers), "-warm", warm.String(), "-length", s.length().String()}, more...)
	if err := proc.JSON(ctx, &r, nil, s.Self, args...); err != nil {
		return errors.Join(fmt.Errorf("the load generator failed: %w", err), t.server.Complaint())
	}
	if err := s.take(section, subject, writers, r); err != nil {
		return err
	}
	micros := r.ServerCores / r.SendsPerSecond * 1e6
	s.Logf("  %.0f µs of the server's CPU time for each", micros)
	s.Report.Add(report.Key{Section: section, Subject: subject, Measure: report.ServerMicros}, micros)
	return nil
}

// sound tells what was wrong with a load's replies, or nil.
func sound(r load.Result) error {
	switch {
	case r.Refused > 0:
		return fmt.Errorf("%d of %d replies were not 2xx, the first: %s", r.Refused, r.Refused+r.Sends, r.FirstRefusal)
	case !r.Distinct:
		return errors.New("a number was given twice")
	case !r.Gapless:
		return errors.New("a number was left out")
	}
	return nil
}

// take keeps a load's figures, provided that every reply was what it should be.
func (s *Suite) take(section report.Section, subject report.Subject, writers int, r load.Result) error {
	if err := sound(r); err != nil {
		return err
	}
	s.Report.Add(report.Key{Section: section, Subject: subject, Measure: report.Rate}, r.SendsPerSecond)
	s.Report.Add(report.Key{Section: section, Subject: subject, Measure: report.P50}, r.P50us)
	s.Report.Add(report.Key{Section: section, Subject: subject, Measure: report.P99}, r.P99us)
	s.Logf("  %d writers: %.0f/s, p50 %.2f ms, p99 %.2f ms", writers, r.SendsPerSecond, r.P50us/1000, r.P99us/1000)
	return nil
}
