// Package floodload is a person who floods a server: over many connections at once they
// send long messages, make rooms and open live streams, as fast as they are let. They ask
// from an address of this machine that nobody else uses, as a stranger would.
package floodload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
)

// The connections that a flood has for each kind of request, and the length of a message.
// Streams need one more each.
const (
	senders   = 16
	makers    = 4
	listeners = 4
	textBytes = 7000
)

// Address is where a flood comes from.
func Address() net.IP { return net.IPv4(127, 0, 0, 2) }

// Options say whom to flood. The flood begins after Warm, and lasts for Length.
type Options struct {
	Host       string // HOST:PORT
	PostPath   string
	EventsPath string
	RoomsPath  string
	Token      string
	Rude       bool // refused requests come again at once, whatever Retry-After says
	load.Plan
}

// Result is what came of it.
type Result struct {
	Messages int            `json:"messages"`
	Rooms    int            `json:"rooms"`
	Streams  int            `json:"streams"` // open at the end
	Refused  int            `json:"refused"` // of all requests
	Statuses map[string]int `json:"statuses"`
}

// Run floods until the time is up.
func Run(ctx context.Context, o Options) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Warm+o.Length)
	defer cancel()
	select {
	case <-time.After(o.Warm):
	case <-ctx.Done():
	}
	message := fmt.Sprintf(`{"type":"text","body":{"text":"%s"},"reply_to":null}`, strings.Repeat("x", textBytes))
	f := &flood{Options: o, statuses: map[string]int{}}
	defer f.close()
	f.start(ctx, senders, &f.sum.Messages, repeated(rawhttp.Post(o.Host, o.PostPath, o.Token, []byte(message))), (*flood).exchange)
	f.start(ctx, makers, &f.sum.Rooms, f.nextRoom, (*flood).exchange)
	f.start(ctx, listeners, &f.sum.Streams, repeated(rawhttp.Get(o.Host, o.EventsPath, o.Token, "text/event-stream")), (*flood).listen)
	f.group.Wait()
	f.sum.Statuses = f.statuses
	return f.sum, errors.Join(f.failures...)
}

func repeated(request []byte) func() []byte { return func() []byte { return request } }

// nextRoom makes a room of another name each time, also where a disturbed turn is repeated.
func (f *flood) nextRoom() []byte {
	return rawhttp.Post(f.Host, f.RoomsPath, f.Token, fmt.Appendf(nil, `{"name":"Flooded %d by %d"}`, f.named.Add(1), os.Getpid()))
}

// flood is one run. Its mu guards all below it.
type flood struct {
	Options
	group sync.WaitGroup
	named atomic.Int64 // rooms

	mu       sync.Mutex
	sum      Result
	statuses map[string]int
	open     []*rawhttp.Conn // streams
	failures []error
}

// close ends the streams.
func (f *flood) close() {
	for _, c := range f.open {
		c.Close()
	}
}

// ask makes a request over a connection, which it may keep: the next one needs another.
type ask func(f *flood, c *rawhttp.Conn, request []byte) (status int, kept bool, err error)

// start lets n connections repeat a request until ctx is done. What is granted is counted.
func (f *flood) start(ctx context.Context, n int, granted *int, request func() []byte, ask ask) {
	for range n {
		f.group.Go(func() {
			if err := f.repeat(ctx, granted, request, ask); err != nil {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.failures = append(f.failures, err)
			}
		})
	}
}

func (f *flood) repeat(ctx context.Context, granted *int, request func() []byte, ask ask) error {
	for ctx.Err() == nil {
		c, err := rawhttp.DialFrom(f.Host, Address())
		if err != nil {
			return err
		}
		kept, err := f.over(ctx, c, granted, request, ask)
		if !kept {
			c.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// over repeats a request over one connection, until that is kept for what was granted.
func (f *flood) over(ctx context.Context, c *rawhttp.Conn, granted *int, request func() []byte, ask ask) (kept bool, err error) {
	for ctx.Err() == nil {
		status, kept, err := ask(f, c, request())
		if err != nil {
			return false, err
		}
		refused, err := f.count(status, granted)
		if err != nil || kept {
			return kept, err
		}
		if refused && !f.Rude {
			pause(ctx, time.Duration(c.RetryAfter)*time.Second)
		}
	}
	return false, nil
}

// count takes an answer down; only a limit may refuse.
func (f *flood) count(status int, granted *int) (refused bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses[fmt.Sprint(status)]++
	switch status {
	case http.StatusOK, http.StatusCreated:
		*granted++
		return false, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInsufficientStorage:
		f.sum.Refused++
		return true, nil
	}
	return false, fmt.Errorf("a flood's request was answered with %d", status)
}

func (f *flood) exchange(c *rawhttp.Conn, request []byte) (status int, kept bool, err error) {
	status, _, err = c.Do(request)
	return status, false, err
}

// listen opens a stream, which stays open until the end.
func (f *flood) listen(c *rawhttp.Conn, request []byte) (status int, kept bool, err error) {
	status, err = c.Listen(request)
	if err != nil || status != http.StatusOK {
		return status, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, c)
	go c.Drain()
	return status, true, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
