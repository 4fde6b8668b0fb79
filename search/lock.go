package search

import "context"

// Searches that look things up at once on a node, and of one tenant. The others wait. Each
// takes up to 6 MiB for a page of beginnings of texts. For [maxBeginnings] it takes 22 MiB
// where the index has one file, and 75 MiB where it has twenty (measured).
const (
	maxFinds    = 4
	tenantFinds = 2
)

// lock is a mutex, for which a caller need not wait longer than its context lasts.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) take(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) give() { <-l }
