package sse

import (
	"context"
	"time"
)

// endPace is the most that lies between two streams' ends at shutdown: few
// streams needn't take seconds.
const endPace = 5 * time.Millisecond

// Shutdown refuses new streams and ends the open ones cleanly, spread over a
// few seconds, so that their clients don't reach the next node all at once.
// Once ctx ends the rest end together. It returns when all have ended, or with
// ctx's error where some are still stuck in a write; their deadline, or
// closing the server, ends those.
func (h *Hub) Shutdown(ctx context.Context) error {
	h.spread(ctx, h.close())
	done := make(chan struct{})
	h.panics.Go(nil, "waiting for streams to end", func() {
		h.work.Wait()
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hub) close() []*listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closing = true
	open := make([]*listener, 0, len(h.streams))
	for l := range h.streams {
		open = append(open, l)
	}
	return open
}

func (h *Hub) spread(ctx context.Context, open []*listener) {
	if len(open) == 0 {
		return
	}
	pace := min(h.limits.ShutdownSpread/time.Duration(len(open)), endPace)
	timer := time.NewTicker(max(pace, time.Microsecond))
	defer timer.Stop()
	for _, l := range open {
		l.end(EndedShutdown)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}
