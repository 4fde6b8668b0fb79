// Command bench holds UBL side by side with other ways to do the same work, in
// one run, on the machine at hand.
//
// What is measured, and against what:
//
//   - send: 64 writers to one room over HTTP, every reply synced to disk first.
//     UBL; one Durable Object in workerd; NATS JetStream behind a minimal HTTP
//     front; the bare program, which does the same work with the same libraries
//     and nothing else.
//   - one: the same with one writer.
//   - inprocess: UBL without HTTP, and the bare group-commit loop on bbolt.
//   - fanout: live events to 1,000 streams, from UBL and from a bare program
//     that writes the same bytes; the same to 1 and 100 streams.
//   - documents: creating documents, beside sending messages.
//   - flood: what a tenant feels of another one's flood, under the default limits.
//   - public: reads without an identity, and a bare server of one static document; sends
//     beside 20,000 reads a second.
//   - start: how soon UBL is ready with 100,000 rooms on disk, and its memory.
//   - history: how soon a tenant, and tenant 0, is open that has had 1,000,000 events.
//   - alarms: what 1,000,000 armed alarms cost, and 10,000 that come due in a second.
//   - cluster: three nodes of UBL, three nodes of etcd, and UBL alone, under 1, 64
//     and 512 clients.
//   - failover: how long callers wait after the leader was killed, or fell silent.
//   - idle: the CPU time of three nodes of UBL, and of etcd, that have no work.
//   - mcp: sends over MCP and over REST, to one room of one server.
//   - portal: a tool of another MCP server, called directly and through UBL.
//   - mcp-idle: the memory of 1,000 MCP sessions that do nothing.
//   - search: full text over 10,000 documents.
//   - echo: a tool that only answers, of UBL and of a bare MCP server.
//
// How: programs take turns, three rounds, medians with their range. Why it is
// fair: every server is a process of its own that starts with an empty
// directory on the same disk; one load generator, the same for all, sends the
// same bytes; each program syncs each reply with the means it comes with; and
// where a peer does less work than UBL, it is in the peer's favour and said so.
//
// It runs itself again for the Go peers and the load generators; see
// commands.go. It needs Linux, for epoll and /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/report"
	"ubl/test/bench/internal/suite"
	"ubl/test/bench/internal/workerd"
)

// runLimit bounds a whole run.
const runLimit = 90 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return command(ctx, os.Stdout, args[0], args[1:])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("not done within %s", runLimit))
	defer cancel()
	return measure(ctx, o, logger(time.Now()))
}

// logger writes plain lines with the time since the start of the run.
func logger(start time.Time) func(format string, args ...any) {
	return func(format string, args ...any) {
		elapsed := time.Since(start).Truncate(time.Second)
		fmt.Fprintf(os.Stderr, "%7s  %s\n", elapsed, fmt.Sprintf(format, args...))
	}
}

// measure does a whole run and writes its report, also of a run cut short.
func measure(ctx context.Context, o options, logf func(string, ...any)) error {
	var before *report.Report
	if o.against != "" {
		var err error
		if before, err = report.Read(o.against); err != nil {
			return err
		}
	}
	if o.judge {
		r, err := report.Read(filepath.Join(o.out, "results.json"))
		if err != nil {
			return err
		}
		return judged(r, before, o.out)
	}
	if err := os.MkdirAll(o.cache, 0o755); err != nil {
		return fmt.Errorf("couldn't make the cache: %w", err)
	}
	scratch, err := os.MkdirTemp(o.cache, "run-")
	if err != nil {
		return fmt.Errorf("couldn't make a directory for data: %w", err)
	}
	defer os.RemoveAll(scratch)
	s, err := prepare(ctx, o, scratch, logf)
	if err != nil {
		return err
	}
	cut := s.Run(ctx)
	if err := judged(s.Report, before, o.out); err != nil {
		return errors.Join(cut, err)
	}
	logf("written to %s", o.out)
	return cut
}

// judged holds a run against the goals, and an earlier run if there is one, and writes the report.
func judged(r, before *report.Report, out string) error {
	if before != nil {
		r.Compare(before)
	}
	r.Judge(report.Goals())
	r.Markdown(os.Stdout)
	return r.Write(out)
}

// prepare looks at the machine and finds, builds or installs what is measured. What isn't
// there is noted.
func prepare(ctx context.Context, o options, scratch string, logf func(string, ...any)) (*suite.Suite, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("couldn't find this program: %w", err)
	}
	facts, err := machine.Look(scratch, time.Now())
	if err != nil {
		return nil, err
	}
	logf("%d cores, fsync p50 %.0f µs, p99 %.0f µs", facts.Cores, facts.FsyncP50us, facts.FsyncP99us)
	s := &suite.Suite{
		Self: self, Scratch: scratch, Logf: logf, Stolen: machine.Stolen,
		Report: &report.Report{Machine: facts, Settings: o.settings},
	}
	if s.UBL, err = findUBL(ctx, o, logf); err != nil {
		s.UBLMissing = err.Error()
	}
	if o.selected(report.Alarms) {
		if s.Counters, err = withCounters(ctx, o, logf); err != nil {
			s.CountersMissing = err.Error()
		}
	}
	if o.selected(report.Send) || o.selected(report.One) {
		logf("installing workerd")
		if s.Workerd, err = workerd.Install(ctx, filepath.Join(o.cache, "workerd")); err != nil {
			s.WorkerdMissing = err.Error()
		}
	}
	if s.Etcd, err = findEtcd(o); err != nil {
		s.EtcdMissing = err.Error()
	}
	s.Report.Versions = versions(ctx, s)
	return s, nil
}
