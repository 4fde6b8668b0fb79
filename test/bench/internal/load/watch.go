package load

import (
	"context"
	"fmt"
	"os"
	"time"

	"ubl/test/bench/internal/machine"
)

// Usage is the CPU time used within the measurement, in cores: CPU time by
// time that passed.
type Usage struct {
	Servers   float64
	Generator float64
	Others    float64 // whatever else the machine did
	Err       error
}

// Watch reads the CPU time of the processes and of this one at the edges of
// the measurement, so that its warm-up and its end don't count. The channel
// gets one value, after the end.
func Watch(ctx context.Context, pids []int, warm, end time.Time) <-chan Usage {
	out := make(chan Usage, 1)
	if len(pids) == 0 {
		out <- Usage{}
		return out
	}
	go func() {
		wait(ctx, warm)
		before, err := read(pids)
		if err != nil {
			out <- Usage{Err: err}
			return
		}
		wait(ctx, end)
		after, err := read(pids)
		if err != nil {
			out <- Usage{Err: err}
			return
		}
		out <- after.since(before)
	}()
	return out
}

func wait(ctx context.Context, until time.Time) {
	select {
	case <-time.After(time.Until(until)):
	case <-ctx.Done():
	}
}

// reading is CPU time used until then.
type reading struct {
	at                      time.Time
	servers, generator, all time.Duration
}

func (r reading) since(before reading) Usage {
	passed := r.at.Sub(before.at).Seconds()
	u := Usage{
		Servers:   (r.servers - before.servers).Seconds() / passed,
		Generator: (r.generator - before.generator).Seconds() / passed,
	}
	// The kernel rounds each figure on its own, so the rest may be below 0.
	u.Others = max(0, (r.all-before.all).Seconds()/passed-u.Servers-u.Generator)
	return u
}

func read(pids []int) (reading, error) {
	var r reading
	for _, pid := range pids {
		used, err := machine.CPU(pid)
		if err != nil {
			return r, fmt.Errorf("couldn't read a server's CPU time: %w", err)
		}
		r.servers += used
	}
	var err error
	if r.generator, err = machine.CPU(os.Getpid()); err != nil {
		return r, fmt.Errorf("couldn't read the generator's CPU time: %w", err)
	}
	r.at = time.Now()
	r.all, err = machine.Busy()
	return r, err
}
