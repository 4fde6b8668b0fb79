package suite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"ubl/test/bench/internal/fanload"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// fanLimit bounds one fan-out; it would still pass at a tenth of what the bare
// program delivers.
const fanLimit = time.Minute

// fan is a fan-out to a number of streams.
type fan struct {
	section report.Section
	streams int
}

func (s *Suite) fans() []fan {
	var fans []fan
	for _, n := range report.FewStreams() {
		fans = append(fans, fan{report.FanoutOf(n), n})
	}
	return append(fans, fan{report.Fanout, s.settings().Streams})
}

// fanout holds UBL's live streams against the bare fan-out programs. UBL has
// the first turn of the first round, so that the bare programs' frames can be
// made as long as UBL's.
func (s *Suite) fanout(ctx context.Context) {
	fans := s.fans()
	sections := make([]report.Section, len(fans))
	for i, f := range fans {
		sections[i] = f.section
	}
	s.missBinaries(sections)
	each := func(subject report.Subject, begin func(ctx context.Context, dir string, f fan) (*target, error)) turn {
		return turn{subject, func(ctx context.Context, dir string) error {
			for _, f := range fans {
				t, err := begin(ctx, filepath.Join(dir, strconv.Itoa(f.streams)), f)
				if err == nil {
					err = errors.Join(s.fan(ctx, f, subject, t), t.server.Stop())
				}
				if err != nil {
					return err
				}
			}
			return nil
		}}
	}
	s.rounds(ctx, sections, []turn{
		each(report.UBL, func(ctx context.Context, dir string, _ fan) (*target, error) { return s.startUBL(ctx, dir, sender) }),
		each(report.BareFan, func(ctx context.Context, _ string, f fan) (*target, error) {
			return s.startPeer(ctx, report.BareFan, "fan", "-frame", s.frameOf(f))
		}),
		each(report.StoredFan, func(ctx context.Context, dir string, f fan) (*target, error) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, fmt.Errorf("couldn't make a place for the messages: %w", err)
			}
			return s.startPeer(ctx, report.StoredFan, "fan", "-frame", s.frameOf(f), "-dir", dir)
		}),
	})
}

// frameOf is how long UBL's frames were, for a flag.
func (s *Suite) frameOf(f fan) string {
	frame, _ := s.Report.Find(report.Key{Section: f.section, Subject: report.UBL, Measure: report.FrameBytes})
	return strconv.Itoa(int(math.Round(frame.Median)))
}

func (s *Suite) fan(ctx context.Context, f fan, subject report.Subject, t *target) error {
	set := s.settings()
	messages := set.FanMessagesTo(f.streams)
	var r fanload.Result
	err := proc.JSON(ctx, &r, nil, s.Self, "fanload", "-host", t.server.Host, "-token", t.token,
		"-streams", strconv.Itoa(f.streams), "-messages", strconv.Itoa(messages),
		"-writers", strconv.Itoa(set.FanWriters), "-limit", fanLimit.String())
	if err != nil {
		return errors.Join(fmt.Errorf("the fan-out failed: %w", err), t.server.Complaint())
	}
	add := func(m report.Measure, v float64) {
		s.Report.Add(report.Key{Section: f.section, Subject: subject, Measure: m}, v)
	}
	add(report.Rate, r.EventsPerSecond)
	add(report.PostRate, float64(messages)/r.PostSeconds)
	add(report.FrameBytes, r.FrameBytes)
	s.Logf("  %d streams: %.0f events/s: %d deliveries of %.0f bytes in %.2f s", f.streams, r.EventsPerSecond, r.Deliveries, r.FrameBytes, r.Seconds)
	return nil
}
