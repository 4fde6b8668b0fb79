package suite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"ubl/test/bench/internal/fanload"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// fanLimit bounds one fan-out; it would still pass at a tenth of what the bare
// program delivers.
const fanLimit = time.Minute

// fanout holds UBL's live streams against the bare fan-out program. UBL has
// the first turn of the first round, so that the bare program's frames can be
// made as long as UBL's.
func (s *Suite) fanout(ctx context.Context) {
	sections := []report.Section{report.Fanout}
	s.missBinaries(sections)
	s.rounds(ctx, sections, []turn{
		{report.UBL, func(ctx context.Context, dir string) error {
			t, err := s.startUBL(ctx, dir, sender)
			if err != nil {
				return err
			}
			return errors.Join(s.fan(ctx, report.UBL, t), t.server.Stop())
		}},
		{report.BareFan, func(ctx context.Context, dir string) error {
			frame, _ := s.Report.Find(report.Key{Section: report.Fanout, Subject: report.UBL, Measure: report.FrameBytes})
			t, err := s.startPeer(ctx, report.BareFan, "fan", "-frame", strconv.Itoa(int(math.Round(frame.Median))))
			if err != nil {
				return err
			}
			return errors.Join(s.fan(ctx, report.BareFan, t), t.server.Stop())
		}},
	})
}

func (s *Suite) fan(ctx context.Context, subject report.Subject, t *target) error {
	set := s.settings()
	var r fanload.Result
	err := proc.JSON(ctx, &r, nil, s.Self, "fanload", "-host", t.server.Host, "-token", t.token,
		"-streams", strconv.Itoa(set.Streams), "-messages", strconv.Itoa(set.FanMessages),
		"-writers", strconv.Itoa(set.FanWriters), "-limit", fanLimit.String())
	if err != nil {
		return errors.Join(fmt.Errorf("the fan-out failed: %w", err), t.server.Complaint())
	}
	add := func(m report.Measure, v float64) {
		s.Report.Add(report.Key{Section: report.Fanout, Subject: subject, Measure: m}, v)
	}
	add(report.Rate, r.EventsPerSecond)
	add(report.PostRate, float64(set.FanMessages)/r.PostSeconds)
	add(report.FrameBytes, r.FrameBytes)
	s.Logf("  %.0f events/s: %d deliveries of %.0f bytes in %.2f s", r.EventsPerSecond, r.Deliveries, r.FrameBytes, r.Seconds)
	return nil
}
