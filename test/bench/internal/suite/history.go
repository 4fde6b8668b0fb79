package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/promtext"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

const (
	// operator owns tenant 0.
	operator = "ops@localhost"
	// tenantPath reads the caller's tenant, for which that has to be open.
	tenantPath = "/api/tenant"
	// historyTimeout bounds making the events.
	historyTimeout = 15 * time.Minute
	// leaveTimeout bounds the wait until all actors have left memory.
	leaveTimeout = 4 * time.Minute
)

// past is a store with a history, one without, and who asks for their tenants.
type past struct {
	full, empty      string // directories
	keeper, operator string // tokens for the first
}

// history measures how long tenants take to open that have had many events.
func (s *Suite) history(ctx context.Context) {
	miss := func(reason string) {
		for _, subject := range []report.Subject{report.Tenant, report.CoreTenant} {
			s.miss(report.History, subject, reason)
		}
	}
	if s.UBLMissing != "" {
		miss(s.UBLMissing)
		return
	}
	err := s.inScratch(func(dir string) error {
		p, err := s.makePast(ctx, dir)
		if err != nil {
			return err
		}
		// First, since the index reads all that happened before the actors leave memory.
		if err := s.wake(ctx, p); err != nil {
			return err
		}
		for range s.settings().Rounds {
			if err := s.undisturbed(report.History, report.Tenant, func() error { return s.openOnce(ctx, p) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		miss(err.Error())
	}
}

// makePast makes both stores, and the tokens known: a first use is an act.
func (s *Suite) makePast(ctx context.Context, dir string) (*past, error) {
	p := &past{full: filepath.Join(dir, "full"), empty: filepath.Join(dir, "empty")}
	s.Logf("history: making %d events of a tenant and of tenant 0", s.settings().Events)
	making, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	if _, err := proc.Output(making, nil, s.UBL, "bench", "--prepare-events", strconv.Itoa(s.settings().Events), "--data", p.full, "--quiet"); err != nil {
		return nil, fmt.Errorf("couldn't make the events: %w", err)
	}
	for _, of := range []string{p.empty, p.full} {
		server, _, err := s.ready(ctx, of, "--operator", operator)
		if err != nil {
			return nil, err
		}
		for account, token := range map[string]*string{keeper: &p.keeper, operator: &p.operator} {
			var failed error
			if *token, failed = s.token(ctx, of, account); failed == nil {
				failed = touch(server.Host, *token, tenantPath)
			}
			err = errors.Join(err, failed)
		}
		if err := errors.Join(err, server.Stop()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// openOnce opens the tenant by the first request after a start, and tenant 0 by that.
func (s *Suite) openOnce(ctx context.Context, p *past) error {
	without, took, err := s.ready(ctx, p.empty, "--operator", operator)
	if err != nil {
		return err
	}
	if err := without.Stop(); err != nil {
		return err
	}
	server, ready, err := s.ready(ctx, p.full, "--operator", operator)
	if err != nil {
		return err
	}
	first, err := ask(server.Host, p.keeper)
	var again time.Duration
	if err == nil {
		again, err = ask(server.Host, p.keeper)
	}
	if err := errors.Join(err, server.Stop()); err != nil {
		return err
	}
	s.Logf("  ready after %.3f s, an empty store after %.3f s; the tenant's first answer after %.1f ms, the next after %.1f ms",
		ready.Seconds(), took.Seconds(), millis(first), millis(again))
	s.Report.Add(report.Key{Section: report.History, Subject: report.Tenant, Measure: report.FirstMillis}, millis(first))
	s.Report.Add(report.Key{Section: report.History, Subject: report.Tenant, Measure: report.WarmMillis}, millis(again))
	s.Report.Add(report.Key{Section: report.History, Subject: report.CoreTenant, Measure: report.StartMillis}, millis(ready-took))
	return nil
}

// wake asks for tenants that have been idle for so long that they aren't in memory.
func (s *Suite) wake(ctx context.Context, p *past) (err error) {
	admin, err := proc.FreePorts(1)
	if err != nil {
		return err
	}
	server, _, err := s.ready(ctx, p.full, "--operator", operator, "--admin-listen", admin[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	s.Logf("  waiting until all actors have left memory")
	if err := left(ctx, admin[0]); err != nil {
		return err
	}
	for _, of := range []struct {
		subject report.Subject
		token   string
	}{{report.CoreTenant, p.operator}, {report.Tenant, p.keeper}} {
		took, err := ask(server.Host, of.token)
		if err != nil {
			return err
		}
		s.Logf("  %s answers after %.1f ms", of.subject, millis(took))
		s.Report.Add(report.Key{Section: report.History, Subject: of.subject, Measure: report.WokenMillis}, millis(took))
	}
	return nil
}

// left waits until no actor is in memory.
func left(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, leaveTimeout, errors.New("actors that nobody asks stay in memory"))
	defer cancel()
	for {
		page, err := promtext.Scrape(admin, activeMetric)
		if err != nil {
			return err
		}
		if samples := page[activeMetric]; len(samples) == 1 && samples[0].Value == 0 {
			return nil
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// ask reads the caller's tenant, over a connection of its own, and tells how long the
// answer took.
func ask(host, token string) (time.Duration, error) {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	begin := time.Now()
	status, body, err := conn.Do(rawhttp.Get(host, tenantPath, token, "application/json"))
	took := time.Since(begin)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the tenant wasn't shown: %d %.200s", status, body)
	}
	return took, err
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
