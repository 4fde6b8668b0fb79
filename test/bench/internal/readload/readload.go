// Package readload reads one path over and over, over many connections at once, as people do
// who haven't signed in.
package readload

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
)

// Options say what to read.
type Options struct {
	Host    string // HOST:PORT
	Path    string
	Readers int // connections, each with one request in flight
	load.Plan
}

// Run reads until the time is up. Every reply must be what the first one was.
func Run(ctx context.Context, o Options) (load.Result, error) {
	request := rawhttp.Get(o.Host, o.Path, "", "application/json")
	var first atomic.Pointer[[]byte]
	var replies atomic.Uint64
	sends := make([]load.Send, o.Readers)
	for i := range sends {
		conn, err := rawhttp.Dial(o.Host)
		if err != nil {
			return load.Result{}, fmt.Errorf("couldn't start a reader: %w", err)
		}
		defer conn.Close()
		sends[i] = func(context.Context) (uint64, error) {
			status, body, err := conn.Do(request)
			if err != nil {
				return 0, err
			}
			if status != http.StatusOK {
				return 0, &load.Refusal{Reply: fmt.Sprintf("%d %.200s", status, body)}
			}
			if first.Load() == nil {
				whole := bytes.Clone(body)
				first.CompareAndSwap(nil, &whole)
			}
			if !bytes.Equal(body, *first.Load()) {
				return 0, fmt.Errorf("a reply differs from the first: %.200s", body)
			}
			return replies.Add(1), nil
		}
	}
	return load.Loop(ctx, o.Plan, sends)
}
