package suite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// settleTimeout bounds everything that a cluster does after a restart.
	settleTimeout = time.Minute
	// pollEvery is the pause between two looks at the metrics.
	pollEvery = 50 * time.Millisecond
)

// poll repeats a check until it passes.
func poll(ctx context.Context, check func() error) error {
	last := errors.New("not asked")
	for begin := time.Now(); time.Since(begin) < settleTimeout; {
		if last = check(); last == nil {
			return nil
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return errors.Join(err, last)
		}
	}
	return fmt.Errorf("not within %s: %w", settleTimeout, last)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("couldn't wait: %w", context.Cause(ctx))
	}
}
