package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"ubl/test/bench/internal/fileload"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// files holds the upload of a large file against a bare HTTP copy of it that syncs.
func (s *Suite) files(ctx context.Context) {
	if s.UBLMissing != "" {
		s.miss(report.Files, report.UBL, s.UBLMissing)
	}
	s.rounds(ctx, []report.Section{report.Files}, []turn{
		{report.UBL, func(ctx context.Context, dir string) error {
			t, err := s.startUBL(ctx, dir, sender)
			if err != nil {
				return err
			}
			return errors.Join(s.sendFile(ctx, report.UBL, t), t.server.Stop())
		}},
		{report.BareCopy, func(ctx context.Context, dir string) error {
			t, err := s.startPeer(ctx, report.BareCopy, "files", "-dir", dir)
			if err != nil {
				return err
			}
			return errors.Join(s.sendFile(ctx, report.BareCopy, t, "-bare"), t.server.Stop())
		}},
	})
}

// sendFile has a process of its own send a file, and keeps the figures.
func (s *Suite) sendFile(ctx context.Context, subject report.Subject, t *target, more ...string) error {
	var r fileload.Result
	args := append([]string{"fileload", "-host", t.server.Host, "-token", t.token, "-watch", strconv.Itoa(t.server.Pid()),
		"-bytes", strconv.Itoa(s.settings().FileMB << 20)}, more...)
	if err := proc.JSON(ctx, &r, nil, s.Self, args...); err != nil {
		return errors.Join(fmt.Errorf("the file couldn't be sent: %w", err), t.server.Complaint())
	}
	rate := float64(s.settings().FileMB) / r.Seconds
	s.Logf("  %.0f MiB/s, %.2f s of the server's CPU time", rate, r.ServerSeconds)
	s.Report.Add(report.Key{Section: report.Files, Subject: subject, Measure: report.FileRate}, rate)
	s.Report.Add(report.Key{Section: report.Files, Subject: subject, Measure: report.ServerSeconds}, r.ServerSeconds)
	return nil
}
