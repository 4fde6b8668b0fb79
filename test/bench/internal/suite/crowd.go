package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ubl/test/bench/internal/fanload"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// crowdDomain is the claimed domain of the crowd's members; a person may have 2,000
// streams, so there are several.
const crowdDomain = "bench.example"

func crowdMembers() []string { return []string{"one", "two", "three", "four", "five"} }

// crowd lets far more writers and streams meet in one room than the node can serve:
// writers who wait as long as a refusal says, and in a turn of their own some who don't.
func (s *Suite) crowd(ctx context.Context) {
	sections := []report.Section{report.Crowd}
	s.missBinaries(sections)
	of := func(subject report.Subject) turn {
		return turn{subject, func(ctx context.Context, dir string) error {
			t, err := s.startUBL(ctx, dir, sender, "--domain", crowdDomain)
			if err != nil {
				return err
			}
			return errors.Join(s.crowdOnce(ctx, dir, t, subject), t.server.Stop())
		}}
	}
	s.rounds(ctx, sections, []turn{of(report.UBL), of(report.UBLRude)})
}

// crowdTokens gets a token for each member.
func (s *Suite) crowdTokens(ctx context.Context, dir string) ([]string, error) {
	var tokens []string
	for _, name := range crowdMembers() {
		token, err := s.token(ctx, dir, name+"@"+crowdDomain)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

func (s *Suite) crowdOnce(ctx context.Context, dir string, t *target, subject report.Subject) error {
	tokens, err := s.crowdTokens(ctx, dir)
	if err != nil {
		return err
	}
	set := s.settings()
	var r fanload.CrowdResult
	err = proc.JSON(ctx, &r, nil, s.Self, "crowd", "-host", t.server.Host, "-token", strings.Join(tokens, ","),
		"-streams", strconv.Itoa(set.CrowdStreams), "-writers", strconv.Itoa(set.CrowdWriters), fmt.Sprintf("-rude=%t", subject == report.UBLRude),
		"-warm", warm.String(), "-length", s.length().String(), "-watch", strconv.Itoa(t.server.Pid()))
	if err != nil {
		return errors.Join(fmt.Errorf("the crowd failed: %w", err), t.server.Complaint())
	}
	if !r.Distinct || !r.Gapless && r.Unknown == 0 {
		return fmt.Errorf("the room's numbers are wrong: distinct %t, gapless %t", r.Distinct, r.Gapless)
	}
	for m, v := range map[report.Measure]float64{
		report.Rate: r.AcceptedPerSecond, report.P50Seconds: r.P50ms / 1000, report.P99Seconds: r.P99ms / 1000,
		report.RefusedShare: 100 * r.RefusedShare, report.FollowedShare: 100 * r.Followed / float64(max(1, r.Accepted)),
		report.ServerCores: r.ServerCores, report.GeneratorCores: r.ClientCores, report.OtherCores: r.OtherCores,
	} {
		s.Report.Add(report.Key{Section: report.Crowd, Subject: subject, Measure: m}, v)
	}
	s.Logf("  %.0f accepted/s, p50 %.0f ms, p99 %.0f ms, longest %.0f ms; %.0f %% refused, p99 %.0f ms",
		r.AcceptedPerSecond, r.P50ms, r.P99ms, r.MaxMs, 100*r.RefusedShare, r.RefusedP99ms)
	return nil
}
