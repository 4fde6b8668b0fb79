// Package suite is the order of the measurements: which program runs when,
// against what data, and what its figures are called. Programs take turns
// within a round and the turns shift from round to round, so that a slow
// minute of the machine hits all of them alike. Each turn begins with an empty
// data directory on the same disk.
package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
	"ubl/test/bench/internal/workerd"
)

// Suite is one run. Its fields are set before Run and not changed after.
type Suite struct {
	Self     string           // this very program, for its subcommands
	UBL      string           // the product's binary; empty with UBLMissing set
	Counters string           // the same with the trial family of counters; empty with CountersMissing set
	Workerd  *workerd.Runtime // nil with WorkerdMissing set
	Etcd     string           // etcd's server; empty with EtcdMissing set
	Scratch  string           // where data directories are made; on a real disk

	UBLMissing      string // why UBL can't be measured
	CountersMissing string // why alarms can't be measured
	WorkerdMissing  string // why workerd can't be measured
	EtcdMissing     string // why etcd can't be measured

	Report *report.Report
	Logf   func(format string, args ...any)
	Stolen func() (time.Duration, error) // what the machine's host took so far: machine.Stolen
}

// warm is how long every program is driven before it is measured.
const warm = time.Second

// mostStolen is the share of the machine's time that its host may take during a turn
// which counts, and tries how often a turn is begun until the host takes less.
const (
	mostStolen = 0.05
	tries      = 3
)

// Run measures the selected sections. A program that fails is noted in the
// report and the rest goes on; an error means that the run itself can't.
func (s *Suite) Run(ctx context.Context) error {
	selected := func(section report.Section) bool {
		return slices.Contains(s.Report.Settings.Sections, section)
	}
	if selected(report.Send) || selected(report.One) {
		s.sends(ctx, selected(report.Send), selected(report.One))
	}
	if selected(report.InProcess) {
		s.inProcess(ctx)
	}
	if selected(report.Fanout) {
		s.fanout(ctx)
	}
	if selected(report.Documents) {
		s.documents(ctx)
	}
	if selected(report.Files) {
		s.files(ctx)
	}
	if selected(report.Crowd) {
		s.crowd(ctx)
	}
	if selected(report.Flood) {
		s.flood(ctx)
	}
	if selected(report.Public) {
		s.public(ctx)
	}
	if selected(report.Start) {
		s.start(ctx)
	}
	if selected(report.History) {
		s.history(ctx)
	}
	if selected(report.Alarms) {
		s.alarms(ctx)
	}
	if selected(report.Cluster) {
		s.cluster(ctx)
	}
	if selected(report.Failover) {
		s.failover(ctx)
	}
	if selected(report.Idle) {
		s.idle(ctx)
	}
	s.agents(ctx, selected)
	if ctx.Err() != nil {
		return fmt.Errorf("the run was cut short: %w", context.Cause(ctx))
	}
	return nil
}

func (s *Suite) settings() report.Settings { return s.Report.Settings }

func (s *Suite) length() time.Duration { return time.Duration(s.settings().Seconds) * time.Second }

// miss notes and tells that a program could not be measured; a reason may be
// what a tool printed, on many lines.
func (s *Suite) miss(section report.Section, subject report.Subject, reason string) {
	reason = strings.Join(strings.Fields(reason), " ")
	s.Report.Miss(section, subject, reason)
	s.Logf("%s: %s not measured: %s", section, subject, reason)
}

// end stops a cluster whose figures are in. A node that does not stop takes
// nothing back from them, but it is noted.
func (s *Suite) end(section report.Section, c *cluster) {
	if err := c.stop(); err != nil {
		text := fmt.Sprintf("%s: %s", section, strings.Join(strings.Fields(err.Error()), " "))
		s.Report.Note(text)
		s.Logf("%s", text)
	}
}

// turn is one program's part of a round; it adds the figures it measures.
type turn struct {
	subject report.Subject
	run     func(ctx context.Context, dir string) error
}

// rounds lets the programs of a section take turns. One that fails is out for
// the rest of it.
func (s *Suite) rounds(ctx context.Context, sections []report.Section, turns []turn) {
	for round := range s.settings().Rounds {
		for i := range turns {
			t := turns[(i+round)%len(turns)]
			if ctx.Err() != nil || s.Report.IsMissing(sections[0], t.subject) {
				continue
			}
			s.Logf("%s: round %d of %d: %s", sections[0], round+1, s.settings().Rounds, t.subject)
			if err := s.undisturbed(sections[0], t.subject, func() error {
				return s.inScratch(func(dir string) error { return t.run(ctx, dir) })
			}); err != nil {
				for _, section := range sections {
					s.miss(section, t.subject, err.Error())
				}
			}
		}
	}
}

// undisturbed runs a turn, and once more where the machine's host took much of its time
// meanwhile: those figures would be of the host's other guests. They are dropped, but
// for those of the last try, which count with a note.
func (s *Suite) undisturbed(section report.Section, subject report.Subject, run func() error) error {
	for try := 1; ; try++ {
		figures, began := slices.Clone(s.Report.Figures), time.Now()
		before, err := s.Stolen()
		if err != nil {
			return err
		}
		if err := run(); err != nil {
			return err
		}
		after, err := s.Stolen()
		if err != nil {
			return err
		}
		share := float64(after-before) / float64(time.Since(began)) / float64(runtime.NumCPU())
		if share <= mostStolen {
			return nil
		}
		if try == tries {
			s.Report.Note(fmt.Sprintf("%s: in turns of %s the machine's host took more than %.0f %% of its time, %d times in a row.", section, subject, mostStolen*100, tries))
			return nil
		}
		s.Logf("  once more: the machine's host took %.0f %% of its time", share*100)
		s.Report.Figures = figures
	}
}

// inScratch runs f with a data directory of its own.
func (s *Suite) inScratch(f func(dir string) error) error {
	dir, err := os.MkdirTemp(s.Scratch, "data-")
	if err != nil {
		return fmt.Errorf("couldn't make a data directory: %w", err)
	}
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return fmt.Errorf("couldn't make a data directory: %w", err)
	}
	// What a build, an installation or the turn before left unwritten would
	// hold up the first syncs of this one.
	unix.Sync()
	return f(data)
}

// self starts one of this program's own servers.
func (s *Suite) self(ctx context.Context, subject report.Subject, args ...string) (*proc.Server, error) {
	return proc.Start(ctx, proc.Spec{Name: string(subject), Path: s.Self, Args: args, Address: proc.ListeningOn, LogDir: s.Scratch})
}
