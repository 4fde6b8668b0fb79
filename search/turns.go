package search

import "context"

// Bounds of what is done at once on a node, whatever the container: both take
// memory by the size of the documents. The others wait.
const (
	maxFinds   = 8 // each reads a page of beginnings, 6 MiB at most
	maxBatches = 1
)

// turns is how many may do something at once: as many as it has room for.
type turns chan struct{}

// take waits for a turn; give ends it.
func (t turns) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turns) give() { <-t }
