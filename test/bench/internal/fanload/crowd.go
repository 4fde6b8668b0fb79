package fanload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/stats"
)

// checkEvery is which of a crowd's streams are read event by event. The others are only
// emptied: this process must not take the cores that it measures.
const checkEvery = 50

// CrowdOptions say what a crowd does to whom.
type CrowdOptions struct {
	Host       string // HOST:PORT
	PostPath   string
	EventsPath string
	Tokens     []string // of members, who get streams and writers in turn
	Streams    int
	Writers    int
	Rude       bool // refused writers send again at once, whatever Retry-After says
	load.Plan
}

// CrowdResult is what came of it. Latencies are of accepted sends within the
// measurement, as the writers see them.
type CrowdResult struct {
	AcceptedPerSecond float64 `json:"accepted_per_second"`
	P50ms             float64 `json:"p50_ms"`
	P99ms             float64 `json:"p99_ms"`
	MaxMs             float64 `json:"max_ms"`
	RefusedP99ms      float64 `json:"refused_p99_ms"`
	RefusedShare      float64 `json:"refused_share"` // of the answers within the measurement
	BySecond          []int   `json:"by_second"`     // accepted sends in each second, warm-up included
	Accepted          int     `json:"accepted"`      // warm-up included, as all that follows
	Refused           int     `json:"refused"`       // 503 overloaded
	Unknown           int     `json:"unknown"`       // 503 unavailable: the send may have been taken
	Distinct          bool    `json:"distinct"`      // no number came twice
	Gapless           bool    `json:"gapless"`       // none is missing, which only unknown ones may be
	Followed          float64 `json:"followed"`      // events that a stream had at the end, on average of those checked
	ServerCores       float64 `json:"server_cores,omitempty"`
	ClientCores       float64 `json:"client_cores,omitempty"`
	OtherCores        float64 `json:"other_cores,omitempty"`
}

// RunCrowd opens the streams and lets every writer post again and again, refused ones
// after the time that they were told.
func RunCrowd(ctx context.Context, o CrowdOptions) (CrowdResult, error) {
	if err := raiseFileLimit(uint64(o.Streams+o.Writers) + 100); err != nil {
		return CrowdResult{}, err
	}
	if len(o.Tokens) == 0 {
		return CrowdResult{}, errors.New("a crowd needs a token")
	}
	var last uint64
	var err error
	for _, token := range o.Tokens { // each joins the room with its first send
		if last, err = first(o.Host, o.post(token)); err != nil {
			return CrowdResult{}, err
		}
	}
	r, err := newReceiver()
	if err != nil {
		return CrowdResult{}, err
	}
	defer r.close()
	path := fmt.Sprintf("%s?from_seq=%d", o.EventsPath, last)
	for i := range o.Streams {
		get := rawhttp.Get(o.Host, path, o.Tokens[i%len(o.Tokens)], "text/event-stream")
		if err := r.open(o.Host, get, last); err != nil {
			return CrowdResult{}, fmt.Errorf("couldn't open stream %d: %w", i, err)
		}
	}
	writers, err := gather(o)
	if err != nil {
		return CrowdResult{}, err
	}
	return o.measure(ctx, r, writers)
}

func (o CrowdOptions) post(token string) []byte {
	return rawhttp.Post(o.Host, o.PostPath, token, []byte(load.Body))
}

// gather connects the writers.
func gather(o CrowdOptions) ([]*crowdWriter, error) {
	writers := make([]*crowdWriter, o.Writers)
	for i := range writers {
		conn, err := rawhttp.DialWithin(o.Host, time.Minute)
		if err != nil {
			return nil, err
		}
		writers[i] = &crowdWriter{conn: conn, post: o.post(o.Tokens[i%len(o.Tokens)]), rude: o.Rude}
	}
	return writers, nil
}

func (o CrowdOptions) measure(ctx context.Context, r *receiver, writers []*crowdWriter) (CrowdResult, error) {
	warm := time.Now().Add(o.Warm)
	end := warm.Add(o.Length)
	used := load.Watch(ctx, o.Watch, warm, end)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	emptied := make(chan error, 1)
	go func() { emptied <- r.empty(reading) }()
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() {
			defer w.conn.Close()
			w.err = w.run(ctx, warm, end)
		})
	}
	group.Wait()
	stop()
	result, err := sumCrowd(writers, warm.Add(-o.Warm), o.Length)
	if err := errors.Join(err, <-emptied); err != nil {
		return CrowdResult{}, err
	}
	checked := 0
	for _, s := range r.streams {
		if !s.unread {
			checked++
			result.Followed += float64(s.events)
		}
	}
	result.Followed /= float64(max(1, checked))
	usage := <-used
	result.ServerCores, result.ClientCores, result.OtherCores = usage.Servers, usage.Generator, usage.Others
	return result, usage.Err
}

// crowdWriter is one writer; after run its fields are the sum's.
type crowdWriter struct {
	conn *rawhttp.Conn
	post []byte
	rude bool

	latencies, refusals []time.Duration // within the measurement
	seqs                []uint64
	ends                []time.Time // of accepted sends
	refused, unknown    int
	err                 error
}

func (w *crowdWriter) run(ctx context.Context, warm, end time.Time) error {
	for ctx.Err() == nil {
		start := time.Now()
		if !start.Before(end) {
			return nil
		}
		status, body, err := w.conn.Do(w.post)
		if err != nil {
			return err
		}
		now := time.Now()
		counts := now.After(warm) && now.Before(end)
		if status == http.StatusServiceUnavailable {
			w.refuse(body, now.Sub(start), counts)
			w.pause(ctx, end)
			continue
		}
		if status/100 != http.StatusOK/100 {
			return fmt.Errorf("a send was answered with %d %.200s", status, body)
		}
		seq, err := load.RoomSeq(body)
		if err != nil {
			return err
		}
		w.seqs, w.ends = append(w.seqs, seq), append(w.ends, now)
		if counts {
			w.latencies = append(w.latencies, now.Sub(start))
		}
	}
	return ctx.Err()
}

func (w *crowdWriter) refuse(body []byte, took time.Duration, counts bool) {
	if counts {
		w.refusals = append(w.refusals, took)
	}
	if load.Overloaded(body) {
		w.refused++
	} else {
		w.unknown++
	}
}

// pause waits as long as the refusal says, and up to half as long again, as a client
// should: else all come back at once.
func (w *crowdWriter) pause(ctx context.Context, end time.Time) {
	if w.rude {
		return
	}
	wait := time.Duration(w.conn.RetryAfter) * time.Second
	wait += rand.N(wait/2 + 1)
	select {
	case <-time.After(min(wait, time.Until(end))):
	case <-ctx.Done():
	}
}

func sumCrowd(writers []*crowdWriter, begin time.Time, length time.Duration) (CrowdResult, error) {
	var c CrowdResult
	var latencies, refusals []time.Duration
	var seqs []uint64
	for _, w := range writers {
		if w.err != nil {
			return c, fmt.Errorf("a writer failed: %w", w.err)
		}
		latencies, refusals = append(latencies, w.latencies...), append(refusals, w.refusals...)
		seqs = append(seqs, w.seqs...)
		c.Refused += w.refused
		c.Unknown += w.unknown
	}
	c.BySecond = bySecond(writers, begin)
	c.AcceptedPerSecond = float64(len(latencies)) / length.Seconds()
	c.P50ms, c.P99ms = millis(stats.Percentile(latencies, 0.50)), millis(stats.Percentile(latencies, 0.99))
	c.RefusedP99ms = millis(stats.Percentile(refusals, 0.99))
	if len(latencies) > 0 {
		c.MaxMs = millis(slices.Max(latencies))
	}
	c.RefusedShare = float64(len(refusals)) / float64(max(1, len(refusals)+len(latencies)))
	c.Accepted = len(seqs)
	c.Distinct, c.Gapless = load.Sequence(seqs)
	return c, nil
}

func bySecond(writers []*crowdWriter, begin time.Time) []int {
	var out []int
	for _, w := range writers {
		for _, end := range w.ends {
			second := int(end.Sub(begin) / time.Second)
			for len(out) <= second {
				out = append(out, 0)
			}
			out[second]++
		}
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// empty reads all streams until ctx ends, and some of them event by event.
func (r *receiver) empty(ctx context.Context) error {
	n := 0
	for _, s := range r.streams {
		s.unread = n%checkEvery != 0
		n++
	}
	buffer := make([]byte, 256<<10)
	ready := make([]unix.EpollEvent, len(r.streams)+1)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(r.epoll, ready, 100)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("couldn't wait for events: %w", err)
		}
		for _, e := range ready[:max(n, 0)] {
			if err := r.streams[e.Fd].read(int(e.Fd), buffer); err != nil {
				return err
			}
		}
		time.Sleep(pause)
	}
	return nil
}
