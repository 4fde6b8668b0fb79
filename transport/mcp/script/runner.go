package script

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/confine"
	"ubl/turns"
)

// Options are what a [Runner] is made of; a zero field takes its default.
type Options struct {
	// Path is the program to start as a child, whose main begins with [RunIfChild];
	// this one.
	Path string
	// AtOnce is how many runs there are at a time, PerTenant how many of one tenant; 4 and 2. Less
	// than 0 is no bound.
	AtOnce, PerTenant int
	// Full is the refusal of a run for which no place became free; nil for overloaded.
	Full func() error
	// Patience is how long a run waits for a place; 10 s.
	Patience time.Duration
	// Memory is what a program may take, in bytes; 128 MiB. A child itself has some 40 MiB.
	Memory uint64
	// CPU is the processor time of a run; 10 s.
	CPU time.Duration
}

// Runner runs programs. It is safe for concurrent use.
type Runner struct {
	o      Options
	turns  *turns.Turns
	counts *counts
}

// New makes a Runner. It starts nothing.
func New(o Options) *Runner {
	o.Path = cmp.Or(o.Path, confine.ThisProgram())
	o.AtOnce, o.PerTenant = cmp.Or(o.AtOnce, 4), cmp.Or(o.PerTenant, 2)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.Memory, o.CPU = cmp.Or(o.Memory, 128<<20), cmp.Or(o.CPU, 10*time.Second)
	return &Runner{o, turns.New(bound(o.AtOnce), bound(o.PerTenant)), newCounts()}
}

// bound is a number of places, where less than 0 is no bound.
func bound(n int) int {
	if n < 0 {
		return math.MaxInt
	}
	return n
}

// Run runs a program for somebody of a tenant, and does its calls by do, one after another. It
// returns when the child has ended. Errors are ctx's, overloaded or Options.Full's where no place became
// free, and internal where no child could be started; all else is an Outcome.
func (r *Runner) Run(ctx context.Context, of ubl.TenantID, job Job, do Do) (*Outcome, error) {
	out, err := r.run(ctx, of, job, do)
	r.counts.end(out, err)
	return out, err
}

func (r *Runner) run(ctx context.Context, of ubl.TenantID, job Job, do Do) (*Outcome, error) {
	if err := r.place(ctx, of); err != nil {
		return nil, err
	}
	defer r.turns.Give(of)
	r.counts.open.Add(1)
	defer r.counts.open.Add(-1)
	timed, cancel := context.WithTimeout(ctx, job.Timeout)
	defer cancel()
	c, err := r.spawn(timed)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeInternal, "the program couldn't be started").Because(err)
	}
	end := func() {
		cancel() // ends the child, whatever it does
		_ = c.cmd.Wait()
	}
	defer end() // also where a call panics
	out, err := c.converse(timed, r.first(job), job.MaxCalls, do)
	overdue := timed.Err() != nil
	end()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case overdue:
		out.Stopped = StoppedTime
	case errors.Is(err, errCalls):
		out.Stopped = StoppedCalls
	case c.cmd.ProcessState != nil && c.cmd.ProcessState.ExitCode() == exitRefused:
		return nil, ubl.Errorf(ubl.CodeInternal, "the program couldn't be confined").Because(errors.New(c.last.String()))
	case errors.Is(err, errLine): // it isn't the child that was started
		out.Stopped = StoppedCrashed
	default:
		out.Stopped = c.autopsy(r.o.CPU)
	}
	return out, nil
}

// place waits for one.
func (r *Runner) place(ctx context.Context, of ubl.TenantID) error {
	waiting, cancel := context.WithTimeout(ctx, r.o.Patience)
	defer cancel()
	err := r.turns.Take(waiting, of)
	if err != nil && ctx.Err() == nil {
		if r.o.Full != nil {
			return r.o.Full()
		}
		return ubl.Errorf(ubl.CodeOverloaded, "too many programs are running").Later(5 * time.Second)
	}
	return err
}

// first is what the child is told first.
func (r *Runner) first(job Job) start {
	return start{
		Program: job.Program, Arguments: jsontext.Value(cmp.Or(string(job.Arguments), "{}")), Now: job.Now.UnixMilli(), Seed: job.Seed,
		Memory: r.o.Memory, CPU: uint64((r.o.CPU + time.Second - 1) / time.Second), MaxCalls: job.MaxCalls,
	}
}
