package peer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ubl/test/bench/internal/commit"
	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/receipt"
)

// LoopResult is what the bare group-commit loop reached.
type LoopResult struct {
	CommitsPerSecond      float64 `json:"commits_per_second"` // entries answered, each durable
	RecordsPerSecond      float64 `json:"records_per_second"` // keys written
	TransactionsPerSecond float64 `json:"transactions_per_second"`
}

// RunLoop drives the group-commit loop for a while from many goroutines, with
// no HTTP, no JSON and no hashing in between: the bytes of one real send are
// made once and stored again and again under new numbers.
func RunLoop(ctx context.Context, dir string, writers int, length time.Duration) (result LoopResult, err error) {
	const body = `{"text":"` + load.Text + `"}`
	hash, err := receipt.BodyHash([]byte(body))
	if err != nil {
		return result, err
	}
	entry, err := receipt.NewChain(time.Now).Append("text", []byte(body), hash)
	if err != nil {
		return result, err
	}
	loop, err := commit.Open(filepath.Join(dir, "loop.db"))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, loop.Close()) }()

	start := time.Now()
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	commits, err := submit(timed, loop, entry, writers)
	if err != nil {
		return result, err
	}
	if ctx.Err() != nil {
		return result, fmt.Errorf("cut short: %w", context.Cause(ctx))
	}
	seconds := time.Since(start).Seconds()
	return LoopResult{
		CommitsPerSecond:      float64(commits) / seconds,
		RecordsPerSecond:      float64(commits) * commit.RecordsPerEntry / seconds,
		TransactionsPerSecond: float64(loop.Transactions()) / seconds,
	}, nil
}

// submit keeps each of the writers waiting for one answer at a time until ctx
// is done, and counts the answers.
func submit(ctx context.Context, loop *commit.Loop, entry receipt.Entry, writers int) (uint64, error) {
	var (
		mu      sync.Mutex // keys must reach the queue in rising order
		last    uint64
		commits atomic.Uint64
		group   sync.WaitGroup
		failed  = make(chan error, writers)
	)
	for range writers {
		group.Go(func() {
			e, done := entry, make(chan error, 1)
			for ctx.Err() == nil {
				mu.Lock()
				last++
				e.RoomSeq, e.Seq = last, 2*last-1
				loop.Enqueue(e, done)
				mu.Unlock()
				if err := <-done; err != nil {
					failed <- fmt.Errorf("couldn't commit: %w", err)
					return
				}
				commits.Add(1)
			}
		})
	}
	group.Wait()
	close(failed)
	return commits.Load(), <-failed
}
