package actors

import (
	"context"
	"sync"
	"time"
)

// alarmsASecond is how many alarms a node fires in a second, where more are due: 10,000
// are fired within five, and people who write meanwhile have most of the node.
const alarmsASecond = 2500

// pace spaces turns evenly. It is safe for concurrent use.
type pace struct {
	mu   sync.Mutex
	next time.Time
}

// wait takes a turn for n alarms, and returns when it has come, or with the context.
func (p *pace) wait(ctx context.Context, n int) {
	select {
	case <-time.After(p.take(n)):
	case <-ctx.Done():
	}
}

// take is how long the turn is still to come. What wasn't taken in time is gone.
func (p *pace) take(n int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	pause := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(n) * time.Second / alarmsASecond)
	return pause
}
