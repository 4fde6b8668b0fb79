// Package load is the load generator: a closed loop of writers, each with one
// keep-alive connection and one request in flight. The same generator, as a
// process of its own, drives every server, so that all of them share the cores
// with it in the same way.
package load

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/stats"
)

// Body is the send that every writer repeats, and Text what it says.
const (
	Body = `{"type":"text","body":{"text":"` + Text + `"},"reply_to":null}`
	Text = "hello"
)

// Options say what to do to whom.
type Options struct {
	Host    string // HOST:PORT
	Path    string
	Token   string
	Writers int
	Warm    time.Duration // sends before the measurement, checked but not counted
	Length  time.Duration // the measurement
}

// Result is what came of it. Every reply counts as a send only with status
// 2xx; Distinct and Gapless speak of the room_seq in all replies, those of the
// warm-up too.
type Result struct {
	SendsPerSecond float64 `json:"sends_per_second"`
	P50us          float64 `json:"p50_us"`
	P99us          float64 `json:"p99_us"`
	Sends          int     `json:"sends"` // all replies, warm-up included
	Refused        int     `json:"refused"`
	FirstRefusal   string  `json:"first_refusal,omitempty"`
	Distinct       bool    `json:"distinct"` // no room_seq came twice
	Gapless        bool    `json:"gapless"`  // none is missing between the lowest and the highest
}

// Run drives the server until the time is up.
func Run(ctx context.Context, o Options) (Result, error) {
	request := rawhttp.Post(o.Host, o.Path, o.Token, []byte(Body))
	writers := make([]*writer, o.Writers)
	for i := range writers {
		conn, err := rawhttp.Dial(o.Host)
		if err != nil {
			return Result{}, fmt.Errorf("couldn't start writer %d: %w", i, err)
		}
		defer conn.Close()
		writers[i] = &writer{conn: conn, request: request}
	}
	warm := time.Now().Add(o.Warm)
	end := warm.Add(o.Length)
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() { w.err = w.run(ctx, warm, end) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("cut short: %w", context.Cause(ctx))
	}
	return sum(writers, o.Length)
}

// writer is one closed loop; after run its fields are the sum's.
type writer struct {
	conn    *rawhttp.Conn
	request []byte

	latencies    []time.Duration // replies within the measurement
	seqs         []uint64
	refused      int
	firstRefusal string
	err          error
}

func (w *writer) run(ctx context.Context, warm, end time.Time) error {
	start := time.Now()
	for start.Before(end) && ctx.Err() == nil {
		status, body, err := w.conn.Do(w.request)
		if err != nil {
			return err
		}
		now := time.Now()
		if status/100 != http.StatusOK/100 {
			w.refuse(status, body)
			start = now
			continue
		}
		seq, err := RoomSeq(body)
		if err != nil {
			return err
		}
		w.seqs = append(w.seqs, seq)
		// A send counts where its reply falls, so that the rate is that of
		// replies within the window.
		if now.After(warm) && now.Before(end) {
			w.latencies = append(w.latencies, now.Sub(start))
		}
		start = now
	}
	return nil
}

func (w *writer) refuse(status int, body []byte) {
	w.refused++
	if w.firstRefusal == "" {
		w.firstRefusal = fmt.Sprintf("%d %.200s", status, body)
	}
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

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// RoomSeq finds the room_seq in a reply without decoding it: the generator
// must stay cheap, and the first "room_seq" of a reply is its message's.
func RoomSeq(body []byte) (uint64, error) {
	const name = `"room_seq":`
	_, rest, found := bytes.Cut(body, []byte(name))
	if !found {
		return 0, fmt.Errorf("a reply has no room_seq: %.200s", body)
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	seq, err := strconv.ParseUint(string(rest[:end]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("a reply has a bad room_seq: %w", err)
	}
	return seq, nil
}
