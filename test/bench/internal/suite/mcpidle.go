package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/mcpload"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/promtext"
	"ubl/test/bench/internal/report"
)

const (
	// collectTimeout bounds a garbage collection that is asked for.
	collectTimeout = 10 * time.Second
	// batch is how many sessions begin between two collections. What beginning a
	// session leaves behind is garbage, not the cost of an idle one: where sessions
	// come over hours, it is long gone.
	batch = 50
)

// mcpIdle reads what sessions cost that do nothing.
func (s *Suite) mcpIdle(ctx context.Context) {
	sections := []report.Section{report.MCPIdle}
	var turns []turn
	for _, p := range mcpload.Protocols() {
		subject := report.OverMCP(p)
		if s.UBLMissing != "" {
			s.miss(report.MCPIdle, subject, s.UBLMissing)
		}
		turns = append(turns, turn{subject, func(ctx context.Context, dir string) error { return s.idleSessions(ctx, dir, subject, p) }})
	}
	s.rounds(ctx, sections, turns)
}

func (s *Suite) idleSessions(ctx context.Context, dir string, subject report.Subject, protocol string) (err error) {
	admin, err := proc.FreePorts(1)
	if err != nil {
		return err
	}
	t, err := s.startUBL(ctx, dir, sender, "--admin-listen", admin[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.server.Stop()) }()
	// The first session makes what all share; it is gone before the others come.
	to := mcpload.Target{Host: t.server.Host, Path: peer.MCPPath, Token: t.token, Protocol: protocol}
	if _, err := s.footprint(ctx, t, admin[0], to, 1); err != nil {
		return err
	}
	before, err := footprintOf(ctx, t.server.Pid(), admin[0])
	if err != nil {
		return err
	}
	after, err := s.footprint(ctx, t, admin[0], to, s.settings().Sessions)
	if err != nil {
		return err
	}
	s.tellSessions(subject, before, after)
	return nil
}

// footprint opens sessions, lets them be for a while, and reads the memory of
// the server while they are there.
func (s *Suite) footprint(ctx context.Context, t *target, admin string, to mcpload.Target, n int) (footprint, error) {
	idle := new(mcpload.Idle)
	defer idle.Close()
	for left := n; left > 0; left -= batch {
		if err := idle.Add(ctx, to, min(left, batch)); err != nil {
			return footprint{}, errors.Join(err, t.server.Complaint())
		}
		if err := collect(ctx, admin); err != nil {
			return footprint{}, err
		}
	}
	if err := sleep(ctx, calm); err != nil {
		return footprint{}, err
	}
	f, err := footprintOf(ctx, t.server.Pid(), admin)
	if open := idle.Open(); err == nil && open != n {
		err = fmt.Errorf("the server ended %d of %d idle sessions", n-open, n)
	}
	return f, err
}

// tellSessions keeps the figures, divided by the sessions.
func (s *Suite) tellSessions(subject report.Subject, before, after footprint) {
	each := func(m report.Measure, before, after float64) {
		kb := (after - before) * 1024 / float64(s.settings().Sessions)
		s.Logf("  %s: %.1f", m, kb)
		s.Report.Add(report.Key{Section: report.MCPIdle, Subject: subject, Measure: m}, kb)
	}
	each(report.SessionRSS, before.All, after.All)
	each(report.SessionOwn, before.Own, after.Own)
	each(report.SessionInUse, before.inUse, after.inUse)
}

// footprint is a server's memory in MB.
type footprint struct {
	machine.Resident
	inUse float64 // heap and stacks, with what is unused of their pages
	live  float64 // what of that is in objects and stacks
}

// footprintOf reads it right after a garbage collection.
func footprintOf(ctx context.Context, pid int, admin string) (footprint, error) {
	if err := collect(ctx, admin); err != nil {
		return footprint{}, err
	}
	page, err := promtext.Scrape(admin, "go_memstats_")
	if err != nil {
		return footprint{}, err
	}
	var f footprint
	for name, into := range map[string][]*float64{
		"go_memstats_heap_inuse_bytes": {&f.inUse}, "go_memstats_heap_alloc_bytes": {&f.live}, "go_memstats_stack_inuse_bytes": {&f.inUse, &f.live},
	} {
		if len(page[name]) != 1 {
			return footprint{}, fmt.Errorf("the metrics have no %s", name)
		}
		for _, sum := range into {
			*sum += page[name][0].Value / (1 << 20)
		}
	}
	f.Resident, err = machine.Memory(pid)
	return f, err
}

// residue reads it after two: what is only kept for the next use goes with the second.
func residue(ctx context.Context, pid int, admin string) (footprint, error) {
	if err := collect(ctx, admin); err != nil {
		return footprint{}, err
	}
	return footprintOf(ctx, pid, admin)
}

// collect has the server collect its garbage: that comes with a profile of the
// heap.
func collect(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/debug/pprof/heap?gc=1", nil)
	if err != nil {
		return fmt.Errorf("couldn't ask for a collection: %w", err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("couldn't ask for a collection: %w", err)
	}
	defer reply.Body.Close()
	if _, err = io.Copy(io.Discard, reply.Body); err == nil && reply.StatusCode != http.StatusOK {
		err = errors.New(reply.Status)
	}
	if err != nil {
		return fmt.Errorf("couldn't have garbage collected: %w", err)
	}
	return nil
}
