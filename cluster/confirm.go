package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"ubl"
)

// confirmer asks a quorum of a partition's voters in which term they are. Another
// leader would have been elected in a newer one, and by a quorum: as long as a
// quorum is in ours, there was none when it was asked. (Raft's own VerifyLeader
// also counts answers to heartbeats that were sent before the question, which a
// leader that was paused may find waiting when it wakes up.)
//
// Those who ask while a question is under way share the next one: theirs must
// begin after them.
type confirmer struct {
	group *group

	mu   sync.Mutex
	next *asking // not yet begun; nil if nobody waits
	busy bool
}

// asking is one such question, shared by those who wait for it.
type asking struct {
	done chan struct{}
	term uint64
	err  error
}

// confirmTimeout bounds one question.
const confirmTimeout = 2 * time.Second

var errOutvoted = errors.New("a quorum doesn't say that this node leads")

// confirm is the term in which this node led when it was called.
func (c *confirmer) confirm(ctx context.Context) (term uint64, err error) {
	c.mu.Lock()
	q := c.next
	if q == nil {
		q = &asking{done: make(chan struct{})}
		c.next = q
	}
	if !c.busy {
		c.busy = true
		c.group.node.opts.Panics.Go(nil, "confirming leadership", c.run)
	}
	c.mu.Unlock()
	select {
	case <-q.done:
		return q.term, q.err
	case <-ctx.Done():
		return 0, ctx.Err()
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
		q.err = c.group.node.opts.Panics.Try("confirming leadership", func() (err error) {
			q.term, err = c.ask()
			return err
		})
		close(q.done)
	}
}

func (c *confirmer) ask() (term uint64, err error) {
	g := c.group
	ctx, cancel := context.WithTimeout(g.node.ctx, confirmTimeout)
	defer cancel()
	term = g.raft.CurrentTerm()
	voters := g.configuration().voters
	answers := make(chan bool, len(voters))
	for _, server := range voters {
		if server == g.node.server {
			answers <- true
			continue
		}
		g.node.opts.Panics.Go(nil, "asking for a term", func() {
			agrees := false
			defer func() { answers <- agrees }()
			r, err := call[termReply](ctx, g.node, server, callTerm, &termRequest{Partition: g.partition})
			agrees = err == nil && r.Term == term
		})
	}
	agree, rest := 0, len(voters)
	for ; rest > 0 && agree <= len(voters)/2; rest-- {
		if <-answers {
			agree++
		}
	}
	if agree <= len(voters)/2 || g.raft.CurrentTerm() != term {
		return 0, errOutvoted
	}
	return term, nil
}

// serveTerm tells in which term this node's replica of a partition is.
func (n *Node) serveTerm(_ context.Context, q *termRequest) (*termReply, error) {
	g := n.group(q.Partition)
	if g == nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "there is no replica here")
	}
	return &termReply{Term: g.raft.CurrentTerm()}, nil
}
