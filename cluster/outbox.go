package cluster

import (
	"context"
	"runtime"
	"sync"
)

// outbox gathers what is to be sent, so that what comes while a message is under
// way shares the next one. Many add, one drains.
type outbox[T any] struct {
	size func(T) int

	mu     sync.Mutex
	items  []T
	filled signal
}

// messageBytes is about how much one message holds.
const messageBytes = 1 << 20

func newOutbox[T any](size func(T) int) outbox[T] {
	return outbox[T]{size: size, filled: newSignal()}
}

func (o *outbox[T]) add(item T) {
	o.mu.Lock()
	o.items = append(o.items, item)
	o.mu.Unlock()
	o.filled.raise()
}

// drain sends until ctx ends or send fails.
func (o *outbox[T]) drain(ctx context.Context, send func([]T) error) {
	for {
		select {
		case <-o.filled:
		case <-ctx.Done():
			return
		}
		runtime.Gosched() // who is about to add shares the message
		for batch := o.take(); len(batch) > 0; batch = o.take() {
			if send(batch) != nil {
				return
			}
		}
	}
}

func (o *outbox[T]) take() []T {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, bytes := 0, 0
	for n < len(o.items) && (n == 0 || bytes+o.size(o.items[n]) < messageBytes) {
		bytes += o.size(o.items[n])
		n++
	}
	batch := o.items[:n:n]
	o.items = o.items[n:]
	return batch
}
