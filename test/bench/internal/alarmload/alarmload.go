// Package alarmload sends messages while alarms are fired, from when the first of them
// is due until all have been.
package alarmload

import (
	"context"
	"fmt"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/promtext"
)

const (
	// firedMetric counts the alarms that a server has fired.
	firedMetric = "ubl_alarms_fired_total"
	// lookEvery is the pause between two looks at it.
	lookEvery = 100 * time.Millisecond
	// limit bounds the wait until all are fired.
	limit = time.Minute
	// least is how long the measurement lasts at least: where alarms are fired sooner than
	// that, there are too few sends meanwhile.
	least = time.Second
	// leastWarm is how long the server is driven before the alarms are due, at least.
	leastWarm = time.Second
)

// Options say what to do to whom. The plan's time to begin and its length follow from the
// alarms.
type Options struct {
	Load   load.Options
	Admin  string // HOST:PORT of the server's metrics
	Alarms int    // how many come due
	Due    time.Time
}

// Result is what came of it: the sends' figures are those between the first alarm and
// the last.
type Result struct {
	load.Result
	Fired        int     `json:"fired"`         // alarms, within a minute
	FiredSeconds float64 `json:"fired_seconds"` // since the first was due, up to the next look; a minute where it wasn't enough
}

// Run drives the server until all alarms are fired, or for a minute.
func Run(ctx context.Context, o Options) (Result, error) {
	before, err := fired(o.Admin)
	if err != nil {
		return Result{}, err
	}
	warm := time.Until(o.Due)
	if before > 0 || warm < leastWarm {
		return Result{}, fmt.Errorf("%d alarms were fired %s before they were due: that is too late to begin", before, warm)
	}
	until, seen := make(chan struct{}), make(chan fireworks, 1)
	go func() {
		defer close(until)
		seen <- await(ctx, o.Admin, o.Alarms, o.Due)
		sleep(ctx, o.Due.Add(least))
	}()
	sends := o.Load
	sends.Warm, sends.Length, sends.Until = warm, limit+least, until
	r, err := load.Run(ctx, sends)
	if err != nil {
		return Result{}, err
	}
	f := <-seen
	return Result{r, f.fired, min(f.at.Sub(o.Due), limit).Seconds()}, f.err
}

// fireworks is how many alarms were fired, and when the last of them was.
type fireworks struct {
	fired int
	at    time.Time
	err   error
}

func await(ctx context.Context, admin string, alarms int, due time.Time) (f fireworks) {
	for f.at = due; f.fired < alarms && f.err == nil && f.at.Sub(due) < limit; f.at = time.Now() {
		if sleep(ctx, f.at.Add(lookEvery)); ctx.Err() != nil {
			return fireworks{err: context.Cause(ctx)}
		}
		f.fired, f.err = fired(admin)
	}
	return f
}

func fired(admin string) (int, error) {
	page, err := promtext.Scrape(admin, firedMetric)
	if err != nil {
		return 0, err
	}
	if len(page[firedMetric]) != 1 {
		return 0, fmt.Errorf("the metrics have no %s", firedMetric)
	}
	return int(page[firedMetric][0].Value), nil
}

func sleep(ctx context.Context, until time.Time) {
	select {
	case <-time.After(time.Until(until)):
	case <-ctx.Done():
	}
}
