// Package fanload drives a fan-out: it opens many live streams of one room,
// lets a few writers post into it, and measures how fast all events reach all
// streams. It is one process for receiving and posting, the same for UBL and
// for the bare program, and it checks that each stream gets each event once
// and in order.
package fanload

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
)

// Options say what to do to whom.
type Options struct {
	Host       string // HOST:PORT
	PostPath   string
	EventsPath string
	Token      string
	Streams    int
	Messages   int
	Writers    int
	Limit      time.Duration // gives up after it
}

// Result is what came of it.
type Result struct {
	EventsPerSecond float64 `json:"events_per_second"` // deliveries, all streams together
	Deliveries      int     `json:"deliveries"`
	Seconds         float64 `json:"seconds"`      // first post to last delivery
	PostSeconds     float64 `json:"post_seconds"` // first post to last reply
	FrameBytes      float64 `json:"frame_bytes"`  // mean length of an event's frame
}

// Run opens the streams, posts and receives.
func Run(ctx context.Context, o Options) (Result, error) {
	if err := raiseFileLimit(uint64(o.Streams) + 100); err != nil {
		return Result{}, err
	}
	post := rawhttp.Post(o.Host, o.PostPath, o.Token, []byte(load.Body))
	// One send before all tells where the room stands, so that no stream can
	// miss an event between being asked for and being there.
	last, err := first(o.Host, post)
	if err != nil {
		return Result{}, err
	}
	r, err := newReceiver()
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	path := fmt.Sprintf("%s?from_seq=%d", o.EventsPath, last)
	get := rawhttp.Get(o.Host, path, o.Token, "text/event-stream")
	for i := range o.Streams {
		if err := r.open(o.Host, get, last); err != nil {
			return Result{}, fmt.Errorf("couldn't open stream %d: %w", i, err)
		}
	}
	return measure(ctx, o, r, post)
}

func measure(ctx context.Context, o Options, r *receiver, post []byte) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Limit, fmt.Errorf("not done within %s", o.Limit))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	start := time.Now()
	posted := make(chan time.Duration, 1)
	go func() {
		if err := postAll(ctx, o, post); err != nil {
			fail(err)
		}
		posted <- time.Since(start)
	}()
	end, err := r.receive(ctx, o.Messages)
	if err != nil {
		return Result{}, err
	}
	result := Result{
		Deliveries:  o.Streams * o.Messages,
		Seconds:     end.Sub(start).Seconds(),
		PostSeconds: (<-posted).Seconds(),
	}
	result.EventsPerSecond = float64(result.Deliveries) / result.Seconds
	total := 0
	for _, s := range r.streams {
		if s.events != o.Messages {
			return Result{}, fmt.Errorf("a stream got %d events instead of %d", s.events, o.Messages)
		}
		total += s.bytes
	}
	result.FrameBytes = float64(total) / float64(result.Deliveries)
	return result, nil
}

// first posts once and returns the message's number in the room.
func first(host string, post []byte) (uint64, error) {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	status, body, err := conn.Do(post)
	if err != nil {
		return 0, err
	}
	if status/100 != http.StatusOK/100 {
		return 0, fmt.Errorf("the first post was refused: %d %.200s", status, body)
	}
	return load.RoomSeq(body)
}

// postAll shares the messages out among the writers, each with one post in
// flight.
func postAll(ctx context.Context, o Options, post []byte) error {
	var (
		group  sync.WaitGroup
		taken  atomic.Int64
		failed = make(chan error, o.Writers)
	)
	for range o.Writers {
		group.Go(func() {
			failed <- postSome(ctx, o, post, &taken)
		})
	}
	group.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return fmt.Errorf("a writer failed: %w", err)
		}
	}
	return nil
}

func postSome(ctx context.Context, o Options, post []byte, taken *atomic.Int64) error {
	conn, err := rawhttp.Dial(o.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	for taken.Add(1) <= int64(o.Messages) && ctx.Err() == nil {
		status, body, err := conn.Do(post)
		if err != nil {
			return err
		}
		if status/100 != http.StatusOK/100 {
			return fmt.Errorf("a post was refused: %d %.200s", status, body)
		}
	}
	return nil
}

// raiseFileLimit makes sure that this process may hold enough sockets. The
// servers are Go programs, whose runtime raises their own limit at start.
func raiseFileLimit(need uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("couldn't read the limit of open files: %w", err)
	}
	if limit.Max < need {
		return fmt.Errorf("the machine allows %d open files, %d are needed", limit.Max, need)
	}
	if limit.Cur >= need {
		return nil
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("couldn't raise the limit of open files: %w", err)
	}
	return nil
}
