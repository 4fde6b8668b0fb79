package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ubl/test/bench/internal/stats"
)

// Plan is when to measure, and whose CPU time to read meanwhile.
type Plan struct {
	Warm   time.Duration // sends before the measurement, checked but not counted
	Length time.Duration // the measurement
	Every  time.Duration // from one send of a writer to the next; 0: each follows the reply before
	Watch  []int         // the servers' process ids; none: no CPU time is read

	// Until ends the measurement before its length is over, when it is closed; nil: nothing does.
	Until <-chan struct{}
}

// Send makes one request and returns the number that its reply carries, which
// the server must give once and without a gap. It is for one goroutine.
type Send func(ctx context.Context) (seq uint64, err error)

// Refusal is a reply that is not a success. It is counted; any other error
// ends the loop.
type Refusal struct{ Reply string }

func (r *Refusal) Error() string { return r.Reply }

// Result is what came of it. Every reply counts as a send only with success;
// Distinct and Gapless speak of the numbers in all replies, those of the
// warm-up too.
type Result struct {
	SendsPerSecond float64 `json:"sends_per_second"`
	P50us          float64 `json:"p50_us"`
	P99us          float64 `json:"p99_us"`
	Sends          int     `json:"sends"` // all replies, warm-up included
	Refused        int     `json:"refused"`
	FirstRefusal   string  `json:"first_refusal,omitempty"`
	Distinct       bool    `json:"distinct"` // no number came twice
	Gapless        bool    `json:"gapless"`  // none is missing between the lowest and the highest

	ServerCores    float64 `json:"server_cores,omitempty"`    // CPU time of the watched processes by time measured
	GeneratorCores float64 `json:"generator_cores,omitempty"` // the same of this process
	OtherCores     float64 `json:"other_cores,omitempty"`     // the same of all else on the machine
}

// Loop lets each send be repeated by a writer of its own until the time is up.
func Loop(ctx context.Context, p Plan, sends []Send) (Result, error) {
	writers := make([]*writer, len(sends))
	w := &window{warm: time.Now().Add(p.Warm)}
	end := w.warm.Add(p.Length)
	w.end.Store(&end)
	measuring, stop := context.WithCancel(ctx)
	defer stop()
	go w.shorten(measuring, p.Until, stop)
	watched := Watch(measuring, p.Watch, w.warm, end)
	var group sync.WaitGroup
	for i, send := range sends {
		one := &writer{send: send, every: p.Every, offset: p.Every * time.Duration(i) / time.Duration(len(sends))}
		writers[i] = one
		group.Go(func() { one.err = one.run(ctx, w) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("cut short: %w", context.Cause(ctx))
	}
	r, err := sum(writers, w.end.Load().Sub(w.warm))
	if err != nil {
		return Result{}, err
	}
	used := <-watched
	r.ServerCores, r.GeneratorCores, r.OtherCores = used.Servers, used.Generator, used.Others
	return r, used.Err
}

// window is when replies count.
type window struct {
	warm time.Time
	end  atomic.Pointer[time.Time]
}

// shorten ends the window, and what is measured in it, when until is closed.
func (w *window) shorten(measuring context.Context, until <-chan struct{}, stop context.CancelFunc) {
	select {
	case <-until:
		now := time.Now()
		w.end.Store(&now)
		stop()
	case <-measuring.Done():
	}
}

// writer is one closed loop; after run its fields are the sum's.
type writer struct {
	send   Send
	every  time.Duration
	offset time.Duration // of the first send, so that writers don't all send at once

	latencies    []time.Duration // replies within the measurement
	seqs         []uint64
	refused      int
	firstRefusal string
	err          error
}

func (w *writer) run(ctx context.Context, in *window) error {
	start := w.due(ctx, time.Now().Add(w.offset))
	for start.Before(*in.end.Load()) && ctx.Err() == nil {
		seq, err := w.send(ctx)
		now := time.Now()
		if err != nil {
			if err := w.refuse(err); err != nil {
				return err
			}
			start = w.due(ctx, start.Add(w.every))
			continue
		}
		w.seqs = append(w.seqs, seq)
		// A send counts where its reply falls, so that the rate is that of
		// replies within the window.
		if now.After(in.warm) && now.Before(*in.end.Load()) {
			w.latencies = append(w.latencies, now.Sub(start))
		}
		start = w.due(ctx, start.Add(w.every))
	}
	return nil
}

// due waits until a send is due, and tells when its time begins to count: where the one
// before it took too long, that is before now.
func (w *writer) due(ctx context.Context, at time.Time) time.Time {
	if w.every == 0 {
		return time.Now()
	}
	if time.Now().After(at) {
		return at
	}
	wait(ctx, at)
	return time.Now()
}

// refuse counts a refusal and returns any other error.
func (w *writer) refuse(err error) error {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		return err
	}
	w.refused++
	if w.firstRefusal == "" {
		w.firstRefusal = refusal.Reply
	}
	return nil
}

func sum(writers []*writer, length time.Duration) (Result, error) {
	var r Result
	var latencies []time.Duration
	var seqs []uint64
	for _, w := range writers {
		if w.err != nil {
			return Result{}, fmt.Errorf("a writer failed: %w", w.err)
		}
		latencies = append(latencies, w.latencies...)
		seqs = append(seqs, w.seqs...)
		r.Refused += w.refused
		if r.FirstRefusal == "" {
			r.FirstRefusal = w.firstRefusal
		}
	}
	r.SendsPerSecond = float64(len(latencies)) / length.Seconds()
	r.P50us = micros(stats.Percentile(latencies, 0.50))
	r.P99us = micros(stats.Percentile(latencies, 0.99))
	r.Sends = len(seqs)
	r.Distinct, r.Gapless = Sequence(seqs)
	return r, nil
}
