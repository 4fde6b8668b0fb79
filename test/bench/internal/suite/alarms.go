package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"ubl/test/bench/internal/alarmload"
	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

const (
	// aDay is when alarms are due that are only armed, in seconds.
	aDay = 86_400
	// armTimeout bounds arming all alarms.
	armTimeout = 20 * time.Minute
	// sampled is how many counters are in memory when their memory is read, and armedAtOnce
	// how many are made before the server starts again: they leave memory after a minute,
	// and a fast server makes more than a machine has room for within that.
	sampled     = 100_000
	armedAtOnce = 200_000
	// restarts is how long it takes at most to start the server again, between arming alarms
	// and their time.
	restarts = 10 * time.Second
	// noScrub leaves out what reads the whole store in the background.
	noScrub = "--scrub-rate=0"
)

// bystander is a store of counters while nobody asks it anything.
type bystander struct {
	actor float64 // KB of a counter in memory
	live  float64 // MB in objects and stacks, soon after a start
	idle  float64 // percent of a core
}

// alarms measures what armed alarms cost, and what happens as many come due.
func (s *Suite) alarms(ctx context.Context) {
	reason := s.UBLMissing
	if reason == "" {
		reason = s.CountersMissing
	}
	miss := func(reason string) {
		for _, subject := range []report.Subject{report.Unarmed, report.Armed, report.Flat, report.Paced} {
			if !s.Report.IsMissing(report.Alarms, subject) {
				s.miss(report.Alarms, subject, reason)
			}
		}
	}
	if reason != "" {
		miss(reason)
		return
	}
	err := s.inScratch(func(dir string) error {
		without, err := s.unarmed(ctx, filepath.Join(dir, "unarmed"))
		if err != nil {
			return err
		}
		armed := filepath.Join(dir, "armed")
		rate, err := s.armed(ctx, armed, without)
		if err != nil {
			return err
		}
		// Twice as long as it should take to arm them, for a slow moment.
		s.dues(ctx, armed, restarts+time.Duration(2*float64(s.settings().DueAlarms)/rate*float64(time.Second)))
		return nil
	})
	if err != nil {
		miss(err.Error())
	}
}

// startCounters starts UBL with the trial family of counters; its figures are at the
// address that is returned, too.
func (s *Suite) startCounters(ctx context.Context, dir string, flags ...string) (t *target, admin string, err error) {
	free, err := proc.FreePorts(1)
	if err != nil {
		return nil, "", err
	}
	t, err = s.startWith(ctx, s.Counters, dir, sender, append(flags, unlimited, "--admin-listen", free[0])...)
	return t, free[0], err
}

// count adds to counters of a name. Where after isn't nil it arms an alarm in each, due
// after so many seconds.
func count(ctx context.Context, t *target, name string, first, n int, after func() int) error {
	return each(ctx, t, n, http.StatusOK, func(i int) []byte {
		body := `{"by":1}`
		if after != nil {
			body = fmt.Sprintf(`{"by":1,"reset_after_s":%d}`, after())
		}
		return rawhttp.Post(t.server.Host, fmt.Sprintf("/api/counters/n:%s-%d/add", name, first+i), t.token, []byte(body))
	})
}

// inMemory makes the first counters, tells how long that took, and reads what each of them costs.
func (s *Suite) inMemory(ctx context.Context, subject report.Subject, dir string, n int, after func() int) (kb float64, took time.Duration, err error) {
	t, admin, err := s.startCounters(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, t.server.Stop()) }()
	before, err := residue(ctx, t.server.Pid(), admin)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := count(ctx, t, "armed", 0, n, after); err != nil {
		return 0, 0, err
	}
	took = time.Since(begin)
	kb, err = s.actorInUse(ctx, report.Key{Section: report.Alarms, Subject: subject, Measure: report.ActorInUse}, t.server.Pid(), admin, before)
	return kb, took, err
}

// idling reads memory and CPU time of a server that was just started.
func (s *Suite) idling(ctx context.Context, subject report.Subject, dir string) (b bystander, err error) {
	t, admin, err := s.startCounters(ctx, dir, noScrub)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, t.server.Stop()) }()
	if err := sleep(ctx, settle); err != nil {
		return b, err
	}
	memory, err := residue(ctx, t.server.Pid(), admin)
	if err != nil {
		return b, err
	}
	before, err := machine.CPU(t.server.Pid())
	begin := time.Now()
	if err == nil {
		err = sleep(ctx, time.Duration(s.settings().IdleNodes)*time.Second)
	}
	if err != nil {
		return b, err
	}
	after, err := machine.CPU(t.server.Pid())
	b.live, b.idle = memory.live, 100*float64(after-before)/float64(time.Since(begin))
	s.Logf("  %s: %.1f MB in objects, idle at %.2f %% of a core", subject, b.live, b.idle)
	s.Report.Add(report.Key{Section: report.Alarms, Subject: subject, Measure: report.IdleCPU}, b.idle)
	return b, err
}

func (s *Suite) unarmed(ctx context.Context, dir string) (bystander, error) {
	n := min(sampled, s.settings().Alarms)
	s.Logf("alarms: making %d counters without", n)
	actor, _, err := s.inMemory(ctx, report.Unarmed, dir, n, nil)
	if err != nil {
		return bystander{}, err
	}
	b, err := s.idling(ctx, report.Unarmed, dir)
	b.actor = actor
	return b, err
}

// armed arms all alarms, a day ahead, and holds the store against one without. It returns how
// many were armed in a second.
func (s *Suite) armed(ctx context.Context, dir string, without bystander) (rate float64, err error) {
	n := s.settings().Alarms
	s.Logf("alarms: arming %d", n)
	actor, took, err := s.arm(ctx, dir, n)
	if err != nil {
		return 0, err
	}
	b, err := s.idling(ctx, report.Armed, dir)
	if err != nil {
		return 0, err
	}
	rate = float64(n) / took.Seconds()
	for m, v := range map[report.Measure]float64{
		report.ArmRate: rate, report.AlarmInUse: (actor - without.actor) * 1024,
		report.AlarmIdle: (b.live - without.live) * (1 << 20) / float64(n), report.IdleMore: b.idle - without.idle,
	} {
		s.Report.Add(report.Key{Section: report.Alarms, Subject: report.Armed, Measure: m}, v)
	}
	return rate, nil
}

// arm arms n alarms, tells how long that took, and reads what one of the first counters costs.
func (s *Suite) arm(ctx context.Context, dir string, n int) (kb float64, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, armTimeout)
	defer cancel()
	tomorrow := func() int { return aDay }
	kb, took, err = s.inMemory(ctx, report.Armed, dir, min(sampled, n), tomorrow)
	for done := sampled; err == nil && done < n; done += armedAtOnce {
		var t *target
		if t, _, err = s.startCounters(ctx, dir); err != nil {
			break
		}
		begin := time.Now()
		err = count(ctx, t, "armed", done, min(armedAtOnce, n-done), tomorrow)
		took += time.Since(begin)
		err = errors.Join(err, t.server.Stop())
		s.Logf("  %d are armed", min(done+armedAtOnce, n))
	}
	return kb, took, err
}

// dues lets alarms come due beside writers, over the store in which all others wait; in is
// how long it takes to arm them.
func (s *Suite) dues(ctx context.Context, dir string, in time.Duration) {
	for round := range s.settings().Rounds {
		for _, of := range []struct {
			subject report.Subject
			writers []string // how they send
		}{
			{report.Flat, []string{"-writers", strconv.Itoa(s.settings().Writers)}},
			{report.Paced, []string{"-writers", strconv.Itoa(len(crowdMembers())), "-every", neighbourEvery}},
		} {
			if ctx.Err() != nil || s.Report.IsMissing(report.Alarms, of.subject) {
				continue
			}
			s.Logf("alarms: round %d of %d: %s", round+1, s.settings().Rounds, of.subject)
			if err := s.undisturbed(report.Alarms, of.subject, func() error { return s.due(ctx, dir, in, of.subject, of.writers) }); err != nil {
				s.miss(report.Alarms, of.subject, err.Error())
			}
		}
	}
}

// due has alarms come due after a while, by when they are armed.
func (s *Suite) due(ctx context.Context, dir string, in time.Duration, subject report.Subject, writers []string) error {
	quiet, due, err := s.quietly(ctx, dir, in, writers)
	if err != nil {
		return err
	}
	// Its actors are not in memory now.
	t, admin, err := s.startCounters(ctx, dir)
	if err != nil {
		return err
	}
	var r alarmload.Result
	err = proc.JSON(ctx, &r, nil, s.Self, append([]string{"alarmload", "-host", t.server.Host, "-token", t.token, "-admin", admin,
		"-alarms", strconv.Itoa(s.settings().DueAlarms), "-due", strconv.FormatInt(due.UnixMilli(), 10)}, writers...)...)
	if err != nil {
		err = errors.Join(fmt.Errorf("the load generator failed: %w", err), t.server.Complaint())
	}
	if err := errors.Join(err, t.server.Stop()); err != nil {
		return err
	}
	if err := sound(r.Result); err != nil {
		return err
	}
	s.Logf("  %d fired after %.2f s; p99 %.2f ms before, %.2f ms meanwhile", r.Fired, r.FiredSeconds, quiet.P99us/1000, r.P99us/1000)
	if r.Fired < s.settings().DueAlarms {
		s.Report.Note(fmt.Sprintf("%s: %d of %d alarms were fired within %.0f s, %s.", report.Alarms, r.Fired, s.settings().DueAlarms, r.FiredSeconds, subject))
	}
	for m, v := range map[report.Measure]float64{report.FiredSeconds: r.FiredSeconds, report.QuietP99: quiet.P99us, report.FiringP99: r.P99us} {
		s.Report.Add(report.Key{Section: report.Alarms, Subject: subject, Measure: m}, v)
	}
	return nil
}

// quietly drives a server while no alarm is due, and then arms those that will be.
func (s *Suite) quietly(ctx context.Context, dir string, in time.Duration, writers []string) (r load.Result, due time.Time, err error) {
	t, _, err := s.startCounters(ctx, dir)
	if err != nil {
		return r, due, err
	}
	defer func() { err = errors.Join(err, t.server.Stop()) }()
	err = proc.JSON(ctx, &r, nil, s.Self, append([]string{"load", "-host", t.server.Host, "-token", t.token,
		"-warm", warm.String(), "-length", s.length().String()}, writers...)...)
	if err == nil {
		err = sound(r)
	}
	if err != nil {
		return r, due, errors.Join(err, t.server.Complaint())
	}
	due = time.Now().Add(in)
	return r, due, count(ctx, t, "due", 0, s.settings().DueAlarms, func() int { return int(time.Until(due).Seconds()) + 1 })
}
