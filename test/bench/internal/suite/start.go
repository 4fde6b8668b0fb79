package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/promtext"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

const (
	// prepareTimeout bounds making the rooms, either way.
	prepareTimeout = 4 * time.Minute
	// readyTimeout bounds the wait for /readyz.
	readyTimeout = time.Minute
	// touchTimeout bounds reading every room once.
	touchTimeout = 3 * time.Minute
	// roomWorkers is how many connections make or read rooms.
	roomWorkers = 64
	// activeMetric is how many actors are in memory.
	activeMetric = "ubl_actors_active"
)

// start measures how soon UBL is ready with many rooms on disk, and what they
// cost in memory: untouched, all in use, and idle again.
func (s *Suite) start(ctx context.Context) {
	s.missBinaries([]report.Section{report.Start})
	if s.UBLMissing != "" {
		return
	}
	err := s.inScratch(func(dir string) error {
		if err := s.prepare(ctx, dir); err != nil {
			return err
		}
		for range s.settings().Rounds {
			if err := s.undisturbed(report.Start, report.UBL, func() error { return s.startOnce(ctx, dir) }); err != nil {
				return err
			}
		}
		if err := s.memory(ctx, dir); err != nil {
			s.miss(report.Memory, report.UBL, err.Error())
		}
		return nil
	})
	if err != nil {
		s.miss(report.Start, report.UBL, err.Error())
	}
}

// prepare fills dir with rooms: with UBL's own command where it has one, else
// through the API.
func (s *Suite) prepare(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	s.Logf("start: making %d rooms", s.settings().Rooms)
	_, err := proc.Output(ctx, nil, s.UBL, "bench", "--prepare-rooms", strconv.Itoa(s.settings().Rooms), "--data", dir, "--quiet")
	if err == nil {
		return nil
	}
	s.Logf("  ubl bench --prepare-rooms failed (%v); making them through the API", err)
	t, err := s.startUBL(ctx, dir, keeper)
	if err != nil {
		return err
	}
	return errors.Join(makeRooms(ctx, t, s.settings().Rooms), t.server.Stop())
}

func (s *Suite) startOnce(ctx context.Context, dir string) error {
	server, ready, err := s.ready(ctx, dir)
	if err != nil {
		return err
	}
	s.Logf("  ready after %.3f s", ready.Seconds())
	s.Report.Add(report.Key{Section: report.Start, Subject: report.UBL, Measure: report.ReadySeconds}, ready.Seconds())
	return server.Stop()
}

// ready starts UBL and measures from the exec to the first 200 of /readyz.
func (s *Suite) ready(ctx context.Context, dir string, flags ...string) (*proc.Server, time.Duration, error) {
	server, err := s.serveUBL(ctx, dir, append(flags, unlimited)...)
	if err != nil {
		return nil, 0, err
	}
	last := errors.New("no answer")
	for time.Since(server.Started) < readyTimeout && ctx.Err() == nil {
		if last = isReady(server.Host); last == nil {
			return server, time.Since(server.Started), nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, 0, errors.Join(fmt.Errorf("UBL was not ready in time: %w", last), server.Stop())
}

func isReady(host string) error {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return err
	}
	defer conn.Close()
	status, body, err := conn.Do(rawhttp.Get(host, "/readyz", "", "*/*"))
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("/readyz says %d %.200s", status, body)
	}
	return nil
}

// memory reads UBL's resident memory after a start, after every room has been
// read, and after a while in which actors should have left.
func (s *Suite) memory(ctx context.Context, dir string) (err error) {
	admin, err := proc.FreePorts(1)
	if err != nil {
		return err
	}
	server, _, err := s.ready(ctx, dir, "--admin-listen", admin[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	own, err := s.resident(server, report.RSSReady, report.OwnReady)
	if err != nil {
		return err
	}
	before, err := residue(ctx, server.Pid(), admin[0])
	if err != nil {
		return err
	}
	if err := s.touchRooms(ctx, dir, server); err != nil {
		return err
	}
	if _, err := s.resident(server, report.RSSTouched, report.OwnTouched); err != nil {
		return err
	}
	if _, err := s.actorInUse(ctx, report.Key{Section: report.Memory, Subject: report.UBL, Measure: report.ActorInUse}, server.Pid(), admin[0], before); err != nil {
		return err
	}
	idle := time.Duration(s.settings().IdleSeconds) * time.Second
	s.Logf("  idle for %s", idle)
	if err := sleep(ctx, idle); err != nil {
		return err
	}
	left, err := s.resident(server, report.RSSIdle, report.OwnIdle)
	s.Report.Add(report.Key{Section: report.Memory, Subject: report.UBL, Measure: report.ActorIdle}, (left-own)*1024/float64(s.settings().Rooms))
	return err
}

// touchRooms reads each room once.
func (s *Suite) touchRooms(ctx context.Context, dir string, server *proc.Server) error {
	token, err := s.token(ctx, dir, keeper)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, touchTimeout)
	defer cancel()
	begin := time.Now()
	if err := readRooms(ctx, &target{server, token}, s.settings().Rooms); err != nil {
		return err
	}
	s.Report.Add(report.Key{Section: report.Memory, Subject: report.UBL, Measure: report.TouchSeconds}, time.Since(begin).Seconds())
	return nil
}

// actorInUse is what actors that came into memory since before have added to it, each.
func (s *Suite) actorInUse(ctx context.Context, of report.Key, pid int, admin string, before footprint) (kb float64, err error) {
	after, err := residue(ctx, pid, admin)
	if err != nil {
		return 0, err
	}
	page, err := promtext.Scrape(admin, activeMetric)
	if err != nil {
		return 0, err
	}
	if len(page[activeMetric]) != 1 || page[activeMetric][0].Value < 1 {
		return 0, errors.New("the metrics have no actors in memory")
	}
	actors := page[activeMetric][0].Value
	kb = (after.live - before.live) * 1024 / actors
	s.Logf("  %.0f actors in memory, %.2f KB each", actors, kb)
	s.Report.Add(of, kb)
	return kb, nil
}

// resident reads both figures, and returns UBL's own.
func (s *Suite) resident(server *proc.Server, all, own report.Measure) (float64, error) {
	m, err := machine.Memory(server.Pid())
	if err != nil {
		return 0, fmt.Errorf("couldn't read UBL's memory: %w", err)
	}
	s.Logf("  %s: %.0f, of which its own %.0f", all, m.All, m.Own)
	s.Report.Add(report.Key{Section: report.Memory, Subject: report.UBL, Measure: all}, m.All)
	s.Report.Add(report.Key{Section: report.Memory, Subject: report.UBL, Measure: own}, m.Own)
	return m.Own, nil
}
