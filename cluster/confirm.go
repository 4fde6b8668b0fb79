package cluster

import (
	"context"
	"sync"

	"github.com/hashicorp/raft"
)

// confirmer asks a quorum whether this node still leads. Those who ask while a
// question is under way share the next one: theirs must begin after them.
type confirmer struct {
	raft *raft.Raft

	mu   sync.Mutex
	next *asking // not yet begun; nil if nobody waits
	busy bool
}

// asking is one such question, shared by those who wait for it.
type asking struct {
	done chan struct{}
	err  error
}

func (c *confirmer) confirm(ctx context.Context) error {
	c.mu.Lock()
	q := c.next
	if q == nil {
		q = &asking{done: make(chan struct{})}
		c.next = q
	}
	if !c.busy {
		c.busy = true
		go c.run()
	}
	c.mu.Unlock()
	select {
	case <-q.done:
		return q.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *confirmer) run() {
	for {
		c.mu.Lock()
		q := c.next
		c.next = nil
		c.busy = q != nil
		c.mu.Unlock()
		if q == nil {
			return
		}
		q.err = c.raft.VerifyLeader().Error()
		close(q.done)
	}
}
