package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// grace is how much longer than the measurement a command may take in all.
const grace = 30 * time.Second

// inProcess holds UBL without HTTP against the bare group-commit loop.
func (s *Suite) inProcess(ctx context.Context) {
	sections := []report.Section{report.InProcess}
	s.missBinaries(sections)
	s.rounds(ctx, sections, []turn{
		{report.UBL, s.ublInProcess},
		{report.Loop, s.loop},
	})
}

// ublInProcess runs "ubl bench". It keeps its data where TMPDIR says, which
// must be the disk of all the others.
func (s *Suite) ublInProcess(ctx context.Context, dir string) error {
	var r struct {
		SendsPerSecond float64 `json:"sends_per_second"`
		P50us          float64 `json:"p50_us"`
		P99us          float64 `json:"p99_us"`
	}
	ctx, cancel := context.WithTimeout(ctx, s.length()+grace)
	defer cancel()
	tmp, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("couldn't name the data directory: %w", err)
	}
	err = proc.JSON(ctx, &r, []string{"TMPDIR=" + tmp}, s.UBL, "bench",
		"--writers", strconv.Itoa(s.settings().Writers), "--seconds", strconv.Itoa(s.settings().Seconds),
		"--bytes", strconv.Itoa(len(load.Text)), "--json")
	if err != nil {
		return fmt.Errorf("ubl bench failed: %w", err)
	}
	s.Report.Add(report.Key{Section: report.InProcess, Subject: report.UBL, Measure: report.Rate}, r.SendsPerSecond)
	s.Report.Add(report.Key{Section: report.InProcess, Subject: report.UBL, Measure: report.P50}, r.P50us)
	s.Report.Add(report.Key{Section: report.InProcess, Subject: report.UBL, Measure: report.P99}, r.P99us)
	s.Logf("  %.0f sends/s, p50 %.2f ms, p99 %.2f ms", r.SendsPerSecond, r.P50us/1000, r.P99us/1000)
	return nil
}

func (s *Suite) loop(ctx context.Context, dir string) error {
	var r peer.LoopResult
	ctx, cancel := context.WithTimeout(ctx, s.length()+grace)
	defer cancel()
	err := proc.JSON(ctx, &r, nil, s.Self, "loop", "-dir", dir,
		"-writers", strconv.Itoa(s.settings().Writers), "-length", s.length().String())
	if err != nil {
		return fmt.Errorf("the loop failed: %w", err)
	}
	s.Report.Add(report.Key{Section: report.InProcess, Subject: report.Loop, Measure: report.Rate}, r.CommitsPerSecond)
	s.Report.Add(report.Key{Section: report.InProcess, Subject: report.Loop, Measure: report.Records}, r.RecordsPerSecond)
	s.Report.Add(report.Key{Section: report.InProcess, Subject: report.Loop, Measure: report.Transactions}, r.TransactionsPerSecond)
	s.Logf("  %.0f sends/s, %.0f records/s, %.0f transactions/s", r.CommitsPerSecond, r.RecordsPerSecond, r.TransactionsPerSecond)
	return nil
}
